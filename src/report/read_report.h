// Saved reports, read back: what `sublane simulate --json` and `sublane explain --json` wrote, so that
// commits, machines and libtpu versions can be compared where only the reports are left.
//
//   SUBLANE_TRY(Simulation before, readReport("main.json"));
//   SUBLANE_TRY(Difference difference, differenceOf(before, after));
#pragma once

#include <string>
#include <string_view>

#include "report/simulate.h"

namespace sublane::report {

/// Does it begin as JSON does?
bool isReport(const std::string& path);

/// Errors: no such file, not JSON, another schema, a key that is missing or of another type (with its path),
/// sums that disagree.
Result<Simulation> readReport(const std::string& path);
Result<Simulation> parseReport(std::string_view text, const std::string& where);

}  // namespace sublane::report
