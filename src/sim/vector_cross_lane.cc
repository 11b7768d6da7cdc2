// The cross-lane unit (XLU): reductions over lanes, rotations, broadcasts and permutations of lanes, and
// transpositions. Each unit answers through its own queues.
//
// The order in which the hardware adds lanes is not known; here it is a tree over halves.
#include <algorithm>
#include <bit>

#include "sim/vector_state.h"

namespace sublane::sim {
namespace {

using State = VectorUnit::State;

inline float f(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t u(float value) { return std::bit_cast<uint32_t>(value); }
inline bool isNan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

uint32_t add(uint32_t a, uint32_t b) { return u(f(a) + f(b)); }
uint32_t larger(uint32_t a, uint32_t b) { return isNan(a) || (!isNan(b) && f(a) > f(b)) ? a : b; }
uint32_t smaller(uint32_t a, uint32_t b) { return isNan(a) || (!isNan(b) && f(a) < f(b)) ? a : b; }

template <uint32_t (*kCombine)(uint32_t, uint32_t), int kHalf>
[[gnu::always_inline]] inline void fold(uint32_t* tree) {
#pragma GCC ivdep
  for (int lane = 0; lane < kHalf; ++lane) tree[lane] = kCombine(tree[lane], tree[lane + kHalf]);
  if constexpr (kHalf > 1) fold<kCombine, kHalf / 2>(tree);
}
template <uint32_t (*kCombine)(uint32_t, uint32_t)>
SUBLANE_CLONES void reduceRow(uint32_t* d, const uint32_t* a) {
  uint32_t tree[kLanes];
  std::memcpy(tree, a, kRowBytes);
  fold<kCombine, kLanes / 2>(tree);
  for (int lane = 0; lane < kLanes; ++lane) d[lane] = tree[0];
}

/// Every lane of a sublane gets the sublane's result.
template <uint32_t (*kCombine)(uint32_t, uint32_t)>
bool reduce(State& s, const Micro& m) {
  const uint32_t* a = wordsOf(s, m.a, 0);
  uint32_t* d = s.result(s.cross_lane[m.unit].lanes, m.value);
  for (int row = 0; row < kWords; row += kLanes) reduceRow<kCombine>(d + row, a + row);
  return true;
}

/// Lane l of the result is lane l - n of the source, as a roll by n.
bool rotate(State& s, const Micro& m) {
  const uint32_t *a = wordsOf(s, m.a, 0), amount = s.scalarOf(m.b) % kLanes;
  uint32_t* d = s.result(s.cross_lane[m.unit].permutes, m.value);
  for (int row = 0; row < kWords; row += kLanes)
    for (uint32_t lane = 0; lane < kLanes; ++lane) d[row + (lane + amount) % kLanes] = a[row + lane];
  return true;
}

/// One lane to all; with 256 added, sublane s takes the s-th lane after it: a row becomes a column.
bool broadcastLane(State& s, const Micro& m) {
  const uint32_t *a = wordsOf(s, m.a, 0), code = s.scalarOf(m.b);
  if (code >= 256 + kLanes) return s.fail(fmt::format("a broadcast of lane {} is not known", code));
  uint32_t* d = s.result(s.cross_lane[m.unit].permutes, m.value);
  for (uint32_t sublane = 0; sublane < kSublanes; ++sublane) {
    const uint32_t lane = code < 256 ? code % kLanes : (code - 256 + sublane) % kLanes;
    std::fill_n(d + sublane * kLanes, kLanes, a[sublane * kLanes + lane]);
  }
  return true;
}

bool setPattern(State& s, const Micro& m) {
  CrossLaneUnit& unit = s.cross_lane[m.unit];
  std::memcpy(unit.pattern.words, wordsOf(s, m.a, 0), sizeof unit.pattern.words);
  unit.has_pattern = true;
  return true;
}
/// Lane l of a sublane takes the lane that the pattern names there.
bool permuteLanes(State& s, const Micro& m) {
  CrossLaneUnit& unit = s.cross_lane[m.unit];
  if (!unit.has_pattern) return s.fail("a permutation without a pattern");
  const uint32_t* a = wordsOf(s, m.a, 0);
  uint32_t* d = s.result(unit.permutes, m.value);
  for (int k = 0; k < kWords; ++k)
    d[k] = a[k / kLanes * kLanes + static_cast<int>(unit.pattern.words[k] % kLanes)];
  return true;
}

// --- transpositions

enum : uint8_t { kStart = 1, kEnd = 2, kBinary = 4 };

Transpose& transposeOf(State& s, const Micro& m) {
  CrossLaneUnit& unit = s.cross_lane[m.unit];
  return s.shadowing ? unit.shadow_transpose : unit.transpose;
}

/// Feeds a register, or two.
bool feed(State& s, const Micro& m, uint32_t most) {
  Transpose& t = transposeOf(s, m);
  if (m.detail & kStart) t.fed = 0;
  const uint32_t part = m.part & 0xffff, parts = m.part >> 16, each = m.detail & kBinary ? 2 : 1;
  if (part * each != t.fed + each)
    return s.fail(fmt::format("part {} of a transposition after {} registers", part, t.fed));
  if (parts > most * each) return s.fail(fmt::format("a transposition of {} registers is not known", parts));
  if (t.in.size() < t.fed + each) t.in.resize(t.fed + each);
  VectorRegister room;
  std::memcpy(t.in[t.fed++].words, wordsOf(s, m.a, room), kWords * 4);
  if (m.detail & kBinary) std::memcpy(t.in[t.fed++].words, wordsOf(s, m.c, room), kWords * 4);
  if ((m.detail & kEnd) != 0 && t.fed != parts)
    return s.fail(fmt::format("a transposition ends after {} of {} registers", t.fed, parts));
  return true;
}

/// Registers of 8 rows each. Row r of result q is lane 8q + r of what was fed; lanes beyond the rows that
/// were fed are poison.
bool transpose(State& s, const Micro& m) {
  if (!feed(s, m, kLanes / kSublanes)) return false;
  if (!(m.detail & kEnd)) return true;
  Transpose& t = transposeOf(s, m);
  for (int first = 0; first < static_cast<int>(m.b.bits); first += kSublanes) {
    uint32_t* d = s.result(s.cross_lane[m.unit].transposed, -1);
    std::fill_n(d, kWords, s.poison());
    for (int lane = 0; lane < static_cast<int>(t.fed) * kSublanes; ++lane) {
      const uint32_t* from =
          t.in[static_cast<size_t>(lane) / kSublanes].words + lane % kSublanes * kLanes + first;
      for (int row = 0; row < kSublanes; ++row) d[row * kLanes + lane] = from[row];
    }
  }
  return true;
}

/// Registers of 16 rows of packed halves each, and so are the results. Of two matrices at once (vx, vy), the
/// results of the second come first, turn by turn.
bool transposePacked(State& s, const Micro& m) {
  if (!feed(s, m, kLanes / 16)) return false;
  if (!(m.detail & kEnd)) return true;
  Transpose& t = transposeOf(s, m);
  const int matrices = m.detail & kBinary ? 2 : 1, lanes = static_cast<int>(t.fed) / matrices * 16;
  for (int result = 0; result < static_cast<int>(m.b.bits) / 16 * matrices; ++result) {
    const int first = result / matrices * 16, matrix = matrices - 1 - result % matrices;
    uint32_t* d = s.result(s.cross_lane[m.unit].transposed, -1);
    std::fill_n(d, kWords, s.poison());
    for (int lane = 0; lane < lanes; ++lane) {
      const int piece = lane / 16 * matrices + matrix;
      const VectorRegister& in = t.in[static_cast<size_t>(piece)];
      const uint32_t* from = in.words + lane % 16 / 2 * kLanes + first;
      const int shift = lane % 2 * 16;
      for (int row = 0; row < 16; row += 2)
        d[row / 2 * kLanes + lane] = (from[row] >> shift & 0xffff) | (from[row + 1] >> shift & 0xffff) << 16;
    }
  }
  return true;
}

template <ResultQueue CrossLaneUnit::* kQueue>
bool pop(State& s, const Micro& m) {
  ResultQueue& queue = s.cross_lane[m.unit].*kQueue;
  if (queue.empty()) return s.fail(fmt::format("cross-lane unit {} has no result", m.unit));
  if (m.value >= 0 && queue.front().value != m.value)
    return s.fail(fmt::format("cross-lane unit {}'s next result is of %{}, not of %{}", m.unit,
                              queue.front().value, m.value));
  return s.take(queue, m.result);
}

// --- decoding

bool unitOf(const Decoding& d, Micro& m) {
  if (d.instruction.unit_index < 0 || d.instruction.unit_index > 3) return false;
  m.unit = static_cast<uint8_t>(d.instruction.unit_index);
  m.value = d.instruction.value;
  return true;
}
bool decodeReduction(const Decoding& d, Micro& m, Run run) {
  m.order = 2;
  return unitOf(d, m) && decodeUnary(d, m, run) && m.a.kind == Source::Kind::kVector;
}
bool decodeLaneMove(const Decoding& d, Micro& m, Run run) {
  m.order = 2;
  return unitOf(d, m) && decodeBinary(d, m, run) && m.a.kind == Source::Kind::kVector &&
         m.b.kind != Source::Kind::kVector;
}
bool decodePermutation(const Decoding& d, Micro& m, Run run) {
  m.order = 2;
  if (d.operands.size() != 2 || !unitOf(d, m)) return false;
  m.a = sourceOf(d.operands[1]);
  m.run = run;
  return m.a.kind == Source::Kind::kVector;
}
/// "vxpose.b32.start.end.short": parts of one transposition; "short" and "narrow" say what part and width say
/// too.
bool decodeTranspose(const Decoding& d, Micro& m, Run run) {
  m.order = 2;
  const bool binary = d.mnemonic.find(".binary.") != std::string_view::npos;
  if (d.operands.size() != (binary ? 3 : 2) || !unitOf(d, m)) return false;
  std::string_view rest = d.mnemonic;
  rest.remove_prefix(std::min(rest.find("b32"), rest.find("b16")) + 3);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find('.'));
    if (word == "start")
      m.detail |= kStart;
    else if (word == "end")
      m.detail |= kEnd;
    else if (word != "cont" && word != "short" && word != "narrow")
      return false;
    rest.remove_prefix(word.size());
  }
  if (binary) m.detail |= kBinary;
  m.a = sourceOf(d.operands[0]);
  if (binary) m.c = sourceOf(d.operands[1]);
  m.b = sourceOf(d.operands.back());
  m.part = d.instruction.part;
  m.run = run;
  return m.a.kind == Source::Kind::kVector && (!binary || m.c.kind == Source::Kind::kVector) &&
         m.b.kind == Source::Kind::kImmediate && m.b.bits % 8 == 0 && m.b.bits <= kLanes;
}
bool decodePop(const Decoding& d, Micro& m, Run run) {
  if (!unitOf(d, m) || m.result == kNoRegister) return false;
  m.value = d.operands.empty() ? -1 : d.operands[0].value;
  m.order = 0;
  m.run = run;
  return true;
}

constexpr Mnemonic kMnemonics[] = {
    {"vadd.xlane.f32", decodeReduction, reduce<add>, Taint::kLanes},
    {"vmax.xlane.f32", decodeReduction, reduce<larger>, Taint::kLanes},
    {"vmin.xlane.f32", decodeReduction, reduce<smaller>, Taint::kLanes},
    {"vrot.lane.b32", decodeLaneMove, rotate, Taint::kUnit},
    {"vbcast.lane.b32", decodeLaneMove, broadcastLane, Taint::kUnit},
    {"vset.pattern.permute", decodeReduction, setPattern, Taint::kOwn},
    {"vperm.lane", decodePermutation, permuteLanes, Taint::kUnit},
    {"vxpose.b32*", decodeTranspose, transpose, Taint::kUnit},
    {"vxpose.c.b16*", decodeTranspose, transposePacked, Taint::kUnit},
    {"vxpose.binary.c.b16*", decodeTranspose, transposePacked, Taint::kUnit},
    {"vpop.xlane", decodePop, pop<&CrossLaneUnit::lanes>, Taint::kOwn},
    {"vpop.permute", decodePop, pop<&CrossLaneUnit::permutes>, Taint::kOwn},
    {"vpop.trf", decodePop, pop<&CrossLaneUnit::transposed>, Taint::kOwn},
};

}  // namespace

std::span<const Mnemonic> crossLaneMnemonics() { return kMnemonics; }

}  // namespace sublane::sim
