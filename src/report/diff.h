// Two simulations side by side: what changed, by part of the model, operation and cause, and whether the
// simulator can tell the difference from its own error.
//
// Operations are not matched by name, which fusion changes, but through the model tree: the part of the model
// (all layers together), else the line of the user's source (if the two sides share any), else the kind of
// operation; under it, by place and kind. Parts of one parent ("mlp.gate", "mlp.up") of which one side lacks
// some, while others change the other way, were fused otherwise: they are one line of their parent ("mlp").
// So a fusion that was split is still one line, and what one side lacks is a line with a zero.
//
// What is alike on both sides is as wrong on both, and does not count. What changed may be wrong by the
// paired error of its class (class_error.h): that of the ratio of two measured points.
//
//   SUBLANE_TRY(Difference difference, differenceOf(before, after));
//   fmt::print("{}", toText(difference, {}));
#pragma once

#include <map>
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

/// What a difference may be wrong by.
struct ChangeError {
  bool known = false;     // at least half of what changed is in classes with measured points
  double us = 0;          // smaller differences are not to be told from the simulator's own error
  double changed_us = 0;  // what is not alike on both sides
  double covered = 1;     // of it, in classes with points
  std::string name;       // the class of most of it, "GEMM"; without one: the largest kind
};

struct DiffLine {
  std::string place;  // "attention.core", "model.py:42", "" for operations without either
  std::string kind;   // of most of its time, on the side where that is more: "gather"
  DiffSide before, after;
  ChangeError error;
  std::string layers;           // "3-5", where not all of its layers changed
  std::vector<DiffLine> parts;  // by place and kind: they add up to the line
  double changeUs() const { return after.us - before.us; }
  /// Only if the error is known.
  bool resolvable() const;
};

struct StepDiff {
  std::string name;        // of the step before; "A -> B" where they differ
  DiffSide before, after;  // of the whole, launch included
  Origin origin_before{}, origin_after{};
  std::vector<DiffLine> lines;  // the largest change first; they add up to the whole
  ChangeError error;            // of the whole
  double changeUs() const { return after.us - before.us; }
  bool sameOrigin() const { return origin_before == origin_after; }
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
/// With these errors by class instead of the chips' own.
Result<Difference> differenceOf(const Simulation& before, const Simulation& after,
                                const std::map<std::string, ClassError>& errors);

std::string toText(const Difference& difference, const TextOptions& options);
/// Schema "sublane.diff/1": docs/schemas/diff-1.schema.json.
std::string toJson(const Difference& difference);

}  // namespace sublane::report
