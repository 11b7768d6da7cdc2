#include "report/text_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace sublane::report {

std::string shortened(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "~";
}

std::string scaled(int64_t value) {
  if (value == 0) return "-";
  std::string text = formatScaled(static_cast<double>(value), "");
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string wrapped(const std::string& text, const std::string& first, const std::string& next) {
  std::string out, current = first;
  size_t at = 0;
  bool fresh = true;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!fresh && current.size() + 1 + word.size() > kColumns) {
      out += current + "\n";
      current = next;
      fresh = true;
    }
    current += (fresh ? "" : " ") + word;
    fresh = false;
    at = end + 1;
  }
  return out + current + "\n";
}

std::string labelled(std::string_view label, const std::string& value) {
  return wrapped(value, fmt::format("  {:<14}", label), std::string(16, ' '));
}

}  // namespace sublane::report
