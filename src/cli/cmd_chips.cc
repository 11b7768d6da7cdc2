#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json.h"
#include "base/units.h"
#include "chips/chips.h"
#include "cli/cli.h"

namespace sublane::cli {
namespace {

std::string valueText(const chips::Number& number) {
  if (number.unit == "B") return formatBinaryBytes(static_cast<int64_t>(number.value));
  if (number.unit == "B/s") return formatBytesPerSecond(number.value);
  if (number.unit == "Hz") return formatHz(number.value);
  if (number.unit == "FLOP/s" || number.unit == "OP/s") return formatScaled(number.value, number.unit);
  return fmt::format("{} {}", number.value, number.unit);
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

void printChip(const chips::Chip& chip) {
  fmt::print("{}  {}, PJRT device kind \"{}\"\n", chip.name, chip.title, chip.device_kind);
  fmt::print("  one device is {} core{}; a chip has {} device{}; compiled as topology {}\n",
             chip.cores_per_device, chip.cores_per_device == 1 ? "" : "s", chip.devices_per_chip,
             chip.devices_per_chip == 1 ? "" : "s", chip.topology);
  for (const auto& [option, value] : chip.topology_options)
    fmt::print("  with option {} = {}\n", option, value);
  for (const auto& [key, number] : chip.numbers) {
    fmt::print("  {:<26}{:>22}  {}\n", key, valueText(number), name(number.origin));
    std::string about = number.source;
    if (!number.derivation.empty()) about += "; " + number.derivation;
    for (const std::string& line : wrapped(about, 92)) fmt::print("      {}\n", line);
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

nlohmann::ordered_json toJson(const chips::Chip& chip) {
  nlohmann::ordered_json json;
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
  return json;
}

Status show(const std::string& only, const std::string& format) {
  std::vector<const chips::Chip*> selected;
  if (only.empty()) {
    for (const chips::Chip& chip : chips::allChips()) selected.push_back(&chip);
  } else {
    SUBLANE_TRY(const chips::Chip* chip, chips::findChip(only));
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
