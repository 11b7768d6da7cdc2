// JSON that nobody has checked: bounded in size and depth, and an error that says where it breaks. Private to
// the folder.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace simdjson::dom {
class object;
class parser;
}  // namespace simdjson::dom

namespace sublane::io {

/// Deeper nesting than any file of a checkpoint has.
constexpr size_t kMostJsonDepth = 64;

/// The root object of `text`; it lives as long as the parser. Errors: not JSON (with line and column), not
/// UTF-8, nested too deeply, no object.
Result<simdjson::dom::object> parseJsonObject(simdjson::dom::parser& parser, std::string_view text,
                                              const std::string& source);

}  // namespace sublane::io
