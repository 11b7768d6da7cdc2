#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/paths.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/keep_in_log.h"
#include "cli/model_options.h"
#include "findings/cures.h"
#include "report/redact.h"
#include "views/html.h"
#include "views/perfetto.h"
#include "views/views.h"

namespace sublane::cli {
namespace {

/// Over half a second of the chip. A step is shorter; a loop that does not end is not, and is priced.
constexpr int64_t kMostBundles = int64_t{1} << 30;

struct ExplainVerb {
  ModelOptions model;
  report::SimulateOptions options;
  views::ViewOptions view;
  std::string output;
  bool bundles = false, watch = false, cure = false;

  bool isHtml() const { return model.format == "html"; }
  bool isTrace() const { return model.format == "perfetto"; }
};

bool wantsBundles(const ExplainVerb& verb) {
  const std::vector<std::string>& names = verb.view.views;
  return verb.bundles || verb.isHtml() ||
         std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name == "bundles" || name == "all"; });
}

/// The model or program with an edit made.
Result<report::Simulation> simulatedWith(const findings::Edit& edit, const ExplainVerb& verb) {
  using findings::EditKind;
  ModelOptions model = verb.model;
  report::SimulateOptions options = verb.options;
  options.sink_for = {};
  if (edit.kind == EditKind::kCompileOption) {
    model.compile_options.push_back(edit.option + "=" + edit.value);
    SUBLANE_CHECK_OK(fillRequest("explain", model));
    return simulationOf(model, options);
  }
  if (edit.kind == EditKind::kModelOption) {
    if (edit.option != "layers")
      return inputError("--{} {}: not an option that is tried", edit.option, edit.value);
    model.layers = edit.value;
    SUBLANE_CHECK_OK(fillRequest("explain", model));
    return simulationOf(model, options);
  }
  if (!model.isProgram()) return inputError("the edit is one of a program's text");
  SUBLANE_TRY(const std::string text, readFile(model.subject));
  SUBLANE_TRY(const std::string edited, findings::applied(edit, text));
  SUBLANE_TRY(TemporaryDirectory folder, TemporaryDirectory::create());
  model.subject = folder.path() + "/edited.mlir";
  SUBLANE_CHECK_OK(writeFileAtomically(model.subject, edited));
  return simulationOf(model, options);
}

void tryCures(const ExplainVerb& verb, const report::Simulation& simulation, views::Report& report) {
  constexpr int64_t kMost = 3;
  for (size_t i = 0; i < simulation.steps.size(); ++i) {
    const auto again = [&](const findings::Edit& edit) -> Result<report::SimulatedStep> {
      SUBLANE_TRY(report::Simulation after, simulatedWith(edit, verb));
      if (after.steps.size() != simulation.steps.size()) return inputError("it has other steps");
      return std::move(after.steps[i]);
    };
    findings::tryCures(report.findings[i], simulation.steps[i], again, kMost);
  }
}

Result<std::string> rendered(const ExplainVerb& verb, const report::Simulation& simulation) {
  views::Report report = views::reportOf(simulation);
  if (verb.cure) tryCures(verb, simulation, report);
  if (verb.model.format == "text") return views::toText(report, verb.view);
  SUBLANE_TRY(std::string json, views::toJson(report, {.focus = verb.view.focus,
                                                       .bundles = verb.bundles || verb.isHtml(),
                                                       .redacted = verb.model.redact}));
  return verb.isHtml() ? views::toHtml(json) : std::move(json);
}

/// A page and a trace are for other programs than a terminal.
Status checkOptions(const ExplainVerb& verb) {
  const std::string& format = verb.model.format;
  if ((verb.isHtml() || verb.isTrace()) && verb.output.empty()) {
    return inputError("explain: --format {} needs a file", format)
        .hint(verb.isHtml() ? "-o report.html" : "-o trace.pftrace");
  }
  std::error_code ignored;
  if (!verb.output.empty() && std::filesystem::equivalent(verb.output, verb.model.subject, ignored))
    return inputError("explain: -o {}: that is the program itself", verb.output);
  if (format != "text" && !verb.view.views.empty())
    return inputError("explain: --view is of the text; --format {} has everything", format);
  if (verb.isTrace() && verb.model.redact)
    return inputError("explain: --redact does not reach a trace, and it holds names");
  if (verb.isTrace() && !verb.view.focus.empty()) return inputError("explain: a trace has no --focus");
  if (verb.cure && (verb.isTrace() || verb.model.redact))
    return inputError("explain: --cure goes with neither a trace nor --redact");
  if (verb.isTrace() && verb.options.estimates)
    return inputError("explain: a trace is of what was executed; leave --estimates out");
  return Ok{};
}

