#include "formats/tiny_float.h"

namespace sublane::formats {
namespace {

constexpr uint32_t kInfinity = 0x7f800000u;

// bits / 2^shift, to the nearest, ties to even; shift from 1 to 31.
uint32_t shiftRounding(uint32_t bits, int shift) {
  const uint32_t half = (1u << (shift - 1)) - 1;
  return (bits + half + ((bits >> shift) & 1u)) >> shift;
}

// The code of a finite or infinite magnitude, as if the exponent had no end: the caller says what becomes of
// codes above its largest.
template <int kMantissaBits, int kBias>
uint32_t codeOf(uint32_t magnitude) {
  constexpr uint32_t kLeastNormal = static_cast<uint32_t>(127 + 1 - kBias) << 23;
  if (magnitude >= kLeastNormal) {
    return shiftRounding(magnitude - (static_cast<uint32_t>(127 - kBias) << 23), 23 - kMantissaBits);
  }
  // Subnormal: the mantissa in units of the least value. From a shift of 25 on, all bits are lost.
  const int shift = 151 - kBias - kMantissaBits - static_cast<int>(magnitude >> 23);
  if (shift > 24) return 0;
  return shiftRounding((magnitude & 0x007fffffu) | 0x00800000u, shift);
}

struct Parts {
  uint32_t sign;  // 0 or 0x80
  uint32_t magnitude;
};
Parts partsOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return {(bits >> 24) & 0x80u, bits & 0x7fffffffu};
}

float clamp(float value, float most) {
  return value > most ? most : value < -most ? -most : value;  // NaN passes
}

}  // namespace

uint8_t f8E4M3FromFloat(float value) {
  const auto [sign, magnitude] = partsOf(value);
  const uint32_t code = codeOf<3, 7>(magnitude);
  return static_cast<uint8_t>(sign | (code > 0x7f ? 0x7f : code));
}

uint8_t f8E5M2FromFloat(float value) {
  const auto [sign, magnitude] = partsOf(value);
  if (magnitude > kInfinity) return static_cast<uint8_t>(sign | 0x7e);
  const uint32_t code = codeOf<2, 15>(magnitude);
  return static_cast<uint8_t>(sign | (code > 0x7c ? 0x7c : code));
}

uint8_t f8E8M0FromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (bits == 0 || bits >= kInfinity) return 0xff;  // zero, NaN, infinity, and all with a sign
  if (bits < 0x00600000u) return 0;                 // up to half way from 2^-127 to 2^-126
  return static_cast<uint8_t>((bits + 0x00400000u) >> 23);
}

uint8_t f4E2M1FromFloat(float value) {
  const auto [sign, magnitude] = partsOf(value);
  const uint32_t sign_bit = sign >> 4;
  if (magnitude > kInfinity) return static_cast<uint8_t>(sign_bit ^ 8u);
  const uint32_t code = codeOf<1, 1>(magnitude);
  return static_cast<uint8_t>(sign_bit | (code > 7 ? 7 : code));
}

uint8_t f8E4M3FromFloatSaturating(float value) { return f8E4M3FromFloat(clamp(value, kLargestF8E4M3)); }
uint8_t f8E5M2FromFloatSaturating(float value) { return f8E5M2FromFloat(clamp(value, kLargestF8E5M2)); }

}  // namespace sublane::formats
