// Constants in HLO text: "5", "{1, 2}", "{ { 1.5, inf }, { nan, -0 } }", "{...}" where elements were left
// out.
#include <charconv>
#include <cstring>

#include "formats/formats.h"
#include "llo/hlo_text_reader.h"

namespace sublane::llo {
namespace {

/// Larger ones are weights; nothing that a scalar depends on.
constexpr int64_t kMostBytes = 1 << 20;

template <class T>
bool number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

template <class T>
void append(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// An integer as the 64 bits that the proto would hold.
bool integerBits(std::string_view text, int64_t& bits) {
  if (text == "true" || text == "false") return bits = text == "true", true;
  if (number(text, bits)) return true;
  uint64_t large = 0;
  if (!number(text, large)) return false;
  bits = static_cast<int64_t>(large);
  return true;
}

struct Elements {
  ElementType type;
  bool kept;  // their bytes are wanted
  int64_t count = 0, bits = 0;
  std::string bytes;

  bool add(std::string_view text) {
    ++count;
    switch (type) {
      case ElementType::kF32:
      case ElementType::kF16:
      case ElementType::kBF16:
        return addFloat(text);
      case ElementType::kPred:
      case ElementType::kS8:
      case ElementType::kU8:
        return addInteger<int8_t>(text);
      case ElementType::kS16:
      case ElementType::kU16:
        return addInteger<int16_t>(text);
      case ElementType::kS32:
      case ElementType::kU32:
        return addInteger<int32_t>(text);
      case ElementType::kS64:
      case ElementType::kU64:
        return addInteger<int64_t>(text);
      default:
        return true;  // its bytes are not kept: see decodeLiteral
    }
  }

 private:
  template <class T>
  bool addInteger(std::string_view text) {
    if (!integerBits(text, bits)) return false;
    if (kept) append(static_cast<T>(bits), bytes);
    return true;
  }
  bool addFloat(std::string_view text) {
    float value = 0;
    if (!number(text, value)) return false;
    if (!kept) return true;
    if (type == ElementType::kF32) append(value, bytes);
    if (type == ElementType::kF16) append(formats::f16FromFloat(value), bytes);
    if (type == ElementType::kBF16) append(formats::bf16FromFloat(value), bytes);
    return true;
  }
};

bool hasBytes(ElementType type) {
  switch (type) {
    case ElementType::kTuple:
    case ElementType::kOpaque:
    case ElementType::kToken:
    case ElementType::kBuffer:
    case ElementType::kC64:
    case ElementType::kC128:
      return false;
    default:
      return true;
  }
}

/// One number, or the digits of many predicates: "{101}" in older text.
bool addToken(std::string_view token, Elements& elements) {
  const bool digits = elements.type == ElementType::kPred && token.size() > 1 &&
                      token.find_first_not_of("01") == std::string_view::npos;
  if (!digits) return elements.add(token);
  for (size_t i = 0; i < token.size(); ++i) elements.add(token.substr(i, 1));
  return true;
}

/// Up to and with the closing parenthesis. False: elements were left out.
bool readElements(HloCursor& cursor, Elements& elements) {
  int64_t depth = 0;
  bool complete = true;
  while (!cursor.fault()) {
    const char* place = (cursor.peek(), cursor.place());
    if (cursor.take(',')) continue;
    if (cursor.take('{')) {
      ++depth;
    } else if (depth > 0 && cursor.take('}')) {
      --depth;
    } else if (depth == 0 && cursor.take(')')) {
      return complete;
    } else if (cursor.take("...")) {
      complete = false;
    } else {
      const std::string_view token = cursor.bare();
      // "nan(0x1)" has a bracket of its own
      if (token.empty() || !addToken(token.substr(0, token.find('(')), elements)) {
        cursor.failAt(place, fmt::format("expected an element of {}", name(elements.type)));
      } else if (token.find('(') != std::string_view::npos) {
        cursor.expect(')');
      }
    }
  }
  return complete;
}

bool isProtoInteger(ElementType type) {
  return type == ElementType::kPred || type == ElementType::kS32 || type == ElementType::kS64 ||
         type == ElementType::kU32 || type == ElementType::kU64;
}

}  // namespace

void readLiteralText(HloCursor& cursor, Instruction& to) {
  const char* place = cursor.place();
  if (!hasBytes(to.shape.type)) {
    cursor.bracketed();
    return;
  }
  if (!cursor.expect('(')) return;
  const int64_t expected = elementCount(to.shape), bytes = logicalBytes(to.shape);
  Elements elements{.type = to.shape.type, .kept = bytes > 0 && bytes <= kMostBytes};
  const bool complete = readElements(cursor, elements);
  if (cursor.fault() || !complete) return;
  if (elements.count != expected)
    return cursor.failAt(
        place, fmt::format("a constant of {} elements, its shape has {}", elements.count, expected));
  to.literal = std::move(elements.bytes);
  if (to.shape.dims.empty() && isProtoInteger(to.shape.type))
    to.constant = to.shape.type == ElementType::kS32 ? static_cast<int32_t>(elements.bits) : elements.bits;
}

}  // namespace sublane::llo
