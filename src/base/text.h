// Foreign text made safe to show: names out of a file may hold control codes or a megabyte.
//
//   inputError("tensor {}: unknown type {}", inQuotes(tensor.name), type);    // tensor "blk.0.\x1b[2J"...
#pragma once

#include <string>
#include <string_view>

namespace sublane {

/// Control characters and bytes that are not ASCII as \xNN, quotes and backslashes after a backslash; cut
/// after `limit` bytes with "...".
std::string escaped(std::string_view text, size_t limit = 80);
/// The same in double quotes.
std::string inQuotes(std::string_view text, size_t limit = 80);

}  // namespace sublane
