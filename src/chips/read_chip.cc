#include <simdjson.h>

#include "chips/chips.h"

namespace sublane::chips {
namespace {

namespace dom = simdjson::dom;

struct Field {
  const char* key;
  double Chip::* value;
  bool required;
};
constexpr Field kFields[] = {
    {"bf16_flops", &Chip::bf16_flops, true}, {"hbm_bytes_per_second", &Chip::hbm_bytes_per_second, true},
    {"hbm_bytes", &Chip::hbm_bytes, true},   {"hbm_usable_bytes", &Chip::hbm_usable_bytes, true},
    {"vmem_bytes", &Chip::vmem_bytes, true}, {"clock_hz", &Chip::clock_hz, true},
    {"int8_ops", &Chip::int8_ops, false},    {"fp8_flops", &Chip::fp8_flops, false},
    {"int4_ops", &Chip::int4_ops, false},
};

Result<std::string> text(dom::element object, const char* key, const std::string& where) {
  std::string_view value;
  if (object[key].get(value)) return inputError("{}: \"{}\" is missing or not a string", where, key);
  return std::string(value);
}

Result<int64_t> positive(dom::element object, const char* key, const std::string& where) {
  int64_t value = 0;
  if (object[key].get(value) || value < 1)
    return inputError("{}: \"{}\" is not a positive integer", where, key);
  return value;
}

Result<Origin> originOf(std::string_view text, const std::string& where) {
  for (Origin origin : {Origin::kMeasured, Origin::kCompiler, Origin::kDatasheet, Origin::kAssumed}) {
    if (name(origin) == text) return origin;
  }
  return inputError("{}: origin \"{}\" is not one of measured, compiler, datasheet, assumed", where, text);
}

Result<Number> readNumber(dom::element element, const std::string& where) {
  Number number;
  if (element["value"].get(number.value) || !(number.value > 0)) {
    return inputError("{}: \"value\" is missing or not above 0", where);
  }
  SUBLANE_TRY(number.unit, text(element, "unit", where));
  SUBLANE_TRY(number.source, text(element, "source", where));
  SUBLANE_TRY(std::string origin, text(element, "origin", where));
  SUBLANE_TRY(number.origin, originOf(origin, where));
  std::string_view derivation;
  if (!element["derivation"].get(derivation)) number.derivation = derivation;
  return number;
}

Status readNumbers(dom::element root, const std::string& where, Chip& chip) {
  dom::object numbers;
  if (root["numbers"].get(numbers)) return inputError("{}: \"numbers\" is missing or not an object", where);
  for (auto [key, element] : numbers) {
    std::string name(key);
    SUBLANE_TRY(Number number, readNumber(element, where + ": " + name));
    chip.numbers.emplace(name, std::move(number));
  }
  for (const Field& field : kFields) {
    auto found = chip.numbers.find(field.key);
    if (found != chip.numbers.end()) {
      chip.*field.value = found->second.value;
    } else if (field.required) {
      return inputError("{}: number \"{}\" is missing", where, field.key);
    }
  }
  return Ok{};
}

}  // namespace

Result<Chip> readChip(std::string_view json, const std::string& where) {
  dom::parser parser;
  dom::element root;
  if (auto error = parser.parse(simdjson::padded_string(json)).get(root)) {
    return inputError("{}: not JSON: {}", where, simdjson::error_message(error));
  }
  SUBLANE_TRY(std::string schema, text(root, "schema", where));
  if (schema != "sublane.chip/1") return inputError("{}: schema \"{}\" is not sublane.chip/1", where, schema);
  Chip chip;
  SUBLANE_TRY(chip.name, text(root, "name", where));
  SUBLANE_TRY(chip.title, text(root, "title", where));
  SUBLANE_TRY(chip.device_kind, text(root, "device_kind", where));
  SUBLANE_TRY(chip.topology, text(root, "topology", where));
  SUBLANE_TRY(chip.devices_per_chip, positive(root, "devices_per_chip", where));
  SUBLANE_TRY(chip.cores_per_device, positive(root, "cores_per_device", where));
  dom::object options;
  if (!root["topology_options"].get(options)) {
    for (auto [key, element] : options) {
      std::string_view value;
      if (element.get(value)) return inputError("{}: topology option \"{}\" is not a string", where, key);
      chip.topology_options.emplace(key, value);
    }
  }
  SUBLANE_CHECK_OK(readNumbers(root, where, chip));
  return chip;
}

}  // namespace sublane::chips
