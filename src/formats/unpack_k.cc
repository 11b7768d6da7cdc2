// The formats in super-blocks of 256 values: scales of sub-blocks are themselves numbers of few bits, times a
// scale of the whole. Each product and sum rounds to float32 on its own, in the reference's order.
#include "formats/unpack.h"

namespace sublane::formats {
namespace {

// Q4_K and Q5_K: 12 bytes hold 8 six-bit scales and 8 six-bit minima. The first four of each lie in the low
// six bits of bytes 0-3 and 4-7; the last four have their low nibbles in bytes 8-11 and their top two bits
// above the first four's.
int scaleOf(const uint8_t* s, int sub) {
  return sub < 4 ? s[sub] & 63 : (s[sub + 4] & 15) | (s[sub - 4] >> 6) << 4;
}
int minimumOf(const uint8_t* s, int sub) {
  return sub < 4 ? s[sub + 4] & 63 : (s[sub + 4] >> 4) | (s[sub] >> 6) << 4;
}

// Q3_K: 12 bytes hold 16 six-bit scales: nibbles in bytes 0-7 (low ones first), top two bits in bytes 8-11.
int scaleOfQ3_K(const uint8_t* s, int sub) {
  const int low = sub < 8 ? s[sub] & 15 : s[sub - 8] >> 4;
  const int high = (s[8 + sub % 4] >> (2 * (sub / 4))) & 3;
  return (low | high << 4) - 32;
}

}  // namespace

// Q2_K: 16 bytes with a scale (low nibble) and a minimum (high) for each 16 values, 64 bytes of four two-bit
// values, d, dmin. Each 32 bytes hold 128 values, the lowest bits of all first: (d * scale) * q - (dmin *
// minimum).
void unpackQ2_K(const std::byte* block, float* __restrict out) {
  const uint8_t* scales = unsignedBytes(block);
  const float d = loadScale(block + 80);
  const float dmin = loadScale(block + 82);
  for (int sub = 0; sub < 16; ++sub) {
    const float step = d * static_cast<float>(scales[sub] & 15);
    const float offset = dmin * static_cast<float>(scales[sub] >> 4);
    const uint8_t* q = unsignedBytes(block + 16) + 32 * (sub / 8) + 16 * (sub % 2);
    const int shift = 2 * (sub % 8 / 2);
    for (int i = 0; i < 16; ++i) out[16 * sub + i] = step * static_cast<float>((q[i] >> shift) & 3) - offset;
  }
}

// Q3_K: 32 bytes of third bits (bit k of byte i: value 32 k + i), 64 bytes of two-bit values as in Q2_K,
// scales, d. A third bit that is not set takes 4 off: (d * scale) * (q - 4).
void unpackQ3_K(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block + 108);
  for (int sub = 0; sub < 16; ++sub) {
    const float step = d * static_cast<float>(scaleOfQ3_K(unsignedBytes(block + 96), sub));
    const uint8_t* high = unsignedBytes(block) + 16 * (sub % 2);
    const uint8_t* q = unsignedBytes(block + 32) + 32 * (sub / 8) + 16 * (sub % 2);
    const int shift = 2 * (sub % 8 / 2), high_shift = sub / 2;
    for (int i = 0; i < 16; ++i) {
      const int value = ((q[i] >> shift) & 3) + ((high[i] >> high_shift) & 1) * 4 - 4;
      out[16 * sub + i] = step * static_cast<float>(value);
    }
  }
}

// Q4_K: 8 sub-blocks of 32. d, dmin, 12 bytes that hold 8 six-bit scales and 8 six-bit minima, 128 bytes of
// nibbles; 32 bytes hold two sub-blocks, low nibbles first: (d * scale) * q - (dmin * minimum).
void unpackQ4_K(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const float dmin = loadScale(block + 2);
  const uint8_t* s = unsignedBytes(block + 4);
  const uint8_t* q = unsignedBytes(block + 16);
  for (int sub = 0; sub < 8; ++sub) {
    const float step = d * static_cast<float>(scaleOf(s, sub));
    const float offset = dmin * static_cast<float>(minimumOf(s, sub));
    const uint8_t* nibbles = q + 32 * (sub / 2);
    const int shift = 4 * (sub % 2);
    for (int i = 0; i < 32; ++i) {
      out[32 * sub + i] = step * static_cast<float>((nibbles[i] >> shift) & 15) - offset;
    }
  }
}

// Q5_K: as Q4_K, with 32 bytes of fifth bits (bit k of byte i: value 32 k + i) before the nibbles.
void unpackQ5_K(const std::byte* block, float* __restrict out) {
  const float d = loadScale(block);
  const float dmin = loadScale(block + 2);
  const uint8_t* s = unsignedBytes(block + 4);
  const uint8_t* high = unsignedBytes(block + 16);
  for (int sub = 0; sub < 8; ++sub) {
    const float step = d * static_cast<float>(scaleOf(s, sub));
    const float offset = dmin * static_cast<float>(minimumOf(s, sub));
    const uint8_t* nibbles = unsignedBytes(block + 48) + 32 * (sub / 2);
    const int shift = 4 * (sub % 2);
    for (int i = 0; i < 32; ++i) {
      const int value = ((nibbles[i] >> shift) & 15) | ((high[i] >> sub) & 1) << 4;
      out[32 * sub + i] = step * static_cast<float>(value) - offset;
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

// Q8_K: a float32 scale d, 256 signed bytes, and 16 sums of them that unpacking has no use for: d * q.
void unpackQ8_K(const std::byte* block, float* __restrict out) {
  const float d = load<float>(block);
  const int8_t* q = signedBytes(block + 4);
  for (int i = 0; i < 256; ++i) out[i] = d * static_cast<float>(q[i]);
}

}  // namespace sublane::formats
