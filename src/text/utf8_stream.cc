#include "text/utf8_stream.h"

#include <cstdint>

namespace sublane::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// How many bytes the character led by `lead` has, and what its second byte may be (Unicode table 3-7).
struct Form {
  size_t size = 0;  // 0: no character begins with this byte
  uint8_t second_from = 0x80, second_to = 0xBF;
};
Form formOf(uint8_t lead) {
  if (lead < 0x80) return {1};
  if (lead >= 0xC2 && lead <= 0xDF) return {2};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {3};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  if (lead >= 0xF1 && lead <= 0xF3) return {4};
  return {0};
}

/// What stands at the front of `bytes`.
struct Front {
  enum { kWhole, kOpen, kWrong } kind;
  size_t size;  // bytes of the character, or of its longest proper beginning
};
Front frontOf(std::string_view bytes) {
  Form form = formOf(static_cast<uint8_t>(bytes[0]));
  if (form.size == 0) return {Front::kWrong, 1};
  for (size_t i = 1; i < form.size; ++i) {
    if (i == bytes.size()) return {Front::kOpen, i};
    uint8_t byte = static_cast<uint8_t>(bytes[i]);
    bool fits = i == 1 ? byte >= form.second_from && byte <= form.second_to : (byte & 0xC0) == 0x80;
    if (!fits) return {Front::kWrong, i};
  }
  return {Front::kWhole, form.size};
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  held_ += bytes;
  std::string out;
  std::string_view rest = held_;
  while (!rest.empty()) {
    Front front = frontOf(rest);
    if (front.kind == Front::kOpen) break;
    out += front.kind == Front::kWhole ? rest.substr(0, front.size) : kReplacement;
    rest.remove_prefix(front.size);
  }
  held_.erase(0, held_.size() - rest.size());
  return out;
}

std::string Utf8Stream::finish() {
  bool open = !held_.empty();
  held_.clear();
  return open ? std::string(kReplacement) : "";
}

bool isUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    Front front = frontOf(bytes);
    if (front.kind != Front::kWhole) return false;
    bytes.remove_prefix(front.size);
  }
  return true;
}

}  // namespace sublane::text
