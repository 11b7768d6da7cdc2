// What the text views share, here and in later folders: lines of at most 100 columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sublane::report {

inline constexpr size_t kColumns = 100;

/// Breaks at spaces so that no line passes the width; later lines begin with `next`. Ends with a newline.
std::string wrapped(const std::string& text, const std::string& first, const std::string& next);
/// "  label         value", wrapped beside the label.
std::string labelled(std::string_view label, const std::string& value);
/// Cut with "~" where it is longer than `width`.
std::string shortened(const std::string& text, size_t width);
/// Three figures with a prefix; "-" for 0.
std::string scaled(int64_t value);

}  // namespace sublane::report
