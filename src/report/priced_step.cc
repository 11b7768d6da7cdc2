#include "report/explain.h"

#include <filesystem>

#include "llo/llo.h"
#include "report/compile.h"
#include "report/cost.h"
#include "report/findings.h"

namespace sublane::report {
namespace {

HbmUse hbmUse(const pjrt::MemoryStats& stats, const llo::HloModule& module) {
  HbmUse use;
  use.code = stats.code;
  use.arguments = stats.arguments;
  use.outputs = stats.outputs;
  use.aliased = stats.aliased;
  use.temporaries = stats.temporaries;
  const llo::Computation& entry = module.entryComputation();
  for (const llo::Instruction& at : entry.instructions) {
    if (at.is("parameter")) use.argument_data += llo::logicalBytes(at.shape);
  }
  for (const llo::InputOutputAlias& alias : module.aliases) {
    const int32_t parameter = entry.parameter(alias.parameter);
    if (parameter < 0) continue;
    const int64_t bytes = llo::logicalBytes(entry.at(parameter).shape);
    use.state += bytes;
    use.largest_state = std::max(use.largest_state, bytes);
  }
  return use;
}

bool holdsLoop(const llo::HloModule& module) {
  for (const llo::Computation& computation : module.computations) {
    for (const llo::Instruction& at : computation.instructions) {
      if (at.is("while")) return true;
    }
  }
  return false;
}

Result<Explanation> explainPrograms(const std::vector<StepProgramText>& programs,
                                    const CompileRequest& common) {
  SUBLANE_TRY(const chips::Chip* chip, chips::findChip(common.chip));
  SUBLANE_TRY(const std::vector<CompiledProgram> compiled, compilePrograms(programs, common, *chip, false));
  Explanation explanation;
  explanation.chip = chip;
  explanation.flags = flagTexts(common);
  for (size_t i = 0; i < programs.size(); ++i) {
    SUBLANE_TRY(Step step, pricedStep(programs[i], compiled[i].result, *chip));
    explanation.steps.push_back(std::move(step));
    explanation.compiler = compilerName(compiled[i].result.platform_version);
  }
  return explanation;
}

}  // namespace

Result<Step> pricedStep(const StepProgramText& program, const pjrt::AheadOfTimeResult& compiled,
                        const chips::Chip& chip) {
  SUBLANE_TRY(llo::HloModule module, llo::readHloModule(compiled.optimized_hlo));
  SUBLANE_TRY(Step step, costOf(module, chip));
  step.name = program.name;
  step.bucket = program.bucket;
  step.fingerprint = compiled.fingerprint;
  if (compiled.memory) step.memory = hbmUse(*compiled.memory, module);
  step.findings = findingsOf(step, chip, holdsLoop(module));
  return step;
}

void nameSources(Step& step, const std::string& file) {
  for (Row& row : step.rows) {  // without names of its own, lines of the text itself
    if (row.source.substr(0, 2) == "-:") row.source = file + row.source.substr(1);
  }
}

Result<Explanation> explainModel(const ModelRequest& request) {
  SUBLANE_CHECK_OK(chips::findChip(request.common.chip));
  if (!request.common.mesh.empty()) {
    return inputError("--mesh {}: the steps of a model are built for one device so far", request.common.mesh)
        .hint("a program that carries its own shardings (FILE.mlir) can be explained on a mesh");
  }
  if (request.common.progress) request.common.progress("building the steps");
  SUBLANE_TRY(ModelPrograms built, buildPrograms(request));
  SUBLANE_TRY(Explanation explanation, explainPrograms(built.steps, request.common));
  explanation.subject = request.config.empty() ? request.model : request.config;
  explanation.detail = built.detail;
  explanation.assumptions = built.assumptions;
  return explanation;
}

Result<Explanation> explainFile(const std::string& path, const CompileRequest& common) {
  SUBLANE_TRY(const chips::Chip* chip, chips::findChip(common.chip));
  SUBLANE_TRY(std::string text, readProgramText(path, common.mesh, *chip));
  const std::string name = std::filesystem::path(path).filename().string();
  Result<Explanation> explanation = explainPrograms({{name, "", text}}, common);
  if (!explanation.ok()) return explanation;
  explanation->subject = path;
  if (!common.mesh.empty()) {
    explanation->detail = fmt::format("mesh {}, {} partition{}; all figures are of one device", common.mesh,
                                      partitionsOf(text), partitionsOf(text) == 1 ? "" : "s");
    explanation->assumptions.push_back(
        "the links between chips cost nothing here: collectives are not priced");
  }
  nameSources(explanation->steps[0], name);
  return explanation;
}

}  // namespace sublane::report
