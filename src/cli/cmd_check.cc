#include <filesystem>

#include "base/paths.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "report/baseline.h"

namespace sublane::cli {
namespace {

struct CheckVerb {
  ModelOptions model;
  report::SimulateOptions options;
  std::string baseline, most_regression = "2%", junit, sarif;
  bool update = false;
};

/// "2%" or "0.02".
Result<double> readShare(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool percent = *end == '%' && end[1] == 0;
  const double share = percent ? value / 100 : value;
  if (end == text.c_str() || (*end != 0 && !percent) || !(share >= 0 && share <= 10)) {
    return inputError("--max-regression {}: not a share", text).hint("for example 2% or 0.02");
  }
  return share;
}

Status writeBaseline(const CheckVerb& verb, const report::Simulation& now) {
  SUBLANE_CHECK_OK(writeFileAtomically(verb.baseline, report::toText(report::baselineOf(now))));
  return writeOutput(fmt::format("wrote {}\n", verb.baseline));
}

Status check(CheckVerb& verb, const CLI::App& app) {
  SUBLANE_CHECK_OK(readModelOptions(app, "check", verb.model));
  SUBLANE_TRY(const double most, readShare(verb.most_regression));
  verb.model.request.common.cancel = &interrupted();
  std::error_code ignored;
  if (!verb.update && !std::filesystem::exists(verb.baseline, ignored)) {
    return inputError("{}: no such baseline", verb.baseline)
        .hint("sublane check ... --update writes it; review it and commit it");
  }
  SUBLANE_TRY(const report::Simulation now, simulationOf(verb.model, verb.options));
  if (verb.update) return writeBaseline(verb, now);
  SUBLANE_TRY(const std::string text, readFile(verb.baseline));
  SUBLANE_TRY(const report::Baseline kept, report::parseBaseline(text, verb.baseline));
  const report::BaselineCheck found = report::checkBaseline(kept, now, {.most_regression = most});
  if (!verb.junit.empty())
    SUBLANE_CHECK_OK(writeFileAtomically(verb.junit, report::toJunit(found, now.subject)));
  if (!verb.sarif.empty())
    SUBLANE_CHECK_OK(writeFileAtomically(verb.sarif, report::toSarif(found, now.subject)));
  SUBLANE_CHECK_OK(writeOutput(verb.model.format == "json" ? report::toJson(found, now.subject)
                                                           : report::toText(found, now.subject)));
  if (found.passed()) return Ok{};
  return Error(Fault::kCheckFailed,
               fmt::format("check: {} is slower than {} allows", now.subject, verb.baseline))
      .hint("mend it, or accept it: the same command with --update");
}

Action addCheck(CLI::App& app) {
  auto verb = std::make_shared<CheckVerb>();
  addModelOptions(app, verb->model);
  app.add_option("--baseline", verb->baseline, "The text file that holds the expected times")->required();
  app.add_option("--max-regression", verb->most_regression, "How much slower a step may be")
      ->capture_default_str();
  app.add_flag("--update", verb->update, "Write the baseline anew");
  app.add_option("--junit", verb->junit, "A file for JUnit's XML");
  app.add_option("--sarif", verb->sarif, "A file for SARIF 2.1.0");
  app.add_option("--inputs", verb->options.inputs, "An .npz file with a program's arguments");
  app.add_option("--step", verb->options.step, "Of a model: decode or prefill only");
  return [verb, &app] { return untilInterrupted("check", [&] { return check(*verb, app); }); };
}

}  // namespace

extern const Command cmd_check;
const Command cmd_check{"check", "A gate for CI: is it slower than a baseline allows?", addCheck};

}  // namespace sublane::cli
