// Elementwise operations: arithmetic, comparison, selection, logic, conversions of 32-bit words, and masks.
//
// Semantics are of IEEE single precision with round to nearest even; what a TPU does with subnormal numbers
// is not known, here they are kept. Loops over 1024 words are compiled for several instruction sets.
#include <bit>
#include <cmath>

#include "sim/vector_state.h"

namespace sublane::sim {
namespace {

using State = VectorUnit::State;
using Bits = uint32_t;

inline float f(Bits bits) { return std::bit_cast<float>(bits); }
inline Bits u(float value) { return std::bit_cast<Bits>(value); }
inline int32_t i(Bits bits) { return static_cast<int32_t>(bits); }
inline Bits all(bool yes) { return yes ? ~Bits{0} : Bits{0}; }
inline bool isNan(Bits bits) { return (bits & 0x7fffffff) > 0x7f800000; }

// --- loops

template <class F>
SUBLANE_CLONES void unaryLoop(Bits* d, const Bits* a) {
  for (int k = 0; k < kWords; ++k) d[k] = F::of(a[k]);
}
template <class F>
SUBLANE_CLONES void binaryLoop(Bits* d, const Bits* a, const Bits* b) {
#pragma GCC ivdep
  for (int k = 0; k < kWords; ++k) d[k] = F::of(a[k], b[k]);
}
template <class F>
SUBLANE_CLONES void binaryLoopScalarRight(Bits* d, const Bits* a, Bits b) {
#pragma GCC ivdep
  for (int k = 0; k < kWords; ++k) d[k] = F::of(a[k], b);
}
template <class F>
SUBLANE_CLONES void binaryLoopScalarLeft(Bits* d, Bits a, const Bits* b) {
#pragma GCC ivdep
  for (int k = 0; k < kWords; ++k) d[k] = F::of(a, b[k]);
}
SUBLANE_CLONES void fillLoop(Bits* d, Bits value) {
  for (int k = 0; k < kWords; ++k) d[k] = value;
}
SUBLANE_CLONES void selectLoop(Bits* d, const Bits* m, const Bits* yes, const Bits* no) {
#pragma GCC ivdep
  for (int k = 0; k < kWords; ++k) d[k] = (m[k] & yes[k]) | (~m[k] & no[k]);
}

template <class F>
bool unary(State& s, const Micro& m) {
  if (m.a.kind == Source::Kind::kVector)
    unaryLoop<F>(s.words(m.result), s.words(m.a.index));
  else
    fillLoop(s.words(m.result), F::of(s.scalarOf(m.a)));
  return true;
}
template <class F>
bool binary(State& s, const Micro& m) {
  Bits* d = s.words(m.result);
  const bool left = m.a.kind == Source::Kind::kVector, right = m.b.kind == Source::Kind::kVector;
  if (left && right)
    binaryLoop<F>(d, s.words(m.a.index), s.words(m.b.index));
  else if (left)
    binaryLoopScalarRight<F>(d, s.words(m.a.index), s.scalarOf(m.b));
  else if (right)
    binaryLoopScalarLeft<F>(d, s.scalarOf(m.a), s.words(m.b.index));
  else
    fillLoop(d, F::of(s.scalarOf(m.a), s.scalarOf(m.b)));
  return true;
}

// --- operations

#define SUBLANE_UNARY(Name, expression)                  \
  struct Name {                                          \
    static inline Bits of(Bits a) { return expression; } \
  }
#define SUBLANE_BINARY(Name, expression)                         \
  struct Name {                                                  \
    static inline Bits of(Bits a, Bits b) { return expression; } \
  }

SUBLANE_UNARY(Move, a);
SUBLANE_UNARY(Not, ~a);
SUBLANE_UNARY(CountOnes, static_cast<Bits>(std::popcount(a)));
SUBLANE_UNARY(CountLeadingZeros, static_cast<Bits>(std::countl_zero(a)));
SUBLANE_UNARY(Weird, all((a & 0x7fffffff) >= 0x7f800000));
SUBLANE_UNARY(ToFloat, u(static_cast<float>(i(a))));
SUBLANE_UNARY(Floor, u(std::floor(f(a))));
SUBLANE_UNARY(Ceil, u(std::ceil(f(a))));
SUBLANE_UNARY(Truncate, u(std::trunc(f(a))));
SUBLANE_UNARY(RoundEven, u(std::nearbyint(f(a))));
SUBLANE_UNARY(RoundAway, u(std::round(f(a))));

/// To the nearest, ties to even; out of range, the nearest bound; NaN gives 0.
struct ToInteger {
  static inline Bits of(Bits a) {
    const float x = f(a);
    const float bounded = x < -2147483648.0f ? -2147483648.0f : x;
    const Bits integer = static_cast<Bits>(
        static_cast<int32_t>(std::nearbyint(bounded < 2147483520.0f ? bounded : 2147483520.0f)));
    const Bits result = x >= 2147483648.0f ? 0x7fffffffu : integer;
    return isNan(a) ? 0 : result;
  }
};

SUBLANE_BINARY(AddFloat, u(f(a) + f(b)));
SUBLANE_BINARY(SubtractFloat, u(f(a) - f(b)));
SUBLANE_BINARY(MultiplyFloat, u(f(a) * f(b)));
SUBLANE_BINARY(MaxFloat, isNan(a) ? a : isNan(b) ? b : f(a) > f(b) ? a : b);
SUBLANE_BINARY(MinFloat, isNan(a) ? a : isNan(b) ? b : f(a) < f(b) ? a : b);
SUBLANE_BINARY(Add, a + b);
SUBLANE_BINARY(Subtract, a - b);
SUBLANE_BINARY(Multiply, a* b);
SUBLANE_BINARY(MultiplyHigh, static_cast<Bits>((static_cast<uint64_t>(a) * b) >> 32));
SUBLANE_BINARY(Carry, all(a + b < a));
SUBLANE_BINARY(MaxUnsigned, a > b ? a : b);
SUBLANE_BINARY(MinUnsigned, a < b ? a : b);
SUBLANE_BINARY(MaxSigned, i(a) > i(b) ? a : b);
SUBLANE_BINARY(MinSigned, i(a) < i(b) ? a : b);
SUBLANE_BINARY(And, a& b);
SUBLANE_BINARY(Or, a | b);
SUBLANE_BINARY(Xor, a ^ b);
SUBLANE_BINARY(AndNot, a & ~b);
SUBLANE_BINARY(ShiftLeft, b < 32 ? a << (b & 31) : 0);
SUBLANE_BINARY(ShiftRight, b < 32 ? a >> (b & 31) : 0);
SUBLANE_BINARY(ShiftArithmetic, static_cast<Bits>(i(a) >> (b < 32 ? b : 31)));
SUBLANE_BINARY(ClampSymmetric, u(f(a) > f(b) ? f(b) : f(a) < -f(b) ? -f(b) : f(a)));
SUBLANE_BINARY(ClampFromZero, u(f(a) > f(b) ? f(b) : f(a) < 0.0f ? 0.0f : f(a)));

SUBLANE_BINARY(EqualFloat, all(f(a) == f(b)));
SUBLANE_BINARY(NotEqualFloat, all(f(a) != f(b)));
SUBLANE_BINARY(LessFloat, all(f(a) < f(b)));
SUBLANE_BINARY(LessEqualFloat, all(f(a) <= f(b)));
SUBLANE_BINARY(GreaterFloat, all(f(a) > f(b)));
SUBLANE_BINARY(GreaterEqualFloat, all(f(a) >= f(b)));
SUBLANE_BINARY(Equal, all(a == b));
SUBLANE_BINARY(NotEqual, all(a != b));
SUBLANE_BINARY(Less, all(i(a) < i(b)));
SUBLANE_BINARY(LessEqual, all(i(a) <= i(b)));
SUBLANE_BINARY(Greater, all(i(a) > i(b)));
SUBLANE_BINARY(GreaterEqual, all(i(a) >= i(b)));
SUBLANE_BINARY(LessUnsigned, all(a < b));
SUBLANE_BINARY(LessEqualUnsigned, all(a <= b));
SUBLANE_BINARY(GreaterUnsigned, all(a > b));
SUBLANE_BINARY(GreaterEqualUnsigned, all(a >= b));

/// Two halves or four bytes of a word, each by itself.
template <class T, class F>
struct Packed {
  static inline Bits of(Bits a, Bits b) {
    constexpr int kBits = sizeof(T) * 8;
    Bits result = 0;
    for (int shift = 0; shift < 32; shift += kBits)
      result |= static_cast<Bits>(F::of(static_cast<T>(a >> shift), static_cast<T>(b >> shift))) << shift;
    return result;
  }
};
inline float widen(uint16_t bf16) { return f(static_cast<Bits>(bf16) << 16); }
inline uint16_t narrow(float value) {
  const Bits bits = u(value);
  if (isNan(bits)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
#define SUBLANE_PACKED(Name, T, R, expression)                          \
  struct Name##Part {                                                   \
    static inline R of(T a, T b) { return static_cast<R>(expression); } \
  };                                                                    \
  using Name = Packed<T, Name##Part>

inline uint16_t all16(bool yes) { return yes ? 0xffff : 0; }
SUBLANE_PACKED(AddBf16, uint16_t, uint16_t, narrow(widen(a) + widen(b)));
SUBLANE_PACKED(SubtractBf16, uint16_t, uint16_t, narrow(widen(a) - widen(b)));
SUBLANE_PACKED(MultiplyBf16, uint16_t, uint16_t, narrow(widen(a) * widen(b)));
SUBLANE_PACKED(MaxBf16, uint16_t, uint16_t, (isNan(Bits{a} << 16) || widen(a) > widen(b)) ? a : b);
SUBLANE_PACKED(MinBf16, uint16_t, uint16_t, (isNan(Bits{a} << 16) || widen(a) < widen(b)) ? a : b);
SUBLANE_PACKED(EqualBf16, uint16_t, uint16_t, all16(widen(a) == widen(b)));
SUBLANE_PACKED(NotEqualBf16, uint16_t, uint16_t, all16(widen(a) != widen(b)));
SUBLANE_PACKED(LessBf16, uint16_t, uint16_t, all16(widen(a) < widen(b)));
SUBLANE_PACKED(LessEqualBf16, uint16_t, uint16_t, all16(widen(a) <= widen(b)));
SUBLANE_PACKED(GreaterBf16, uint16_t, uint16_t, all16(widen(a) > widen(b)));
SUBLANE_PACKED(GreaterEqualBf16, uint16_t, uint16_t, all16(widen(a) >= widen(b)));
SUBLANE_PACKED(Add16, uint16_t, uint16_t, a + b);
SUBLANE_PACKED(Subtract16, uint16_t, uint16_t, a - b);
SUBLANE_PACKED(MaxSigned16, int16_t, uint16_t, a > b ? a : b);
SUBLANE_PACKED(MinSigned16, int16_t, uint16_t, a < b ? a : b);
SUBLANE_PACKED(Equal16, uint16_t, uint16_t, all16(a == b));
SUBLANE_PACKED(NotEqual16, uint16_t, uint16_t, all16(a != b));
SUBLANE_PACKED(Less16, int16_t, uint16_t, all16(a < b));
SUBLANE_PACKED(LessEqual16, int16_t, uint16_t, all16(a <= b));
SUBLANE_PACKED(Greater16, int16_t, uint16_t, all16(a > b));
SUBLANE_PACKED(GreaterEqual16, int16_t, uint16_t, all16(a >= b));
SUBLANE_PACKED(NotEqual8, uint8_t, uint8_t, a != b ? 0xff : 0);

bool select(State& s, const Micro& m) {
  VectorRegister yes, no;
  selectLoop(s.words(m.result), s.words(m.mask), wordsOf(s, m.a, yes), wordsOf(s, m.b, no));
  return true;
}

bool clampBetween(State& s, const Micro& m) {
  const Bits* a = wordsOf(s, m.a, 0);
  Bits* d = s.words(m.result);
  const float low = f(s.scalarOf(m.b)), high = f(s.scalarOf(m.c));
  for (int k = 0; k < kWords; ++k) {
    const float x = f(a[k]);
    d[k] = u(x > high ? high : x < low ? low : x);
  }
  return true;
}

/// lane + 128 * sublane
bool laneSequence(State& s, const Micro& m) {
  s.tainted[m.result] = false;
  Bits* d = s.words(m.result);
  for (int k = 0; k < kWords; ++k) d[k] = static_cast<Bits>(k);
  return true;
}

/// A mask of the sublanes and lanes of a constant: first sublane (3 bits), first lane (7), last sublane (3),
/// last lane (7). A last one before the first wraps around: sublanes 6 to 1 are 6, 7, 0, 1.
bool constantMask(State& s, const Micro& m) {
  s.tainted[m.result] = false;
  const Bits code = m.a.bits;
  const auto within = [](Bits x, Bits first, Bits last) {
    return first <= last ? x >= first && x <= last : x >= first || x <= last;
  };
  Bits* d = s.words(m.result);
  for (Bits sublane = 0; sublane < kSublanes; ++sublane)
    for (Bits lane = 0; lane < kLanes; ++lane)
      d[sublane * kLanes + lane] =
          all(within(sublane, code & 7, code >> 10 & 7) && within(lane, code >> 3 & 127, code >> 13 & 127));
  return true;
}

bool pushToScalar(State& s, const Micro& m) {
  const bool known = !s.tainted[m.a.index] || s.shadows[m.a.index].words[0] == 0;
  s.to_scalar.push_back({m.value, wordsOf(s, m.a, 0)[0], known});
  return true;
}
bool popToScalar(State& s, const Micro& m) {
  if (s.to_scalar.empty()) return s.fail("nothing was pushed for the scalar unit");
  const auto [value, word, known] = s.to_scalar.front();
  if (m.value >= 0 && value != m.value)
    return s.fail(fmt::format("the next word is of %{}, not of %{}", value, m.value));
  s.to_scalar.pop_front();
  s.results->push_back(
      {.reg = {llo::RegisterFile::kScalar, m.detail}, .value = known ? word : kPoison, .known = known});
  return true;
}

// --- decoding

bool decodeSelect(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() != 3) return false;
  for (const llo::Operand& operand : d.operands) {
    if (operand.kind == llo::Operand::Kind::kRegister && operand.reg.file == llo::RegisterFile::kMask)
      m.mask = static_cast<uint8_t>(kFirstMask + operand.reg.index);
    else if (operand.role == llo::Role::kOnTrue)
      m.a = sourceOf(operand);
    else if (operand.role == llo::Role::kOnFalse)
      m.b = sourceOf(operand);
  }
  m.run = run;
  return m.mask != kNoRegister && m.a.kind != Source::Kind::kNone && m.b.kind != Source::Kind::kNone;
}
bool decodeNothing(const Decoding& d, Micro& m, Run run) {
  m.run = run;
  return d.operands.empty();
}
bool decodeClamp(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() != 3 || d.operands[0].reg.file != llo::RegisterFile::kVector) return false;
  m.a = sourceOf(d.operands[0]);
  m.b = sourceOf(d.operands[1]);
  m.c = sourceOf(d.operands[2]);
  // Bounds are written as integers and mean their floats.
  for (Source* bound : {&m.b, &m.c})
    if (d.operands[bound == &m.b ? 1 : 2].kind == llo::Operand::Kind::kInteger)
      bound->bits = u(static_cast<float>(i(bound->bits)));
  m.run = run;
  return true;
}
/// The low word is there already; it is the third operand and says which product is meant.
bool decodeProduct(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() != 3 && d.operands.size() != 2) return false;
  m.a = sourceOf(d.operands[0]);
  m.b = sourceOf(d.operands[1]);
  m.run = run;
  return m.a.kind != Source::Kind::kNone && m.b.kind != Source::Kind::kNone;
}
bool decodePush(const Decoding& d, Micro& m, Run run) {
  m.order = 2;
  m.value = d.instruction.value;
  return decodeUnary(d, m, run) && m.a.kind == Source::Kind::kVector;
}
bool decodePopToScalar(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() > 1 || d.instruction.result.file != llo::RegisterFile::kScalar) return false;
  m.value = d.operands.empty() ? -1 : d.operands[0].value;
  m.detail = d.instruction.result.index;
  m.order = 0;
  m.run = run;
  return true;
}

