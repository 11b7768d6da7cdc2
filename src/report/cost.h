// Cost: what a compiled program does, operation by operation, counted by us from its scheduled HLO.
//
// Rows are the operations of the entry computation in schedule order; the bodies of loops follow in place,
// times their trip count; of a conditional the most expensive branch is taken. docs/explain.md says what is
// counted how.
//
//   SUBLANE_TRY(report::Step step, report::costOf(module, *chip));
#pragma once

#include "base/result.h"
#include "llo/llo.h"
#include "report/report.h"

namespace sublane::report {

/// Fills rows and total. Error: more than five million operations to walk.
Result<Step> costOf(const llo::HloModule& module, const chips::Chip& chip);

/// Sums, shares and what can be hidden; called by costOf, and by tests on rows of their own.
void sumRows(Step& step, const chips::Chip& chip);

}  // namespace sublane::report
