// Results of a program that was executed for values, in the host's order, and what to say of them. Private to
// the folder.
#pragma once

#include <map>
#include <vector>

#include "io/npz.h"
#include "llo/program.h"
#include "report/simulate.h"
#include "sim/sim.h"

namespace sublane::report {

/// `outputs`: device bytes by output number. Errors: sim::toHost's.
Result<std::vector<OutputValue>> outputValues(const llo::HloModule& module,
                                              const std::map<int32_t, std::vector<std::byte>>& outputs);

/// Compares with arrays by number ("output0", "arr_0", "0") within `within` of each array's largest
/// magnitude. A difference names the bundle that wrote the vector, if the run tracked writers. Errors: an
/// array that is no result, of another type or shape (both are named).
Status compareOutputs(const llo::Program& program, const sim::Run& run,
                      const std::vector<io::NpyArray>& arrays, const SimulateOptions& options,
                      std::vector<OutputValue>& outputs);

}  // namespace sublane::report
