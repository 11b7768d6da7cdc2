// What the JSON of simulate and of explain have in common, so that one reader (read_report.h) serves both.
//
//   Json json = stepHeadJson(step);
//   json["notes"] = step.notes;
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/simulate.h"

namespace sublane::report {

using Json = nlohmann::ordered_json;

Json textOrNull(const std::string& text);
/// A number, "*" (all layers of a loop) or null.
Json layerJson(int32_t layer);
/// Causes that took no cycle are left out.
Json causesJson(const events::CauseCycles& causes);

/// A step from its name to the bundles that were executed.
Json stepHeadJson(const SimulatedStep& step);

/// Appends a row from its executions to its operations: count, cycles, us, error, class, origin, bytes,
/// flops.
void addCounts(const SimulatedRow& row, Json& json);

}  // namespace sublane::report
