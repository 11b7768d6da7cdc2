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

Result<nlohmann::ordered_json> parseForeignJson(std::string_view text, const std::string& place) {
  constexpr int kMostNested = 100;  // the readers behind it allow 128
  if (const int deepest = jsonNesting(text); deepest > kMostNested)
    return inputError("{}: JSON nested {} deep, at most {} are allowed", place, deepest, kMostNested);
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::ordered_json::exception& error) {
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
    return inputError("{}: {}", place, what);
  }
}

void printJson(const nlohmann::ordered_json& document) {
  const std::string text = jsonText(document);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace sublane
