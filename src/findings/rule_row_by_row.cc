#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

/// BEFORE  %k = gather(cache, page_table)   one transfer, or one loop of scalar code, for each row
/// AFTER   a kernel that reads whole pages by the page table where they lie
std::vector<Finding> look(const Look& look) {
  const Rows rows = pick(look.evidence, [](const report::SimulatedRow& row) {
    const bool indexed = row.row.kind == "gather" || row.row.kind == "scatter";
    return indexed && row.row.us > 2 * row.row.hbm_us;
  });
  if (rows.empty() || look.evidence.percent(rows.us) < 5) return {};
  Finding finding = about(rows, "row-by-row");
  finding.what = fmt::format("{}: {} executions take {} for {} that the HBM moves in {:.1f} us", named(rows),
                             formatCount(rows.count), timeOf(look.evidence, rows.us),
                             formatBytes(static_cast<double>(rows.bytes)), rows.hbm_us);
  finding.cure = "rows are moved one by one: a kernel that reads or writes whole pages in place";
  save(finding, rows, [](const report::SimulatedRow& row) { return row.row.us - row.row.hbm_us; });
  for (size_t i = 0; i < rows.rows.size() && i < 2; ++i) {
    const Spot spot = look.flow.spotOf(rows.rows[i]->row.op);
    if (!spot.found()) continue;
    finding.evidence.push_back(
        fmt::format("{} gives {} (compiler)", rows.rows[i]->row.op, layoutOf(look.flow.at(spot).shape)));
  }
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_row_by_row;
const Rule rule_row_by_row{"row-by-row", "gathers and scatters that take far longer than their bytes",
                           Rank::kPattern, look};

}  // namespace sublane::findings
