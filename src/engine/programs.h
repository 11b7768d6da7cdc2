// Programs: the compiled step of each bucket, made on first use.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "engine/batch.h"
#include "models/models.h"
#include "pjrt/pjrt.h"

namespace sublane::engine {

/// What a bucket needs to run: its argument order and its executable.
struct Program {
  models::StepShape shape;
  std::vector<graph::Parameter> parameters;
  std::vector<graph::Type> parameter_types;  // by parameter
  std::vector<std::string> outputs;          // names, in order
  pjrt::Executable executable;
};

/// Builds, optimises, lowers and compiles the step of one bucket.
Result<Program> compileProgram(const models::DecoderConfig& config, const models::StepShape& shape,
                               const models::StepOptions& options, io::Container container,
                               const pjrt::Client& client);

}  // namespace sublane::engine
