// Number types and packing formats: what the bytes of a tensor mean.
//
// DType is what a graph computes in. Packing is how a checkpoint stores it: a plain DType, or blocks of
// a quantised format. `dequantize` is the oracle for each packing; nothing else in Sublane unpacks bytes.
//
//   std::vector<float> row(packedElements(Packing::kQ8_0, 34));        // one block: 32 values
//   SUBLANE_CHECK_OK(dequantize(Packing::kQ8_0, block, row));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace sublane::formats {

/// Types of values in a graph. kBool is one byte in memory.
enum class DType : uint8_t { kF32, kBF16, kF16, kI32, kU32, kI8, kU8, kI64, kBool };

int64_t bytesPerElement(DType dtype);
std::string_view name(DType dtype);  // "f32", "bf16", "i32", "u32", "bool", ...

/// How a checkpoint stores values: plain types, and GGUF's block formats by their published names.
enum class Packing : uint8_t {
  kF32,
  kF16,
  kBF16,
  kI8,
  kI16,
  kI32,
  kI64,
  kF64,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ8_0,
  kQ4_K,
  kQ6_K
};

struct PackingInfo {
  std::string_view name;   // "Q4_K"
  int64_t block_elements;  // values in a block; rows are whole blocks
  int64_t block_bytes;     // bytes of a block
};
const PackingInfo& info(Packing packing);

/// Bytes of `elements` values; elements must be a multiple of the block.
int64_t packedBytes(Packing packing, int64_t elements);
/// Values in `bytes` bytes; bytes must be a multiple of the block.
int64_t packedElements(Packing packing, int64_t bytes);

/// Unpacks whole blocks to float32, bit-equal to PyPI `gguf`'s dequantisation.
/// Errors: sizes of `packed` and `out` disagree; an integer packing (no float meaning).
Status dequantize(Packing packing, std::span<const std::byte> packed, std::span<float> out);

/// Round to nearest even; NaN stays a quiet NaN with its sign.
uint16_t bf16FromFloat(float value);
float floatFromBf16(uint16_t bits);
float floatFromF16(uint16_t bits);
uint16_t f16FromFloat(float value);

}  // namespace sublane::formats
