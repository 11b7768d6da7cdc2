// What the vector unit holds, and the compact form of its instructions; private to the vector_*.cc files.
//
// One file of registers holds vectors and masks alike (a mask is 1024 words of all ones or zeros, so that
// packed types have masks of halves and bytes), and a few temporaries for bundles that swap registers.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/vector_unit.h"

// A loop over 1024 words, compiled for several instruction sets and chosen when the program starts. clang 19
// can't do it for templates; what is built with it (tidy, fuzzing) needs no speed.
#ifdef __clang__
#define SUBLANE_CLONES
#define SUBLANE_UNROLL
#else
#define SUBLANE_UNROLL _Pragma("GCC unroll 8")
#define SUBLANE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

namespace sublane::sim {

inline constexpr int kWords = kSublanes * kLanes;
inline constexpr uint8_t kFirstTemporary = 64, kFirstMask = 80, kRegisters = kFirstMask + 32;
inline constexpr uint8_t kNoRegister = 0xff;

struct alignas(64) VectorRegister {
  uint32_t words[kWords];
};

/// A unit's results in order, each with the SSA value that asked for it. Slots are reused.
class ResultQueue {
 public:
  struct Slot {
    VectorRegister data;
    VectorRegister shadow;  // bits that depend on memory that nothing wrote; valid where `tainted`
    int32_t value = -1;
    bool tainted = false;
  };
  Slot& push(int32_t value) {
    if (count_ == slots_.size()) grow();
    Slot& slot = *slots_[(first_ + count_++) % slots_.size()];
    slot.value = value;
    slot.tainted = false;
    return slot;
  }
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  Slot& at(size_t index) { return *slots_[(first_ + index) % slots_.size()]; }
  Slot& front() { return at(0); }
  void pop() {
    first_ = (first_ + 1) % slots_.size();
    --count_;
  }

 private:
  void grow() {
    std::vector<std::unique_ptr<Slot>> larger;
    larger.reserve(slots_.size() * 2 + 16);
    for (size_t i = 0; i < count_; ++i) larger.push_back(std::move(slots_[(first_ + i) % slots_.size()]));
    larger.resize(larger.size() * 2 + 16);
    for (auto& slot : larger)
      if (!slot) slot = std::make_unique<Slot>();
    slots_ = std::move(larger);
    first_ = 0;
  }
  std::vector<std::unique_ptr<Slot>> slots_;
  size_t first_ = 0, count_ = 0;
};

struct Source {
  enum class Kind : uint8_t { kNone, kVector, kImmediate, kScalar };
  Kind kind = Kind::kNone;
  uint8_t index = 0;  // of a register: of the vector unit's file, or of the scalar unit
  uint32_t bits = 0;  // kImmediate
};

/// One more word of a running hash.
inline uint64_t hashed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

struct Micro;
using Run = bool (*)(VectorUnit::State&, const Micro&);

/// A decoded instruction. Registers are indices into State::registers.
struct Micro {
  Run run = nullptr;
  Run shadow = nullptr;  // the same for what is tainted; null: `run` does it
  uint8_t result = kNoRegister;
  int8_t predicate = -1;  // index of the predicate register; -1: always
  bool negated = false;
  uint8_t unit = 0;    // of the XLU, MXU or iar
  uint8_t order = 1;   // within a bundle: pops and loads 0, ALU 1, units 2, pushes of weights 3, stores 4
  uint8_t detail = 0;  // meaning by operation
  uint8_t sublane_mask = 0xff;
  uint8_t sublane_mask_register = kNoRegister;      // scalar
  uint8_t mask = kNoRegister;                       // of a masked store or MXU operand
  uint8_t base = kNoRegister, index = kNoRegister;  // of an address: scalar registers
  Source a, b, c;
  int64_t address = 0;  // row of VMEM without the registers
  int32_t sublane_stride = 1, sublanes_per_stride = 1;
  int32_t value = -1;     // SSA value: of the result, or that a pop asks for
  uint32_t part = 0;      // Instruction::part
  int32_t mnemonic = -1;  // into PreparedListing::mnemonics
};

struct PreparedBundle {
  uint32_t first = 0, count = 0;
};
struct PreparedListing {
  std::string function;
  std::vector<PreparedBundle> bundles;
  std::vector<Micro> micros;
  std::vector<std::string> mnemonics;  // distinct
  std::vector<std::string> unknown;    // "vweird.f32 (bundle 0x1f of fusion.1)"
};

/// VMEM with a bit for each word that says whether anything wrote it.
struct VectorMemory {
  int64_t rows = 0;
  uint32_t* words = nullptr;  // zero pages until they are touched
  struct Written {
    uint64_t low = 0, high = 0;
    bool all() const { return (low & high) == ~uint64_t{0}; }
    bool none() const { return (low | high) == 0; }
  };
  Written* written = nullptr;
  std::map<int64_t, std::array<uint32_t, kLanes>> partial;  // rows with words of which a part is tainted
  std::vector<Writer> writers;                              // by row, where they are tracked
  /// Transfers under way, by row; null: nobody guards them.
  struct Claim {
    uint16_t incoming = 0, outgoing = 0;
  };
  Claim* claims = nullptr;

