// The 16-bit float conversions as inline code, for loops that must vectorise. The public names are in
// formats.h; these are the same functions.
#pragma once

#include <bit>
#include <cstdint>

namespace sublane::formats {

/// `yes` where the condition holds, without a branch: compilers turn ?: into jumps, which random bits mislead
/// and which keep a loop from being vectorised.
inline uint32_t pick(bool condition, uint32_t yes, uint32_t no) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// Branch-free. A signalling NaN comes out quiet, as the hardware instruction does it.
inline float widenF16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + (112u << 23);                                // rebias 15 -> 127
  const float subnormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;  // exact
  const uint32_t special = (magnitude << 13) | 0x7f800000u;                                // infinity, NaN
  uint32_t result = pick(magnitude < 0x0400u, std::bit_cast<uint32_t>(subnormal), normal);
  result = pick(magnitude >= 0x7c00u, special, result);
  result |= pick(magnitude > 0x7c00u, 0x00400000u, 0);
  return std::bit_cast<float>(result | sign);
}

inline float widenBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace sublane::formats
