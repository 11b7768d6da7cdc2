// Reports: where the time of a compiled step goes, as data. Views render it and know nothing else; cost.h
// makes rows from a compiled program, simulate.h from its execution.
//
// Every number carries its origin. A row's cycles are the execution's (simulated); where it was not executed,
// libtpu's own estimate (compiler), else the larger of the row's HBM bound and its MXU bound (datasheet). The
// total is the sum of the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/origin.h"
#include "chips/chips.h"

namespace sublane::report {

/// Where in the model an operation stands; as graph::Place, but also for programs that are not ours.
struct RowPlace {
  static constexpr int32_t kNone = -1;   // no layer: embedding, head, sampling, or unknown
  static constexpr int32_t kEvery = -2;  // in a loop over the layers
  int32_t layer = kNone;
  std::string part;  // empty: not placed
  bool operator==(const RowPlace&) const = default;
};

/// What limits a row by the datasheet.
enum class Bound : uint8_t { kNone, kHbm, kMxu };

/// Something about a row that a reader should know before believing it.
enum class Flag : uint8_t {
  kBelowHbmBound,  // the compiler's estimate is shorter than the HBM needs for the row's bytes
  kNoDescription,  // a kernel without a cost description: its operations are unknown, its bytes a guess
  kTripsUnknown,   // inside a loop whose iterations depend on data: counted once
  kLargestBranch,  // of a conditional: the most expensive branch was taken
  kWholeState,     // copies a whole donated buffer: the cache, that should be updated in place
  kWholeArgument,  // copies a whole large argument: a weight, into another layout, at each step
  kOtherProgram,   // a prefetch that the run before may already have done
};

/// One scheduled operation. Cycles, times, bytes and operations are those of all its executions.
struct Row {
  int32_t id = 0;  // order of execution
  RowPlace place;
  std::string kind;    // "matmul", "copy", "prefetch", "gather", ...
  std::string op;      // the compiler's name: "fusion.10"
  std::string kernel;  // of a custom call: its target or kernel name
  int64_t count = 1;   // executions: trip counts of the loops around it
  int64_t cycles = 0;
  double us = 0;
  std::optional<double> error;  // relative; none is known for estimates and bounds
  Origin origin = Origin::kDatasheet;
  int64_t hbm_bytes = 0;         // read and written, padding included: our count
  std::optional<int64_t> flops;  // all operations: our count; nothing: unknown
  int64_t matmul_flops = 0;      // of them in matrix products
  int64_t transcendentals = 0;   // exp, tanh and the like
  Bound bound = Bound::kNone;
  double hbm_us = 0, mxu_us = 0;  // bounds by the datasheet
  double share = 0;               // of the total's us
  std::string memory;             // "HBM -> VMEM": where operands and results lie
  std::string shape;              // of the result
  std::string source;             // "model.py:42", when the program says
  int32_t needed_by = -1;         // an asynchronous copy: id of the first row that must wait for it
  std::vector<Flag> flags;
};

/// Sums over the rows, in their order; `us` is exactly the sum of the rows' us.
struct Total {
  int64_t cycles = 0, hbm_bytes = 0, flops = 0, matmul_flops = 0;
  double us = 0;
  double compiler_us = 0, datasheet_us = 0;  // by origin: their sum is us, up to rounding
  double hbm_us = 0, mxu_us = 0;  // bounds of the whole: bytes and matrix products at the peak rates
  double raised_us = 0;           // each row raised to its HBM bound
  double overlapped_us = 0;       // asynchronous copies hidden behind rows that leave the HBM idle
  double placed_us = 0;           // rows with a part
  int64_t rows = 0, unknown_rows = 0, below_bound_rows = 0;
};

/// The compiler's figures for the program's memory, bytes.
struct HbmUse {
  int64_t code = 0, arguments = 0, outputs = 0, aliased = 0, temporaries = 0;
  int64_t argument_data = 0;  // of the arguments, without their tiles' padding: our count
  int64_t state = 0;          // arguments that are donated: the cache
  int64_t largest_state = 0;  // the largest of them
  /// A temporary as large as the cache: a copy that updating in place should have saved. One small buffer of
  /// many (an unrolled layer's) is not one.
  bool holdsWholeState() const { return state > 0 && temporaries >= std::max(largest_state, state / 2); }
  int64_t used() const { return code + arguments + outputs - aliased + temporaries; }
};

struct Step {
  std::string name;       // "decode", "prefill", or the file's name
  std::string bucket;     // "8 sequences, 8 tokens, context 1024, pages of 16"
  std::vector<Row> rows;  // in order of execution
  Total total;
  std::optional<HbmUse> memory;
  std::string fingerprint;
};

struct TextOptions {
  int64_t top = 20;  // rows (grouped by place and kind) a step; 0: all
};

std::string_view name(Bound bound);  // "hbm", "mxu", "none"
std::string_view name(Flag flag);    // "below-hbm-bound"

}  // namespace sublane::report
