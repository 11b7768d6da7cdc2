// Programs for the tests of findings: compiled by libtpu, executed, and looked at by all rules.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "chips/chips.h"
#include "findings/findings.h"
#include "report/anatomy_of.h"
#include "report/compile.h"
#include "report/program_inputs.h"
#include "report/simulated_rows.h"

namespace sublane::findings {

/// A program that was compiled and executed, with all that rules are given.
struct Judged {
  report::SimulatedStep step;
  const chips::Chip* chip = nullptr;
  double clock_hz = 0;
  bool layers_in_loop = false;
  Evidence evidence() const { return {step, *chip, clock_hz, layers_in_loop}; }
};

/// Integers that a program needs to run: those that it comes with; else all 0, which every index may be.
inline Result<sim::Inputs> inputsFor(const llo::HloModule& module,
                                     const std::map<int32_t, std::vector<int32_t>>& known) {
  SUBLANE_TRY(sim::Inputs inputs, report::inputsOf(known, module));
  const llo::Computation& entry = module.entryComputation();
  for (const llo::Instruction& at : entry.instructions) {
    if (!at.is("parameter") || at.shape.isTuple() || llo::isFloat(at.shape.type)) continue;
    if (llo::paddedBytes(at.shape) > (int64_t{1} << 26)) continue;
    std::vector<std::byte>& bytes = inputs.arguments[static_cast<int32_t>(at.parameter_number)];
    if (bytes.empty()) bytes.resize(static_cast<size_t>(llo::paddedBytes(at.shape)));
  }
  return inputs;
}

inline Result<Judged> judgedProgram(const report::StepProgramText& text,
                                    const report::CompileRequest& common) {
  Judged judged;
  SUBLANE_TRY(judged.chip, chips::findChip(common.chip));
  SUBLANE_TRY(auto compiled, report::compilePrograms({text}, common, *judged.chip, true));
  pjrt::AheadOfTimeResult& result = compiled[0].result;
  SUBLANE_TRY(llo::HloModule module, llo::readHloModule(result.optimized_hlo));
  SUBLANE_TRY(const report::Step priced, report::pricedStep(text, module, result.memory, *judged.chip));
  judged.clock_hz = judged.chip->clock_hz;
  const auto finished = [&](report::SimulatedStep step) {
    judged.step = std::move(step);
    report::addBuffers(module, judged.step.anatomy);
    judged.step.module = std::make_shared<const llo::HloModule>(module);
    return judged;
  };
  const auto estimated = [&](const std::string& why) {
    return finished(report::estimatedStep(priced, why, ""));
  };
  if (!compiled[0].no_listings.empty()) return estimated(compiled[0].no_listings);
  const Result<sim::ChipModel> model = sim::chipModel(common.chip);
  if (!model.ok()) return estimated(model.error().message());
  const Result<llo::Program> program = llo::readProgram(
      result.dump, module, {.chip = common.chip, .compiler = report::compilerName(result.platform_version)});
  if (!program.ok()) return estimated(program.error().message());
  SUBLANE_TRY(sim::Inputs inputs, inputsFor(program->module, text.inputs));
  const Result<sim::Run> run = sim::simulate(
      *program, *model, {.inputs = std::move(inputs), .slice = report::chipsAlongAxes(common.mesh)});
  if (!run.ok()) return estimated(run.error().message());
  judged.clock_hz = model->clock_hz;
  report::SimulatedStep step = report::simulatedStep(*run, *program, priced, *judged.chip, *model);
  step.anatomy = report::anatomyOf({*run, *program, step, *judged.chip, *model});
  return finished(std::move(step));
}

inline Result<Judged> judgedFile(const std::string& path, const report::CompileRequest& common) {
  SUBLANE_TRY(const chips::Chip* chip, chips::findChip(common.chip));
  SUBLANE_TRY(std::string text, report::readProgramText(path, common.mesh, *chip));
  return judgedProgram({std::filesystem::path(path).filename().string(), "", std::move(text)}, common);
}

/// A step of one of our models: "smollm2-135m.decode.loop".
inline Result<Judged> judgedModel(const std::string& name, const report::CompileRequest& common) {
  const size_t first = name.find('.'), second = name.find('.', first + 1);
  const bool in_loop = name.substr(second + 1) == "loop";
  SUBLANE_TRY(
      report::ModelPrograms built,
      report::buildPrograms({.model = name.substr(0, first), .layers_in_loop = in_loop, .common = common}));
  for (const report::StepProgramText& step : built.steps) {
    if (step.name != name.substr(first + 1, second - first - 1)) continue;
    SUBLANE_TRY(Judged judged, judgedProgram(step, common));
    judged.layers_in_loop = in_loop;
    return judged;
  }
  return inputError("{}: the model has no such step", name);
}

inline std::set<std::string> rulesOf(const std::vector<Finding>& findings) {
  std::set<std::string> rules;
  for (const Finding& finding : findings) rules.insert(std::string(finding.rule));
  return rules;
}

}  // namespace sublane::findings
