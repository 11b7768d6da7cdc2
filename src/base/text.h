// Foreign text made safe to show: names out of a file may hold control codes or a megabyte.
//
//   inputError("tensor {}: unknown type {}", quoted(tensor.name), type);    // tensor "blk.0.\x1b[2J"...
#pragma once

#include <string>
#include <string_view>

namespace sublane {

/// In double quotes; control characters and bytes that are not ASCII as \xNN; cut after `limit` bytes with "...".
std::string quoted(std::string_view text, size_t limit = 80);

}  // namespace sublane
