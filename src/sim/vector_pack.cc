// Packed types: conversions that widen or narrow, sublane moves, and the extended unit (EUP).
//
// A packed word holds rows: of a bf16 tile, word s has rows 2s (low half) and 2s+1. "c" operations keep that
// order over whole registers (part k of a source fills a result), "i" operations work within each word.
// The extended unit's polynomials are not known: results are those of the C library in single precision.
#include <array>
#include <bit>
#include <cmath>

#include "sim/vector_state.h"

namespace sublane::sim {
namespace {

using State = VectorUnit::State;
using Bits = uint32_t;

inline float f(Bits bits) { return std::bit_cast<float>(bits); }
inline Bits u(float value) { return std::bit_cast<Bits>(value); }

// --- conversions of one element, in the low bits of a word

struct Same {
  static inline Bits of(Bits x) { return x; }
};
/// Of shadows: an element is tainted or not.
struct Any {
  static inline Bits of(Bits x) { return x != 0 ? ~Bits{0} : 0; }
};
struct Bf16ToF32 {
  static inline Bits of(Bits x) { return x << 16; }
};
struct F32ToBf16 {
  static inline Bits of(Bits x) {
    const Bits rounded = (x + 0x7fff + ((x >> 16) & 1)) >> 16;
    return (x & 0x7fffffff) > 0x7f800000 ? (x >> 16) | 0x40 : rounded;
  }
};
template <int kBits>
struct SignExtend {
  static inline Bits of(Bits x) {
    return static_cast<Bits>(static_cast<int32_t>(x << (32 - kBits)) >> (32 - kBits));
  }
};
struct S8ToBf16 {
  static inline Bits of(Bits x) { return u(static_cast<float>(static_cast<int8_t>(x))) >> 16; }  // exact
};
/// The 8-bit floats: with infinities (e5m2); "fn", whose top exponent holds numbers and one NaN (e4m3); and
/// "if8", whose bias is 11 and whose only NaN is the code of -0 (e4m3b11fnuz).
struct E5m2 {
  static constexpr int kMantissa = 2, kBias = 15;
  static constexpr bool kInfinite = true, kZeroNan = false;
  static constexpr Bits kLast = 0x7b;
};
struct E4m3 {
  static constexpr int kMantissa = 3, kBias = 7;
  static constexpr bool kInfinite = false, kZeroNan = false;
  static constexpr Bits kLast = 0x7e;
};
struct If8 {
  static constexpr int kMantissa = 3, kBias = 11;
  static constexpr bool kInfinite = false, kZeroNan = true;
  static constexpr Bits kLast = 0x7f;
};
template <class Format>
struct Float8ToF32 {
  static inline Bits of(Bits x) {
    constexpr int kMantissa = Format::kMantissa;
    constexpr Bits kNan = 0x7fc00000, kTop = 0x7f >> kMantissa;
    const Bits sign = (x & 0x80) << 24, exponent = (x & 0x7f) >> kMantissa,
               mantissa = x & ((1 << kMantissa) - 1);
    const float unit = f(static_cast<Bits>(127 + 1 - Format::kBias - kMantissa) << 23);
    const Bits small = u(static_cast<float>(static_cast<int32_t>(mantissa)) * unit);
    const Bits normal = (exponent + 127 - Format::kBias) << 23 | mantissa << (23 - kMantissa);
    Bits result = exponent == 0 ? small : normal;
    if (Format::kInfinite) result = exponent == kTop ? 0x7f800000u | mantissa << (23 - kMantissa) : result;
    if (!Format::kInfinite && !Format::kZeroNan) result = (x & 0x7f) == 0x7f ? kNan : result;
    if (Format::kZeroNan && x == 0x80) return kNan;
    return result | sign;
  }
};
/// To the nearest, ties to the even code: slow and plain. Beyond the largest number: infinity, or NaN.
template <class Format>
struct F32ToFloat8 {
  static inline Bits of(Bits x) {
    using Back = Float8ToF32<Format>;
    const Bits sign = x >> 24 & 0x80, magnitude = x & 0x7fffffff;
    const Bits nan = Format::kZeroNan ? 0x80 : sign | 0x7f, beyond = Format::kInfinite ? sign | 0x7c : nan;
    if (magnitude > 0x7f800000) return nan;
    const float value = f(magnitude);
    Bits low = 0, high = Format::kLast;
    while (low < high) {  // the largest code that is not above
      const Bits middle = (low + high + 1) / 2;
      if (f(Back::of(middle)) <= value)
        low = middle;
      else
        high = middle - 1;
    }
    const float below = f(Back::of(low)), step = f(Back::of(Format::kLast)) - f(Back::of(Format::kLast - 1));
    const float above = low == Format::kLast ? below + step : f(Back::of(low + 1));
    const float middle = (below + above) / 2;
    if (value > middle || (value == middle && (low & 1))) ++low;
    if (low > Format::kLast) return beyond;
    return low == 0 && Format::kZeroNan ? 0 : sign | low;
  }
};

// --- widening and narrowing

/// Rows kPart * R .. of the source, each element converted, where R is the number of rows of the result.
template <int kFrom, int kTo, class Convert, int kPart>
SUBLANE_CLONES void unpackRows(Bits* d, const Bits* a) {
  constexpr int kPerResult = 32 / kTo, kPerSource = 32 / kFrom, kRows = kSublanes * kPerResult;
  constexpr Bits kMask = kFrom == 32 ? ~Bits{0} : (Bits{1} << kFrom % 32) - 1;
  constexpr Bits kResultMask = kTo == 32 ? ~Bits{0} : (Bits{1} << kTo % 32) - 1;
  for (int s = 0; s < kSublanes; ++s)
    for (int j = 0; j < kPerResult; ++j) {
      const int row = kPart * kRows + s * kPerResult + j;
      const Bits* from = a + row / kPerSource * kLanes;
      const int shift = row % kPerSource * kFrom, to = j * kTo;
      Bits* word = d + s * kLanes;
      if (j == 0)
        for (int l = 0; l < kLanes; ++l) word[l] = Convert::of(from[l] >> shift & kMask) & kResultMask;
      else
        for (int l = 0; l < kLanes; ++l)
          word[l] |= (Convert::of(from[l] >> shift & kMask) & kResultMask) << to;
    }
}
template <int kFrom, int kTo, class Convert, int kPart>
bool unpack(State& s, const Micro& m) {
  VectorRegister copy;
  const Bits* a = wordsOf(s, m.a, 0);
  if (m.a.index == m.result) a = static_cast<const Bits*>(std::memcpy(copy.words, a, sizeof copy.words));
  if (s.shadowing)
    unpackRows<kFrom, kTo, Any, kPart>(s.words(m.result), a);
  else
    unpackRows<kFrom, kTo, Convert, kPart>(s.words(m.result), a);
  return true;
}

/// The rows of `low`, then those of `high`, each element converted.
template <int kFrom, int kTo, class Convert>
SUBLANE_CLONES void packRows(Bits* d, const Bits* high, const Bits* low) {
  constexpr int kPerResult = 32 / kTo, kPerSource = 32 / kFrom, kRows = kSublanes * kPerSource;
  constexpr Bits kMask = kFrom == 32 ? ~Bits{0} : (Bits{1} << kFrom % 32) - 1;
  constexpr Bits kResultMask = (Bits{1} << kTo) - 1;
  for (int s = 0; s < kSublanes; ++s)
    for (int j = 0; j < kPerResult; ++j) {
      const int row = s * kPerResult + j;
      const Bits* from = (row < kRows ? low : high) + row % kRows / kPerSource * kLanes;
      const int shift = row % kPerSource * kFrom, to = j * kTo;
      Bits* word = d + s * kLanes;
      if (j == 0)
        for (int l = 0; l < kLanes; ++l) word[l] = Convert::of(from[l] >> shift & kMask) & kResultMask;
      else
        for (int l = 0; l < kLanes; ++l)
          word[l] |= (Convert::of(from[l] >> shift & kMask) & kResultMask) << to;
    }
}
template <int kFrom, int kTo, class Convert>
bool pack(State& s, const Micro& m) {
  VectorRegister high, low, result;
  const Bits *a = wordsOf(s, m.a, high), *b = wordsOf(s, m.b, low);
  if (s.shadowing)
    packRows<kFrom, kTo, Any>(result.words, a, b);
  else
    packRows<kFrom, kTo, Convert>(result.words, a, b);
  std::memcpy(s.words(m.result), result.words, sizeof result.words);
  return true;
}

/// Within each word: the low (0) or high (1) half.
template <class Convert, int kHalf>
SUBLANE_CLONES void unpackWithin(Bits* d, const Bits* a) {
  for (int k = 0; k < kWords; ++k) d[k] = Convert::of(a[k] >> (16 * kHalf) & 0xffff);
}
template <class Convert, int kHalf>
bool unpackHalf(State& s, const Micro& m) {
  if (s.shadowing)
    unpackWithin<Any, kHalf>(s.words(m.result), wordsOf(s, m.a, 0));
  else
    unpackWithin<Convert, kHalf>(s.words(m.result), wordsOf(s, m.a, 0));
  return true;
}
template <class Convert>
bool unpackChosenHalf(State& s, const Micro& m) {
  if (m.b.kind == Source::Kind::kVector) {
    const Bits *a = wordsOf(s, m.a, 0), *half = s.control(m.b.index);
    Bits* d = s.words(m.result);
    for (int k = 0; k < kWords; ++k) {
      const Bits x = a[k] >> (half[k] & 1 ? 16 : 0) & 0xffff;
      d[k] = s.shadowing ? Any::of(x) : Convert::of(x);
    }
    return true;
  }
  return s.scalarOf(m.b) & 1 ? unpackHalf<Convert, 1>(s, m) : unpackHalf<Convert, 0>(s, m);
}
/// f32 plus the low (0) or high (1) half of a packed word.
template <int kHalf>
SUBLANE_CLONES void addHalfLoop(Bits* d, const Bits* a, const Bits* b) {
#pragma GCC ivdep
  for (int k = 0; k < kWords; ++k) d[k] = u(f(a[k]) + f(kHalf ? b[k] & 0xffff0000 : b[k] << 16));
}
template <int kHalf>
bool addHalf(State& s, const Micro& m) {
  VectorRegister a, b;
  addHalfLoop<kHalf>(s.words(m.result), wordsOf(s, m.a, a), wordsOf(s, m.b, b));
  return true;
}
SUBLANE_CLONES void packWithinLoop(Bits* d, const Bits* high, const Bits* low) {
#pragma GCC ivdep
  for (int k = 0; k < kWords; ++k) d[k] = F32ToBf16::of(low[k]) | F32ToBf16::of(high[k]) << 16;
}
bool packHalvesF32(State& s, const Micro& m) {
  VectorRegister high, low;
  const Bits *a = wordsOf(s, m.a, high), *b = wordsOf(s, m.b, low);
  Bits* d = s.words(m.result);
  if (!s.shadowing)
    packWithinLoop(d, a, b);
  else
    for (int k = 0; k < kWords; ++k) d[k] = (Any::of(b[k]) & 0xffff) | Any::of(a[k]) << 16;
  return true;
}
bool packHalvesB32(State& s, const Micro& m) {
  VectorRegister high, low;
  const Bits *a = wordsOf(s, m.a, high), *b = wordsOf(s, m.b, low);
  Bits* d = s.words(m.result);
  for (int k = 0; k < kWords; ++k) d[k] = (b[k] & 0xffff) | a[k] << 16;
  return true;
}
template <class Convert>
bool convert(State& s, const Micro& m) {
  const Bits* a = wordsOf(s, m.a, 0);
  Bits* d = s.words(m.result);
  for (int k = 0; k < kWords; ++k) d[k] = Convert::of(a[k]);
  return true;
}

/// Of two masks of words, one of halves, in the order in which vpack.c takes the rows that they mask.
bool packMasks(State& s, const Micro& m) {
  VectorRegister result;
  packRows<32, 16, Same>(result.words, wordsOf(s, m.a, 0), wordsOf(s, m.b, 1));
  std::memcpy(s.words(m.result), result.words, sizeof result.words);
  return true;
}

// --- moves between sublanes

/// Four sublanes of each operand: the first operand's come first.
template <int kFirst>
bool combine(State& s, const Micro& m) {
  VectorRegister a, b, result;
  constexpr size_t kHalf = kWords / 2;
  std::memcpy(result.words, wordsOf(s, m.a, a) + kFirst * kLanes, kHalf * 4);
  std::memcpy(result.words + kHalf, wordsOf(s, m.b, b) + kFirst * kLanes, kHalf * 4);
  std::memcpy(s.words(m.result), result.words, sizeof result.words);
  return true;
}
/// Sublane s of the result is sublane s + n of the source; n may differ from word to word.
bool rotateSublanes(State& s, const Micro& m) {
  VectorRegister result, room;
  const Bits *a = wordsOf(s, m.a, 0),
             *amount = m.b.kind == Source::Kind::kVector ? s.control(m.b.index) : room.words;
  room.words[0] = s.scalarOf(m.b);
  if (m.b.kind == Source::Kind::kVector) {
    for (Bits k = 0; k < kWords; ++k)
      result.words[k] = a[(k / kLanes + amount[k]) % kSublanes * kLanes + k % kLanes];
  } else {
    for (Bits k = 0; k < kSublanes; ++k)
      std::memcpy(result.words + k * kLanes, a + (k + amount[0]) % kSublanes * kLanes, kRowBytes);
  }
  std::memcpy(s.words(m.result), result.words, sizeof result.words);
  return true;
}
constexpr uint8_t kByWord = 1;
/// v6e, tpu7x: each byte of the pattern names a byte of the same lane, its sublane in the low three bits and
/// the byte above them. v5e: each word names a sublane.
bool permuteSublanes(State& s, const Micro& m) {
  VectorRegister result;
  const Bits *a = wordsOf(s, m.a, 0), *pattern = s.control(m.b.index);
  if (m.detail == kByWord) {
    for (Bits k = 0; k < kWords; ++k) result.words[k] = a[pattern[k] % kSublanes * kLanes + k % kLanes];
    std::memcpy(s.words(m.result), result.words, sizeof result.words);
    return true;
  }
  for (int k = 0; k < kWords; ++k) {
    Bits word = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const Bits code = pattern[k] >> (8 * byte) & 31;
      word |= (a[(code & 7) * kLanes + static_cast<Bits>(k) % kLanes] >> (code >> 3) * 8 & 0xff)
              << (8 * byte);
    }
    result.words[k] = word;
  }
  std::memcpy(s.words(m.result), result.words, sizeof result.words);
  return true;
}

// --- extended unit

template <float (*kFunction)(float)>
bool extend(State& s, const Micro& m) {
  VectorRegister room;
  const Bits* a = wordsOf(s, m.a, room);
  Bits* d = s.result(s.extended, m.value);
  for (int k = 0; k < kWords; ++k) d[k] = u(kFunction(f(a[k])));
  return true;
}
template <float (*kFunction)(float)>
bool extendBf16(State& s, const Micro& m) {
  VectorRegister room;
  const Bits* a = wordsOf(s, m.a, room);
  Bits* d = s.result(s.extended, m.value);
  for (int k = 0; k < kWords; ++k)
    d[k] = F32ToBf16::of(u(kFunction(f(a[k] << 16)))) | F32ToBf16::of(u(kFunction(f(a[k] & 0xffff0000))))
                                                            << 16;
  return true;
}
float exponential2(float x) { return std::exp2(x); }

/// 2^x to about one unit in the last place: 2^n times the series of 2^g, |g| <= 1/2; exact for whole numbers.
SUBLANE_CLONES void exponentialLoop(Bits* __restrict d, const Bits* __restrict a) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it leaves a whole number
  for (int k = 0; k < kWords; ++k) {
    float x = f(a[k]);
    x = x < -151.0f ? -151.0f : x;
    x = x > 129.0f ? 129.0f : x;
    const float rounded = x + kRound, g = x - (rounded - kRound);
    const int32_t n = static_cast<int32_t>(u(rounded)) - 0x4b400000, half = n >> 1;
    float p = 1.5252734e-05f;
    p = p * g + 1.5403530e-04f;
    p = p * g + 1.3333558e-03f;
    p = p * g + 9.6181291e-03f;
    p = p * g + 5.5504109e-02f;
    p = p * g + 2.4022651e-01f;
    p = p * g + 6.9314718e-01f;
    p = p * g + 1.0f;
    // In two steps, so that what is too small becomes a denormal number.
    d[k] = u(p * f(static_cast<Bits>(half + 127) << 23) * f(static_cast<Bits>(n - half + 127) << 23));
  }
}
bool extendExponential(State& s, const Micro& m) {
  VectorRegister room;
  const Bits* a = wordsOf(s, m.a, room);
  exponentialLoop(s.result(s.extended, m.value), a);
  return true;
}

