#include "llo/llo.h"
#include "report/compile.h"
#include "report/cost.h"

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

}  // namespace

Result<Step> pricedStep(const StepProgramText& program, const llo::HloModule& module,
                        const std::optional<pjrt::MemoryStats>& memory, const chips::Chip& chip) {
  SUBLANE_TRY(Step step, costOf(module, chip));
  step.name = program.name;
  step.bucket = program.bucket;
  if (memory) step.memory = hbmUse(*memory, module);
  return step;
}

}  // namespace sublane::report
