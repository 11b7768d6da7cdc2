// Types, literals and strings as MLIR spells them.
#include <cmath>
#include <cstring>

#include "lower/emitter.h"

namespace sublane::lower {
namespace {

std::string_view elementText(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kF16:
      return "f16";
    case DType::kI32:
      return "i32";
    case DType::kU32:
      return "ui32";
    case DType::kI8:
      return "i8";
    case DType::kU8:
      return "ui8";
    case DType::kI64:
      return "i64";
    case DType::kBool:
      return "i1";
  }
  return "?";
}

// The value as the type holds it, so that the text says what the program computes with.
float rounded(DType dtype, double value) {
  float narrow = static_cast<float>(value);
  if (dtype == DType::kBF16) return formats::floatFromBf16(formats::bf16FromFloat(narrow));
  if (dtype == DType::kF16) return formats::floatFromF16(formats::f16FromFloat(narrow));
  return narrow;
}

// MLIR writes infinities and NaN as the bits of the type.
std::string bitsText(DType dtype, float value) {
  if (dtype == DType::kBF16) return fmt::format("0x{:04X}", formats::bf16FromFloat(value));
  if (dtype == DType::kF16) return fmt::format("0x{:04X}", formats::f16FromFloat(value));
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return fmt::format("0x{:08X}", bits);
}

std::string floatText(DType dtype, double value) {
  float narrow = rounded(dtype, value);
  if (!std::isfinite(narrow)) return bitsText(dtype, narrow);
  std::string text = fmt::format("{}", narrow);  // the shortest text that reads back as the same float
  size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos) {  // MLIR wants a point: 1.0, 1.0e+20
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}

}  // namespace

std::string tensorText(const Type& type) {
  std::string text = "tensor<";
  for (int64_t extent : type.shape) fmt::format_to(std::back_inserter(text), "{}x", extent);
  text += elementText(type.dtype);
  text += '>';
  return text;
}

std::string literalText(DType dtype, double value) {
  if (dtype == DType::kBool) return value != 0 ? "true" : "false";
  if (isFloat(dtype)) return floatText(dtype, value);
  return fmt::format("{}", static_cast<int64_t>(value));
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\' || c < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\{:02X}", c);
    } else {
      out += static_cast<char>(c);
    }
  }
  out += '"';
  return out;
}

std::string listText(std::span<const int64_t> values) {
  std::string out;
  for (int64_t value : values)
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", value);
  return out;
}

}  // namespace sublane::lower
