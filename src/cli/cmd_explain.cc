#include <cstdio>

#include "base/paths.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/keep_in_log.h"
#include "cli/model_options.h"
#include "report/redact.h"
#include "views/views.h"

namespace sublane::cli {
namespace {

struct ExplainVerb {
  ModelOptions model;
  report::SimulateOptions options;
  views::ViewOptions view;
  std::string output;
  bool bundles = false;
};

bool wantsBundles(const ExplainVerb& verb) {
  const std::vector<std::string>& names = verb.view.views;
  return verb.bundles || std::any_of(names.begin(), names.end(), [](const std::string& name) {
           return name == "bundles" || name == "all";
         });
}

Status explain(ExplainVerb& verb, const CLI::App& app) {
  SUBLANE_CHECK_OK(readModelOptions(app, "explain", verb.model));
  verb.model.request.common.cancel = &interrupted();
  verb.view.top = verb.model.text.top;
  verb.options.bundle_texts = wantsBundles(verb);
  SUBLANE_TRY(report::Simulation simulation, simulationOf(verb.model, verb.options));
  const gate::LogSide side = gate::sideOf(simulation);
  if (verb.model.redact) {
    report::Pseudonyms names;
    report::redact(simulation, names);
  }
  const views::Report report = views::reportOf(simulation);
  SUBLANE_TRY(const std::string text,
              verb.model.format == "json"
                  ? views::toJson(report, {.focus = verb.view.focus, .bundles = verb.bundles})
                  : views::toText(report, verb.view));
  SUBLANE_CHECK_OK(verb.output.empty() ? writeOutput(text) : writeFileAtomically(verb.output, text));
  if (!verb.output.empty()) SUBLANE_CHECK_OK(writeOutput(fmt::format("wrote {}\n", verb.output)));
  keepInLog(verb.model.note, {.verb = "explain", .sides = {side}});
  return Ok{};
}

std::string knownViews() {
  std::string text = "Of the text: all";
  for (const views::View* view : views::allViews()) text += ", " + std::string(view->name);
  return text + "; may repeat";
}

Action addExplain(CLI::App& app) {
  auto verb = std::make_shared<ExplainVerb>();
  addModelOptions(app, verb->model);
  app.add_option("--view", verb->view.views, knownViews())->allow_extra_args(false)->type_name("NAME");
  app.add_option("--focus", verb->view.focus,
                 "Only rows of a place (layer.3.attention), an operation, or a kind (gather)");
  app.add_option("-o,--output", verb->output, "A file for the report");
  app.add_flag("--bundles", verb->bundles, "With --json: every kernel's bundles");
  app.add_flag("--estimates", verb->options.estimates,
               "By the compiler's estimates alone: compiles faster, executes nothing");
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
