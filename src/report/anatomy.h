// The anatomy of a step: what it is made of beyond its rows. Units and memories against their limits, kernels
// down to loops and bundles, transfers (hidden or waited for), what lies in memory while it runs, layouts.
//
// Cycles, counts and bytes are those of the execution (simulated); shapes, lifetimes and padding are read
// from the compiled program (compiler). A step that was not executed has only the latter.
//
//   for (const UnitUse& unit : step.anatomy.units) fmt::print("{} {:.0f} %\n", unit.unit, 100 *
//   unit.share());
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "events/events.h"

namespace sublane::report {

/// Units that a bundle has slots for, as events::Cause's issue:<unit> names them.
enum class Unit : uint8_t { kScalar, kVectorAlu, kVectorLoad, kVectorStore, kExtended, kCrossLane, kMatrix };
inline constexpr size_t kUnits = 7;
std::string_view name(Unit unit);  // "scalar", "valu", "vld", "vst", "eup", "xlu", "mxu"
/// A vector register: 8 sublanes of 128 lanes of 4 bytes; what a vector load or store moves.
inline constexpr int64_t kRegisterBytes = 4096;
/// Instructions by unit.
using Issued = std::array<int64_t, kUnits>;

/// How much of what a unit could take it was given. Not how busy it was: an instruction may hold it longer.
struct UnitUse {
  std::string_view unit;
  int64_t issued = 0;  // instructions (simulated)
  double slots = 0;    // a bundle (compiler: libtpu's own capacities)
  int64_t cycles = 0;
  double share() const {
    return cycles > 0 ? static_cast<double>(issued) / (slots * static_cast<double>(cycles)) : 0;
  }
};

/// What moved or was computed, against the most that the chip can.
struct LimitUse {
  std::string_view limit;  // "hbm" and "vmem" in bytes, "mxu" in FLOP
  int64_t amount = 0;
  double per_second = 0;  // at most
  Origin limit_origin = Origin::kDatasheet;
  double us = 0;             // that this takes at least
  double share = 0;          // of the step's time
  int64_t unknown_rows = 0;  // kernels that compute, and do not say how much
};

/// A loop of a listing: its bundles, those of inner loops among them.
struct LoopUse {
  int32_t parent = -1;          // into the kernel's loops
  int32_t first = 0, last = 0;  // bundles
  int64_t iterations = 0, cycles = 0;
  events::CauseCycles causes{};
  Issued issued{};
  int64_t trace_marks = 0;  // executed instructions that only mark a place in a trace
};

struct BundleUse {
  int64_t executions = 0;
  int64_t waited = 0;  // cycles at it for transfers and flags, beside its own
  events::Cause cause{};
  int32_t loop = -1;  // the innermost
  std::string text;   // in our own normal form
};

/// One compiled function, for all operations that run it.
struct KernelUse {
  std::string name;           // "fusion.16"; "TLP" is the program's own thread
  std::vector<int32_t> rows;  // ids of rows that run it
  int64_t cycles = 0;
  events::CauseCycles causes{};
  Issued issued{};
  int64_t vmem_bytes = 0, spill_bytes = 0;  // that it allocates (compiler)
  std::vector<LoopUse> loops;               // an outer one before its inner ones
  std::vector<BundleUse> bundles;
  std::string source;  // of the slowest row
};

/// A transfer's instruction, all its executions.
struct TransferUse {
  int32_t row = -1, kernel = -1, bundle = 0;  // row: id, -1: outside of all; kernel: into kernels
  std::string_view from, to;                  // "hbm", "vmem", "smem"
  int64_t count = 0, bytes = 0;
  int64_t pieces = 0;                            // contiguous runs
  int64_t flight_cycles = 0, waited_cycles = 0;  // from issue to completion; of them, stalled for
  bool remote = false;                           // to another chip
};

/// A value with a place in a memory, from the row that makes it to the last that uses it.
struct BufferLife {
  std::string op, shape, memory;      // "hbm", "vmem", "smem", "cmem"
  std::string what;                   // "argument", "state" (donated), "temporary", "result", "constant"
  int64_t bytes = 0, data_bytes = 0;  // with and without the padding of tiles
  int32_t first = 0, last = 0;        // positions in the entry's schedule
};

/// When an operation ran, in order.
struct Stretch {
  int32_t row = -1;
  int64_t begin = 0, end = 0;  // cycles
};

struct Anatomy {
  std::vector<UnitUse> units;
  std::vector<LimitUse> limits;
  std::vector<KernelUse> kernels;  // the slowest first
  std::vector<TransferUse> transfers;
  std::vector<BufferLife> buffers;
  std::vector<std::string> schedule;  // names of the entry's operations, by position
  std::vector<Stretch> timeline;
};

}  // namespace sublane::report
