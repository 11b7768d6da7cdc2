// A TPU in software: executes a compiled program's bundles, for time and, where asked, for values.
//
// Stages: decode (decode.h) turns listings into flat micro operations with absolute addresses; the sequencer
// executes them bundle by bundle (machine.cc); DMAs go to the memory system (memory_system.h), which decides
// when they complete; waits advance the clock. Vector work is not executed unless values are asked for or a
// scalar depends on it.
//
//   SUBLANE_TRY(sim::Run run, sim::simulate(program, sim::chipModel("v6e"), {}));
//   fmt::print("{} cycles\n", run.cycles);
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/events.h"
#include "llo/program.h"

namespace sublane::sim {

/// Goes into every model's hash. Change it when a time can change.
inline constexpr std::string_view kSimulatorVersion = "sublane.simulator/2";

/// The numbers of a chip that time depends on; read from src/sim/models/<chip>.json, each with its source.
/// Few and physical. "fitted" of the file holds what `sublane calibrate` found, and overrides.
struct ChipModel {
  std::string chip;
  std::string hash;  // of the file and the simulator's version: printed with every result
  double clock_hz = 0;
  double hbm_peak_bytes_per_second = 0;
  double hbm_efficiency = 0;          // share of the peak that long transfers reach
  double hbm_run_overhead_bytes = 0;  // what each contiguous run costs beside its bytes
  double read_latency_cycles = 0, write_latency_cycles = 0,
         small_latency_cycles = 0;   // HBM->VMEM, VMEM->HBM, HBM->SMEM
  double local_bytes_per_cycle = 0;  // VMEM->VMEM, VMEM->SMEM
  int branch_delay_slots = 4;
  double launch_us = 0;  // a program's start and end as a profiler's op interval does not see it
  std::map<std::string, double> extra{};  // further numbers of the file, by key
};
/// Errors: no model for the chip; the chips that have one are listed.
Result<ChipModel> chipModel(const std::string& chip);
/// The model file as it was built in, for printing; empty if there is none.
std::string_view chipModelText(const std::string& chip);
/// Reads one model file. `where` is its name, for errors: a parameter that is missing or out of range.
Result<ChipModel> readChipModel(std::string_view json, const std::string& where);

/// How many operations of a kind a bundle can hold.
struct Slots {
  double matrix = 4, cross_lane = 2, vector_alu = 4, extended = 1, load = 3, store = 2, scalar = 2;
};
Slots slotsOf(const ChipModel& model);

/// Counterfactuals: what is taken away.
enum class Without : uint8_t {
  kHbmLimit,
  kDmaLatency,
  kDma,
  kSpills,
  kLaunch,
  kDependencies,
  kBranches,
  kOverlays
};
Result<Without> withoutOf(std::string_view name);

enum class DmaTiming : uint8_t {
  kShared,    // our model: one HBM that transfers share
  kCompiler,  // libtpu's own: each transfer alone, latency + bytes / rate; to compare with its static profile
};

/// What stalls are.
enum class Mode : uint8_t {
  kPacked,      // the empty bundles that the compiler scheduled
  kScoreboard,  // found anew, from registers, FIFOs and units (scoreboard.h)
};

/// An argument's bytes in the program's own device layout, by parameter number. What is not given is not read
/// as zero: a scalar that depends on it is an error, unless `assume_zero`.
struct Inputs {
  std::map<int32_t, std::vector<std::byte>> arguments;
};

struct Options {
  DmaTiming dma = DmaTiming::kShared;
  Mode mode = Mode::kPacked;
  std::vector<Without> without{};
  bool values = false;
  bool track_writers = false;  // with values: `Run::output_writers`
  Inputs inputs{};
  int64_t most_bundles = int64_t{1} << 36;           // stops a program that does not end
  std::function<void(const events::Event&)> sink{};  // empty: no events
  const std::atomic<bool>* cancel = nullptr;         // raised by a signal handler: the run ends with an error
  bool fast_forward =
      true;  // skip to the last iteration of loops whose state repeats; exact, never with events
  std::vector<int64_t> slice{};  // chips along each axis, for a program of many: one stands for all
};

/// The bundle that wrote something: of a listing of the program; -1: none did, or it is not tracked.
struct WrittenBy {
  int32_t listing = -1, bundle = -1;
  bool transfer = false;  // no bundle stored it: this one began the last transfer that brought it
  bool operator==(const WrittenBy&) const = default;
};

/// Time of one traced operation, all its executions.
struct OpTime {
  int32_t traced = -1;  // into Program::traced
  int64_t executions = 0, cycles = 0;
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;  // of the DMAs that it issued
  events::CauseCycles causes{};
  llo::UnitCounts issued{};  // instructions, by unit
};

/// What happened at the bundles of one listing, whichever operation ran it.
struct ListingProfile {
  int32_t listing = -1;
  std::vector<int64_t> executions, waited;  // by bundle; cycles for transfers and flags beside its own
  std::vector<events::Cause> causes;        // by bundle: of its own cycle
  events::CauseCycles waits{};              // the waited cycles by cause
  std::vector<int32_t> traced;              // operations that ran it, in order of first execution; -1: none
};

/// One DMA instruction as one operation used it.
struct TransferProfile {
  int32_t traced = -1, listing = -1, bundle = 0;
  llo::Space from{}, to{};
  int64_t count = 0, bytes = 0, runs = 0;        // runs: contiguous pieces in HBM
  int64_t flight_cycles = 0, waited_cycles = 0;  // from issue to completion; of them, stalled for
  bool remote = false;                           // to another chip
};

/// When an operation ran: cycles from `begin` to `end`.
struct Stretch {
  int32_t traced = -1;
  int64_t begin = 0, end = 0;
};

struct Run {
  int64_t cycles = 0;
  double us = 0;
  int64_t bundles = 0;         // executed
  int64_t vector_bundles = 0;  // of them with vector work that was executed for values
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0, transfers = 0;
  events::CauseCycles causes{};        // add up to `cycles`
  std::map<Without, int64_t> savings;  // cycles that each thing's absence alone would save, if it was tried
  std::vector<OpTime> ops;  // in order of first execution; the last may be "outside of all operations"
  std::vector<ListingProfile> listings;  // that ran
  std::vector<TransferProfile> transfer_uses;
  std::vector<Stretch> timeline;   // in order; ends early, with a note, after very many
  std::vector<std::string> notes;  // what is assumed or not modelled
  std::map<int32_t, std::vector<std::byte>>
      outputs;  // with values: results in device layout, by output number
  // With track_writers:
  std::map<int32_t, std::vector<WrittenBy>> output_writers;  // of each granule (32 bytes) of an output
  uint64_t stores_hash = 0;  // of all vector stores in order: equal, if memory never differed
};

/// Errors: a deadlock (which flag, who waits, what is pending), a trap of the program's own checks (its
/// text), a read of memory that nothing wrote, an operation that values do not know, most_bundles.
Result<Run> simulate(const llo::Program& program, const ChipModel& model, const Options& options);

}  // namespace sublane::sim
