// Floats of 8 bits and fewer: E4M3 (the "fn" variant: no infinities, NaN is 0x7F), E5M2, E8M0 (a power of two
// without sign; 0xFF is NaN) and E2M1 (four bits, neither infinity nor NaN).
//
// A cast rounds to nearest even and does with what is too large what XLA's convert does: NaN in E4M3,
// infinity in E5M2. A quantiser wants the largest value instead, and says so by calling the saturating form.
//
//   uint8_t cast = f8E4M3FromFloat(1000.0f);            // 0x7F, NaN
//   uint8_t code = f8E4M3FromFloatSaturating(1000.0f);  // 0x7E, 448
#pragma once

#include <bit>
#include <cstdint>

#include "formats/narrow_float.h"

namespace sublane::formats {

inline constexpr float kLargestF8E4M3 = 448.0f;
inline constexpr float kLargestF8E5M2 = 57344.0f;
inline constexpr float kLargestF4E2M1 = 6.0f;

/// Branch-free, like widenF16: these run over every weight.
inline float widenF8E4M3(uint8_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x80u) << 24;
  const uint32_t magnitude = bits & 0x7fu;
  const uint32_t normal = (magnitude << 20) + (120u << 23);                               // rebias 7 -> 127
  const float subnormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-9f;  // exact
  uint32_t result = pick(magnitude < 8, std::bit_cast<uint32_t>(subnormal), normal);
  result = pick(magnitude == 0x7fu, 0x7fc00000u, result);
  return std::bit_cast<float>(result | sign);
}

/// E5M2 is the upper half of a float16.
inline float widenF8E5M2(uint8_t bits) { return widenF16(static_cast<uint16_t>(bits << 8)); }

/// 2^(bits - 127); the smallest is subnormal in float32.
inline float widenF8E8M0(uint8_t bits) {
  uint32_t result = pick(bits == 0, 0x00400000u, static_cast<uint32_t>(bits) << 23);
  result = pick(bits == 0xff, 0x7fc00000u, result);
  return std::bit_cast<float>(result);
}

inline constexpr float kF4E2M1Values[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                            -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};
/// `bits` below 16.
inline float widenF4E2M1(uint8_t bits) { return kF4E2M1Values[bits & 15]; }

/// To nearest even. Above 464 and for infinities: NaN with the sign.
uint8_t f8E4M3FromFloat(float value);
/// To nearest even. From 61440 on: infinity. NaN becomes the quiet NaN 0x7E with its sign.
uint8_t f8E5M2FromFloat(float value);
/// To the nearest power of two, a value half way up to the higher one; below 2^-127 that one. Zero, negative
/// values, NaN and what lies above: NaN. (ml_dtypes rounds up all that is between 2^-127 and 2^-126.)
uint8_t f8E8M0FromFloat(float value);
/// To nearest even, always saturating at 6. NaN has no code and becomes a zero of the opposite sign, as in
/// XLA's convert: who quantises looks for NaN first.
uint8_t f4E2M1FromFloat(float value);

/// The casts after clamping to the largest finite values; NaN stays NaN.
uint8_t f8E4M3FromFloatSaturating(float value);
uint8_t f8E5M2FromFloatSaturating(float value);

}  // namespace sublane::formats
