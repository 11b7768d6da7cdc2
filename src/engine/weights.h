// Weights: from the packed bytes of a checkpoint to arrays on a device, widened once at load.
#pragma once

#include <map>
#include <string>

#include "io/checkpoint.h"
#include "models/models.h"
#include "pjrt/pjrt.h"

namespace sublane::engine {

/// Buffers by parameter name.
using Weights = std::map<std::string, pjrt::Buffer>;

/// Reads every parameter of the program (two at a time), rounds it to its type and places it on the device.
/// Errors: a value that is NaN or infinite.
Result<Weights> loadWeights(const io::Checkpoint& checkpoint, const models::StepProgram& program,
                            const pjrt::Client& client);

}  // namespace sublane::engine
