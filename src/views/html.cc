#include "views/html.h"

#include <cstdint>

#include "base/deflate.h"

namespace sublane::views {
namespace {

constexpr std::string_view kTemplate =
#include "report_template.inc"  // generated from web/
    ;
constexpr std::string_view kPlace = "{{data}}";

/// Without the space between JSON's tokens, which a page would have to read for nothing.
std::string withoutSpace(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\' && i + 1 < json.size()) {
      text += c;
      text += json[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) text += c;
  }
  return text;
}

void appendBase64(std::string_view bytes, std::string& text) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < left ? static_cast<uint8_t>(bytes[i + k]) : 0);
    text += kDigits[bits >> 18];
    text += kDigits[bits >> 12 & 63];
    text += left > 1 ? kDigits[bits >> 6 & 63] : '=';
    text += left > 2 ? kDigits[bits & 63] : '=';
  }
}

}  // namespace

std::string toHtml(std::string_view explain_json) {
  const std::string packed = gzipped(withoutSpace(explain_json));
  const size_t place = kTemplate.find(kPlace);
  std::string page;
  page.reserve(kTemplate.size() + packed.size() / 3 * 4 + 4);
  page += kTemplate.substr(0, place);
  appendBase64(packed, page);
  page += kTemplate.substr(place + kPlace.size());
  return page;
}

}  // namespace sublane::views
