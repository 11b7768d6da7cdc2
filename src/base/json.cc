#include "base/json.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace sublane {

nlohmann::ordered_json jsonDocument(std::string_view schema) {
  nlohmann::ordered_json document;
  document["schema"] = schema;
  return document;
}

nlohmann::ordered_json jsonNumber(double value, std::string_view unit, Origin origin) {
  nlohmann::ordered_json number;
  number["value"] = value;
  number["unit"] = unit;
  number["origin"] = name(origin);
  return number;
}

std::string jsonText(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void printJson(const nlohmann::ordered_json& document) {
  const std::string text = jsonText(document);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace sublane