  VectorMemory(int64_t row_count, bool guarded);
  ~VectorMemory();
  VectorMemory(const VectorMemory&) = delete;
  VectorMemory& operator=(const VectorMemory&) = delete;
};

/// One transposition that is being fed.
struct Transpose {
  std::vector<VectorRegister> in;
  uint32_t fed = 0;
};

struct CrossLaneUnit {
  ResultQueue lanes, permutes, transposed;  // vpop.xlane, vpop.permute, vpop.trf
  Transpose transpose, shadow_transpose;
  VectorRegister pattern;
  bool has_pattern = false;
};

/// Rows of weights that were pushed since the last were taken over, in order.
struct WeightPush {
  VectorRegister low, high;  // the push's operand; what vmatprep.subr held
  uint8_t type = 0, rows = 0;
  uint8_t half = 0;  // of vmatpush1, 2, 3; 0: the chip has 128 columns
  bool transposed = false;
  bool tainted = false;
  std::array<bool, kLanes> low_tainted{}, high_tainted{};  // by lane; of transposed ones by row
};
struct WeightStage {
  std::vector<WeightPush> pushes;  // slots; `count` are in use
  size_t count = 0;
};
struct MatrixUnit {
  WeightStage stages[2];       // msra, msrb
  std::vector<float> weights;  // gmra: by 32 columns, by depth
  int depth[2] = {0, 0};       // rows of each half that were pushed
  /// Blocks of 128 x 128, by half of the depth and of the columns: others hold zeros.
  enum class Block : uint8_t { kZero, kFinite, kAny };
  Block blocks[2][2]{};
  bool diagonal = false;  // only the two blocks on the diagonal are not zero
  bool has_weights = false, has_subr = false, has_mubr = false;
  bool subr_tainted = false, mubr_tainted = false;
  VectorRegister subr_shadow, mubr_shadow;
  std::array<bool, 256> column_tainted{};
  bool weights_tainted = false;
  VectorRegister subr, mubr;
  ResultQueue results;
  std::deque<ResultQueue::Slot> buffer;  // tpu7x: results by number; value -1: taken
};

struct VectorUnit::State {
  explicit State(VectorOptions o);

  VectorOptions options;
  std::unique_ptr<VectorRegister[]> registers;
  // What depends on memory that nothing wrote, bit by bit. Before the first such load nobody looks.
  std::unique_ptr<VectorRegister[]> shadows;
  std::array<bool, kRegisters> tainted{};
  bool taint_seen = false;
  bool shadowing = false;  // handlers work on the shadows
  size_t pushed = 0;       // results of this instruction in its queue
  size_t shadow_slot = 0;  // where they begin
  std::vector<UnwrittenLoad> unwritten_loads;
  VectorMemory memory;
  std::array<VectorRegister, 2> iar;
  CrossLaneUnit cross_lane[4];
  std::vector<MatrixUnit> matrix;
  ResultQueue extended;  // vpop.erf
  struct Pushed {
    int32_t value = -1;
    uint32_t word = 0;
    bool known = true;
  };
  std::deque<Pushed> to_scalar;  // vpush -> spop
  std::vector<std::unique_ptr<PreparedListing>> listings;
  int matrix_width = 256;

