#include "gate/project.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/paths.h"
#include "base/text.h"
#include "chips/chips.h"

namespace sublane::gate {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // of a file that people write

constexpr std::string_view kShared[] = {
    "chips",     "mesh",   "step",  "inputs",          "batch",    "context",        "prefill_tokens",
    "page_size", "layers", "dtype", "compile_options", "baseline", "max_regression", "budget"};
constexpr std::string_view kOfProgram[] = {"name", "file", "model", "config"};

/// Reads the values of one file; an error says where.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path), folder_(std::filesystem::path(path).parent_path().string()) {}

  Result<std::vector<Entry>> entries(const toml::table& root) {
    SUBLANE_CHECK_OK(known(root, {"defaults", "program"}));
    Pattern defaults;
    if (const toml::node* node = root.get("defaults")) {
      if (!node->is_table()) return wrong(*node, "defaults", "a table: [defaults]");
      SUBLANE_CHECK_OK(known(*node->as_table(), words(false)));
      SUBLANE_CHECK_OK(shared(*node->as_table(), defaults));
    }
    const toml::node* programs = root.get("program");
    if (!programs) return inputError("{}: no program", path_).hint("[[program]] with file = \"decode.mlir\"");
    if (!programs->is_array_of_tables()) return wrong(*programs, "program", "tables: [[program]]");
    std::vector<Entry> all;
    for (const toml::node& node : *programs->as_array()) {
      Pattern pattern = defaults;
      SUBLANE_CHECK_OK(program(*node.as_table(), pattern));
      for (Entry& entry : expanded(pattern)) all.push_back(std::move(entry));
    }
    SUBLANE_CHECK_OK(unique(all));
    return all;
  }

 private:
  /// An entry before its chips, and what differs by chip.
  struct Pattern {
    Entry entry;
    std::vector<std::string> chips;
    std::map<std::string, Budget> budgets;  // by chip
  };

