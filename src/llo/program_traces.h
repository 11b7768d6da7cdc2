// Which operation of the HLO schedule a program's trace marker belongs to.
#pragma once

#include <vector>

#include "llo/program.h"

namespace sublane::llo {

/// An operation as the compiler numbers it while it emits the schedule.
struct ScheduledOp {
  int32_t computation = 0, instruction = 0;
  bool counts = false;  // gets a number, as far as the module alone can say
};

/// The schedule with the bodies of its control flow: a loop's condition, its body, then the loop; a
/// conditional's branches, then it.
std::vector<ScheduledOp> scheduleOf(const HloModule& module);

/// One entry for each number that the top-level listing's markers use. Calls between two markers name their
/// operation; numbers between two such are given to the operations between them if the counts agree, and have
/// no name if they don't.
std::vector<TracedOp> joinTraces(const Listing& top, const HloModule& module);

}  // namespace sublane::llo
