// One block of a format, from its bytes to float32: what `dequantize` is made of. Private to the folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/narrow_float.h"

namespace sublane::formats {

/// Blocks lie at any byte.
template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline float loadScale(const std::byte* from) { return widenF16(load<uint16_t>(from)); }
inline const uint8_t* unsignedBytes(const std::byte* from) { return reinterpret_cast<const uint8_t*>(from); }
inline const int8_t* signedBytes(const std::byte* from) { return reinterpret_cast<const int8_t*>(from); }

// The formats in super-blocks of 256 values (unpack_k.cc).
void unpackQ2_K(const std::byte* block, float* __restrict out);
void unpackQ3_K(const std::byte* block, float* __restrict out);
void unpackQ4_K(const std::byte* block, float* __restrict out);
void unpackQ5_K(const std::byte* block, float* __restrict out);
void unpackQ6_K(const std::byte* block, float* __restrict out);
void unpackQ8_K(const std::byte* block, float* __restrict out);

}  // namespace sublane::formats
