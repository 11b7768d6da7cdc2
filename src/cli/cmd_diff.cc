#include <cstdlib>
#include <filesystem>

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "pjrt/parts.h"
#include "report/diff.h"

namespace sublane::cli {
namespace {

/// The second side: what it does not say is as on the first.
struct OtherSide {
  std::string subject, chip, mesh, layers, libtpu, inputs;
  std::vector<std::string> compile_options;

  bool saysSomething() const {
    return !subject.empty() || !chip.empty() || !mesh.empty() || !layers.empty() || !libtpu.empty() ||
           !inputs.empty() || !compile_options.empty();
  }
};

struct DiffVerb {
  ModelOptions model;
  report::SimulateOptions options;
  std::string libtpu;
  OtherSide other;
};

/// A version that set-up has fetched, or a library's path; empty: the pinned one.
Result<std::string> libtpuOf(const std::string& wanted) {
  if (wanted.empty() || wanted.find('/') != std::string::npos) return wanted;
  SUBLANE_TRY(const std::string path, pjrt::installedPath("libtpu", wanted));
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return path;
  return inputError("--libtpu {}: no such version here ({})", wanted, path)
      .hint("give the path of a libtpu.so, or fetch versions with tools/setup.sh long");
}

Result<report::Simulation> simulated(const ModelOptions& model, const report::SimulateOptions& options,
                                     const std::string& libtpu) {
  SUBLANE_TRY(const std::string library, libtpuOf(libtpu));
  if (!library.empty()) setenv("SUBLANE_LIBTPU", library.c_str(), /*overwrite=*/1);
  return simulationOf(model, options);
}

ModelOptions otherModel(const DiffVerb& verb) {
  ModelOptions model = verb.model;
  const OtherSide& other = verb.other;
  if (!other.subject.empty()) {
    model.subject = other.subject;
    model.request.config.clear();
  }
  if (!other.chip.empty()) model.request.common.chip = other.chip;
  if (!other.mesh.empty()) model.request.common.mesh = other.mesh;
  if (!other.layers.empty()) model.layers = other.layers;
  model.compile_options.insert(model.compile_options.end(), other.compile_options.begin(),
                               other.compile_options.end());
  return model;
}

Status diff(DiffVerb& verb, const CLI::App& app) {
  if (!verb.other.saysSomething()) {
    return inputError("diff: nothing to compare {} with", verb.model.subject)
        .hint(
            "give a second program, or one of --other-chip, --other-layers, --other-compile-option, "
            "--other-libtpu, --other-mesh, --other-inputs");
  }
  verb.model.request.common.cancel = &interrupted();
  ModelOptions second = otherModel(verb);
  SUBLANE_CHECK_OK(readModelOptions(app, "diff", verb.model));
  SUBLANE_CHECK_OK(readModelOptions(app, "diff", second));
  report::SimulateOptions other_options = verb.options;
  if (!verb.other.inputs.empty()) other_options.inputs = verb.other.inputs;
  SUBLANE_TRY(const report::Simulation before, simulated(verb.model, verb.options, verb.libtpu));
  SUBLANE_TRY(const report::Simulation after, simulated(second, other_options, verb.other.libtpu));
  SUBLANE_TRY(const report::Difference difference, report::differenceOf(before, after));
  return writeOutput(verb.model.format == "json" ? report::toJson(difference)
                                                 : report::toText(difference, verb.model.text));
}

Action addDiff(CLI::App& app) {
  auto verb = std::make_shared<DiffVerb>();
  addModelOptions(app, verb->model);
  app.add_option("OTHER", verb->other.subject,
                 "The second model or program; none: the first, changed by --other-...");
  app.add_option("--inputs", verb->options.inputs, "An .npz file with a program's arguments");
  app.add_option("--step", verb->options.step, "Of a model: decode or prefill only");
  app.add_option("--libtpu", verb->libtpu, "Compile the first with this version (0.0.51) or library");
  app.add_option("--other-chip", verb->other.chip, "The second side's chip");
  app.add_option("--other-mesh", verb->other.mesh, "Its slice");
  app.add_option("--other-layers", verb->other.layers, "Its layers: unrolled or loop")
      ->check(CLI::IsMember({"unrolled", "loop"}));
  app.add_option("--other-compile-option", verb->other.compile_options,
                 "A further flag of its compile; may repeat")
      ->allow_extra_args(false)
      ->type_name("FLAG=VALUE");
  app.add_option("--other-libtpu", verb->other.libtpu, "Its libtpu: a version or a library");
  app.add_option("--other-inputs", verb->other.inputs, "Its arguments");
  return [verb, &app] { return untilInterrupted("diff", [&] { return diff(*verb, app); }); };
}

}  // namespace

extern const Command cmd_diff;
const Command cmd_diff{"diff", "What changed between two programs, chips, flags or libtpu versions", addDiff};

}  // namespace sublane::cli
