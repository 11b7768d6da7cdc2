// Cures tried: the mechanical edits of findings, made, compiled and executed again, so that a gain is
// simulated and no longer assumed.
//
//   SUBLANE_CHECK_OK(tryCures(findings, step, [&](const Edit& edit) { return simulatedWith(edit); }));
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "findings/findings.h"

namespace sublane::findings {

/// The step after an edit. Errors: the edit cannot be made in this text; the compiler refuses it.
using Again = std::function<Result<report::SimulatedStep>(const Edit& edit)>;

/// Of the first `most` findings with an edit: gain_us becomes what executing it again saves (it may be less
/// than nothing), gain_origin kSimulated, and the evidence says both times. An edit that fails leaves the
/// estimate, and says why. Then the findings are in order again. What was only estimated on either side stays
/// an estimate.
void tryCures(std::vector<Finding>& findings, const report::SimulatedStep& before, const Again& again,
              int64_t most);

}  // namespace sublane::findings
