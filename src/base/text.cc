#include "base/text.h"

#include <fmt/format.h>

namespace sublane {

std::string quoted(std::string_view text, size_t limit) {
  std::string shown = "\"";
  for (char c : text.substr(0, limit)) {
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
  shown += text.size() > limit ? "\"..." : "\"";
  return shown;
}

}  // namespace sublane
