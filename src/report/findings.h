// Findings: what to look at first in a step, by a few small rules over its rows; private to the folder.
// Each says what, with its numbers, and what to do; the three that are worth most are kept.
#pragma once

#include "report/report.h"

namespace sublane::report {

std::vector<Finding> findingsOf(const Step& step, const chips::Chip& chip, bool layers_in_loop);

}  // namespace sublane::report
