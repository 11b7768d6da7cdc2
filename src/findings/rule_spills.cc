#include "findings/rows.h"

namespace sublane::findings {
namespace {

std::vector<Finding> look(const Evidence& evidence) {
  const auto spill = {events::Cause::kSpill};
  const Rows rows = pick(evidence, [&](const report::SimulatedRow& row) { return share(row, spill) > 0.02; });
  const double spent = evidence.us(rows.cyclesOf(spill));
  if (rows.empty() || evidence.percent(spent) < 1) return {};
  Finding finding = about(rows, "spills");
  finding.what = fmt::format("{}: {:.1f} us ({:.0f} %) of bundles that only move spilled registers",
                             named(rows), spent, evidence.percent(spent));
  finding.cure = "smaller blocks, or fewer values alive at once";
  finding.gain_us = spent;
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_spills;
const Rule rule_spills{"spills", "bundles that only move spilled registers", look};

}  // namespace sublane::findings