Status explainOnce(ExplainVerb& verb) {
  std::optional<views::PerfettoTrace> trace;
  if (verb.isTrace()) {
    SUBLANE_TRY(views::PerfettoTrace created, views::PerfettoTrace::create(verb.output));
    trace.emplace(std::move(created));
    verb.options.sink_for = [&](const auto&... of) { return trace->sinkFor(of...); };
  }
  SUBLANE_TRY(report::Simulation simulation, simulationOf(verb.model, verb.options));
  if (verb.model.redact) {
    report::Pseudonyms names;
    report::redact(simulation, names);
  }
  if (trace) {
    SUBLANE_CHECK_OK(trace->finish(simulation));
  } else {
    SUBLANE_TRY(const std::string text, rendered(verb, simulation));
    SUBLANE_CHECK_OK(verb.output.empty() ? writeOutput(text) : writeFileAtomically(verb.output, text));
  }
  if (!verb.output.empty()) SUBLANE_CHECK_OK(writeOutput(fmt::format("wrote {}\n", verb.output)));
  keepInLog(verb.model.note, {.verb = "explain", .sides = {gate::sideOf(simulation)}});
  return Ok{};
}

/// When the file was last written; 0: it is being replaced, or is not a file.
int64_t writtenAt(const std::string& path) {
  struct stat at{};
  if (stat(path.c_str(), &at) != 0) return 0;
  return at.st_mtim.tv_sec * 1'000'000'000 + at.st_mtim.tv_nsec;
}

/// Once more on each save, until it is interrupted. What is wrong with the file is said, and waited for.
Status watch(ExplainVerb& verb) {
  using namespace std::chrono_literals;
  const std::string& path = verb.model.subject.empty() ? verb.model.request.config : verb.model.subject;
  for (int64_t seen = 0; !interrupted().load();) {
    const int64_t now = writtenAt(path);
    if (now == 0 && seen == 0) return inputError("explain: --watch {}: no such file", path);
    if (now == seen || now == 0) {
      std::this_thread::sleep_for(100ms);
      continue;
    }
    seen = now;
    const auto begin = std::chrono::steady_clock::now();
    const Status status = explainOnce(verb);
    if (!status.ok() && !interrupted().load()) fmt::print(stderr, "error: {}\n", status.error().text());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fmt::print(stderr, "explain: {:.1f} s from save to findings; watching {}\n", took.count(), path);
  }
  return Ok{};
}

Status explain(ExplainVerb& verb, const CLI::App& app) {
  SUBLANE_CHECK_OK(readModelOptions(app, "explain", verb.model));
  verb.model.request.common.cancel = &interrupted();
  verb.view.top = verb.model.text.top;
  verb.options.bundle_texts = wantsBundles(verb);
  verb.options.most_bundles = kMostBundles;
  verb.options.assume_scalars = true;
  SUBLANE_CHECK_OK(checkOptions(verb));
  return verb.watch ? watch(verb) : explainOnce(verb);
}

std::string knownViews() {
  std::string text = "Of the text: all";
  for (const views::View* view : views::allViews()) text += ", " + std::string(view->name);
  return text + "; may repeat";
}

Action addExplain(CLI::App& app) {
  auto verb = std::make_shared<ExplainVerb>();
  verb->model.formats = {"text", "json", "html", "perfetto"};
  addModelOptions(app, verb->model);
  app.add_option("--view", verb->view.views, knownViews())->allow_extra_args(false)->type_name("NAME");
  app.add_option("--focus", verb->view.focus,
                 "Only rows of a place (layer.3.attention), an operation, or a kind (gather)");
  app.add_option("-o,--output", verb->output, "A file for the report");
  app.add_flag("--bundles", verb->bundles, "With --json: every kernel's bundles");
  app.add_flag("--estimates", verb->options.estimates,
               "By the compiler's estimates alone: compiles faster, executes nothing");
  app.add_flag("--cure", verb->cure,
               "Make the mechanical edits of the first findings, and execute again: gains are simulated");
  app.add_flag("--watch", verb->watch, "Again on each save of the file");
  app.add_option("--inputs", verb->options.inputs,
                 "An .npz file with a program's arguments, by number (arg0) or name");
  app.add_option("--step", verb->options.step, "Of a model: decode or prefill only");
  return [verb, &app] { return untilInterrupted("explain", [&] { return explain(*verb, app); }); };
}

}  // namespace

extern const Command cmd_explain;
const Command cmd_explain{"explain", "Why a model's steps, or a program, take their time on a chip",
                          addExplain};

}  // namespace sublane::cli
