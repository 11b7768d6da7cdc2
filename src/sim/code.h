// A decoded program: flat micro operations with absolute addresses and physical registers, grouped into
// segments whose cycles and causes are known beforehand. Private to the folder: decode.h makes it, machine.h
// executes it.
//
// All reads of a bundle precede its writes; decode orders a bundle's operations so that executing them one
// after the other means the same. Vector work that nobody needs leaves no operation, only cycles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/events.h"
#include "llo/listing.h"
#include "sim/memory_system.h"

namespace sublane::sim {

/// One file of 32-bit words: scalar registers, predicates (0 or 1), temporaries of decode, constants.
inline constexpr int32_t kPredicates = 32;
inline constexpr int32_t kAlways = 48;  // holds 1
inline constexpr int32_t kTaken = 49;   // 8 of them: whether a branch whose delay slots run will jump
inline constexpr int32_t kTemporaries = 57;
inline constexpr int32_t kConstants = 64;

enum class Do : uint8_t {
  // dst = a op b
  kMove,
  kAdd,
  kSubtract,
  kMultiply,
  kMultiplyHigh,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kShiftRightSigned,
  kMinUnsigned,
  kMaxUnsigned,
  kMinSigned,
  kMaxSigned,
  kAddFloat,
  kSubtractFloat,
  kMultiplyFloat,
  kMaxFloat,
  kMinFloat,
  kToFloat,
  kToInteger,
  kFloor,
  kCeiling,
  kLeadingZeros,
  kShiftLeftOnes,  // a << b, with ones for what was not there
  kEqual,
  kNotEqual,
  kLessSigned,
  kNotGreaterSigned,
  kLessUnsigned,
  kNotGreaterUnsigned,
  kEqualFloat,
  kNotEqualFloat,
  kLessFloat,
  kNotGreaterFloat,
  kCarry,   // of a + b
  kNand,    // predicates
  kNor,     // predicates
  kNot,     // predicate a
  kSelect,  // c ? a : b
  // SMEM: the address is a + b + c, c not being a register
  kLoad,
  kStore,  // of dst
  // Control
  kBranch,  // dst = 1: jump when the delay slots are over
  kJump,    // to operation a, if r[dst]; b: other branches may be pending; c: loop plan, from 1
  kCall,    // function a
  kReturn,
  kStop,
  kHalt,     // a check of the program's own: a trap, unless predicated off; a: remark or -1
  kSegment,  // counts segment a and advances the clock
  // Sync flags: a the flag, b the value
  kWait,  // until the flag is at least b; c: another core may do that
  kFlagAdd,
  kFlagSet,
  kFlagRead,  // into the flag FIFO
  kFlagPop,   // dst
  // Division: pushes quotient (c & 1) and remainder (c & 2) into a FIFO
  kDivide,
  kDividePop,  // dst
  // Others
  kTransfer,  // DmaSite a
  kTrace,     // marker r[a]
  kDelay,     // r[a] more cycles
  kBarrier,   // a wait for signals of other chips
  kUnknown,   // dst = a value that only vector work would give
  kVector,    // the vector instructions of bundle a
  kCommit,    // scalar results of kVector
};

struct MicroOp {
  Do op = Do::kMove;
  bool negated = false;  // of the predicate
  uint16_t predicate = kAlways;
  int32_t dst = 0, a = 0, b = 0, c = 0;
};

/// Cycles of one cause in a row, from `bundle` on.
struct Span {
  events::Cause cause{};
  int32_t bundle = 0, cycles = 0;
};

/// Bundles that are always executed together. A transfer, a wait, a marker, a jump stand at its beginning.
struct Segment {
  int32_t function = 0, first_bundle = 0, bundles = 0;
  int32_t cycles = 0;
  int32_t first_span = 0, spans = 0;
};

/// A DMA instruction: where it goes, and the registers that hold the rest (-1: not given).
struct DmaSite {
  Route route = Route::kRead;
  llo::Space from{}, to{};
  bool to_host = false;  // not modelled: the host is not there
  int32_t source = -1, destination = -1, size = -1, flag = -1;
  int32_t source_stride = -1, destination_stride = -1, steps = -1;
  int32_t thread = 0;
  // Of dma.general: where in SMEM its strides stand, the flag at its source, and the other chip, if any.
  int32_t descriptor = -1, source_flag = -1, overrides = -1;
};

/// A listing as it is called: with its vector work, or without.
struct Function {
  int32_t listing = -1;
  bool valued = false;
  int32_t entry = 0, end = 0;   // into micros
  int32_t vector_listing = -1;  // handle of the vector unit
  int32_t first_segment = 0;
};

/// A loop that can be skipped to its last iteration (loop_plan.h).
struct LoopPlan {
  struct Term {
    int32_t reg = 0;
    bool subtracted = false;
  };
  struct Sum {  // of what a register holds when an iteration begins, and of registers that the loop leaves
                // alone
    int32_t base = 0;
    std::vector<Term> terms;
  };
  struct Carried {
    int32_t reg = 0;
    std::vector<Term> terms;  // what an iteration adds to it
  };
  struct Condition {
    Do op{};
    Sum left, right;
  };
  struct Passed {
    int32_t segment = 0, cycles = 0;
  };
  std::vector<Carried> carried;
  Condition condition;
  bool negated = false;  // of the branch back
  std::vector<Passed> segments;
};

struct Code {
  std::vector<MicroOp> micros;
  std::vector<LoopPlan> loops;
  std::vector<int32_t> bundles;  // of each micro operation
  std::vector<Segment> segments;
  std::vector<Span> spans;
  std::vector<DmaSite> transfers;
  std::vector<Function> functions;
  std::vector<uint32_t> registers;  // as a run begins: constants in their places
  int32_t top = 0;                  // into functions
};

}  // namespace sublane::sim
