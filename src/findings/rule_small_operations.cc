#include <algorithm>

#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

/// BEFORE  a hundred operations of a few rows each, one after another
/// AFTER   one fused operation, or a kernel for the part
std::vector<Finding> look(const Look& look) {
  const Rows rows = pick(look.evidence, [](const report::SimulatedRow& row) {
    const double each = row.row.us / static_cast<double>(std::max<int64_t>(1, row.row.count));
    const bool work = row.row.origin == Origin::kCompiler || row.row.origin == Origin::kSimulated;
    const bool other = row.row.kind == "matmul" || row.row.kind == "wait" || row.row.kind == "loop" ||
                       row.row.kind == "collective" || row.row.kind == "start, end" ||
                       row.row.kind == "kernel";
    return work && !other && each < 5 && std::max(row.row.hbm_us, row.row.mxu_us) < 0.25 * row.row.us;
  });
  Finding finding = about(rows, "small-operations");
  save(finding, rows,
       [](const report::SimulatedRow& row) { return row.row.us - std::max(row.row.hbm_us, row.row.mxu_us); });
  if (rows.count < 20 || look.evidence.percent(finding.gain_us) < 5) return {};
  finding.what = fmt::format(
      "{}: {} executions of under 5 us each, far above their bounds, take {}; their bytes "
      "only {:.1f} us",
      named(rows), formatCount(rows.count), timeOf(look.evidence, rows.us), rows.hbm_us);
  finding.cure = "a fixed cost each: fewer, larger operations (fuse, or a kernel for the part)";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_small_operations;
const Rule rule_small_operations{"small-operations", "many operations that are too small", Rank::kSymptom,
                                 look};

}  // namespace sublane::findings
