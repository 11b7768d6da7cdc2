#include <cstdio>

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "report/explain.h"
#include "report/report.h"

namespace sublane::cli {
namespace {

Status explain(ModelOptions& options, const CLI::App& verb) {
  SUBLANE_CHECK_OK(readModelOptions(verb, "explain", options));
  options.request.common.cancel = &interrupted();
  SUBLANE_TRY(const report::Explanation explanation, untilInterrupted("explain", [&] {
                return options.isProgram() ? report::explainFile(options.subject, options.request.common)
                                           : report::explainModel(options.request);
              }));
  const std::string text =
      options.format == "json" ? report::toJson(explanation) : report::toText(explanation, options.text);
  return writeOutput(text);
}

Action addExplain(CLI::App& verb) {
  auto options = std::make_shared<ModelOptions>();
  addModelOptions(verb, *options);
  return [options, &verb] { return explain(*options, verb); };
}

}  // namespace

extern const Command cmd_explain;
const Command cmd_explain{"explain", "The cost of a model's steps, or of a program, on a chip", addExplain};

}  // namespace sublane::cli
