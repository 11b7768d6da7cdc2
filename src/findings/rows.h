// What several rules do with rows: pick, add up, name. Private to the folder.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "findings/findings.h"

namespace sublane::findings {

/// Rows for which a rule fires, added up.
struct Rows {
  double us = 0, hbm_us = 0, mxu_us = 0;
  int64_t count = 0, cycles = 0, bytes = 0;
  events::CauseCycles causes{};
  std::vector<const report::SimulatedRow*> rows;  // the slowest first

  bool empty() const { return rows.empty(); }
  int64_t cyclesOf(std::span<const events::Cause> wanted) const;
};
Rows pick(const Evidence& evidence, const std::function<bool(const report::SimulatedRow&)>& wanted);

/// Part of a row's cycles that these causes are.
double share(const report::SimulatedRow& row, std::span<const events::Cause> wanted);

/// Rows of which some causes take more than `least_share`; found if those cycles are `least_percent` of the
/// step.
struct CauseRule {
  std::string_view rule;
  std::vector<events::Cause> causes;
  double least_share = 0, least_percent = 0;
  std::string_view what;  // of their time: "of bundles that only move spilled registers"
  std::string_view cure;
  bool says_executions = false;  // how many there were is part of what is wrong
};
std::vector<Finding> findingsOfCauses(const Evidence& evidence, const CauseRule& rule);

/// A finding about these rows: its operations and sources are filled in.
Finding about(const Rows& rows, std::string_view rule);
/// "attention.core gather", which takes most of the time, "and 3 more" where there are.
std::string named(const Rows& rows);

}  // namespace sublane::findings
