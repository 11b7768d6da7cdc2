#include "base/json.h"

#include <algorithm>
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

int jsonNesting(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

void printJson(const nlohmann::ordered_json& document) {
  const std::string text = jsonText(document);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace sublane
