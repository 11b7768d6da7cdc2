#include "io/json_text.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sublane::io {
namespace {

/// Looks for the place of a syntax error without building anything: simdjson says only that a text is wrong.
/// Its own recursion is nlohmann's explicit stack; the depth has been checked before.
std::string whereJsonBreaks(std::string_view text, std::string_view otherwise) {
  try {
    nlohmann::json::parser_callback_t drop = [](int, nlohmann::json::parse_event_t, nlohmann::json&) {
      return false;
    };
    (void)nlohmann::json::parse(text, drop);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string what = error.what();  // "[json.exception...] parse error at line 3, column 7: ..."
    const size_t place = what.find("line ");
    return escaped(place == std::string::npos ? what : what.substr(place), 240);
  } catch (const nlohmann::json::exception& error) {  // a number that no double holds
    const std::string what = error.what();
    return escaped(what.substr(what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2), 240);
  }
  return std::string(otherwise);
}

}  // namespace

Result<simdjson::dom::object> parseJsonObject(simdjson::dom::parser& parser, std::string_view text,
                                              const std::string& source) {
  if (auto code = parser.allocate(text.size(), kMostJsonDepth))
    return machineError("{}: no memory for {} bytes of JSON: {}", source, text.size(),
                        simdjson::error_message(code));
  simdjson::dom::element root;
  const auto code = parser.parse(text.data(), text.size()).get(root);
  if (code == simdjson::DEPTH_ERROR)
    return inputError("{}: JSON nested more than {} deep", source, kMostJsonDepth);
  if (code)
    return inputError("{}: not valid JSON: {}", source, whereJsonBreaks(text, simdjson::error_message(code)));
  if (!root.is_object()) return inputError("{}: its JSON is not an object", source);
  return simdjson::dom::object(root);
}

}  // namespace sublane::io
