// Unpacks each packing by its published description. Written plainly, one block a call, so that the
// compiler vectorises the inner loops; each product and sum rounds to float32 on its own.
#include <cstring>

#include "formats/formats.h"
#include "formats/narrow_float.h"

namespace sublane::formats {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float loadScale(const std::byte* from) { return widenF16(load<uint16_t>(from)); }

const uint8_t* unsignedBytes(const std::byte* from) { return reinterpret_cast<const uint8_t*>(from); }
const int8_t* signedBytes(const std::byte* from) { return reinterpret_cast<const int8_t*>(from); }

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

// Q8_0: scale d, 32 signed bytes: d * q.
void unpackQ8_0(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const int8_t* q = signedBytes(block + 2);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q[i]);
}

// Q4_K: 8 sub-blocks of 32. d, dmin, 12 bytes that hold 8 six-bit scales and 8 six-bit minima, 128 bytes of
// nibbles; 32 bytes hold two sub-blocks, low nibbles first: (d * scale) * q - (dmin * minimum).
void unpackQ4_K(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const float dmin = loadScale(block + 2);
  const uint8_t* s = unsignedBytes(block + 4);
  const uint8_t* q = unsignedBytes(block + 16);
  for (int sub = 0; sub < 8; ++sub) {
    // The first four scales and minima lie in the low six bits of bytes 0-3 and 4-7; the last four have
    // their low nibbles in bytes 8-11 and their top two bits above the first four's.
    const int scale = sub < 4 ? s[sub] & 63 : (s[sub + 4] & 15) | (s[sub - 4] >> 6) << 4;
    const int minimum = sub < 4 ? s[sub + 4] & 63 : (s[sub + 4] >> 4) | (s[sub] >> 6) << 4;
    const float step = d * static_cast<float>(scale);
    const float offset = dmin * static_cast<float>(minimum);
    const uint8_t* nibbles = q + 32 * (sub / 2);
    const int shift = 4 * (sub % 2);
    for (int i = 0; i < 32; ++i) {
      out[32 * sub + i] = step * static_cast<float>((nibbles[i] >> shift) & 15) - offset;
    }
  }
}

// Q6_K: 128 bytes of low nibbles, 64 bytes of top two bits, 16 signed scales (one for 16 values), d. Each
// half of 128 values takes 64 low bytes and 32 high bytes: (d * scale) * (q - 32).
void unpackQ6_K(const std::byte* block, float* __restrict out) {
  const int8_t* scales = signedBytes(block + 192);
  const float d = loadScale(block + 208);
  for (int half = 0; half < 2; ++half) {
    const uint8_t* low = unsignedBytes(block) + 64 * half;
    const uint8_t* high = unsignedBytes(block + 128) + 32 * half;
    for (int quarter = 0; quarter < 4; ++quarter) {  // 32 values, two scales
      const uint8_t* nibbles = low + 32 * (quarter % 2);
      const int nibble_shift = 4 * (quarter / 2), high_shift = 2 * quarter;
      for (int part = 0; part < 2; ++part) {
        const float step = d * static_cast<float>(scales[8 * half + 2 * quarter + part]);
        float* to = out + 128 * half + 32 * quarter + 16 * part;
        for (int i = 0; i < 16; ++i) {
          const int at = 16 * part + i;
          const int value = ((nibbles[at] >> nibble_shift) & 15) | ((high[at] >> high_shift) & 3) << 4;
          to[i] = step * static_cast<float>(value - 32);
        }
      }
    }
  }
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
    case Packing::kQ4_0:
      return unpackBlocks<unpackQ4_0, 18, 32>;
    case Packing::kQ4_1:
      return unpackBlocks<unpackQ4_1, 20, 32>;
    case Packing::kQ5_0:
      return unpackBlocks<unpackQ5_0, 22, 32>;
    case Packing::kQ8_0:
      return unpackBlocks<unpackQ8_0, 34, 32>;
    case Packing::kQ4_K:
      return unpackBlocks<unpackQ4_K, 144, 256>;
    case Packing::kQ6_K:
      return unpackBlocks<unpackQ6_K, 210, 256>;
    case Packing::kI8:
    case Packing::kI16:
    case Packing::kI32:
    case Packing::kI64:
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