  std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", path_, node.source().begin.line);
  }
  Error wrong(const toml::node& node, std::string_view key, std::string_view expected) const {
    return inputError("{}: {}: expected {}", at(node), key, expected);
  }
  std::string inFolder(const std::string& file) const {
    const std::filesystem::path path(file);
    return folder_.empty() || path.is_absolute() ? file : (std::filesystem::path(folder_) / path).string();
  }

  static std::vector<std::string_view> words(bool of_program) {
    std::vector<std::string_view> all(std::begin(kShared), std::end(kShared));
    if (of_program) all.insert(all.begin(), std::begin(kOfProgram), std::end(kOfProgram));
    return all;
  }

  Status known(const toml::table& table, const std::vector<std::string_view>& allowed) const {
    for (const auto& [key, value] : table) {
      if (std::find(allowed.begin(), allowed.end(), key.str()) != allowed.end()) continue;
      std::string list;
      for (const std::string_view word : allowed) list += (list.empty() ? "" : ", ") + std::string(word);
      return inputError("{}: there is no key {}", at(value), inQuotes(key.str()))
          .hint("the keys are " + list);
    }
    return Ok{};
  }

  Status text(const toml::table& table, std::string_view key, std::string& value) const {
    const toml::node* node = table.get(key);
    if (!node) return Ok{};
    const auto* found = node->as_string();
    if (!found || found->get().empty()) return wrong(*node, key, "text in quotes");
    value = found->get();
    return Ok{};
  }

  Status file(const toml::table& table, std::string_view key, std::string& value) const {
    const std::string before = value;
    SUBLANE_CHECK_OK(text(table, key, value));
    if (table.get(key)) value = inFolder(value);
    return Ok{};
  }

  Status size(const toml::table& table, std::string_view key, int64_t& value) const {
    const toml::node* node = table.get(key);
    if (!node) return Ok{};
    const auto* found = node->as_integer();
    if (!found || found->get() < 1 || found->get() > int64_t{1} << 24)
      return wrong(*node, key, fmt::format("a whole number from 1 to {}", int64_t{1} << 24));
    value = found->get();
    return Ok{};
  }

  Status choice(const toml::table& table, std::string_view key, std::string_view one, std::string_view two,
                std::string& value) const {
    SUBLANE_CHECK_OK(text(table, key, value));
    const toml::node* node = table.get(key);
    if (node && value != one && value != two)
      return wrong(*node, key, fmt::format("\"{}\" or \"{}\"", one, two));
    return Ok{};
  }

  Status chips(const toml::table& table, std::vector<std::string>& chips) const {
    const toml::node* node = table.get("chips");
    if (!node) return Ok{};
    const toml::array* list = node->as_array();
    if (!list || list->empty()) return wrong(*node, "chips", "a list, as [\"v6e\"]");
    chips.clear();
    for (const toml::node& each : *list) {
      const auto* name = each.as_string();
      if (!name) return wrong(each, "chips", "text in quotes");
      Result<const chips::Chip*> chip = chips::findChip(name->get());
      if (!chip.ok()) return std::move(chip).error().at(at(each));
      chips.push_back((*chip)->name);
    }
    return Ok{};
  }

  Status options(const toml::table& table, std::vector<std::string>& options) const {
    const toml::node* node = table.get("compile_options");
    if (!node) return Ok{};
    const toml::table* flags = node->as_table();
    if (!flags) return wrong(*node, "compile_options", "a table, as {xla_flag = 3}");
    for (const auto& [key, value] : *flags) {
      std::string text;
      if (const auto* word = value.as_string()) {
        text = word->get();
      } else if (const auto* whole = value.as_integer()) {
        text = fmt::format("{}", whole->get());
      } else if (const auto* real = value.as_floating_point()) {
        text = fmt::format("{}", real->get());
      } else if (const auto* yes = value.as_boolean()) {
        text = yes->get() ? "true" : "false";
      } else {
        return wrong(value, key.str(), "text, a number, true or false");
      }
      options.push_back(std::string(key.str()) + "=" + text);
    }
    return Ok{};
  }

  Status limits(const toml::table& table, Budget& budget) const {
    if (const toml::node* us = table.get("us")) {
      const std::optional<double> value = us->value<double>();
      if (!us->is_number() || !(*value > 0) || !std::isfinite(*value))
        return wrong(*us, "us", "a number of microseconds above 0");
      budget.us = *value;
    }
    if (const toml::node* bytes = table.get("hbm_bytes")) {
      const auto* value = bytes->as_integer();
      if (!value || value->get() < 0) return wrong(*bytes, "hbm_bytes", "a whole number of bytes");
      budget.hbm_bytes = value->get();
    }
    return Ok{};
  }

  /// {us, hbm_bytes}, and the same by chip.
  Status budget(const toml::table& table, Pattern& pattern) const {
    const toml::node* node = table.get("budget");
    if (!node) return Ok{};
    const toml::table* found = node->as_table();
    if (!found || found->empty())
      return wrong(*node, "budget", "a table, as {us = 500, hbm_bytes = 1000000}");
    std::vector<std::string_view> keys = {"us", "hbm_bytes"};
    for (const chips::Chip& chip : chips::allChips()) keys.emplace_back(chip.name);
    SUBLANE_CHECK_OK(known(*found, keys));
    pattern.budgets.clear();
    pattern.entry.budget = {};
    SUBLANE_CHECK_OK(limits(*found, pattern.entry.budget));
    for (const auto& [key, value] : *found) {
      if (key == "us" || key == "hbm_bytes") continue;
      const toml::table* of_chip = value.as_table();
      if (!of_chip || of_chip->empty()) return wrong(value, key.str(), "a table, as {us = 500}");
      SUBLANE_CHECK_OK(known(*of_chip, {"us", "hbm_bytes"}));
      Budget& own = pattern.budgets[std::string(key.str())] = pattern.entry.budget;
      SUBLANE_CHECK_OK(limits(*of_chip, own));
    }
    return Ok{};
  }

  Status regression(const toml::table& table, double& most) const {
    const toml::node* node = table.get("max_regression");
    if (!node) return Ok{};
    const std::optional<double> number = node->value<double>();
    const std::string written = node->is_string()   ? node->as_string()->get()
                                : node->is_number() ? fmt::format("{}", *number)
                                                    : "";
    const Result<double> share = readShare(written);
    if (!share.ok()) return wrong(*node, "max_regression", "a share, as \"2%\" or 0.02");
    most = *share;
    return Ok{};
  }

  Status shared(const toml::table& table, Pattern& pattern) const {
    Entry& entry = pattern.entry;
    SUBLANE_CHECK_OK(chips(table, pattern.chips));
    SUBLANE_CHECK_OK(text(table, "mesh", entry.mesh));
    SUBLANE_CHECK_OK(text(table, "step", entry.step));
    SUBLANE_CHECK_OK(file(table, "inputs", entry.inputs));
    SUBLANE_CHECK_OK(size(table, "batch", entry.batch));
    SUBLANE_CHECK_OK(size(table, "context", entry.context));
    SUBLANE_CHECK_OK(size(table, "prefill_tokens", entry.prefill_tokens));
    SUBLANE_CHECK_OK(size(table, "page_size", entry.page_size));
    SUBLANE_CHECK_OK(choice(table, "layers", "unrolled", "loop", entry.layers));
    SUBLANE_CHECK_OK(choice(table, "dtype", "bf16", "f32", entry.dtype));
    SUBLANE_CHECK_OK(options(table, entry.compile_options));
    SUBLANE_CHECK_OK(file(table, "baseline", entry.baseline));
    SUBLANE_CHECK_OK(regression(table, entry.most_regression));
    return budget(table, pattern);
  }

  Status program(const toml::table& table, Pattern& pattern) const {
    SUBLANE_CHECK_OK(known(table, words(true)));
    Entry& entry = pattern.entry;
    entry.where = at(table);
    SUBLANE_CHECK_OK(shared(table, pattern));
    std::string model;
    SUBLANE_CHECK_OK(file(table, "file", entry.subject));
    SUBLANE_CHECK_OK(text(table, "model", model));
    SUBLANE_CHECK_OK(file(table, "config", entry.config));
    if (int{entry.subject.empty()} + int{model.empty()} + int{entry.config.empty()} != 2)
      return wrong(table, "program", "one of file, model and config");
    std::error_code ignored;
    if (!model.empty())  // a name, or a file or folder beside sublane.toml
      entry.subject = std::filesystem::exists(inFolder(model), ignored) ? inFolder(model) : model;
    const std::string& named = entry.subject.empty() ? entry.config : entry.subject;
    entry.name = std::filesystem::path(named).stem().string();
    SUBLANE_CHECK_OK(text(table, "name", entry.name));
    if (pattern.chips.empty()) return wrong(table, "program", "chips, here or under [defaults]");
    if (entry.baseline.empty() && entry.budget.empty() && pattern.budgets.empty())
      return wrong(table, "program", "a baseline or a budget, here or under [defaults]");
    return Ok{};
  }

  static void replace(std::string& text, std::string_view what, const std::string& by) {
    for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
      text.replace(at, what.size(), by);
  }

  static std::vector<Entry> expanded(const Pattern& pattern) {
    std::vector<Entry> entries;
    for (const std::string& chip : pattern.chips) {
      Entry entry = pattern.entry;
      entry.chip = chip;
      replace(entry.baseline, "{name}", entry.name);
      replace(entry.baseline, "{chip}", chip);
      const auto own = pattern.budgets.find(chip);
      if (own != pattern.budgets.end()) entry.budget = own->second;
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  /// Two entries that write one baseline would undo each other.
  static Status unique(const std::vector<Entry>& entries) {
    std::map<std::string, std::string> seen;
    for (const Entry& entry : entries) {
      for (const std::string& key : {entry.name + " on " + entry.chip, entry.baseline}) {
        if (key.empty()) continue;
        const auto [first, fresh] = seen.emplace(key, entry.where);
        if (!fresh)
          return inputError("{}: {} is already that of {}", entry.where, inQuotes(key), first->second)
              .hint("give each program a name, and use {name} and {chip} in the baseline's");
      }
    }
    return Ok{};
  }

  std::string path_, folder_;
};

}  // namespace

Result<double> readShare(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool percent = *end == '%' && end[1] == 0;
  const double share = percent ? value / 100 : value;
  if (end == text.c_str() || (*end != 0 && !percent) || !(share >= 0 && share <= 10))
    return inputError("{}: not a share", text.empty() ? "\"\"" : text).hint("for example 2% or 0.02");
  return share;
}

Result<std::vector<Entry>> parseProject(std::string_view text, const std::string& path) {
  if (text.size() > kMostBytes)
    return inputError("{}: {} bytes are more than the {} of a file that people write", path, text.size(),
                      kMostBytes);
  try {
    return Reader(path).entries(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return inputError("{}:{}: not TOML: {}", path, error.source().begin.line,
                      escaped(error.description(), 200))
        .hint("docs/ci-gate.md shows such a file");
  }
}

Result<std::vector<Entry>> readProject(const std::string& path) {
  SUBLANE_TRY(const std::string text, readFile(path));
  return parseProject(text, path);
}

}  // namespace sublane::gate
