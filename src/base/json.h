// The head and the form of every JSON document that Sublane prints: the schema's name and version first,
// keys in the order in which they were added, two spaces of indent, one newline at the end. Same facts,
// same bytes.
//
//   nlohmann::ordered_json document = jsonDocument("sublane.inspect/1");
//   document["tensors"] = 272;
//   document["scan"] = jsonNumber(3.1e9, "bytes/s", Origin::kMeasured);
//   printJson(document);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/origin.h"
#include "base/result.h"

namespace sublane {

/// {"schema": schema}, to be filled.
nlohmann::ordered_json jsonDocument(std::string_view schema);

/// {"value": ..., "unit": ..., "origin": ...}
nlohmann::ordered_json jsonNumber(double value, std::string_view unit, Origin origin);

/// Bytes that are not UTF-8 (names from a foreign file) become U+FFFD; infinities and NaN become null.
std::string jsonText(const nlohmann::ordered_json& document);

/// The deepest nesting of lists and objects in `text`, JSON or not. Ask it before walking over foreign JSON
/// by recursion.
int jsonNesting(std::string_view text);

/// Foreign JSON, for people who wrote it: "PLACE: parse error at line 1, ...". Error: not JSON, or nested
/// more than 100 deep.
Result<nlohmann::ordered_json> parseForeignJson(std::string_view text, const std::string& place);

/// jsonText to stdout.
void printJson(const nlohmann::ordered_json& document);

}  // namespace sublane
