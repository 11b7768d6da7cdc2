// Unpacks each packing by its published description. Written plainly, one block a call, so that the
// compiler vectorises the inner loops; each product and sum rounds to float32 on its own.
#include <bit>
#include <cstring>

#include "formats/formats.h"
#include "formats/tiny_float.h"
#include "formats/unpack.h"

namespace sublane::formats {
namespace {

// Q4_0: scale d, 16 bytes of nibbles. Low nibbles are values 0..15, high nibbles 16..31: d * (q - 8).
void unpackQ4_0(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const uint8_t* q = unsignedBytes(block + 2);
  for (int i = 0; i < 16; ++i) out[i] = d * static_cast<float>((q[i] & 15) - 8);
  for (int i = 0; i < 16; ++i) out[16 + i] = d * static_cast<float>((q[i] >> 4) - 8);
}

// Q4_1: scale d, minimum m, nibbles as in Q4_0: d * q + m.
void unpackQ4_1(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const float m = loadScale(block + 2);
  const uint8_t* q = unsignedBytes(block + 4);
  for (int i = 0; i < 16; ++i) out[i] = d * static_cast<float>(q[i] & 15) + m;
  for (int i = 0; i < 16; ++i) out[16 + i] = d * static_cast<float>(q[i] >> 4) + m;
}

// Q5_0: scale d, 32 fifth bits, nibbles as in Q4_0: d * (q - 16).
void unpackQ5_0(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const uint32_t high = load<uint32_t>(block + 2);
  const uint8_t* q = unsignedBytes(block + 6);
  for (int i = 0; i < 16; ++i) {
    const int value = (q[i] & 15) | static_cast<int>((high >> i) & 1u) << 4;
    out[i] = d * static_cast<float>(value - 16);
  }
  for (int i = 0; i < 16; ++i) {
    const int value = (q[i] >> 4) | static_cast<int>((high >> (16 + i)) & 1u) << 4;
    out[16 + i] = d * static_cast<float>(value - 16);
  }
}

// Q5_1: scale d, minimum m, 32 fifth bits, nibbles as in Q4_0: d * q + m.
void unpackQ5_1(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const float m = loadScale(block + 2);
  const uint32_t high = load<uint32_t>(block + 4);
  const uint8_t* q = unsignedBytes(block + 8);
  for (int i = 0; i < 16; ++i) {
    const int value = (q[i] & 15) | static_cast<int>((high >> i) & 1u) << 4;
    out[i] = d * static_cast<float>(value) + m;
  }
  for (int i = 0; i < 16; ++i) {
    const int value = (q[i] >> 4) | static_cast<int>((high >> (16 + i)) & 1u) << 4;
    out[16 + i] = d * static_cast<float>(value) + m;
  }
}

// Q8_0: scale d, 32 signed bytes: d * q.
void unpackQ8_0(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const int8_t* q = signedBytes(block + 2);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q[i]);
}

// MXFP4: a power of two e, nibbles of E2M1 as in Q4_0. The values are doubled to whole numbers and the scale
// halved, as in the reference, where 0xFF is a power of two like the others.
void unpackMXFP4(const std::byte* block, float* __restrict out) {
  constexpr int8_t kDoubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const uint32_t e = load<uint8_t>(block);
  const float d = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  const uint8_t* q = unsignedBytes(block + 1);
  for (int i = 0; i < 16; ++i) out[i] = d * static_cast<float>(kDoubled[q[i] & 15]);
  for (int i = 0; i < 16; ++i) out[16 + i] = d * static_cast<float>(kDoubled[q[i] >> 4]);
}

void unpackF4(const std::byte* byte, float* __restrict out) {
  const uint8_t q = load<uint8_t>(byte);
  out[0] = widenF4E2M1(q & 15);
  out[1] = widenF4E2M1(q >> 4);
}

template <class Stored, float (*widen)(Stored)>
void unpackPlain(const std::byte* __restrict from, float* __restrict out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = widen(load<Stored>(from + i * sizeof(Stored)));
}

template <void (*unpack)(const std::byte*, float*), int kBytes, int kValues>
void unpackBlocks(const std::byte* __restrict from, float* __restrict out, size_t count) {
  for (size_t block = 0; block < count / kValues; ++block)
    unpack(from + block * kBytes, out + block * kValues);
}

float narrowF64(double value) { return static_cast<float>(value); }

using Unpack = void (*)(const std::byte* __restrict, float* __restrict, size_t);

Unpack unpackerOf(Packing packing) {
  switch (packing) {
    case Packing::kF32:
      return [](const std::byte* __restrict from, float* __restrict out, size_t count) {
        if (count) std::memcpy(out, from, count * sizeof(float));
      };
    case Packing::kF16:
      return unpackPlain<uint16_t, widenF16>;
    case Packing::kBF16:
      return unpackPlain<uint16_t, widenBf16>;
    case Packing::kF64:
      return unpackPlain<double, narrowF64>;
    case Packing::kF8_E4M3:
      return unpackPlain<uint8_t, widenF8E4M3>;
    case Packing::kF8_E5M2:
      return unpackPlain<uint8_t, widenF8E5M2>;
    case Packing::kF8_E8M0:
      return unpackPlain<uint8_t, widenF8E8M0>;
    case Packing::kF4:
      return unpackBlocks<unpackF4, 1, 2>;
    case Packing::kQ4_0:
      return unpackBlocks<unpackQ4_0, 18, 32>;
    case Packing::kQ4_1:
      return unpackBlocks<unpackQ4_1, 20, 32>;
    case Packing::kQ5_0:
      return unpackBlocks<unpackQ5_0, 22, 32>;
    case Packing::kQ5_1:
      return unpackBlocks<unpackQ5_1, 24, 32>;
    case Packing::kQ8_0:
      return unpackBlocks<unpackQ8_0, 34, 32>;
    case Packing::kQ2_K:
      return unpackBlocks<unpackQ2_K, 84, 256>;
    case Packing::kQ3_K:
      return unpackBlocks<unpackQ3_K, 110, 256>;
    case Packing::kQ4_K:
      return unpackBlocks<unpackQ4_K, 144, 256>;
    case Packing::kQ5_K:
      return unpackBlocks<unpackQ5_K, 176, 256>;
    case Packing::kQ6_K:
      return unpackBlocks<unpackQ6_K, 210, 256>;
    case Packing::kQ8_K:
      return unpackBlocks<unpackQ8_K, 292, 256>;
    case Packing::kMXFP4:
      return unpackBlocks<unpackMXFP4, 17, 32>;
    case Packing::kBool:
    case Packing::kI8:
    case Packing::kI16:
    case Packing::kI32:
    case Packing::kI64:
    case Packing::kU8:
    case Packing::kU16:
    case Packing::kU32:
    case Packing::kU64:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

Status dequantize(Packing packing, std::span<const std::byte> packed, std::span<float> out) {
  const PackingInfo& block = info(packing);
  const size_t block_bytes = static_cast<size_t>(block.block_bytes);
  Unpack unpack = unpackerOf(packing);
  if (!unpack) return inputError("dequantize {}: an integer packing has no float meaning", block.name);
  if (packed.size() % block_bytes != 0) {
    return inputError("dequantize {}: {} bytes are not whole blocks of {} bytes", block.name, packed.size(),
                      block_bytes);
  }
  const size_t values = packed.size() / block_bytes * static_cast<size_t>(block.block_elements);
  if (values != out.size()) {
    return inputError("dequantize {}: {} bytes hold {} values, but {} were asked for", block.name,
                      packed.size(), values, out.size());
  }
  unpack(packed.data(), out.data(), values);
  return Ok{};
}

}  // namespace sublane::formats
