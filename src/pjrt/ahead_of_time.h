// Private to this folder: one compile by libtpu in this very process. Only a worker calls it.
#pragma once

#include "pjrt/worker.h"

namespace sublane::pjrt {

/// Clears what the environment would change and sets what libtpu needs on a machine without a TPU.
/// Before libtpu is loaded, and once: libtpu reads it when it initialises.
void setCompileEnvironment(const std::vector<std::string>& init_args);

Result<AheadOfTimeResult> compileInThisProcess(const AheadOfTimeRequest& request);

/// HloModuleProto out of an HloModuleProtoWithConfig (its field 1). Error (machine): it holds none.
Result<std::string> moduleOf(std::string_view module_with_config);

/// The same HloModuleProto with each map of frontend attributes in order of key. Protocol buffers write maps
/// in an order that differs from run to run; nothing else in a module does. Malformed bytes come back
/// unchanged.
std::string canonicalModule(std::string_view module);

/// A compiler's message without losing its sense: the first and the last lines of one that is too long.
std::string shortened(const std::string& message);

}  // namespace sublane::pjrt
