// Two simulations side by side: what changed, by part of the model and by cause.
//
// Operations are not matched by name, which fusion changes, but by where they stand: the part of the model
// (all layers together), else the line of the user's source (if the two sides share any), else the kind of
// operation. So a fusion that was
// split is still one line, and what one side lacks is a line with a zero.
//
//   SUBLANE_TRY(Difference difference, differenceOf(before, after));
//   fmt::print("{}", toText(difference, {}));
#pragma once

#include <string>
#include <vector>

#include "report/simulate.h"

namespace sublane::report {

/// One side of a line, or of a step.
struct DiffSide {
  double us = 0;
  int64_t count = 0;  // executions
  int64_t hbm_bytes = 0;
  events::CauseCycles causes{};
  std::vector<std::string> ops;  // distinct names, the slowest first; a few
};

struct DiffLine {
  std::string place;  // "attention.core", "model.py:42", "" for operations without either
  std::string kind;   // of most of its time, on the side where that is more: "gather"
  DiffSide before, after;
  double changeUs() const { return after.us - before.us; }
};

struct StepDiff {
  std::string name;        // of the step before; "A -> B" where they differ
  DiffSide before, after;  // of the whole, launch included
  Origin origin_before{}, origin_after{};
  std::vector<DiffLine> lines;  // the largest change first
  /// Smaller changes than this are not to be told from the simulator's own error (relative); 0: not known.
  double resolution = 0;
  std::string resolution_class;
  bool resolvable() const;
};

struct Difference {
  std::string before, after;  // subjects
  std::vector<std::pair<std::string, std::pair<std::string, std::string>>>
      settings;  // that differ: chip, ...
  std::vector<StepDiff> steps;
  double clock_before_hz = 0, clock_after_hz = 0;
};

/// Errors: no step that both have.
Result<Difference> differenceOf(const Simulation& before, const Simulation& after);

std::string toText(const Difference& difference, const TextOptions& options);
/// Schema "sublane.diff/1".
std::string toJson(const Difference& difference);

}  // namespace sublane::report
