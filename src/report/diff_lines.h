// Matching the rows of two steps through the model tree, and what the difference may be wrong by. Private to
// the folder.
//
//   diff.lines = diffLines(before, after);
//   setErrors(before, after, &errors, diff);
#pragma once

#include "report/class_error.h"
#include "report/diff.h"

namespace sublane::report {

/// The largest change first. Rows, launch included, are each in one line.
std::vector<DiffLine> diffLines(const SimulatedStep& before, const SimulatedStep& after);

/// Of the lines and of the whole. Two chips share no points: each side has the errors of its own.
struct SideErrors {
  ClassErrors before, after;
  bool one_chip = true;
};
void setErrors(const SimulatedStep& before, const SimulatedStep& after, const SideErrors& errors,
               StepDiff& diff);

/// Lines of the source say where an operation stands only if both sides come from the same files.
bool shareSources(const SimulatedStep& before, const SimulatedStep& after);
/// What a row is looked up by: its part, its line, else a tab and its kind.
std::string keyOf(const Row& row, bool by_source);

}  // namespace sublane::report
