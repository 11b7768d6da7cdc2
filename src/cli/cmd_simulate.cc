#include <cstdio>
#include <optional>

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/keep_in_log.h"
#include "cli/model_options.h"
#include "findings/findings.h"
#include "io/npz.h"
#include "report/redact.h"
#include "report/simulate.h"
#include "views/perfetto.h"

namespace sublane::cli {
namespace {

struct SimulateVerb {
  ModelOptions model;
  report::SimulateOptions options;
  std::string dma = "shared", mode = "packed", outputs, trace;
};

Status writeOutputs(const report::Simulation& simulation, const std::string& path) {
  std::vector<io::NpyArray> arrays;
  for (const report::OutputValue& output : simulation.steps[0].outputs)
    arrays.push_back(report::npyOf(output));
  return io::writeNpz(path, arrays);
}

std::string lookFirstAt(const report::Simulation& simulation, const report::SimulatedStep& step) {
  constexpr int64_t kMostFindings = 3;
  const findings::Evidence evidence{step, *simulation.chip, simulation.clock_hz, simulation.layers_in_loop};
  return findings::toText(findings::findingsOf(evidence), evidence, kMostFindings);
}

bool isAsExpected(const report::Simulation& simulation) {
  for (const report::SimulatedStep& step : simulation.steps)
    for (const report::OutputValue& output : step.outputs)
      if (!output.difference.empty()) return false;
  return true;
}

Status simulate(SimulateVerb& verb, const CLI::App& app) {
  SUBLANE_CHECK_OK(readModelOptions(app, "simulate", verb.model));
  for (const std::string& name : verb.options.without_names) {
    SUBLANE_TRY(const sim::Without without, sim::withoutOf(name));
    verb.options.without.push_back(without);
  }
  if (!verb.outputs.empty() && !verb.options.values)
    return inputError("simulate: --outputs {}: without --values there are none", verb.outputs);
  if (!verb.options.expect.empty() && !verb.options.values)
    return inputError("simulate: --expect {}: without --values there is nothing to compare",
                      verb.options.expect);
  verb.options.dma = verb.dma == "shared" ? sim::DmaTiming::kShared : sim::DmaTiming::kCompiler;
  verb.options.mode = verb.mode == "packed" ? sim::Mode::kPacked : sim::Mode::kScoreboard;
  verb.model.request.common.cancel = &interrupted();
  if (verb.model.redact && (!verb.options.events.empty() || !verb.trace.empty()))
    return inputError("simulate: {} {}: --redact does not reach it, and it holds names",
                      verb.trace.empty() ? "--events" : "--trace",
                      verb.trace.empty() ? verb.options.events : verb.trace);
  std::optional<views::PerfettoTrace> trace;
  if (!verb.trace.empty()) {
    SUBLANE_TRY(views::PerfettoTrace created, views::PerfettoTrace::create(verb.trace));
    trace.emplace(std::move(created));
    verb.options.sink_for = [&](const auto&... of) { return trace->sinkFor(of...); };
  }
  SUBLANE_TRY(report::Simulation simulation, simulationOf(verb.model, verb.options));
  if (trace) SUBLANE_CHECK_OK(trace->finish(simulation));
  if (!verb.outputs.empty()) SUBLANE_CHECK_OK(writeOutputs(simulation, verb.outputs));
  const bool as_expected = isAsExpected(simulation);
  if (verb.model.redact) {
    report::Pseudonyms names;
    report::redact(simulation, names);
  }
  const std::string text =
      verb.model.format == "json"
          ? report::toJson(simulation)
          : report::toText(simulation, verb.model.text,
                           [&](const report::SimulatedStep& step) { return lookFirstAt(simulation, step); });
  SUBLANE_CHECK_OK(writeOutput(text));
  keepInLog(verb.model.note, {.verb = "simulate",
                              .sides = {gate::sideOf(simulation)},
                              .outcome = as_expected ? "" : "a result is not as expected"});
  for (const report::SimulatedStep& step : simulation.steps)
    for (const report::OutputValue& output : step.outputs)
      if (!output.difference.empty())
        return Error(Fault::kCheckFailed, fmt::format("{}: result {} is not as {} says", step.name,
                                                      output.number, verb.options.expect));
  return Ok{};
}

Action addSimulate(CLI::App& app) {
  auto verb = std::make_shared<SimulateVerb>();
  addModelOptions(app, verb->model);
  app.add_option("--inputs", verb->options.inputs,
                 "An .npz file with a program's arguments, by number (arg0) or name");
  app.add_option("--step", verb->options.step, "Of a model: decode or prefill only");
  app.add_flag("--values", verb->options.values, "Execute for results too; needs all arguments");
  app.add_option("--outputs", verb->outputs, "With --values: an .npz file for the results");
  app.add_option(
      "--expect", verb->options.expect,
      "With --values: an .npz file with the results (output0); says what differs and which bundle wrote it");
  app.add_option("--within", verb->options.within,
                 "With --expect: how far a result may be, of the array's largest magnitude")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option(
         "--without", verb->options.without_names,
         "A counterfactual: take a cause away (hbm-limit, dma-latency, dma, spills, launch, ...); may repeat")
      ->type_name("CAUSE")
      ->allow_extra_args(false);
  app.add_option("--dma", verb->dma, "Time of transfers: shared (our HBM), or compiler (libtpu's own model)")
      ->check(CLI::IsMember({"shared", "compiler"}))
      ->capture_default_str();
  app.add_option(
         "--mode", verb->mode,
         "Stalls: packed (as the compiler scheduled them), or scoreboard (found anew, from registers and "
         "FIFOs)")
      ->check(CLI::IsMember({"packed", "scoreboard"}))
      ->capture_default_str();
  app.add_option("--events", verb->options.events, "A file for one JSON line an event");
  app.add_option("--trace", verb->trace, "A file for a Perfetto trace (ui.perfetto.dev); see docs/trace.md");
  return [verb, &app] { return untilInterrupted("simulate", [&] { return simulate(*verb, app); }); };
}

}  // namespace

extern const Command cmd_simulate;
const Command cmd_simulate{"simulate", "Execute a model's steps, or a program, on a chip in software",
                           addSimulate};

}  // namespace sublane::cli
