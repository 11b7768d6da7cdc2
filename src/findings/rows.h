// What several rules do with rows: pick, add up, name. Private to the folder.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "findings/dataflow.h"
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

/// The causes of waiting for transfers, and for results of operations before.
std::span<const events::Cause> waitCauses();
std::span<const events::Cause> dependencyCauses();

/// Cycles, and part of a row's cycles, that these causes are.
int64_t cyclesOf(const events::CauseCycles& causes, std::span<const events::Cause> wanted);
double share(const report::SimulatedRow& row, std::span<const events::Cause> wanted);
bool has(const report::SimulatedRow& row, report::Flag flag);
/// The end of an asynchronous copy is a row of its own: the time that its start's transfer is waited for.
const report::SimulatedRow* rowOf(const Evidence& evidence, const std::string& op);
/// A row, and the row in which its asynchronous transfer is waited for.
std::vector<const report::SimulatedRow*> withWait(const Look& look, const report::SimulatedRow& row);

/// Rows of which some causes take more than `least_share`; found if those cycles are `least_percent` of the
/// step.
struct CauseRule {
  std::string_view rule;
  std::span<const events::Cause> causes;
  double least_share = 0, least_percent = 0;
  std::string_view what;  // of their time: "of bundles that only move spilled registers"
  std::string_view cure;
  bool says_executions = false;  // how many there were is part of what is wrong
};
std::vector<Finding> findingsOfCauses(const Evidence& evidence, const CauseRule& rule);

/// A finding about these rows: its operations and sources are filled in; it saves all of their time.
Finding about(const Rows& rows, std::string_view rule);
/// Sets what it saves of each row, and their sum.
void save(Finding& finding, const Rows& rows,
          const std::function<double(const report::SimulatedRow&)>& us_of_row);
/// "attention.core gather", which takes most of the time, "and 3 more" where there are.
std::string named(const Rows& rows);
/// "12.3 us (4 %)".
std::string timeOf(const Evidence& evidence, double us);

/// Where a kernel's time goes: "kernel k, bundles 10-42, 96 iterations: 72 % of 1,234 cycles ...", of the
/// innermost loop in which these causes take most; empty where there is none.
std::string loopOf(const Evidence& evidence, const report::SimulatedRow& row,
                   std::span<const events::Cause> causes);
/// The kernel that a row runs, or null.
const report::KernelUse* kernelOf(const Evidence& evidence, const report::SimulatedRow& row);

/// "bf16[8,128] with dimension 1 minor": a shape and the order in which it lies.
std::string layoutOf(const llo::Shape& shape);

}  // namespace sublane::findings
