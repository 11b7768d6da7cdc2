#include "formats/narrow_float.h"

#include "formats/formats.h"

namespace sublane::formats {
namespace {

constexpr uint32_t kInfinity = 0x7f800000u;

// bits / 2^shift, to the nearest, ties to even. A carry out of the mantissa moves into the exponent, which
// is what rounding up to the next power of two, or to infinity, needs.
uint32_t shiftRounding(uint32_t bits, int shift) {
  const uint32_t half = (1u << (shift - 1)) - 1;
  return (bits + half + ((bits >> shift) & 1u)) >> shift;
}

}  // namespace

float floatFromBf16(uint16_t bits) { return widenBf16(bits); }
float floatFromF16(uint16_t bits) { return widenF16(bits); }

uint16_t bf16FromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & ~0x80000000u) > kInfinity) return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | 0x7fc0u);
  return static_cast<uint16_t>(shiftRounding(bits, 16));
}

uint16_t f16FromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > kInfinity) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // from 65520 on: infinity
  if (magnitude >= 0x38800000u) {                                              // 2^-14: normal in 16 bits
    return static_cast<uint16_t>(sign | shiftRounding(magnitude - (112u << 23), 13));
  }
  // Subnormal: the mantissa in units of 2^-24. Below 2^-25 all bits are shifted out.
  const int exponent = static_cast<int>(magnitude >> 23);
  if (exponent < 102) return static_cast<uint16_t>(sign);
  const uint32_t mantissa = (magnitude & 0x007fffffu) | 0x00800000u;
  return static_cast<uint16_t>(sign | shiftRounding(mantissa, 126 - exponent));
}

}  // namespace sublane::formats
