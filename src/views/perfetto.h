// The simulator's events as a Perfetto trace: a binary file that ui.perfetto.dev and trace_processor read.
// docs/trace.md says what its tracks, slices and arguments are.
//
// A process for each step and core: its operations (layer, part, operation, kernel), a track for each unit
// with what was issued and what was waited for, the transfers with flows from the bundle that issued them to
// the wait that took them, and counters. Times are ns of the chip's clock; arguments hold the exact cycles.
// Long runs are coarsened, so that a file stays small; sums of cycles, bytes and transfers stay exact.
//
//   SUBLANE_TRY(views::PerfettoTrace trace, views::PerfettoTrace::create("t.pftrace"));
//   options.sink_for = [&](const auto&... of) { return trace.sinkFor(of...); };
//   SUBLANE_TRY(report::Simulation simulation, report::simulateModel(request, options));
//   SUBLANE_CHECK_OK(trace.finish(simulation));
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "report/simulate.h"

namespace sublane::views {

/// Of each step and core: what is kept as it is, before coarsening. Operations have as many slices again.
struct PerfettoOptions {
  size_t most_slices = 250'000;
  size_t most_transfers = 30'000;
};

class PerfettoTrace {
 public:
  /// Writes beside `path` until finish(), so that a run that was interrupted leaves nothing half.
  static Result<PerfettoTrace> create(const std::string& path, const PerfettoOptions& options = {});
  PerfettoTrace(PerfettoTrace&&) noexcept;
  PerfettoTrace& operator=(PerfettoTrace&&) = delete;
  ~PerfettoTrace();

  /// For SimulateOptions::sink_for. Ends the step before. What is returned must not outlive this.
  report::EventSink sinkFor(const std::string& step, const llo::Program& program,
                            const sim::ChipModel& model);

  /// Adds the report's own figures, and why a step has no events. Errors: no step was executed (the first
  /// one's reason); the disk refused.
  Status finish(const report::Simulation& simulation);
  /// Without a report.
  Status finish();

 private:
  struct State;
  explicit PerfettoTrace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sublane::views
