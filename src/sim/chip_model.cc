#include <simdjson.h>

#include <algorithm>

#include "base/sha256.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

namespace dom = simdjson::dom;

struct File {
  std::string_view chip, json;
};
constexpr File kFiles[] = {
#include "chip_models.inc"
};

struct Field {
  std::string_view key;
  double ChipModel::* value;
  double least, most;
};
constexpr Field kFields[] = {
    {"clock_hz", &ChipModel::clock_hz, 1e8, 1e10},
    {"hbm_peak_bytes_per_second", &ChipModel::hbm_peak_bytes_per_second, 1e10, 1e14},
    {"hbm_efficiency", &ChipModel::hbm_efficiency, 0.01, 1},
    {"hbm_run_overhead_bytes", &ChipModel::hbm_run_overhead_bytes, 0, 1e5},
    {"read_latency_cycles", &ChipModel::read_latency_cycles, 0, 1e6},
    {"write_latency_cycles", &ChipModel::write_latency_cycles, 0, 1e6},
    {"small_latency_cycles", &ChipModel::small_latency_cycles, 0, 1e6},
    {"local_bytes_per_cycle", &ChipModel::local_bytes_per_cycle, 1, 1e6},
    {"launch_us", &ChipModel::launch_us, 0, 1e6},
};
constexpr std::string_view kDelaySlots = "branch_delay_slots";

using Numbers = std::map<std::string, double>;

/// `parameters` of the file, or of what a fit found.
Status readNumbers(dom::element parameters, const std::string& where, Numbers& numbers) {
  dom::object object;
  if (parameters.get(object)) return inputError("{}: \"parameters\" is not an object", where);
  for (auto [key, element] : object) {
    double value = 0;
    std::string_view text;
    const std::string at = fmt::format("{}: {}", where, key);
    if (element["value"].get(value)) return inputError("{}: \"value\" is missing or not a number", at);
    for (const char* word : {"unit", "origin", "source"}) {
      if (element[word].get(text) || text.empty()) return inputError("{}: \"{}\" is missing", at, word);
    }
    numbers[std::string(key)] = value;
  }
  return Ok{};
}

Status fill(const Numbers& numbers, const std::string& where, ChipModel& model) {
  for (const auto& [key, value] : numbers) {
    const auto field = std::find_if(std::begin(kFields), std::end(kFields),
                                    [&key = key](const Field& f) { return f.key == key; });
    if (field == std::end(kFields)) {
      if (key != kDelaySlots) model.extra[key] = value;
      continue;
    }
    if (!(value >= field->least && value <= field->most)) {
      return inputError("{}: {} is {}, not within {} and {}", where, key, value, field->least, field->most);
    }
    model.*field->value = value;
  }
  for (const Field& field : kFields) {
    if (!numbers.contains(std::string(field.key)))
      return inputError("{}: parameter \"{}\" is missing", where, field.key);
  }
  const auto slots = numbers.find(std::string(kDelaySlots));
  if (slots == numbers.end()) return inputError("{}: parameter \"{}\" is missing", where, kDelaySlots);
  if (!(slots->second >= 0 && slots->second <= 16)) {
    return inputError("{}: {} is {}, not within 0 and 16", where, kDelaySlots, slots->second);
  }
  model.branch_delay_slots = static_cast<int>(slots->second);
  return Ok{};
}

std::string hashOf(std::string_view json) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(json)));
  hash.update(std::as_bytes(std::span(kSimulatorVersion)));
  return hash.hex();
}

}  // namespace

Result<ChipModel> readChipModel(std::string_view json, const std::string& where) {
  dom::parser parser;
  dom::element root, element;
  if (auto error = parser.parse(simdjson::padded_string(json)).get(root)) {
    return inputError("{}: not JSON: {}", where, simdjson::error_message(error));
  }
  std::string_view schema, chip;
  if (root["schema"].get(schema) || schema != "sublane.chip_model/1") {
    return inputError("{}: schema \"{}\" is not sublane.chip_model/1", where, schema);
  }
  if (root["chip"].get(chip)) return inputError("{}: \"chip\" is missing", where);
  Numbers numbers;
  if (root["parameters"].get(element)) return inputError("{}: \"parameters\" is missing", where);
  SUBLANE_CHECK_OK(readNumbers(element, where, numbers));
  if (!root["fitted"]["parameters"].get(element)) {
    SUBLANE_CHECK_OK(readNumbers(element, where + ": fitted", numbers));
  }
  ChipModel model{.chip = std::string(chip), .hash = hashOf(json)};
  SUBLANE_CHECK_OK(fill(numbers, where, model));
  return model;
}

std::string_view chipModelText(const std::string& chip) {
  for (const File& file : kFiles) {
    if (file.chip == chip) return file.json;
  }
  return {};
}

Result<ChipModel> chipModel(const std::string& chip) {
  const std::string_view text = chipModelText(chip);
  if (!text.empty()) return readChipModel(text, chip + ".json");
  std::string known;
  for (const File& file : kFiles) known += fmt::format("{}{}", known.empty() ? "" : ", ", file.chip);
  return inputError("simulator: no model of chip \"{}\"", chip).hint("models are there for " + known);
}

}  // namespace sublane::sim