  // While a bundle executes:
  std::array<VectorRegister, 3> spread;  // scalars and immediates in a vector's place
  const ScalarView* scalars = nullptr;
  std::vector<ScalarWrite>* results = nullptr;
  int32_t listing = -1, bundle = -1;
  std::string fault;  // what went wrong, without its place
  int64_t contested_row = -1;
  int64_t bundles_executed = 0, instructions_executed = 0;
  uint64_t stores_hash = 0;

  uint32_t* words(uint8_t reg) { return (shadowing ? shadows : registers)[reg].words; }
  /// What steers an instruction (patterns, masks, amounts) is read as it is, also for shadows.
  const uint32_t* control(uint8_t reg) const { return registers[reg].words; }
  uint32_t poison() const { return shadowing ? ~uint32_t{0} : kPoison; }
  /// Room for an instruction's next result in its queue.
  uint32_t* result(ResultQueue& queue, int32_t value) {
    if (!shadowing) {
      ++pushed;
      return queue.push(value).data.words;
    }
    ResultQueue::Slot& slot = queue.at(shadow_slot++);
    slot.tainted = true;
    return slot.shadow.words;
  }
  bool take(ResultQueue& queue, uint8_t reg);
  bool isTainted(const Source& source) const {
    return source.kind == Source::Kind::kVector && tainted[source.index];
  }
  uint32_t scalarOf(const Source& source) const {
    return source.kind == Source::Kind::kScalar ? scalars->registers[source.index] : source.bits;
  }
  bool fail(std::string what) {
    fault = std::move(what);
    return false;
  }
};

/// Decoders by mnemonic (without the unit's name). Each fills `run` and what it needs, or returns false if
/// the operands are not as the operation wants them.
struct Decoding {
  const llo::Listing& listing;
  const llo::BundleInstruction& instruction;
  std::span<const llo::Operand> operands;
  std::span<const int64_t> addresses;
  std::string_view mnemonic;  // "vadd.f32"
  std::string_view chip;
};
using Decoder = bool (*)(const Decoding&, Micro&, Run run);

/// How taint passes through.
enum class Taint : uint8_t {
  kWords,   // a word of the result is tainted, if the same word of any source is, in any bit
  kBits,    // bit by bit
  kSelect,  // of the source that the mask chooses
  kMoves,   // as the data does
  kUnit,    // as the data does, into a unit's queue
  kLanes,   // a lane taints its sublane, in a unit's queue
  kQueued,  // kWords, into the extended unit's queue
  kOwn,     // `run` does it, or there is none
};
struct Mnemonic {
  std::string_view text;
  Decoder decode;
  Run run;
  Taint taint = Taint::kWords;
};
Run shadowOf(Taint taint);
std::span<const Mnemonic> aluMnemonics();
std::span<const Mnemonic> packMnemonics();
std::span<const Mnemonic> memoryMnemonics();
std::span<const Mnemonic> crossLaneMnemonics();
std::span<const Mnemonic> matrixMnemonics();

/// Common decoders.
Source sourceOf(const llo::Operand& operand);
bool decodeUnary(const Decoding& d, Micro& m, Run run);
bool decodeBinary(const Decoding& d, Micro& m, Run run);
bool decodeAddress(const Decoding& d, const llo::Operand& operand, Micro& m);

/// The words of a source: a register's own, or `room` filled with the scalar or immediate.
inline const uint32_t* wordsOf(VectorUnit::State& s, const Source& source, VectorRegister& room) {
  if (source.kind == Source::Kind::kVector) return s.words(source.index);
  const uint32_t bits = s.shadowing ? 0 : s.scalarOf(source);
  for (uint32_t& word : room.words) word = bits;
  return room.words;
}

/// The same where a handler wants no room of its own: `place` tells its sources apart.
inline const uint32_t* wordsOf(VectorUnit::State& s, const Source& source, size_t place) {
  return wordsOf(s, source, s.spread[place]);
}

}  // namespace sublane::sim
