// What a step's events come to: pieces of time, transfers, bytes over time, and exact totals. perfetto.cc
// fills it, step_tracks.cc draws it. Private to the folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/events.h"
#include "llo/program.h"
#include "report/report.h"
#include "sim/sim.h"
#include "views/pieces.h"
#include "views/traffic.h"
#include "views/transfers.h"

namespace sublane::views {

struct OpNames {
  std::string name, source;  // "model.py:42", or empty
  report::RowPlace place;
};

struct KernelNames {
  std::string name;
  int64_t vmem_bytes = 0;  // of its own allocations, those that share a place counted once
};

/// What a trace needs of a step's program, which is gone when the step is over.
struct StepNames {
  std::string step, chip, model_hash;
  int64_t clock_hz = 0;
  double hbm_bytes_per_second = 0;   // of one core, by the datasheet
  std::vector<OpNames> ops;          // by Event::op
  std::vector<KernelNames> kernels;  // by Event::listing
  int32_t top = 0;

  int64_t ns(int64_t cycle) const;
  std::string_view op(int32_t index) const;      // or "(outside of operations)"
  std::string_view source(int32_t index) const;  // or ""
  std::string_view kernel(int32_t index) const;  // or ""
};
StepNames namesOf(const std::string& step, const llo::Program& program, const sim::ChipModel& model);

/// Of one core. Bytes are told as the report counts them, the program's own code apart.
struct StepTotals {
  int64_t cycles = 0, transfers = 0;
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0, code_bytes = 0, other_bytes = 0;
  events::CauseCycles causes{};  // as seen where they pass
};

class StepEvents {
 public:
  StepEvents(size_t most_slices, size_t most_transfers)
      : work(most_slices), operations(most_slices), transfers(most_transfers) {}
  void add(const events::Event& event);
  /// To be called before it is drawn.
  void finish() { hbm.finish(); }

  StepTotals totals;
  Pieces work;        // by cause, operation and listing
  Pieces operations;  // by operation and listing
  Transfers transfers;
  Traffic hbm{4096};

 private:
  void addBytes(const events::Event& event);
};

class TraceWriter;
/// Writes a process with everything, and returns it.
uint64_t writeStep(TraceWriter& trace, const StepNames& names, int32_t core, const StepEvents& events);

}  // namespace sublane::views
