// The matrix units (MXU): weights are pushed into a stage, taken over by a multiplication that says so
// ("vlgmr.msra"), and stay until the next; results come out of a queue (tpu7x: a numbered buffer that adds).
//
// A push brings 8 (f32), 16 (bf16) or 32 (s8) rows and moves earlier ones down, so that the last push holds
// the first rows. On chips of 256 columns a push takes columns 128-255 from what vmatprep.subr left, a
// multiplication rows' elements 128-255 from vmatprep.mubr; vmatpush1 and 2 fill the halves of the depth,
// vmatpush3 two blocks on the diagonal. Transposed pushes (xpose) bring columns. Operands of f32 are rounded
// to bf16 (to nearest even: an assumption); products are added in order of depth in single precision, which
// the hardware may do in another order.
#include <algorithm>
#include <bit>

#include "sim/vector_state.h"

#define SUBLANE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

namespace sublane::sim {
namespace {

using State = VectorUnit::State;
enum class Type : uint8_t { kF32, kBf16, kS8 };
constexpr int kRowsOf[] = {8, 16, 32};
constexpr int kSide = 256;  // of the weights' array, also where the chip has 128

inline float f(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t roundToBf16(uint32_t x) {
  if ((x & 0x7fffffff) > 0x7f800000) return (x | 0x400000) & 0xffff0000;
  return (x + 0x7fff + ((x >> 16) & 1)) & 0xffff0000;
}

/// Row `row` of an operand as 128 floats.
void widenRow(const uint32_t* words, Type type, int row, float* out) {
  switch (type) {
    case Type::kF32:
      for (int l = 0; l < kLanes; ++l) out[l] = f(roundToBf16(words[row * kLanes + l]));
      return;
    case Type::kBf16: {
      const uint32_t* from = words + row / 2 * kLanes;
      const int shift = row % 2 ? 0 : 16;
      for (int l = 0; l < kLanes; ++l) out[l] = f(from[l] << shift & 0xffff0000);
      return;
    }
    case Type::kS8: {
      const uint32_t* from = words + row / 4 * kLanes;
      for (int l = 0; l < kLanes; ++l)
        out[l] = static_cast<float>(static_cast<int8_t>(from[l] >> (row % 4 * 8)));
      return;
    }
  }
}

// --- weights

enum : uint8_t { kTransposed = 16, kStageB = 32, kLatch = 64 };

bool latch(State& s, MatrixUnit& unit, WeightStage& stage) {
  std::vector<float>& w = unit.weights;
  w.assign(static_cast<size_t>(kSide) * kSide, 0.0f);
  unit.depth[0] = unit.depth[1] = 0;
  if (stage.count == 0) return s.fail("weights are taken over, but none were pushed");
  int filled[4] = {0, 0, 0, 0};  // rows by half
  float row[2][kLanes];
  unit.diagonal = false;
  for (size_t p = stage.count; p-- > 0;) {  // the last push is the first
    const WeightPush& push = stage.pushes[p];
    const int block = push.half == 2 ? kLanes : 0;
    unit.diagonal |= push.half == 3;
    int& at = filled[push.half];
    if (at + push.rows > kLanes) continue;  // moved out at the end
    for (int r = 0; r < push.rows; ++r, ++at) {
      widenRow(push.low.words, static_cast<Type>(push.type), r, row[0]);
      if (push.half != 0) widenRow(push.high.words, static_cast<Type>(push.type), r, row[1]);
      const int high_rows = push.half == 3 ? kLanes : 0;
      for (int l = 0; l < kLanes; ++l) {
        if (push.transposed) {
          w[static_cast<size_t>(l) * kSide + block + at] = row[0][l];
          if (push.half != 0) w[static_cast<size_t>(kLanes + l) * kSide + block + high_rows + at] = row[1][l];
        } else {
          w[static_cast<size_t>(block + at) * kSide + l] = row[0][l];
          if (push.half != 0) w[static_cast<size_t>(block + high_rows + at) * kSide + kLanes + l] = row[1][l];
        }
      }
    }
    if (push.transposed)
      unit.depth[0] = unit.depth[1] = kLanes;
    else if (push.half == 3)
      unit.depth[0] = unit.depth[1] = at;
    else
      unit.depth[push.half == 2] = at;
  }
  unit.has_weights = true;
  stage.count = 0;
  return true;
}

bool push(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  WeightStage& stage = unit.stages[(m.detail & kStageB) != 0];
  if (stage.count == stage.pushes.size()) stage.pushes.emplace_back();
  if (stage.count > 64) return s.fail("more than 64 pushes of weights that nothing takes over");
  WeightPush& p = stage.pushes[stage.count++];
  p.type = m.part & 3;
  p.rows = static_cast<uint8_t>(kRowsOf[p.type]);
  p.half = m.detail & 3;
  p.transposed = (m.detail & kTransposed) != 0;
  VectorRegister room;
  const uint32_t* a = wordsOf(s, m.a, room);
  for (int k = 0; k < kWords; ++k) p.low.words[k] = m.mask == kNoRegister ? a[k] : a[k] & s.words(m.mask)[k];
  if (p.half == 0) return true;
  if (!unit.has_subr) return s.fail("a push of weights without its second half");
  p.high = unit.subr;
  unit.has_subr = false;
  return true;
}

/// vmatprep.subr, vmatprep.mubr
template <VectorRegister MatrixUnit::* kRegister, bool MatrixUnit::* kHas>
bool prepareHalf(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  VectorRegister room;
  const uint32_t* a = wordsOf(s, m.a, room);
  for (int k = 0; k < kWords; ++k)
    (unit.*kRegister).words[k] = m.mask == kNoRegister ? a[k] : a[k] & s.words(m.mask)[k];
  unit.*kHas = true;
  return true;
}

// --- multiplication

typedef float V16 __attribute__((vector_size(64)));

/// out[row][column] += sum over depth of left[row][depth] * weights[depth][column], for 4 rows.
SUBLANE_CLONES void multiplyFour(float* out, const float* left, const float* weights, int depth,
                                 int columns) {
  for (int c = 0; c < columns; c += 32) {
    V16 sum[4][2];
    for (int r = 0; r < 4; ++r) std::memcpy(sum[r], out + r * kSide + c, sizeof sum[r]);
    for (int k = 0; k < depth; ++k) {
      V16 w[2];
      std::memcpy(w, weights + static_cast<size_t>(k) * kSide + c, sizeof w);
      for (int r = 0; r < 4; ++r) {
        const float x = left[r * kSide + k];
        sum[r][0] += x * w[0];
        sum[r][1] += x * w[1];
      }
    }
    for (int r = 0; r < 4; ++r) std::memcpy(out + r * kSide + c, sum[r], sizeof sum[r]);
  }
}

void putResult(const Micro& m, MatrixUnit& unit, int index, const float* rows) {
  // s32 results are exact: the largest sum of 256 products of s8 is 2^22.
  const bool integer = static_cast<Type>(m.part & 3) == Type::kS8;
  VectorRegister* to = nullptr;
  bool add = false;
  if (m.address >= 0) {
    const size_t at = static_cast<size_t>(m.address) + static_cast<size_t>(index);
    if (unit.buffer.size() <= at) unit.buffer.resize(at + 1), unit.buffer_known.resize(at + 1);
    to = &unit.buffer[at];
    add = unit.buffer_known[at];
    unit.buffer_known[at] = true;
  } else {
    to = &unit.results.push(m.value);
  }
  for (int r = 0; r < kSublanes; ++r)
    for (int l = 0; l < kLanes; ++l) {
      uint32_t& word = to->words[r * kLanes + l];
      const float x = rows[r * kSide + l];
      if (integer)
        word = static_cast<uint32_t>(static_cast<int32_t>(x)) + (add ? word : 0);
      else
        word = std::bit_cast<uint32_t>(add ? f(word) + x : x);
    }
}

bool multiply(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  if (m.detail & kLatch && !latch(s, unit, unit.stages[(m.detail & kStageB) != 0])) return false;
  if (!unit.has_weights) return s.fail("a multiplication without weights");
  const bool wide = s.matrix_width == kSide;
  if (wide && !unit.has_mubr) return s.fail("a multiplication without its second half");
  const Type type = static_cast<Type>(m.part & 3);
  const int rows = kRowsOf[static_cast<int>(type)];
  alignas(64) static thread_local float left[32 * kSide], out[32 * kSide];
  VectorRegister room, masked;
  const uint32_t* a = wordsOf(s, m.a, room);
  if (m.mask != kNoRegister) {
    for (int k = 0; k < kWords; ++k) masked.words[k] = a[k] & s.words(m.mask)[k];
    a = masked.words;
  }
  for (int r = 0; r < rows; ++r) {
    widenRow(a, type, r, left + r * kSide);
    if (wide) widenRow(unit.mubr.words, type, r, left + r * kSide + kLanes);
  }
  std::fill_n(out, rows * kSide, 0.0f);
  const float* w = unit.weights.data();
  const int columns = wide && !unit.diagonal ? kSide : kLanes;
  for (int r = 0; r < rows; r += 4) {
    float* to = out + r * kSide;
    const float* from = left + r * kSide;
    multiplyFour(to, from, w, unit.depth[0], columns);
    if (!wide) continue;
    const float* second = w + static_cast<size_t>(kLanes) * kSide;
    if (unit.diagonal)
      multiplyFour(to + kLanes, from + kLanes, second + kLanes, unit.depth[1], kLanes);
    else
      multiplyFour(to, from + kLanes, second, unit.depth[1], kSide);
  }
  int index = 0;
  for (int r = 0; r < rows; r += kSublanes)
    for (int half = 0; half < (wide ? 2 : 1); ++half)
      putResult(m, unit, index++, out + r * kSide + half * kLanes);
  unit.has_mubr = false;
  return true;
}

bool pop(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  if (unit.results.empty()) return s.fail(fmt::format("matrix unit {} has no result", m.unit));
  std::memcpy(s.words(m.result), unit.results.front().words, kWords * 4);
  unit.results.pop();
  return true;
}
/// The sum of the next results of two units.
bool popAdd(State& s, const Micro& m) {
  MatrixUnit &first = s.matrix[m.unit], &second = s.matrix[m.detail];
  if (first.results.empty() || second.results.empty())
    return s.fail(fmt::format("matrix unit {} has no result", first.results.empty() ? m.unit : m.detail));
  const uint32_t *a = first.results.front().words, *b = second.results.front().words;
  uint32_t* d = s.words(m.result);
  for (int k = 0; k < kWords; ++k) d[k] = a[k] + b[k];
  first.results.pop();
  second.results.pop();
  return true;
}
/// Taking a numbered result empties its place: the next multiplication into it does not add.
bool popNumbered(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  const size_t at = static_cast<size_t>(m.address);
  if (at >= unit.buffer_known.size() || !unit.buffer_known[at])
    return s.fail(fmt::format("result {} of matrix unit {} is not there", at, m.unit));
  std::memcpy(s.words(m.result), unit.buffer[at].words, kWords * 4);
  unit.buffer_known[at] = false;
  return true;
}

// --- decoding: "vmatmul.mubr.msk.bf16.vlgmr.msra.gmra" by its words

/// Takes `word` out of the front of `rest`, if it stands there.
bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word) || (rest.size() > word.size() && rest[word.size()] != '.')) return false;
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return true;
}
uint8_t typeWord(std::string_view& rest) {
  if (take(rest, "bf16")) return static_cast<uint8_t>(Type::kBf16);
  if (take(rest, "s8")) return static_cast<uint8_t>(Type::kS8);
  take(rest, "f32");
  return static_cast<uint8_t>(Type::kF32);
}
bool unitAndOperands(const Decoding& d, Micro& m, bool masked) {
  if (d.instruction.unit_index < 0 || d.instruction.unit_index > 3) return false;
  m.unit = static_cast<uint8_t>(d.instruction.unit_index);
  m.value = d.instruction.value;
  if (d.operands.size() != (masked ? 2u : 1u)) return false;
  if (masked) {
    if (d.operands[0].reg.file != llo::RegisterFile::kMask) return false;
    m.mask = static_cast<uint8_t>(kFirstMask + d.operands[0].reg.index);
  }
  m.a = sourceOf(d.operands.back());
  return m.a.kind != Source::Kind::kNone;
}

