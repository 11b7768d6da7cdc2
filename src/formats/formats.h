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

/// How a checkpoint stores values: plain types (GGUF's and safetensors'), and GGUF's block formats, all by
/// their published names. kF8_E4M3 is the variant without infinities ("fn"); kF4 is E2M1, two a byte, low
/// nibble first.
enum class Packing : uint8_t {
  kF32,
  kF16,
  kBF16,
  kF64,
  kF8_E4M3,
  kF8_E5M2,
  kF8_E8M0,
  kF4,
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kQ8_K,
  kMXFP4
};
inline constexpr size_t kPackingCount = static_cast<size_t>(Packing::kMXFP4) + 1;

struct PackingInfo {
  std::string_view name;   // "Q4_K", "F8_E4M3"
  int64_t block_elements;  // values in a block; rows are whole blocks
  int64_t block_bytes;     // bytes of a block
};
const PackingInfo& info(Packing packing);
/// kBool, kI8 ... kU64: values that `dequantize` refuses.
bool isInteger(Packing packing);

/// Bytes of `elements` values; elements must be a multiple of the block.
int64_t packedBytes(Packing packing, int64_t elements);
/// Values in `bytes` bytes; bytes must be a multiple of the block.
int64_t packedElements(Packing packing, int64_t bytes);

/// Unpacks whole blocks to float32, bit-equal to PyPI `gguf`'s dequantisation (NaN for NaN). A block scale of
/// MXFP4 that is 0xFF counts as 2^128 there, and so here, though the format's description calls it NaN: the
/// scan of a checkpoint reports it.
/// Errors: sizes of `packed` and `out` disagree; an integer packing (no float meaning).
Status dequantize(Packing packing, std::span<const std::byte> packed, std::span<float> out);

/// Round to nearest even; NaN stays a quiet NaN with its sign.
uint16_t bf16FromFloat(float value);
float floatFromBf16(uint16_t bits);
float floatFromF16(uint16_t bits);
uint16_t f16FromFloat(float value);

}  // namespace sublane::formats
