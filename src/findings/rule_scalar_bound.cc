#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

/// Grids of tiny steps, loops over rows: the scalar unit computes addresses and the others wait for it.
std::vector<Finding> look(const Evidence& evidence) {
  const auto scalar = {Cause::kIssueScalar, Cause::kBranch, Cause::kDependencyScalar};
  const Rows rows = pick(evidence, [&](const report::SimulatedRow& row) { return share(row, scalar) > 0.5; });
  const double spent = evidence.us(rows.cyclesOf(scalar));
  if (rows.empty() || evidence.percent(spent) < 3) return {};
  Finding finding = about(rows, "scalar-bound");
  finding.what = fmt::format("{}: {:.1f} us ({:.0f} %) of scalar work and branches in {} executions",
                             named(rows), spent, evidence.percent(spent), formatCount(rows.count));
  finding.cure = "fewer, larger grid steps or rows at a time";
  finding.gain_us = spent;
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_scalar_bound;
const Rule rule_scalar_bound{"scalar-bound", "operations that the scalar unit limits", look};

}  // namespace sublane::findings
