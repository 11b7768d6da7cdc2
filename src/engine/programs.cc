#include "engine/programs.h"

#include "lower/lower.h"
#include "passes/passes.h"

namespace sublane::engine {

Result<Program> compileProgram(const models::DecoderConfig& config, const models::StepShape& shape,
                               const models::StepOptions& options, io::Container container,
                               const pjrt::Client& client) {
  SUBLANE_TRY(models::StepProgram step, models::buildStep(config, shape, options, container));
  SUBLANE_CHECK_OK(passes::runPipeline(step.graph, {}));
  SUBLANE_TRY(std::string text, lower::toStableHlo(step.graph));
  SUBLANE_TRY(pjrt::Executable executable, client.compile(text, {}));
  std::vector<graph::Type> types;
  types.reserve(step.graph.parameters.size());
  for (const graph::Parameter& parameter : step.graph.parameters)
    types.push_back(step.graph.type(parameter.value));
  std::vector<std::string> outputs;
  outputs.reserve(step.graph.outputs.size());
  for (const graph::Output& output : step.graph.outputs) outputs.push_back(output.name);
  return Program{shape, std::move(step.graph.parameters), std::move(types), std::move(outputs),
                 std::move(executable)};
}

}  // namespace sublane::engine
