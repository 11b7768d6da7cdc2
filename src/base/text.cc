#include "base/text.h"

#include <fmt/format.h>

namespace sublane {

static std::string escapedWhole(std::string_view text) {
  std::string shown;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      shown += '\\';
      shown += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string escaped(std::string_view text, size_t limit) {
  return escapedWhole(text.substr(0, limit)) + (text.size() > limit ? "..." : "");
}

std::string inQuotes(std::string_view text, size_t limit) {
  return '"' + escapedWhole(text.substr(0, limit)) + (text.size() > limit ? "\"..." : "\"");
}

}  // namespace sublane
