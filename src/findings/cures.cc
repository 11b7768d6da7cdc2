#include "findings/cures.h"

#include <algorithm>

namespace sublane::findings {
namespace {

void tryCure(Finding& finding, const report::SimulatedStep& before, const Again& again) {
  const std::string what = toText(*finding.edit);
  const Result<report::SimulatedStep> after = again(*finding.edit);
  if (!after.ok()) {
    finding.evidence.push_back(fmt::format("tried: {}: {}", what, after.error().message()));
    return;
  }
  const std::string rung = fmt::format("{}", name(after->origin()));
  finding.evidence.push_back(
      fmt::format("made and run again: {}: {:.1f} us -> {:.1f} us ({})", what, before.us, after->us, rung));
  if (after->rung != report::Rung::kBundles || before.rung != report::Rung::kBundles) return;
  finding.gain_us = before.us - after->us;
  finding.gain_origin = Origin::kSimulated;
}

}  // namespace

void tryCures(std::vector<Finding>& findings, const report::SimulatedStep& before, const Again& again,
              int64_t most) {
  for (Finding& finding : findings) {
    if (!finding.edit) continue;
    if (most-- <= 0) break;
    tryCure(finding, before, again);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_us > b.gain_us; });
}

}  // namespace sublane::findings