constexpr Mnemonic kMnemonics[] = {
    {"vmov", decodeUnary, unary<Move>, Taint::kBits},
    {"vstv", decodeUnary, unary<Move>, Taint::kBits},
    {"vmmov", decodeUnary, unary<Move>, Taint::kBits},
    {"vmneg", decodeUnary, unary<Not>, Taint::kBits},
    {"vlaneseq.b32", decodeNothing, laneSequence, Taint::kOwn},
    {"vcmask", decodeUnary, constantMask, Taint::kOwn},
    {"vpcnt", decodeUnary, unary<CountOnes>},
    {"vclz", decodeUnary, unary<CountLeadingZeros>},
    {"vweird.f32", decodeUnary, unary<Weird>},
    {"vcvt.s32.f32", decodeUnary, unary<ToFloat>},
    {"vcvt.f32.s32", decodeUnary, unary<ToInteger>},
    {"vfloor.f32", decodeUnary, unary<Floor>},
    {"vceil.f32", decodeUnary, unary<Ceil>},
    {"vtrunc.f32", decodeUnary, unary<Truncate>},
    {"vround.rtne.f32", decodeUnary, unary<RoundEven>},
    {"vround.rtna.f32", decodeUnary, unary<RoundAway>},
    {"vadd.f32", decodeBinary, binary<AddFloat>},
    {"vsub.f32", decodeBinary, binary<SubtractFloat>},
    {"vmul.f32", decodeBinary, binary<MultiplyFloat>},
    {"vmax.f32", decodeBinary, binary<MaxFloat>},
    {"vmin.f32", decodeBinary, binary<MinFloat>},
    {"vadd.s32", decodeBinary, binary<Add>},
    {"vsub.s32", decodeBinary, binary<Subtract>},
    {"vmul.u32", decodeBinary, binary<Multiply>},
    {"vmul.u32.u64.low", decodeProduct, binary<Multiply>},
    {"vmul.u32.u64.high", decodeProduct, binary<MultiplyHigh>},
    {"vc.u32", decodeBinary, binary<Carry>},
    {"vmax.u32", decodeBinary, binary<MaxUnsigned>},
    {"vmin.u32", decodeBinary, binary<MinUnsigned>},
    {"vmax.u32.u32", decodeBinary, binary<MaxUnsigned>},
    {"vmin.u32.u32", decodeBinary, binary<MinUnsigned>},
    {"vmax.u32.u8", decodeBinary, binary<MaxUnsigned>},
    {"vmin.u32.u8", decodeBinary, binary<MinUnsigned>},
    {"vmax.u32.u16", decodeBinary, binary<MaxUnsigned>},
    {"vmin.u32.u16", decodeBinary, binary<MinUnsigned>},
    {"vmax.s32", decodeBinary, binary<MaxSigned>},
    {"vmin.s32", decodeBinary, binary<MinSigned>},
    {"vand.u32", decodeBinary, binary<And>, Taint::kBits},
    {"vand.u32.u8", decodeBinary, binary<And>, Taint::kBits},
    {"vand.u32.u16", decodeBinary, binary<And>, Taint::kBits},
    {"vor.u32", decodeBinary, binary<Or>, Taint::kBits},
    {"vxor.u32", decodeBinary, binary<Xor>, Taint::kBits},
    {"vshll.u32", decodeBinary, binary<ShiftLeft>},
    {"vshrl.u32", decodeBinary, binary<ShiftRight>},
    {"vshra.s32", decodeBinary, binary<ShiftArithmetic>},
    {"vshra.s32.s4", decodeBinary, binary<ShiftArithmetic>},
    {"vshra.s32.s8", decodeBinary, binary<ShiftArithmetic>},
    {"vshra.s32.s16", decodeBinary, binary<ShiftArithmetic>},
    {"vclamps.f32", decodeBinary, binary<ClampSymmetric>},
    {"vclamp.gez.f32", decodeBinary, binary<ClampFromZero>},
    {"vclampa.f32", decodeClamp, clampBetween},
    {"vcmp.eq.f32.partialorder", decodeBinary, binary<EqualFloat>},
    {"vcmp.ne.f32.partialorder", decodeBinary, binary<NotEqualFloat>},
    {"vcmp.lt.f32.partialorder", decodeBinary, binary<LessFloat>},
    {"vcmp.le.f32.partialorder", decodeBinary, binary<LessEqualFloat>},
    {"vcmp.gt.f32.partialorder", decodeBinary, binary<GreaterFloat>},
    {"vcmp.ge.f32.partialorder", decodeBinary, binary<GreaterEqualFloat>},
    {"vcmp.eq.s32.totalorder", decodeBinary, binary<Equal>},
    {"vcmp.ne.s32.totalorder", decodeBinary, binary<NotEqual>},
    {"vcmp.lt.s32.totalorder", decodeBinary, binary<Less>},
    {"vcmp.le.s32.totalorder", decodeBinary, binary<LessEqual>},
    {"vcmp.gt.s32.totalorder", decodeBinary, binary<Greater>},
    {"vcmp.ge.s32.totalorder", decodeBinary, binary<GreaterEqual>},
    {"vcmp.eq.u32.totalorder", decodeBinary, binary<Equal>},
    {"vcmp.ne.u32.totalorder", decodeBinary, binary<NotEqual>},
    {"vcmp.lt.u32.totalorder", decodeBinary, binary<LessUnsigned>},
    {"vcmp.le.u32.totalorder", decodeBinary, binary<LessEqualUnsigned>},
    {"vcmp.gt.u32.totalorder", decodeBinary, binary<GreaterUnsigned>},
    {"vcmp.ge.u32.totalorder", decodeBinary, binary<GreaterEqualUnsigned>},
    {"vadd.bf16", decodeBinary, binary<AddBf16>, Taint::kBits},
    {"vsub.bf16", decodeBinary, binary<SubtractBf16>, Taint::kBits},
    {"vmul.bf16", decodeBinary, binary<MultiplyBf16>, Taint::kBits},
    {"vmax.bf16", decodeBinary, binary<MaxBf16>, Taint::kBits},
    {"vmin.bf16", decodeBinary, binary<MinBf16>, Taint::kBits},
    {"vcmp.eq.bf16.partialorder", decodeBinary, binary<EqualBf16>, Taint::kBits},
    {"vcmp.ne.bf16.partialorder", decodeBinary, binary<NotEqualBf16>, Taint::kBits},
    {"vcmp.lt.bf16.partialorder", decodeBinary, binary<LessBf16>, Taint::kBits},
    {"vcmp.le.bf16.partialorder", decodeBinary, binary<LessEqualBf16>, Taint::kBits},
    {"vcmp.gt.bf16.partialorder", decodeBinary, binary<GreaterBf16>, Taint::kBits},
    {"vcmp.ge.bf16.partialorder", decodeBinary, binary<GreaterEqualBf16>, Taint::kBits},
    {"vadd.s16", decodeBinary, binary<Add16>, Taint::kBits},
    {"vsub.s16", decodeBinary, binary<Subtract16>, Taint::kBits},
    {"vmax.s16", decodeBinary, binary<MaxSigned16>, Taint::kBits},
    {"vmin.s16", decodeBinary, binary<MinSigned16>, Taint::kBits},
    {"vcmp.eq.s16.totalorder", decodeBinary, binary<Equal16>, Taint::kBits},
    {"vcmp.ne.s16.totalorder", decodeBinary, binary<NotEqual16>, Taint::kBits},
    {"vcmp.lt.s16.totalorder", decodeBinary, binary<Less16>, Taint::kBits},
    {"vcmp.le.s16.totalorder", decodeBinary, binary<LessEqual16>, Taint::kBits},
    {"vcmp.gt.s16.totalorder", decodeBinary, binary<Greater16>, Taint::kBits},
    {"vcmp.ge.s16.totalorder", decodeBinary, binary<GreaterEqual16>, Taint::kBits},
    {"vnez.u8", decodeUnary,
     [](State& s, const Micro& m) {
       binaryLoopScalarRight<NotEqual8>(s.words(m.result), wordsOf(s, m.a, 0), 0);
       return true;
     },
     Taint::kBits},
    {"vsel", decodeSelect, select, Taint::kSelect},
    {"vsel.s32", decodeSelect, select, Taint::kSelect},
    {"vsel.s16", decodeSelect, select, Taint::kSelect},
    {"vsel.s8", decodeSelect, select, Taint::kSelect},
    {"vsel.u8", decodeSelect, select, Taint::kSelect},
    {"vsel.u16", decodeSelect, select, Taint::kSelect},
    {"vsel.u32", decodeSelect, select, Taint::kSelect},
    {"vsel.f32", decodeSelect, select, Taint::kSelect},
    {"vmand", decodeBinary, binary<And>, Taint::kBits},
    {"vmor", decodeBinary, binary<Or>, Taint::kBits},
    {"vmxor", decodeBinary, binary<Xor>, Taint::kBits},
    {"vpush", decodePush, pushToScalar, Taint::kOwn},
    {"spop", decodePopToScalar, popToScalar, Taint::kOwn},
};

}  // namespace

std::span<const Mnemonic> aluMnemonics() { return kMnemonics; }

}  // namespace sublane::sim
