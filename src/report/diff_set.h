// What a new libtpu (or other flags, another commit) changes over a set of programs: totals of each, the
// geometric mean, the best and the worst, the parts of the model that changed most, and what no longer
// compiles.
//
//   SetDiff set{.before = "libtpu 0.0.51", .after = "libtpu 0.0.52", .chip = "v6e"};
//   set.programs.push_back(programDiff("decode.mlir", before, after));
//   fmt::print("{}", toText(set, {}));
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/diff.h"

namespace sublane::report {

/// One program on both sides; a side that could not be simulated says why.
struct ProgramDiff {
  std::string program;
  std::optional<Difference> difference;
  std::string error_before, error_after;
  double before_us = 0, after_us = 0;  // of all its steps
  bool resolvable = false;             // the error of the difference is known, and smaller

  double ratio() const { return before_us > 0 ? after_us / before_us : 1; }
};
/// Errors of a side are part of it.
ProgramDiff programDiff(const std::string& program, const Result<Simulation>& before,
                        const Result<Simulation>& after);

struct SetDiff {
  std::string before, after, chip;  // what differs: "libtpu 0.0.51"
  std::vector<ProgramDiff> programs;

  /// Of after / before, over the programs that both sides have; 1 of none.
  double geometricMean() const;
  int64_t compared() const;
};

/// Time of a part of the model, or of a kind where there are none, over all programs.
struct PartChange {
  std::string place, kind;
  double before_us = 0, after_us = 0;
  int64_t programs = 0;  // in which it changed
};
/// The largest change first.
std::vector<PartChange> partChanges(const SetDiff& set);

std::string toText(const SetDiff& set, const TextOptions& options);
/// Schema "sublane.diff_set/1".
std::string toJson(const SetDiff& set);

}  // namespace sublane::report
