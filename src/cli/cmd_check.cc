#include <filesystem>

#include "base/paths.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/keep_in_log.h"
#include "cli/model_options.h"
#include "gate/gate.h"

namespace sublane::cli {
namespace {

constexpr const char* kProject = "sublane.toml";

struct CheckVerb {
  ModelOptions model;
  report::SimulateOptions options;
  std::string project, only, baseline, most_regression, junit, sarif;
  bool update = false;

  bool hasSubject() const { return !model.subject.empty() || !model.request.config.empty(); }
};

/// The one entry that the command line is.
Result<std::vector<gate::Entry>> entryOf(CheckVerb& verb, const CLI::App& app) {
  SUBLANE_CHECK_OK(readModelOptions(app, "check", verb.model));
  if (verb.model.request.common.chip.empty()) return inputError("check: --chip is required");
  if (verb.baseline.empty()) return inputError("check: --baseline is required");
  gate::Entry entry{.subject = verb.model.subject, .config = verb.model.request.config};
  entry.name = entry.subject.empty() ? entry.config : entry.subject;
  entry.chip = verb.model.request.common.chip;
  entry.baseline = verb.baseline;
  return std::vector{entry};
}

Result<std::vector<gate::Entry>> entriesOf(CheckVerb& verb, const CLI::App& app) {
  if (verb.hasSubject()) return entryOf(verb, app);
  const std::string file = verb.project.empty() ? kProject : verb.project;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return inputError("check: there is no {} here", file)
        .hint("give a program, --chip and --baseline, or write one: docs/ci-gate.md");
  }
  SUBLANE_TRY(std::vector<gate::Entry> entries, gate::readProject(file));
  const std::string& chip = verb.model.request.common.chip;
  std::erase_if(entries, [&](const gate::Entry& entry) {
    return (!chip.empty() && entry.chip != chip) || (!verb.only.empty() && entry.name != verb.only);
  });
  if (entries.empty())
    return inputError("check: {} has no program{}{}", file, verb.only.empty() ? "" : " named " + verb.only,
                      chip.empty() ? "" : " for " + chip);
  return entries;
}

/// What the entry says, as the command line would.
Result<ModelOptions> modelOf(const gate::Entry& entry, const CheckVerb& verb) {
  ModelOptions model = verb.model;
  model.subject = entry.subject;
  report::ModelRequest& request = model.request;
  request.config = entry.config;
  request.common.chip = entry.chip;
  request.common.mesh = entry.mesh;
  const bool has_sizes = entry.batch > 0 || entry.context > 0 || entry.prefill_tokens > 0 ||
                         entry.page_size > 0 || !entry.layers.empty() || !entry.dtype.empty();
  if (has_sizes && model.isProgram()) {
    return inputError(
        "{}: {} is a program, which has its own shapes: batch, context, prefill_tokens, "
        "page_size, layers and dtype are of a model's steps",
        entry.where, entry.subject);
  }
  if (entry.batch > 0) request.batch = entry.batch;
  if (entry.context > 0) request.context = entry.context;
  if (entry.prefill_tokens > 0) request.prefill_tokens = entry.prefill_tokens;
  if (entry.page_size > 0) request.page_size = entry.page_size;
  if (!entry.layers.empty()) model.layers = entry.layers;
  if (!entry.dtype.empty()) model.dtype = entry.dtype;
  model.compile_options = entry.compile_options;
  SUBLANE_CHECK_OK(fillRequest("check", model));
  return model;
}

gate::Simulate simulateBy(const CheckVerb& verb) {
  if (verb.hasSubject())
    return [&verb](const gate::Entry&) { return simulationOf(verb.model, verb.options); };
  return [&verb](const gate::Entry& entry) -> Result<report::Simulation> {
    SUBLANE_TRY(const ModelOptions model, modelOf(entry, verb));
    report::SimulateOptions options = verb.options;
    options.inputs = entry.inputs;
    options.step = entry.step;
    return simulationOf(model, options);
  };
}

gate::LogEntry logEntryOf(const std::vector<gate::Checked>& all) {
  gate::LogEntry entry{.verb = "check"};
  for (const gate::Checked& each : all) {
    gate::LogSide side{.subject = each.entry.name,
                       .chip = each.entry.chip,
                       .compiler = each.compiler,
                       .program = each.program_hash,
                       .model = each.model_hash.substr(0, 16)};
    for (const report::StepCheck& step : each.check.steps)
      side.steps.push_back({step.name, "simulated", step.after_us});
    entry.sides.push_back(std::move(side));
    if (!entry.outcome.empty()) entry.outcome += ", ";
    entry.outcome += each.entry.name + " on " + each.entry.chip + " " +
                     (each.error      ? "not checked"
                      : each.updated  ? "updated"
                      : each.passed() ? "passed"
                                      : "FAILED");
  }
  return entry;
}

Status check(CheckVerb& verb, const CLI::App& app) {
  verb.model.request.common.cancel = &interrupted();
  SUBLANE_TRY(std::vector<gate::Entry> entries, entriesOf(verb, app));
  if (!verb.most_regression.empty()) {
    Result<double> most = gate::readShare(verb.most_regression);
    if (!most.ok()) return std::move(most).error().at("--max-regression");
    for (gate::Entry& entry : entries) entry.most_regression = *most;
  }
  const std::vector<gate::Checked> all =
      gate::checkAll(entries, simulateBy(verb),
                     {.update = verb.update, .redact = verb.model.redact, .cancel = &interrupted()});
  if (interrupted().load()) return machineError("check: interrupted");
  if (!verb.junit.empty()) SUBLANE_CHECK_OK(writeFileAtomically(verb.junit, gate::toJunit(all)));
  if (!verb.sarif.empty()) SUBLANE_CHECK_OK(writeFileAtomically(verb.sarif, gate::toSarif(all)));
  SUBLANE_CHECK_OK(writeOutput(verb.model.format == "json" ? gate::toJson(all) : gate::toText(all)));
  keepInLog(verb.model.note, logEntryOf(all));
  return gate::statusOf(all);
}

Action addCheck(CLI::App& app) {
  auto verb = std::make_shared<CheckVerb>();
  addModelOptions(app, verb->model);
  app.get_option("--chip")->required(false);
  app.add_option("--project", verb->project,
                 "Without a MODEL: the file that lists what to check (sublane.toml)");
  app.add_option("--only", verb->only, "Of the project: the program of this name");
  app.add_option("--baseline", verb->baseline, "The text file that holds the expected times");
  app.add_option("--max-regression", verb->most_regression, "How much slower a step may be (default 2%)");
  app.add_flag("--update", verb->update, "Write the baselines anew");
  app.add_option("--junit", verb->junit, "A file for JUnit's XML");
  app.add_option("--sarif", verb->sarif, "A file for SARIF 2.1.0: what became slower, and what was found");
  app.add_option("--inputs", verb->options.inputs, "An .npz file with a program's arguments");
  app.add_option("--step", verb->options.step, "Of a model: decode or prefill only");
  return [verb, &app] { return untilInterrupted("check", [&] { return check(*verb, app); }); };
}

}  // namespace

extern const Command cmd_check;
const Command cmd_check{"check", "A gate for CI: is it slower than a baseline or a budget allows?", addCheck};

}  // namespace sublane::cli
