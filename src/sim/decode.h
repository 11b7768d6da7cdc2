// From listings to code that can be executed fast: each function becomes a row of micro operations and
// segments (code.h), with its allocations' addresses, its branches' delay slots and its cycles' causes
// worked in.
//
//   SUBLANE_TRY(Placement placement, place(program, model));
//   SUBLANE_TRY(Code code, decode(program, placement, {.delay_slots = 4}));
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>

#include "sim/bundle_causes.h"
#include "sim/code.h"
#include "sim/latencies.h"
#include "sim/placement.h"

namespace sublane::sim {

struct DecodeOptions {
  int delay_slots = 4;
  Slots slots{};
  std::vector<Without> without{};
  const Latencies* scoreboard = nullptr;  // null: empty bundles are the stalls
  bool all_valued = false;                // every function executes its vector work
  std::set<std::string> valued{};         // or the ones that these operations call
  bool top_valued = false;                // and the top-level program
  bool merge = true;                      // false: one bundle a segment; the tests' slow oracle
  /// Prepares a listing for the vector unit and returns its handle.
  std::function<Result<int32_t>(const llo::Listing&, std::span<const int64_t>)> prepare{};
};

/// Errors: an operation that the sequencer does not know; a call of a function that is not there.
Result<Code> decode(const llo::Program& program, const Placement& placement, const DecodeOptions& options);

}  // namespace sublane::sim
