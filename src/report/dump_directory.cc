#include "report/dump_directory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/text.h"
#include "llo/hlo_file.h"
#include "pjrt/dump.h"

namespace sublane::report {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 8;
constexpr size_t kMostFiles = 200'000;
constexpr std::string_view kTopHlo = "-TLP-hlo.txt";  // libtpu writes the module beside its listings
constexpr std::string_view kTop = "TLP";

std::string headOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(2048, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return head;
}

/// "HloModule jit_f, ..." -> "jit_f".
std::string moduleName(std::string_view head) {
  const size_t at = head.find("HloModule ");
  if (at == std::string_view::npos) return "";
  const std::string_view rest = head.substr(at + 10);
  return std::string(rest.substr(0, rest.find_first_of(", \n\r\t")));
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Where a pass's number stands, in a module that was dumped between passes:
/// "module_0001.jit_f.0042.fusion...".
size_t passNumber(std::string_view name) {
  if (!name.starts_with("module_")) return std::string_view::npos;
  for (size_t at = name.find('.', name.find('.') + 1); at < name.size(); at = name.find('.', at + 1)) {
    const std::string_view number = name.substr(at + 1, 4);
    const bool digits = number.size() == 4 && std::all_of(number.begin(), number.end(), isDigit);
    if (digits && name.substr(at + 5, 1) == ".") return at;
  }
  return std::string_view::npos;
}

/// When a file was written, by its name: "module_0001.jit_f.cl_1.after_codegen.hlo.pb".
Stage stageOf(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (has("after_codegen")) return Stage::kFinal;
  if (passNumber(name) != std::string_view::npos || has("before_buffer_assignment") || has("unoptimized"))
    return Stage::kBefore;
  if (has("after_optimizations") || name.ends_with(kTopHlo)) return Stage::kOptimized;
  // A snapshot is taken of what ran, whenever it was dumped.
  if (has("snapshot")) return Stage::kUnknown;
  return name.starts_with("module_") || has("before_optimizations") ? Stage::kBefore : Stage::kUnknown;
}

/// The part of an HLO file's name that its module's other files share.
std::string groupOf(std::string_view name) {
  size_t end = std::min(name.size(), passNumber(name));
  for (const std::string_view word :
       {"after_codegen", "after_optimizations", "before_optimizations", "snapshot"}) {
    const size_t at = name.find(word);
    if (at != std::string_view::npos && at > 0) end = std::min(end, at);
  }
  if (end == name.size()) {
    for (const std::string_view ending : {".txt", ".pb", ".hlo", ".hlo_snapshot", ".hlo_module"}) {
      if (name.ends_with(ending)) name.remove_suffix(ending.size());
    }
    if (name.ends_with(".hlo")) name.remove_suffix(4);
    end = name.size();
  }
  while (end > 1 && (name[end - 1] == '.' || name[end - 1] == '_')) --end;
  return std::string(name.substr(0, end));
}

/// "module_0001.jit_f.cl_1" -> "jit_f".
std::string nameInGroup(std::string_view group) {
  if (!group.starts_with("module_")) return "";
  group.remove_prefix(std::min(group.size(), group.find('.') + 1));
  return std::string(group.substr(0, group.find(".cl_")));
}

bool mayBeHlo(std::string_view name) {
  for (const std::string_view ending : {".txt", ".pb", ".hlo", ".hlo_snapshot", ".hlo_module"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

/// A stamp is a time: the functions of a compile come after its top level, and before the next one's.
uint64_t stampOf(std::string_view text) {
  uint64_t stamp = 0;
  std::from_chars(text.data(), text.data() + text.size(), stamp);
  return stamp;
}

struct Listed {
  uint64_t stamp;
  std::string function, path;
};

struct Scan {
  fs::path root;
  size_t files = 0, links = 0;
  std::map<std::string, DumpedModule> modules;                       // by path of the group
  std::map<std::string, std::vector<Listed>> listings;               // by folder
  std::map<std::string, std::map<uint64_t, DumpedModule>> programs;  // by folder and stamp of their top level
};

/// A link is looked at if what it names lies in the directory.
bool staysInside(const Scan& scan, const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  const auto [end, rest] = std::mismatch(scan.root.begin(), scan.root.end(), real.begin(), real.end());
  return end == scan.root.end();
}

void addHlo(Scan& scan, const fs::path& path, int64_t bytes) {
  const std::string name = path.filename().string();
  if (!mayBeHlo(name)) return;
  const std::string head = headOf(path.string());
  const llo::HloForm form = llo::formOf(head);
  if (form == llo::HloForm::kNone) return;
  const DumpedHlo hlo{path.string(), stageOf(name), form == llo::HloForm::kText, bytes};
  DumpedModule* module = nullptr;
  if (name.ends_with(kTopHlo)) {
    module = &scan.programs[path.parent_path().string()][stampOf(name)];
    module->listings_hlo = path.string();
    if (module->name.empty()) module->name = fmt::format("{}@{}", moduleName(head), stampOf(name));
  } else {
    const std::string group = groupOf(name);
    module = &scan.modules[(path.parent_path() / group).string()];
    module->name = group;
  }
  if (module->hlo_name.empty()) module->hlo_name = hlo.is_text ? moduleName(head) : nameInGroup(module->name);
  module->hlo.push_back(hlo);
}

void addFile(Scan& scan, const fs::path& path, int64_t bytes) {
  const auto listing = pjrt::parseDumpName(path.filename().string());
  if (!listing) return addHlo(scan, path, bytes);
  if (listing->label == "assembly") return;  // large, and nothing here needs it
  scan.listings[path.parent_path().string()].push_back(
      {stampOf(listing->stamp), listing->function, path.string()});
}

Status walk(Scan& scan, const fs::path& folder, int depth) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (++scan.files > kMostFiles)
      return inputError("{}: more than {} files", scan.root.string(), kMostFiles)
          .hint("name the folder of one program");
    entries.push_back(entry);
  }
  if (error) return inputError("{}: cannot list: {}", folder.string(), error.message());
  for (const auto& entry : entries) {
    if (entry.is_symlink(error) && !staysInside(scan, entry.path())) {
      ++scan.links;
    } else if (entry.is_directory(error)) {
      if (depth < kDeepest && !entry.is_symlink(error)) SUBLANE_CHECK_OK(walk(scan, entry.path(), depth + 1));
    } else if (entry.is_regular_file(error)) {
      const auto bytes = entry.file_size(error);
      if (!error && bytes > 0) addFile(scan, entry.path(), static_cast<int64_t>(bytes));
    }
  }
  return Ok{};
}

/// Gives each program of a folder its own listings, by their stamps.
void joinListings(Scan& scan) {
  for (auto& [folder, files] : scan.listings) {
    std::map<uint64_t, DumpedModule>& programs = scan.programs[folder];
    for (const Listed& file : files) {
      if (file.function == kTop) programs[file.stamp];
    }
    for (const Listed& file : files) {
      auto after = programs.upper_bound(file.stamp);
      if (after != programs.begin()) std::prev(after)->second.listings.push_back(file.path);
    }
  }
}

/// XLA's dump of a module and libtpu's listings of it become one, in order of number and stamp, where each
/// has the name equally often; and one program without HLO goes with the one module. Whoever reads them
/// compares the two.
void mergePrograms(Scan& scan) {
  std::map<std::string, std::vector<std::string>> modules;
  std::map<std::string, std::vector<DumpedModule*>> programs;
  for (auto& [group, module] : scan.modules) modules[module.hlo_name].push_back(group);
  for (auto& [folder, of_folder] : scan.programs) {
    for (auto& [stamp, program] : of_folder) programs[program.hlo_name].push_back(&program);
  }
  const auto merge = [&](DumpedModule& program, DumpedModule& module) {
    module.listings = std::move(program.listings);
    module.listings_hlo = std::move(program.listings_hlo);
    module.hlo.insert(module.hlo.end(), program.hlo.begin(), program.hlo.end());
    program = {};
  };
  for (const auto& [name, of_name] : programs) {
    const auto same = modules.find(name);
    if (same == modules.end()) continue;
    if (of_name.size() != same->second.size()) continue;
    for (size_t i = 0; i < of_name.size(); ++i) merge(*of_name[i], scan.modules[same->second[i]]);
  }
  const auto without = programs.find("");
  if (without != programs.end() && without->second.size() == 1 && scan.modules.size() == 1)
    merge(*without->second[0], scan.modules.begin()->second);
}

void sortHlo(DumpedModule& module) {
  // A proto has the elements of large constants, which text may leave out.
  std::stable_sort(module.hlo.begin(), module.hlo.end(), [](const DumpedHlo& a, const DumpedHlo& b) {
    return a.stage != b.stage ? a.stage > b.stage : a.is_text != b.is_text ? b.is_text : a.path < b.path;
  });
}

bool isOptimized(const DumpedModule& module) {
  return !module.hlo.empty() && module.hlo[0].stage != Stage::kBefore;
}

/// The modules that can be explained, by name; where two folders have the same, with the folder.
Result<DumpListing> collect(Scan& scan, const std::string& path) {
  DumpListing found{.path = path};
  std::vector<std::string> before, alone;
  const auto add = [&](DumpedModule& module) {
    sortHlo(module);
    if (isOptimized(module)) {
      found.modules.push_back(std::move(module));
    } else if (!module.hlo.empty()) {
      before.push_back(module.name);
    }
  };
  for (auto& [group, module] : scan.modules) add(module);
  for (auto& [folder, programs] : scan.programs) {
    for (auto& [stamp, program] : programs) {
      if (program.hlo.empty() && !program.listings.empty()) alone.push_back(fmt::format("{}", stamp));
      add(program);
    }
  }
  if (found.modules.empty() && !before.empty())
    return inputError("{}: {} modules, none of them optimised (the first: {})", path, before.size(),
                      before[0])
        .hint("dump after optimisation: --xla_dump_to writes *after_optimizations.txt");
  if (found.modules.empty() && !alone.empty())
    return inputError("{}: listings of {} programs, but no HLO module beside them", path, alone.size())
        .hint("--xla_dump_to writes *after_optimizations.txt, libtpu <stamp>-TLP-hlo.txt");
  if (found.modules.empty())
    return inputError("{}: no HLO module among {} files", path, scan.files)
        .hint("--xla_dump_to=DIR in XLA_FLAGS or the compiler's options makes XLA write them");
  // Some compilers name the stages after optimisation for the device too: "module_0001.f",
  // "module_0001.f.cpu".
  const auto has_later = [&](const std::string& name) {
    return std::any_of(found.modules.begin(), found.modules.end(),
                       [&](const DumpedModule& module) { return module.name.starts_with(name + "."); });
  };
  std::erase_if(before, has_later);
  if (!before.empty())
    found.notes.push_back(fmt::format("{} modules are there before optimisation only", before.size()));
  if (scan.links > 0)
    found.notes.push_back(fmt::format("{} links lead out of the directory: not followed", scan.links));
  return found;
}

void makeNamesUnique(const Scan& scan, DumpListing& found) {
  std::map<std::string, int> uses;
  for (const DumpedModule& module : found.modules) ++uses[module.name];
  for (DumpedModule& module : found.modules) {
    if (uses[module.name] < 2) continue;
    const fs::path folder = fs::path(module.hlo[0].path).parent_path().lexically_relative(scan.root);
    module.name = (folder / module.name).string();
  }
  std::sort(found.modules.begin(), found.modules.end(),
            [](const DumpedModule& a, const DumpedModule& b) { return a.name < b.name; });
}

/// "  jit_f (1.2 MB)", at most twenty, the largest named in the hint.
Error choice(const DumpListing& listing, const std::string& what,
             const std::vector<const DumpedModule*>& among) {
  constexpr size_t kShown = 20;
  std::string text = fmt::format("{}: {}", listing.path, what);
  const DumpedModule* largest = among[0];
  for (size_t i = 0; i < among.size(); ++i) {
    if (i < kShown)
      text += fmt::format("\n  {} ({} bytes of HLO{})", escaped(among[i]->name), among[i]->hlo[0].bytes,
                          among[i]->listings.empty() ? "" : ", listings");
    if (among[i]->hlo[0].bytes > largest->hlo[0].bytes) largest = among[i];
  }
  if (among.size() > kShown) text += fmt::format("\n  ... and {} more", among.size() - kShown);
  return Error(Fault::kInput, text)
      .hint(fmt::format("--module NAME picks one; the largest is {}", escaped(largest->name)));
}

Result<Scan> scanned(const std::string& path) {
  std::error_code error;
  Scan scan{.root = fs::canonical(path, error)};
  if (error) return inputError("{}: {}", path, error.message());
  if (!fs::is_directory(scan.root, error)) return inputError("{}: is not a directory", path);
  SUBLANE_CHECK_OK(walk(scan, scan.root, 0));
  joinListings(scan);
  return scan;
}

}  // namespace

Result<DumpListing> listDump(const std::string& path) {
  SUBLANE_TRY(Scan scan, scanned(path));
  mergePrograms(scan);
  SUBLANE_TRY(DumpListing found, collect(scan, path));
  makeNamesUnique(scan, found);
  return found;
}

Result<const DumpedModule*> pickModule(const DumpListing& listing, const std::string& name) {
  std::vector<const DumpedModule*> all, exact, part;
  for (const DumpedModule& module : listing.modules) {
    all.push_back(&module);
    if (module.name == name) return &module;
    if (module.hlo_name == name) exact.push_back(&module);
    if (!name.empty() && module.name.find(name) != std::string::npos) part.push_back(&module);
  }
  if (name.empty() && all.size() == 1) return all[0];
  if (exact.size() == 1) return exact[0];
  if (exact.empty() && part.size() == 1) return part[0];
  const auto& several = exact.empty() ? part : exact;
  if (name.empty()) return choice(listing, fmt::format("{} modules", all.size()), all);
  if (several.empty()) return choice(listing, fmt::format("no module {}; there are", inQuotes(name)), all);
  return choice(listing, fmt::format("{} modules are named {}", several.size(), inQuotes(name)), several);
}

bool holdsDump(const std::string& path) {
  const Result<Scan> scan = scanned(path);
  return scan.ok() && !(scan->modules.empty() && scan->programs.empty());
}

}  // namespace sublane::report
