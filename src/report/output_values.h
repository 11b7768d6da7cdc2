// Results of a program that was executed for values, in the host's order, and what to say of them. Private to
// the folder.
#pragma once

#include <map>
#include <vector>

#include "llo/llo.h"
#include "report/simulate.h"

namespace sublane::report {

/// `outputs`: device bytes by output number. Errors: sim::toHost's.
Result<std::vector<OutputValue>> outputValues(const llo::HloModule& module,
                                              const std::map<int32_t, std::vector<std::byte>>& outputs);

}  // namespace sublane::report
