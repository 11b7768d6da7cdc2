#include "views/perfetto.h"

#include <optional>
#include <vector>

#include "views/step_events.h"
#include "views/trace_writer.h"

namespace sublane::views {

struct PerfettoTrace::State {
  TraceWriter trace;
  PerfettoOptions options;
  std::optional<StepNames> names{};  // of the step that is executed
  std::vector<StepEvents> cores{};

  void add(const events::Event& event) {
    while (cores.size() <= static_cast<size_t>(event.core))
      cores.emplace_back(options.most_slices, options.most_transfers);
    cores[static_cast<size_t>(event.core)].add(event);
  }

  void endStep() {
    if (!names) return;
    for (size_t core = 0; core < cores.size(); ++core) {
      cores[core].finish();
      writeStep(trace, *names, static_cast<int32_t>(core), cores[core]);
    }
    names.reset();
    cores.clear();
  }
};

PerfettoTrace::PerfettoTrace(std::unique_ptr<State> state) : state_(std::move(state)) {}
PerfettoTrace::PerfettoTrace(PerfettoTrace&&) noexcept = default;
PerfettoTrace::~PerfettoTrace() = default;

Result<PerfettoTrace> PerfettoTrace::create(const std::string& path, const PerfettoOptions& options) {
  SUBLANE_TRY(TraceWriter trace, TraceWriter::create(path));
  return PerfettoTrace(std::make_unique<State>(State{.trace = std::move(trace), .options = options}));
}

report::EventSink PerfettoTrace::sinkFor(const std::string& step, const llo::Program& program,
                                         const sim::ChipModel& model) {
  state_->endStep();
  state_->names = namesOf(step, program, model);
  return [state = state_.get()](const events::Event& event) { state->add(event); };
}

namespace {

/// The report's figures of a step, on a track of its own: its causes say what each one's absence would save,
/// where the slices say what was seen. The two have the same sum.
void writeReport(TraceWriter& trace, const report::Simulation& simulation,
                 const report::SimulatedStep& step) {
  std::vector<Argument> causes;
  for (size_t c = 0; c < step.causes.size(); ++c)
    if (step.causes[c] != 0) causes.emplace_back(events::name(static_cast<events::Cause>(c)), step.causes[c]);
  const uint64_t process = trace.process(fmt::format("{}, report", step.name));
  const uint64_t on = trace.track({.parent = process, .name = "report"});
  const std::string title = step.rung == report::Rung::kBundles
                                ? fmt::format("{}, launch included", step.name)
                                : fmt::format("{} was not executed: {}", step.name, step.reason);
  TraceEvent event{.name = title,
                   .arguments = {{"rung", report::name(step.rung)},
                                 {"origin", name(step.origin())},
                                 {"compiler", std::string_view(simulation.compiler)},
                                 {"us", step.us},
                                 {"launch_us", step.launch_us},
                                 {"cycles", step.cycles},
                                 {"bundles", step.bundles},
                                 {"transfers", step.transfers},
                                 {"hbm_read_bytes", step.hbm_read_bytes},
                                 {"hbm_write_bytes", step.hbm_write_bytes},
                                 {"causes", causes}}};
  trace.begin(on, 0, event);
  trace.end(on, static_cast<int64_t>(step.us * 1e3));
}

}  // namespace

Status PerfettoTrace::finish(const report::Simulation& simulation) {
  const report::SimulatedStep* refused = nullptr;
  bool executed = false;
  state_->endStep();
  for (const report::SimulatedStep& step : simulation.steps) {
    if (step.rung == report::Rung::kBundles)
      executed = true;
    else if (refused == nullptr)
      refused = &step;
    writeReport(state_->trace, simulation, step);
  }
  if (!executed && refused != nullptr)
    return inputError("{}: no step was executed, there is nothing to trace: {}", refused->name,
                      refused->reason)
        .hint(refused->hint);
  return finish();
}

Status PerfettoTrace::finish() {
  state_->endStep();
  return state_->trace.finish();
}

}  // namespace sublane::views