bool decodePush(const Decoding& d, Micro& m, Run run) {
  std::string_view rest = d.mnemonic.substr(std::string_view("vmatpush").size());
  const bool wide = d.chip != "v5e" && d.chip != "v5p" && d.chip != "v4";
  m.detail = 0;
  if (!rest.empty() && rest[0] >= '1' && rest[0] <= '3') {
    m.detail = static_cast<uint8_t>(rest[0] - '0');
    rest.remove_prefix(1);
  }
  if (rest.empty() || rest[0] != '.' || wide != (m.detail != 0)) return false;
  rest.remove_prefix(1);
  m.part = typeWord(rest);
  if (take(rest, "xpose")) m.detail |= kTransposed;
  const bool masked = take(rest, "msk");
  if (rest == "msrb") m.detail |= kStageB;
  m.order = 3;
  m.run = run;
  return (rest == "msra" || rest == "msrb") && unitAndOperands(d, m, masked);
}
bool decodeHalf(const Decoding& d, Micro& m, Run run) {
  std::string_view rest = d.mnemonic.substr(std::string_view("vmatprep.subr").size());
  if (!rest.empty()) rest.remove_prefix(1);
  const bool masked = take(rest, "msk");
  m.part = typeWord(rest);
  m.order = 4;
  m.run = run;
  return rest.empty() && unitAndOperands(d, m, masked);
}
bool decodeMultiply(const Decoding& d, Micro& m, Run run) {
  std::string_view rest = d.mnemonic.substr(std::string_view("vmatmul").size());
  if (!rest.empty()) rest.remove_prefix(1);
  take(rest, "mubr");
  const bool masked = take(rest, "msk");
  m.part = typeWord(rest);
  m.detail = 0;
  if (take(rest, "vlgmr")) {
    m.detail = kLatch;
    if (take(rest, "msrb"))
      m.detail |= kStageB;
    else if (!take(rest, "msra"))
      return false;
  }
  m.address = -1;
  if (!take(rest, "gmra")) return false;
  if (take(rest, "mrb")) m.address = static_cast<int64_t>(d.instruction.part);
  m.order = 2;
  m.run = run;
  return rest.empty() && unitAndOperands(d, m, masked);
}
bool decodePop(const Decoding& d, Micro& m, Run run) {
  if (d.instruction.unit_index < 0 || d.instruction.unit_index > 3 || m.result == kNoRegister) return false;
  m.unit = static_cast<uint8_t>(d.instruction.unit_index);
  m.address = static_cast<int64_t>(d.instruction.part);
  m.order = 0;
  m.run = run;
  return d.operands.empty();
}

/// "vpop.add.s32.mrf.mxu0.mxu1": the reader keeps one unit; it is always this pair.
bool decodePopAdd(const Decoding& d, Micro& m, Run run) {
  if (!decodePop(d, m, run) || d.chip != "v6e") return false;
  m.unit = 0;
  m.detail = 1;
  return true;
}

constexpr Mnemonic kMnemonics[] = {
    {"vpop.add.s32.mrf", decodePopAdd, popAdd},
    {"vmatpush*", decodePush, push},
    {"vmatprep.subr*", decodeHalf, prepareHalf<&MatrixUnit::subr, &MatrixUnit::has_subr>},
    {"vmatprep.mubr*", decodeHalf, prepareHalf<&MatrixUnit::mubr, &MatrixUnit::has_mubr>},
    {"vmatmul*", decodeMultiply, multiply},
    {"vpop.f32.mrf", decodePop, pop},
    {"vpop.s32.mrf", decodePop, pop},
    {"vpop.f32.mrb", decodePop, popNumbered},
    {"vpop.s32.mrb", decodePop, popNumbered},
};

}  // namespace

std::span<const Mnemonic> matrixMnemonics() { return kMnemonics; }

}  // namespace sublane::sim
