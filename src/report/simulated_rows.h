// Joins what was executed to the operations of the schedule. Private to the folder.
//
//   SimulatedStep step = simulatedStep(run, program, priced, *chip, model);
#pragma once

#include "report/simulate.h"

namespace sublane::report {

/// Rows in order of first execution; place, kind, operations and source are explain's row of the same
/// operation, time, count and bytes the run's. `priced`: cost.h's rows of the same module.
SimulatedStep simulatedStep(const sim::Run& run, const llo::Program& program, const Step& priced,
                            const chips::Chip& chip, const sim::ChipModel& model);

/// The lower rungs: explain's rows as they are, and why.
SimulatedStep estimatedStep(const Step& priced, std::string reason, std::string hint);

}  // namespace sublane::report
