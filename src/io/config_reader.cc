#include <algorithm>

#include "io/checkpoint.h"

namespace sublane::io {
namespace {

std::string_view kindOf(const MetadataValue& value) {
  static constexpr std::string_view kNames[] = {"null",  "bool",     "integer", "float",  "string",
                                                "array", "integers", "floats",  "strings"};
  return kNames[value.value.index()];
}

template <class T>
const T* as(const MetadataValue& value) {
  return std::get_if<T>(&value.value);
}

}  // namespace

ConfigReader::ConfigReader(const Metadata& metadata, std::string source)
    : metadata_(metadata), source_(std::move(source)) {}

const MetadataValue* ConfigReader::read(const std::string& key) {
  consumed_.insert(key);
  auto found = metadata_.find(key);
  if (found == metadata_.end() || as<std::monostate>(found->second)) return nullptr;
  return &found->second;
}

bool ConfigReader::has(const std::string& key) const {
  auto found = metadata_.find(key);
  return found != metadata_.end() && !as<std::monostate>(found->second);
}

bool ConfigReader::isNull(const std::string& key) const {
  auto found = metadata_.find(key);
  return found != metadata_.end() && as<std::monostate>(found->second);
}

std::optional<int64_t> ConfigReader::optionalInt(const std::string& key) {
  const MetadataValue* value = read(key);
  if (!value) return std::nullopt;
  if (const int64_t* number = as<int64_t>(*value)) return *number;
  faults_.push_back(fmt::format("{} is {}, not an integer", key, kindOf(*value)));
  return std::nullopt;
}

std::optional<double> ConfigReader::optionalFloat(const std::string& key) {
  const MetadataValue* value = read(key);
  if (!value) return std::nullopt;
  if (const double* number = as<double>(*value)) return *number;
  if (const int64_t* number = as<int64_t>(*value)) return static_cast<double>(*number);
  faults_.push_back(fmt::format("{} is {}, not a number", key, kindOf(*value)));
  return std::nullopt;
}

std::optional<bool> ConfigReader::optionalBool(const std::string& key) {
  const MetadataValue* value = read(key);
  if (!value) return std::nullopt;
  if (const bool* flag = as<bool>(*value)) return *flag;
  faults_.push_back(fmt::format("{} is {}, not a bool", key, kindOf(*value)));
  return std::nullopt;
}

std::optional<std::string> ConfigReader::optionalString(const std::string& key) {
  const MetadataValue* value = read(key);
  if (!value) return std::nullopt;
  if (const std::string* text = as<std::string>(*value)) return *text;
  faults_.push_back(fmt::format("{} is {}, not a string", key, kindOf(*value)));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> ConfigReader::optionalInts(const std::string& key) {
  const MetadataValue* value = read(key);
  if (!value) return std::nullopt;
  if (const auto* numbers = as<std::vector<int64_t>>(*value)) return *numbers;
  const auto* empty = as<MetadataArray>(*value);
  if (empty && empty->empty()) return std::vector<int64_t>{};
  faults_.push_back(fmt::format("{} is {}, not integers", key, kindOf(*value)));
  return std::nullopt;
}

std::optional<std::vector<std::string>> ConfigReader::optionalStrings(const std::string& key) {
  const MetadataValue* value = read(key);
  if (!value) return std::nullopt;
  if (const auto* texts = as<std::vector<std::string>>(*value)) return *texts;
  const auto* empty = as<MetadataArray>(*value);
  if (empty && empty->empty()) return std::vector<std::string>{};
  faults_.push_back(fmt::format("{} is {}, not strings", key, kindOf(*value)));
  return std::nullopt;
}

void ConfigReader::refuseAbsent(const std::string& key) {
  if (has(key)) return;
  faults_.push_back(fmt::format("{} is {}", key, metadata_.contains(key) ? "null" : "missing"));
}

int64_t ConfigReader::requireInt(const std::string& key) {
  refuseAbsent(key);
  return optionalInt(key).value_or(0);
}

double ConfigReader::requireFloat(const std::string& key) {
  refuseAbsent(key);
  return optionalFloat(key).value_or(0.0);
}

std::string ConfigReader::requireString(const std::string& key) {
  refuseAbsent(key);
  return optionalString(key).value_or("");
}

void ConfigReader::ignore(const std::string& key_pattern) { ignored_patterns_.push_back(key_pattern); }
/// Values of the file stand in these texts: nothing in them may steer a terminal.
static std::string printable(std::string text) {
  std::string shown;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return shown;
}
void ConfigReader::assume(std::string what) { assumptions_.push_back(printable(std::move(what))); }
void ConfigReader::refuse(std::string what) { faults_.push_back(printable(std::move(what))); }

static bool matches(const std::string& key, const std::string& pattern) {
  if (pattern.empty() || pattern.back() != '*') return key == pattern;
  return key.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
}

Status ConfigReader::finish() const {
  std::vector<std::string> faults = faults_;
  for (const auto& [key, value] : metadata_) {
    if (consumed_.count(key)) continue;
    const bool ignored =
        std::any_of(ignored_patterns_.begin(), ignored_patterns_.end(),
                    [&key = key](const std::string& pattern) { return matches(key, pattern); });
    // A null says nothing, so nothing is lost by not reading it.
    if (!ignored && !as<std::monostate>(value))
      faults.push_back(fmt::format("{} is not understood", printable(key)));
  }
  if (faults.empty()) return Ok{};
  if (faults.size() == 1) return inputError("{}: {}", source_, faults[0]);
  std::string text = fmt::format("{} faults in the configuration:", faults.size());
  for (const std::string& fault : faults) text += "\n  " + fault;
  return inputError("{}: {}", source_, text);
}

}  // namespace sublane::io
