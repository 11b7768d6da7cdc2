// The matrix units (MXU): weights are pushed into a stage, taken over by a multiplication that says so
// ("vlgmr.msra"), and stay until the next; results come out of a queue (tpu7x: a numbered buffer that adds).
//
// A push brings 8 (f32), 16 (bf16) or 32 (s8) rows and moves earlier ones down, so that the last push holds
// the first rows; on tpu7x the first push does, and vmatpush1 goes on into the second half. On chips of 256
// columns a push takes columns 128-255 from what vmatprep.subr left, a multiplication rows' elements 128-255
// from vmatprep.mubr; vmatpush1 and 2 fill the halves of the depth, vmatpush3 two blocks on the diagonal.
// Transposed pushes (xpose) bring columns. Operands of f32 are rounded to bf16 (to nearest even: an
// assumption); products are added in order of depth in single precision, which the hardware may do in another
// order.
#include <algorithm>
#include <bit>
#include <utility>

#include "sim/vector_state.h"

namespace sublane::sim {
namespace {

using State = VectorUnit::State;
enum class Type : uint8_t { kF32, kBf16, kS8 };
constexpr int kRowsOf[] = {8, 16, 32};
constexpr int kSide = 256;  // of the weights' array, also where the chip has 128

typedef float V16 __attribute__((vector_size(64)));
typedef float V16InMemory __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int kRowsAtOnce = 8, kColumnsAtOnce = 32;

V16InMemory& at(float* floats) { return *reinterpret_cast<V16InMemory*>(floats); }
const V16InMemory& at(const float* floats) { return *reinterpret_cast<const V16InMemory*>(floats); }

inline float f(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t roundToBf16(uint32_t x) {
  if ((x & 0x7fffffff) > 0x7f800000) return (x | 0x400000) & 0xffff0000;
  return (x + 0x7fff + ((x >> 16) & 1)) & 0xffff0000;
}

/// Row `row` of an operand as 128 floats.
SUBLANE_CLONES void widenRow(const uint32_t* words, Type type, int row, float* out) {
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

/// Whether a row of an operand is tainted.
bool rowTainted(const uint32_t* shadow, Type type, int row) {
  const int per_word = kRowsOf[static_cast<int>(type)] / kSublanes, bits = 32 / per_word;
  const uint32_t mask = per_word == 1 ? ~uint32_t{0} : ((uint32_t{1} << bits) - 1) << (row % per_word * bits);
  const uint32_t* words = shadow + row / per_word * kLanes;
  return std::any_of(words, words + kLanes, [&](uint32_t word) { return (word & mask) != 0; });
}
/// Of pushed weights: the columns that are tainted.
void markColumns(const uint32_t* shadow, const WeightPush& push, std::array<bool, kLanes>& tainted) {
  tainted.fill(false);
  if (shadow == nullptr) return;
  if (push.transposed) {
    for (int r = 0; r < push.rows; ++r)
      tainted[static_cast<size_t>(r)] = rowTainted(shadow, static_cast<Type>(push.type), r);
    return;
  }
  for (size_t k = 0; k < kWords; ++k) tainted[k % kLanes] |= shadow[k] != 0;
}

/// Whether 128 numbers are all zeros; else whether all are finite.
SUBLANE_CLONES MatrixUnit::Block kindOf(const float* row) {
  uint32_t any = 0, largest = 0;
  for (int k = 0; k < kLanes; ++k) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(row[k]) & 0x7fffffff;
    any |= magnitude;
    largest = std::max(largest, magnitude);
  }
  if (any == 0) return MatrixUnit::Block::kZero;
  return largest < 0x7f800000 ? MatrixUnit::Block::kFinite : MatrixUnit::Block::kAny;
}

/// 32 columns of all depths lie together: a sum over the depth goes through memory in order.
float* weightsAt(MatrixUnit& unit, int depth, int column) {
  return unit.weights.data() + (column / kColumnsAtOnce * kSide + depth) * kColumnsAtOnce +
         column % kColumnsAtOnce;
}

void clearBlocks(MatrixUnit& unit) {
  unit.weights.resize(static_cast<size_t>(kSide) * kSide);
  for (int deep = 0; deep < 2; ++deep) {
    for (int across = 0; across < 2; ++across) {
      MatrixUnit::Block& block = unit.blocks[deep][across];
      if (std::exchange(block, MatrixUnit::Block::kZero) == MatrixUnit::Block::kZero) continue;
      for (int c = 0; c < kLanes; c += kColumnsAtOnce)
        std::memset(weightsAt(unit, deep * kLanes, across * kLanes + c), 0,
                    kLanes * kColumnsAtOnce * sizeof(float));
    }
  }
}

/// Puts the rows of one push into the weights, from row (or, transposed, column) `at` of its half.
void place(MatrixUnit& unit, const WeightPush& push, int at) {
  const int block = push.half == 2 ? kLanes : 0, high_rows = push.half == 3 ? kLanes : 0;
  for (int high = 0; high < (push.half != 0 ? 2 : 1); ++high) {
    const uint32_t* words = high ? push.high.words : push.low.words;
    const int first = block + at + (high ? high_rows : 0);  // of the rows, or columns, that are brought
    const int across = high ? kLanes : 0;
    const int row_half = push.transposed ? high : first / kLanes,
              column_half = push.transposed ? first / kLanes : high;
    MatrixUnit::Block& kind = unit.blocks[row_half][column_half];
    float rows[32][kLanes];
    MatrixUnit::Block of_rows = MatrixUnit::Block::kZero;
    for (int r = 0; r < push.rows; ++r) {
      widenRow(words, static_cast<Type>(push.type), r, rows[r]);
      of_rows = std::max(of_rows, kindOf(rows[r]));
    }
    kind = std::max(kind, of_rows);
    // Zeros lie there already.
    if (of_rows != MatrixUnit::Block::kZero && !push.transposed) {
      for (int r = 0; r < push.rows; ++r)
        for (int c = 0; c < kLanes; c += kColumnsAtOnce)
          std::memcpy(weightsAt(unit, first + r, across + c), rows[r] + c, kColumnsAtOnce * sizeof(float));
    } else if (of_rows != MatrixUnit::Block::kZero) {
      for (int l = 0; l < kLanes; ++l) {
        float* to = weightsAt(unit, across + l, first);
        for (int r = 0; r < push.rows; ++r) to[r] = rows[r][l];
      }
    }
    const auto& tainted = high ? push.high_tainted : push.low_tainted;
    for (int k = 0; push.tainted && k < (push.transposed ? push.rows : kLanes); ++k)
      unit.column_tainted[static_cast<size_t>(push.transposed ? first + k : across + k)] |=
          tainted[static_cast<size_t>(k)];
  }
}

bool latch(State& s, MatrixUnit& unit, WeightStage& stage) {
  if (stage.count == 0) return s.fail("weights are taken over, but none were pushed");
  clearBlocks(unit);
  unit.column_tainted.fill(false);
  unit.diagonal = unit.weights_tainted = false;
  int filled[4] = {0, 0, 0, 0};  // rows by half
  bool transposed = false;
  const bool first_rows_first = s.options.chip == "tpu7x";
  for (size_t p = 0; p < stage.count; ++p) {
    const WeightPush& push = stage.pushes[first_rows_first ? p : stage.count - 1 - p];
    const int most = first_rows_first && push.half == 1 ? kSide : kLanes;
    if (filled[push.half] + push.rows > most) continue;  // moved out at the end
    place(unit, push, filled[push.half]);
    filled[push.half] += push.rows;
    unit.diagonal |= push.half == 3;
    unit.weights_tainted |= push.tainted;
    transposed |= push.transposed;
  }
  unit.depth[0] = transposed ? kLanes : std::min(std::max({filled[0], filled[1], filled[3]}), kLanes);
  unit.depth[1] = transposed ? kLanes : std::max({filled[2], filled[3], filled[1] - kLanes});
  unit.has_weights = true;
  stage.count = 0;
  return true;
}

/// An operand with its mask, and its shadow where it is tainted.
void takeOperand(State& s, const Micro& m, VectorRegister& words, VectorRegister& shadow, bool& tainted) {
  VectorRegister room;
  const uint32_t *a = wordsOf(s, m.a, room), *mask = m.mask == kNoRegister ? nullptr : s.words(m.mask);
  std::memcpy(words.words, a, sizeof words.words);
  for (int k = 0; mask != nullptr && k < kWords; ++k) words.words[k] &= mask[k];
  tainted = s.isTainted(m.a);
  if (!tainted) return;
  const uint32_t* from = s.shadows[m.a.index].words;
  for (int k = 0; k < kWords; ++k) shadow.words[k] = mask == nullptr ? from[k] : from[k] & mask[k];
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
  VectorRegister shadow;
  bool low_tainted = false;
  takeOperand(s, m, p.low, shadow, low_tainted);
  p.tainted = low_tainted || (p.half != 0 && unit.subr_tainted);
  if (p.half != 0 && !unit.has_subr) return s.fail("a push of weights without its second half");
  if (p.half != 0) p.high = unit.subr;
  if (p.tainted) {
    markColumns(low_tainted ? shadow.words : nullptr, p, p.low_tainted);
    markColumns(p.half != 0 && unit.subr_tainted ? unit.subr_shadow.words : nullptr, p, p.high_tainted);
  }
  unit.has_subr = false;
  return true;
}

bool prepareSubr(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  takeOperand(s, m, unit.subr, unit.subr_shadow, unit.subr_tainted);
  unit.has_subr = true;
  return true;
}
bool prepareMubr(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  takeOperand(s, m, unit.mubr, unit.mubr_shadow, unit.mubr_tainted);
  unit.has_mubr = true;
  return true;
}

// --- multiplication

/// out[row][column] += sum over depth of left[row][depth] * weights(depth, column), for 8 rows, 128 columns.
SUBLANE_CLONES void multiplyRows(float* out, const float* left, const float* weights, int depth) {
  for (int c = 0; c < kLanes; c += kColumnsAtOnce) {
    V16 first[kRowsAtOnce], second[kRowsAtOnce];
    SUBLANE_UNROLL
    for (int r = 0; r < kRowsAtOnce; ++r) {
      first[r] = at(out + r * kSide + c);
      second[r] = at(out + r * kSide + c + 16);
    }
    const float* w = weights + c * kSide;
    for (int k = 0; k < depth; ++k, w += kColumnsAtOnce) {
      const V16 a = at(w), b = at(w + 16);
      SUBLANE_UNROLL
      for (int r = 0; r < kRowsAtOnce; ++r) {
        first[r] += left[r * kSide + k] * a;
        second[r] += left[r * kSide + k] * b;
      }
    }
    SUBLANE_UNROLL
    for (int r = 0; r < kRowsAtOnce; ++r) {
      at(out + r * kSide + c) = first[r];
      at(out + r * kSide + c + 16) = second[r];
    }
  }
}

/// Where a result goes: a queue, or (tpu7x) a numbered place, where it is added to what is there.
ResultQueue::Slot& placeOf(const Micro& m, MatrixUnit& unit, int index, bool& add) {
  if (m.address < 0) return unit.results.push(m.value);
  const size_t at = static_cast<size_t>(m.address) + static_cast<size_t>(index);
  while (unit.buffer.size() <= at) unit.buffer.emplace_back();
  ResultQueue::Slot& slot = unit.buffer[at];
  add = std::exchange(slot.value, m.value) != -1;
  if (!add) slot.tainted = false;
  return slot;
}

/// Marks a result of `rows` whose rows or columns are tainted.
void taintResult(ResultQueue::Slot& slot, bool add, const bool* rows, const bool* columns) {
  const bool before = add && slot.tainted;
  for (int k = 0; k < kWords; ++k) {
    uint32_t& word = slot.shadow.words[k];
    word = (before ? word : 0) | (rows[k / kLanes] || columns[k % kLanes] ? ~uint32_t{0} : 0);
  }
  slot.tainted = true;
}

/// Adds a row of 128 results, or puts it down.
SUBLANE_CLONES void putRow(uint32_t* words, const float* row, bool integer, bool add) {
  if (!integer && !add) {
    std::memcpy(words, row, kRowBytes);
  } else if (!integer) {
    for (int l = 0; l < kLanes; ++l) words[l] = std::bit_cast<uint32_t>(f(words[l]) + row[l]);
  } else {
    // s32 results are exact: the largest sum of 256 products of s8 is 2^22.
    for (int l = 0; l < kLanes; ++l)
      words[l] = static_cast<uint32_t>(static_cast<int32_t>(row[l])) + (add ? words[l] : 0);
  }
}

void putResult(const Micro& m, ResultQueue::Slot& slot, bool add, const float* rows) {
  const bool integer = static_cast<Type>(m.part & 3) == Type::kS8;
  for (int r = 0; r < kSublanes; ++r) putRow(slot.data.words + r * kLanes, rows + r * kSide, integer, add);
}

/// The product of `rows` rows with the weights. Zeros are left out where nothing but numbers meets them.
void product(const State& s, MatrixUnit& unit, int rows, const float* left, float* out) {
  using Block = MatrixUnit::Block;
  const int halves = s.matrix_width == kSide ? 2 : 1;
  std::fill_n(out, rows * kSide, 0.0f);
  for (int r = 0; r < rows * kSide; r += kRowsAtOnce * kSide) {
    for (int deep = 0; deep < halves; ++deep) {
      Block of_left = Block::kZero;
      for (int k = 0; k < kRowsAtOnce; ++k)
        of_left = std::max(of_left, kindOf(left + r + k * kSide + deep * kLanes));
      for (int across = 0; across < halves; ++across) {
        const Block of_weights = unit.blocks[deep][across];
        const bool nothing = (of_left == Block::kZero && of_weights != Block::kAny) ||
                             (of_weights == Block::kZero && (of_left != Block::kAny || unit.diagonal));
        if (nothing) continue;
        multiplyRows(out + r + across * kLanes, left + r + deep * kLanes,
                     weightsAt(unit, deep * kLanes, across * kLanes), unit.depth[deep]);
      }
    }
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
  VectorRegister operand, shadow;
  bool tainted = false;
  takeOperand(s, m, operand, shadow, tainted);
  for (int r = 0; r < rows; ++r) {
    widenRow(operand.words, type, r, left + r * kSide);
    if (wide) widenRow(unit.mubr.words, type, r, left + r * kSide + kLanes);
  }
  product(s, unit, rows, left, out);
  const bool any_taint = tainted || (wide && unit.mubr_tainted) || unit.weights_tainted;
  int index = 0;
  for (int first = 0; first < rows; first += kSublanes)
    for (int half = 0; half < (wide ? 2 : 1); ++half) {
      bool add = false;
      ResultQueue::Slot& slot = placeOf(m, unit, index++, add);
      putResult(m, slot, add, out + first * kSide + half * kLanes);
      if (!any_taint) continue;
      bool of_rows[kSublanes];
      for (int r = 0; r < kSublanes; ++r)
        of_rows[r] =
            (tainted && !(unit.diagonal && half == 1) && rowTainted(shadow.words, type, first + r)) ||
            (wide && unit.mubr_tainted && !(unit.diagonal && half == 0) &&
             rowTainted(unit.mubr_shadow.words, type, first + r));
      taintResult(slot, add, of_rows, unit.column_tainted.data() + half * kLanes);
    }
  unit.has_mubr = false;
  return true;
}

bool pop(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  if (unit.results.empty()) return s.fail(fmt::format("matrix unit {} has no result", m.unit));
  return s.take(unit.results, m.result);
}
/// The sum of the next results of two units.
bool popAdd(State& s, const Micro& m) {
  MatrixUnit &first = s.matrix[m.unit], &second = s.matrix[m.detail];
  if (first.results.empty() || second.results.empty())
    return s.fail(fmt::format("matrix unit {} has no result", first.results.empty() ? m.unit : m.detail));
  ResultQueue::Slot &sum = first.results.front(), &other = second.results.front();
  for (int k = 0; k < kWords; ++k) sum.data.words[k] += other.data.words[k];
  for (int k = 0; other.tainted && k < kWords; ++k)
    sum.shadow.words[k] = (sum.tainted ? sum.shadow.words[k] : 0) | other.shadow.words[k];
  sum.tainted |= other.tainted;
  second.results.pop();
  return s.take(first.results, m.result);
}
/// Taking a numbered result empties its place: the next multiplication into it does not add.
bool popNumbered(State& s, const Micro& m) {
  MatrixUnit& unit = s.matrix[m.unit];
  const size_t at = static_cast<size_t>(m.address);
  if (at >= unit.buffer.size() || unit.buffer[at].value == -1)
    return s.fail(fmt::format("result {} of matrix unit {} is not there", at, m.unit));
  ResultQueue::Slot& slot = unit.buffer[at];
  s.registers[m.result] = slot.data;
  s.tainted[m.result] = slot.tainted;
  if (slot.tainted) s.shadows[m.result] = slot.shadow;
  slot.value = -1;
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

/// "vpop.add.s32.mrf.mxu0.mxu1": the reader leaves the second unit in the form.
bool decodePopAdd(const Decoding& d, Micro& m, Run run) {
  if (!decodePop(d, m, run)) return false;
  m.detail = static_cast<uint8_t>(d.mnemonic.back() - '0');
  return m.detail < 4;
}

constexpr Mnemonic kMnemonics[] = {
    {"vpop.add.s32.mrf.mxu*", decodePopAdd, popAdd, Taint::kOwn},
    {"vmatpush*", decodePush, push, Taint::kOwn},
    {"vmatprep.subr*", decodeHalf, prepareSubr, Taint::kOwn},
    {"vmatprep.mubr*", decodeHalf, prepareMubr, Taint::kOwn},
    {"vmatmul*", decodeMultiply, multiply, Taint::kOwn},
    {"vpop.f32.mrf", decodePop, pop, Taint::kOwn},
    {"vpop.s32.mrf", decodePop, pop, Taint::kOwn},
    {"vpop.f32.mrb", decodePop, popNumbered, Taint::kOwn},
    {"vpop.s32.mrb", decodePop, popNumbered, Taint::kOwn},
};

}  // namespace

std::span<const Mnemonic> matrixMnemonics() { return kMnemonics; }

}  // namespace sublane::sim
