#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

/// BEFORE  %k = gather(cache, page_table)   one transfer, or one loop of scalar code, for each row
/// AFTER   a kernel that reads whole pages by the page table where they lie
std::vector<Finding> look(const Evidence& evidence) {
  const Rows rows = pick(evidence, [](const report::SimulatedRow& row) {
    const bool indexed = row.row.kind == "gather" || row.row.kind == "scatter";
    return indexed && row.row.us > 3 * row.row.hbm_us;
  });
  if (rows.empty() || evidence.percent(rows.us) < 5) return {};
  Finding finding = about(rows, "row-by-row");
  finding.what =
      fmt::format("{}: {} executions take {:.1f} us ({:.0f} %) for {} that the HBM moves in {:.1f} us",
                  named(rows), formatCount(rows.count), rows.us, evidence.percent(rows.us),
                  formatBytes(static_cast<double>(rows.bytes)), rows.hbm_us);
  finding.cure = "rows are moved one by one: a kernel that reads or writes whole pages in place";
  finding.gain_us = rows.us - rows.hbm_us;
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_row_by_row;
const Rule rule_row_by_row{"row-by-row", "gathers and scatters that take far longer than their bytes", look};

}  // namespace sublane::findings
