// The step program of a dense decoder: what every family's `build` is, unless it needs another.
#pragma once

#include "models/models.h"

namespace sublane::models {

/// Refuses shapes that don't fit each other or 32-bit indices; the graph is not verified here (buildStep
/// does).
Result<StepProgram> buildDecoder(const Model& model, const DecoderConfig& config, const StepShape& shape,
                                 const StepOptions& options, io::Container container);

}  // namespace sublane::models
