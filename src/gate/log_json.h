// An entry of the log as JSON, and back. Private to the folder.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "gate/log.h"

namespace sublane::gate {

nlohmann::ordered_json jsonOf(const LogEntry& entry);
/// Errors: not JSON, another schema, a key that is missing or of another type.
Result<LogEntry> readEntry(std::string_view line);

}  // namespace sublane::gate
