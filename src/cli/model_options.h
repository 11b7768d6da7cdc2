// The options by which verbs name a model's steps or a program, and a chip. Private to the folder.
//
//   addModelOptions(verb, *options);
//   SUBLANE_CHECK_OK(readModelOptions(verb, "explain", *options));
//   if (options->isProgram()) return report::explainFile(options->subject, options->request.common);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/request.h"
#include "report/simulate.h"

namespace CLI {
class App;
}

namespace sublane::cli {

struct ModelOptions {
  std::string subject, layers = "unrolled", format = "text", dtype = "bf16";
  std::vector<std::string> compile_options;             // "xla_flag=value"
  std::string module;                                   // of a directory of dumps
  std::vector<std::string> formats = {"text", "json"};  // that the verb has
  bool redact = false;
  std::string note;  // for the log
  report::ModelRequest request;
  report::TextOptions text;

  /// StableHLO text: by its name, or a file that begins as MLIR does.
  bool isProgram() const;
  /// HLO that is compiled already, or a directory of dumps.
  bool isBrought() const;
};

void addModelOptions(CLI::App& verb, ModelOptions& options);

/// Fills the request. Errors: no or two subjects, a model's option with a program, a compile option without
/// a value.
Status readModelOptions(const CLI::App& verb, std::string_view name, ModelOptions& options);

/// The same without a command line: of an entry of sublane.toml.
Status fillRequest(std::string_view name, ModelOptions& options);

/// Of the program, or of the model's steps.
Result<report::Simulation> simulationOf(const ModelOptions& model, const report::SimulateOptions& options);

}  // namespace sublane::cli
