#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json.h"
#include "base/units.h"
#include "chips/chips.h"
#include "cli/cli.h"
#include "sim/sim.h"

namespace sublane::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string valueText(double value, const std::string& unit) {
  if (unit == "B" && value >= 1024) return formatBinaryBytes(static_cast<int64_t>(value));
  if (unit == "B/s") return formatBytesPerSecond(value);
  if (unit == "Hz") return formatHz(value);
  if (unit == "FLOP/s" || unit == "OP/s") return formatScaled(value, unit);
  return fmt::format("{} {}", value, unit);
}

/// Lines of at most `width` characters, broken at spaces.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

void printNumber(const std::string& key, const std::string& value, const std::string& origin,
                 std::string about, const std::string& derivation) {
  fmt::print("  {:<32}{:>16}  {}\n", key, value, origin);
  if (!derivation.empty()) about += "; " + derivation;
  for (const std::string& line : wrapped(about, 92)) fmt::print("      {}\n", line);
}

void printChip(const chips::Chip& chip) {
  fmt::print("{}  {}, PJRT device kind \"{}\"\n", chip.name, chip.title, chip.device_kind);
  fmt::print("  one device is {} core{}; a chip has {} device{}; compiled as topology {}\n",
             chip.cores_per_device, chip.cores_per_device == 1 ? "" : "s", chip.devices_per_chip,
             chip.devices_per_chip == 1 ? "" : "s", chip.topology);
  for (const auto& [option, value] : chip.topology_options)
    fmt::print("  with option {} = {}\n", option, value);
  for (const auto& [key, number] : chip.numbers) {
    printNumber(key, valueText(number.value, number.unit), std::string(name(number.origin)), number.source,
                number.derivation);
  }
}

/// The simulator's model of a chip as its file has it; null where there is none.
Json modelOf(const chips::Chip& chip) {
  const std::string_view text = sim::chipModelText(chip.name);
  const Result<sim::ChipModel> model = sim::chipModel(chip.name);
  if (text.empty() || !model.ok()) return nullptr;
  const Json file = Json::parse(text);
  Json json;
  json["simulator"] = sim::kSimulatorVersion;
  json["hash"] = model->hash;
  json["parameters"] = file.at("parameters");
  json["fitted"] = file.value("fitted", Json::object());
  return json;
}

void printParameters(const Json& parameters) {
  for (const auto& [key, number] : parameters.items()) {
    printNumber(key, valueText(number.value("value", 0.0), number.value("unit", "")),
                number.value("origin", ""), number.value("source", ""), number.value("derivation", ""));
  }
}

/// What `diff` can tell apart.
std::string pairsText(const Json& residual) {
  const Json paired = residual.value("paired", Json::object());
  if (paired.value("pairs", 0) == 0) return "";
  return fmt::format("; {} pairs, within {:.1f} %", paired.value("pairs", 0), 100 * paired.value("p90", 0.0));
}

void printModel(const chips::Chip& chip) {
  const Json model = modelOf(chip);
  if (model.is_null()) return fmt::print("\nThe simulator has no model of {}.\n", chip.name);
  fmt::print("\n{} in the simulator: {}, model {}\n", chip.name, model["simulator"].get<std::string>(),
             model["hash"].get<std::string>());
  printParameters(model["parameters"]);
  const Json& fitted = model["fitted"];
  if (!fitted.contains("parameters")) {
    fmt::print("  Nothing is fitted to measured times yet: sublane calibrate does that.\n");
    return;
  }
  fmt::print("  Fitted, instead of those above{}:\n",
             fitted.contains("date") ? " (" + fitted["date"].get<std::string>() + ")" : "");
  printParameters(fitted["parameters"]);
  for (const auto& residual : fitted.value("residuals", Json::array())) {
    fmt::print("  {:<28} {:>4} points, error: median {:.1f} %, 9 of 10 within {:.1f} %{}\n",
               residual.value("class", ""), residual.value("points", 0), 100 * residual.value("median", 0.0),
               100 * residual.value("p90", 0.0), pairsText(residual));
  }
}

void printTable(std::span<const chips::Chip* const> selected) {
  fmt::print("{:<7}{:>14}{:>13}{:>11}{:>11}{:>11}  {}\n", "chip", "bf16", "HBM rate", "HBM", "VMEM", "clock",
             "one device is");
  for (const chips::Chip* chip : selected) {
    const char* device = chip->devices_per_chip == 2   ? "half a chip"
                         : chip->cores_per_device == 2 ? "two cores"
                                                       : "a chip";
    fmt::print("{:<7}{:>14}{:>13}{:>11}{:>11}{:>11}  {}\n", chip->name,
               formatFlopsPerSecond(chip->bf16_flops), formatBytesPerSecond(chip->hbm_bytes_per_second),
               formatBinaryBytes(static_cast<int64_t>(chip->hbm_bytes)),
               formatBinaryBytes(static_cast<int64_t>(chip->vmem_bytes)), formatHz(chip->clock_hz), device);
  }
  fmt::print("\nPer PJRT device; VMEM per core. Every number, with its origin and source:\n");
}

Json toJson(const chips::Chip& chip) {
  Json json;
  json["name"] = chip.name;
  json["title"] = chip.title;
  json["device_kind"] = chip.device_kind;
  json["topology"] = chip.topology;
  json["topology_options"] = chip.topology_options;
  json["devices_per_chip"] = chip.devices_per_chip;
  json["cores_per_device"] = chip.cores_per_device;
  for (const auto& [key, number] : chip.numbers) {
    auto entry = jsonNumber(number.value, number.unit, number.origin);
    entry["source"] = number.source;
    if (!number.derivation.empty()) entry["derivation"] = number.derivation;
    json["numbers"][key] = std::move(entry);
  }
  json["model"] = modelOf(chip);
  return json;
}

Status show(const std::string& only, const std::string& format) {
  std::vector<const chips::Chip*> selected;
  if (only.empty()) {
    for (const chips::Chip& chip : chips::allChips()) selected.push_back(&chip);
  } else {
    SUBLANE_TRY(const chips::Chip* chip, chips::findChip(only, "--show"));
    selected.push_back(chip);
  }
  if (format == "json") {
    auto document = jsonDocument("sublane.chips/1");
    for (const chips::Chip* chip : selected) document["chips"].push_back(toJson(*chip));
    printJson(document);
    return Ok{};
  }
  if (only.empty()) printTable(selected);
  for (const chips::Chip* chip : selected) {
    if (only.empty()) fmt::print("\n");
    printChip(*chip);
    if (!only.empty()) printModel(*chip);
  }
  return Ok{};
}

}  // namespace

extern const Command cmd_chips;
const Command cmd_chips{
    "chips", "What is published about each chip, with the source of every number",
    [](CLI::App& verb) -> Action {
      auto only = std::make_shared<std::string>();
      auto format = std::make_shared<std::string>("text");
      verb.add_option("--show", *only, "One chip only: v6e");
      verb.add_option("--format", *format, "text or json")->check(CLI::IsMember({"text", "json"}));
      verb.add_flag_callback("--json", [format] { *format = "json"; }, "Short for --format json");
      return [only, format] { return show(*only, *format); };
    }};

}  // namespace sublane::cli