float logarithm2(float x) { return std::log2(x); }
float hyperbolicTangent(float x) { return std::tanh(x); }
float errorFunction(float x) { return std::erf(x); }
float reciprocal(float x) { return 1.0f / x; }
float reciprocalRoot(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
/// The sigmoid, shifted down by a half.
float shiftedSigmoid(float x) { return 0.5f * std::tanh(0.5f * x); }
float sine(float x) { return std::sin(x); }
float cosine(float x) { return std::cos(x); }

bool popExtended(State& s, const Micro& m) {
  if (s.extended.empty()) return s.fail("the extended unit has no result");
  if (m.value >= 0 && s.extended.front().value != m.value)
    return s.fail(fmt::format("the extended unit's next result is of %{}, not of %{}",
                              s.extended.front().value, m.value));
  return s.take(s.extended, m.result);
}

// --- decoding

bool decodeExtended(const Decoding& d, Micro& m, Run run) {
  m.order = 2;
  m.value = d.instruction.value;
  return decodeUnary(d, m, run);
}
bool decodeMove(const Decoding& d, Micro& m, Run run) {
  return decodeBinary(d, m, run) && m.a.kind == Source::Kind::kVector;
}
bool decodePermute(const Decoding& d, Micro& m, Run run) {
  if (d.chip == "v5e") m.detail = kByWord;
  return decodeMove(d, m, run) && m.b.kind == Source::Kind::kVector;
}

constexpr Mnemonic kMnemonics[] = {
    {"vunpack.c.l.bf16.f32", decodeUnary, unpack<16, 32, Bf16ToF32, 0>, Taint::kMoves},
    {"vunpack.c.u.bf16.f32", decodeUnary, unpack<16, 32, Bf16ToF32, 1>, Taint::kMoves},
    {"vunpack.c.l.s16.s32", decodeUnary, unpack<16, 32, SignExtend<16>, 0>, Taint::kMoves},
    {"vunpack.c.u.s16.s32", decodeUnary, unpack<16, 32, SignExtend<16>, 1>, Taint::kMoves},
    {"vunpack.c.l.s16.s32.s16", decodeUnary, unpack<16, 32, SignExtend<16>, 0>, Taint::kMoves},
    {"vunpack.c.u.s16.s32.s16", decodeUnary, unpack<16, 32, SignExtend<16>, 1>, Taint::kMoves},
    {"vunpack.c.0.s8.s32", decodeUnary, unpack<8, 32, SignExtend<8>, 0>, Taint::kMoves},
    {"vunpack.c.1.s8.s32", decodeUnary, unpack<8, 32, SignExtend<8>, 1>, Taint::kMoves},
    {"vunpack.c.2.s8.s32", decodeUnary, unpack<8, 32, SignExtend<8>, 2>, Taint::kMoves},
    {"vunpack.c.3.s8.s32", decodeUnary, unpack<8, 32, SignExtend<8>, 3>, Taint::kMoves},
    {"vunpack.c.0.s8.s32.s8", decodeUnary, unpack<8, 32, SignExtend<8>, 0>, Taint::kMoves},
    {"vunpack.c.1.s8.s32.s8", decodeUnary, unpack<8, 32, SignExtend<8>, 1>, Taint::kMoves},
    {"vunpack.c.2.s8.s32.s8", decodeUnary, unpack<8, 32, SignExtend<8>, 2>, Taint::kMoves},
    {"vunpack.c.3.s8.s32.s8", decodeUnary, unpack<8, 32, SignExtend<8>, 3>, Taint::kMoves},
    {"vunpack.c.l.s8.bf16", decodeUnary, unpack<8, 16, S8ToBf16, 0>, Taint::kMoves},
    {"vunpack.c.u.s8.bf16", decodeUnary, unpack<8, 16, S8ToBf16, 1>, Taint::kMoves},
    {"vunpack.c.l.s4.s8", decodeUnary, unpack<4, 8, SignExtend<4>, 0>, Taint::kMoves},
    {"vunpack.c.u.s4.s8", decodeUnary, unpack<4, 8, SignExtend<4>, 1>, Taint::kMoves},
    {"vunpack.c.0.e5m2.f32", decodeUnary, unpack<8, 32, Float8ToF32<E5m2>, 0>, Taint::kMoves},
    {"vunpack.c.1.e5m2.f32", decodeUnary, unpack<8, 32, Float8ToF32<E5m2>, 1>, Taint::kMoves},
    {"vunpack.c.2.e5m2.f32", decodeUnary, unpack<8, 32, Float8ToF32<E5m2>, 2>, Taint::kMoves},
    {"vunpack.c.3.e5m2.f32", decodeUnary, unpack<8, 32, Float8ToF32<E5m2>, 3>, Taint::kMoves},
    {"vunpack.c.0.e4m3.f32", decodeUnary, unpack<8, 32, Float8ToF32<E4m3>, 0>, Taint::kMoves},
    {"vunpack.c.1.e4m3.f32", decodeUnary, unpack<8, 32, Float8ToF32<E4m3>, 1>, Taint::kMoves},
    {"vunpack.c.2.e4m3.f32", decodeUnary, unpack<8, 32, Float8ToF32<E4m3>, 2>, Taint::kMoves},
    {"vunpack.c.3.e4m3.f32", decodeUnary, unpack<8, 32, Float8ToF32<E4m3>, 3>, Taint::kMoves},
    {"vunpack.c.0.if8.f32", decodeUnary, unpack<8, 32, Float8ToF32<If8>, 0>, Taint::kMoves},
    {"vunpack.c.1.if8.f32", decodeUnary, unpack<8, 32, Float8ToF32<If8>, 1>, Taint::kMoves},
    {"vunpack.c.2.if8.f32", decodeUnary, unpack<8, 32, Float8ToF32<If8>, 2>, Taint::kMoves},
    {"vunpack.c.3.if8.f32", decodeUnary, unpack<8, 32, Float8ToF32<If8>, 3>, Taint::kMoves},
    {"vunpack.i.l.bf16.f32", decodeUnary, unpackHalf<Bf16ToF32, 0>, Taint::kMoves},
    {"vunpack.i.u.bf16.f32", decodeUnary, unpackHalf<Bf16ToF32, 1>, Taint::kMoves},
    {"vunpack.i.l.s16.s32", decodeUnary, unpackHalf<SignExtend<16>, 0>, Taint::kMoves},
    {"vunpack.i.u.s16.s32", decodeUnary, unpackHalf<SignExtend<16>, 1>, Taint::kMoves},
    {"vunpack.vsel.i.bf16.f32", decodeBinary, unpackChosenHalf<Bf16ToF32>, Taint::kMoves},
    {"vpack.c.f32.bf16", decodeBinary, pack<32, 16, F32ToBf16>, Taint::kMoves},
    {"vpack.c.b32.b16", decodeBinary, pack<32, 16, Same>, Taint::kMoves},
    {"vpack.c.b16.b8", decodeBinary, pack<16, 8, Same>, Taint::kMoves},
    {"vpack.i.f32.bf16", decodeBinary, packHalvesF32, Taint::kMoves},
    {"vpack.i.b32.b16", decodeBinary, packHalvesB32, Taint::kMoves},
    {"vadd.low.f32.bf16", decodeBinary, addHalf<0>},
    {"vadd.high.f32.bf16", decodeBinary, addHalf<1>},
    {"vcvt.f32.e5m2", decodeUnary, convert<F32ToFloat8<E5m2>>},
    {"vcvt.f32.e4m3", decodeUnary, convert<F32ToFloat8<E4m3>>},
    {"vcvt.f32.if8", decodeUnary, convert<F32ToFloat8<If8>>},
    {"vmpackc.low", decodeBinary, packMasks, Taint::kMoves},
    {"vcombine.low", decodeBinary, combine<0>, Taint::kMoves},
    {"vcombine.high", decodeBinary, combine<4>, Taint::kMoves},
    {"vrot.slane", decodeMove, rotateSublanes, Taint::kMoves},
    {"vperm.slane", decodePermute, permuteSublanes, Taint::kMoves},
    {"vexp2.f32", decodeExtended, extendExponential, Taint::kQueued},
    {"vlog2.f32", decodeExtended, extend<logarithm2>, Taint::kQueued},
    {"vtanh.f32", decodeExtended, extend<hyperbolicTangent>, Taint::kQueued},
    {"verf.f32", decodeExtended, extend<errorFunction>, Taint::kQueued},
    {"vrcp.f32", decodeExtended, extend<reciprocal>, Taint::kQueued},
    {"vrsqrt.f32", decodeExtended, extend<reciprocalRoot>, Taint::kQueued},
    {"vsigshft.f32", decodeExtended, extend<shiftedSigmoid>, Taint::kQueued},
    {"vsigshft.bf16", decodeExtended, extendBf16<shiftedSigmoid>, Taint::kQueued},
    {"vsinq.f32", decodeExtended, extend<sine>, Taint::kQueued},
    {"vcosq.f32", decodeExtended, extend<cosine>, Taint::kQueued},
    {"vexp2.bf16", decodeExtended, extendBf16<exponential2>, Taint::kQueued},
    {"vlog2.bf16", decodeExtended, extendBf16<logarithm2>, Taint::kQueued},
    {"vtanh.bf16", decodeExtended, extendBf16<hyperbolicTangent>, Taint::kQueued},
    {"vrcp.bf16", decodeExtended, extendBf16<reciprocal>, Taint::kQueued},
    {"vrsqrt.bf16", decodeExtended, extendBf16<reciprocalRoot>, Taint::kQueued},
};
/// `vpop.erf %17`
bool decodePopExtended(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() != 1) return false;
  m.value = d.operands[0].value;
  m.order = 0;
  m.run = run;
  return m.result != kNoRegister;
}
constexpr Mnemonic kPop = {"vpop.erf", decodePopExtended, popExtended, Taint::kOwn};

}  // namespace

std::span<const Mnemonic> packMnemonics() {
  static const auto all = [] {
    std::array<Mnemonic, std::size(kMnemonics) + 1> list{};
    std::copy(std::begin(kMnemonics), std::end(kMnemonics), list.begin());
    list.back() = kPop;
    return list;
  }();
  return all;
}

}  // namespace sublane::sim
