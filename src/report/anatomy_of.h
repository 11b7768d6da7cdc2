// Makes the anatomy of a step from its execution. Private to the folder.
//
//   step.anatomy = anatomyOf({run, program, step, *chip, model});
//   addBuffers(program.module, step.anatomy);
#pragma once

#include "report/simulate.h"

namespace sublane::report {

struct AnatomySource {
  const sim::Run& run;
  const llo::Program& program;
  const SimulatedStep& step;  // whose rows are the run's operations, in their order
  const chips::Chip& chip;
  const sim::ChipModel& model;
  bool bundle_texts = false;
};
/// Of units, limits, kernels, transfers and the timeline.
Anatomy anatomyOf(const AnatomySource& source);

Issued issuedOf(const llo::UnitCounts& counts);

/// What lies where while the entry's schedule runs: buffers with their lifetimes and padding, from the
/// compiled program alone. A value that is updated in place or passes through a loop is one buffer.
void addBuffers(const llo::HloModule& module, Anatomy& anatomy);

}  // namespace sublane::report
