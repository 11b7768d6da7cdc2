#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

/// Only where kernels were not executed: then their own description is all that is known of them.
std::vector<Finding> look(const Look& look) {
  if (look.evidence.step.rung == report::Rung::kBundles) return {};
  const Rows rows = pick(
      look.evidence, [](const report::SimulatedRow& row) { return has(row, report::Flag::kNoDescription); });
  if (rows.empty()) return {};
  Finding finding = about(rows, "unknown-cost");
  finding.what = fmt::format(
      "{}: {} executions of kernels without a cost description count as {} of HBM traffic "
      "only",
      named(rows), formatCount(rows.count), formatBytes(static_cast<double>(rows.bytes)));
  finding.cure = "give the kernel a cost estimate, or execute its bundles";
  save(finding, rows, [](const report::SimulatedRow&) { return 0.0; });
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_unknown_cost;
const Rule rule_unknown_cost{"unknown-cost", "kernels of which nothing is known", Rank::kSymptom, look};

}  // namespace sublane::findings
