#include "base/json_keys.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sublane {

using Json = nlohmann::json;

JsonKeys::JsonKeys(const Json& object) : JsonKeys(object, "", std::make_shared<std::string>()) {}

JsonKeys::JsonKeys(const Json& object, std::string path, std::shared_ptr<std::string> wrong)
    : object_(object), path_(std::move(path)), wrong_(std::move(wrong)) {
  if (!object_.is_object() && wrong_->empty())
    *wrong_ = path_.empty() ? "not an object" : path_ + ": not an object";
}

/// Numbers beyond 2^63 are unsigned.
static bool isWithin(const Json& number, int64_t most) {
  if (number.is_number_unsigned()) return number.get<uint64_t>() <= static_cast<uint64_t>(most);
  return number.get<int64_t>() >= 0 && number.get<int64_t>() <= most;
}

void JsonKeys::fail(const std::string& key, const std::string& what) {
  if (wrong_->empty()) *wrong_ = fmt::format("{}{}{}: {}", path_, path_.empty() ? "" : ".", key, what);
}

Status JsonKeys::status() const {
  if (wrong_->empty()) return Ok{};
  return inputError("{}", *wrong_);
}

const Json* JsonKeys::find(const char* key, bool (Json::*is)() const noexcept, const char* what) {
  if (!wrong_->empty()) return nullptr;
  const auto found = object_.find(key);
  if (found != object_.end() && ((*found).*is)()) return &*found;
  fail(key, found == object_.end() ? "missing" : what);
  return nullptr;
}

const Json& JsonKeys::at(const char* key) const {
  static const Json kNull;
  if (!object_.is_object()) return kNull;
  const auto found = object_.find(key);
  return found == object_.end() ? kNull : *found;
}

void JsonKeys::text(const char* key, std::string& value) {
  if (const Json* found = find(key, &Json::is_string, "no text")) value = found->get<std::string>();
}

void JsonKeys::number(const char* key, double& value) {
  if (const Json* found = find(key, &Json::is_number, "no number")) value = found->get<double>();
}

void JsonKeys::integer(const char* key, int64_t& value, int64_t most) {
  const Json* found = find(key, &Json::is_number_integer, "no whole number");
  if (!found) return;
  if (!isWithin(*found, most)) return fail(key, fmt::format("not within 0 and {}", most));
  value = found->get<int64_t>();
}

void JsonKeys::textIfThere(const char* key, std::string& value) {
  const Json& found = at(key);
  if (!found.is_null()) text(key, value);
}

void JsonKeys::texts(const char* key, std::vector<std::string>& values) {
  const Json* found = find(key, &Json::is_array, "no list");
  if (!found) return;
  for (const Json& element : *found) {
    if (!element.is_string()) return fail(key, "no list of texts");
    values.push_back(element.get<std::string>());
  }
}

void JsonKeys::each(const char* key, const std::function<void(JsonKeys&)>& take) {
  const Json* found = find(key, &Json::is_array, "no list");
  if (!found) return;
  for (size_t i = 0; i < found->size() && wrong_->empty(); ++i) {
    JsonKeys inner((*found)[i], fmt::format("{}{}{}[{}]", path_, path_.empty() ? "" : ".", key, i), wrong_);
    if (wrong_->empty()) take(inner);
  }
}

void JsonKeys::inside(const char* key, const std::function<void(JsonKeys&)>& take) {
  const Json* found = find(key, &Json::is_object, "no object");
  if (!found) return;
  JsonKeys inner(*found, path_ + (path_.empty() ? "" : ".") + key, wrong_);
  take(inner);
}

void JsonKeys::counts(const char* key, const std::function<void(const std::string&, int64_t)>& take) {
  const Json* found = find(key, &Json::is_object, "no object");
  if (!found) return;
  for (const auto& [name, value] : found->items()) {
    if (!value.is_number_integer() || !isWithin(value, int64_t{1} << 42))
      return fail(std::string(key) + "." + escaped(name), "no whole number within 0 and 2^42");
    take(name, value.get<int64_t>());
  }
}

}  // namespace sublane
