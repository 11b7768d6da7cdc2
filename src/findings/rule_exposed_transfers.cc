#include "base/units.h"
#include "findings/waits.h"

namespace sublane::findings {
namespace {

/// An operation's first block and its last result cannot be hidden by its own work (assumed).
constexpr double kFillUs = 2;

/// Waits for an operation's own transfers, whose work or the work of others could have hidden them.
std::vector<Finding> look(const Look& look) {
  const Evidence& evidence = look.evidence;
  const Waits waits = waitsOf(evidence);
  const Rows rows = pick(evidence, [&](const report::SimulatedRow& row) {
    return row.row.kind != "collective" && row.row.kind != "wait" && share(row, waitCauses()) > 0.4;
  });
  const double waited = evidence.us(rows.cyclesOf(waitCauses()));
  Finding finding = about(rows, "exposed-transfers");
  save(finding, rows, [&](const report::SimulatedRow& row) {
    const double fill = kFillUs * static_cast<double>(row.row.count);
    return evidence.us(cyclesOf(row.causes, waitCauses())) * waits.part() - fill;
  });
  if (rows.empty() || evidence.percent(finding.gain_us) < 10) return {};
  finding.what = fmt::format(
      "{}: {} pass in waiting for {} of HBM traffic; the HBM is idle for {:.1f} us of the step", named(rows),
      timeOf(evidence, waited), formatBytes(static_cast<double>(rows.bytes)), waits.idle_us);
  finding.cure =
      "start the transfers while something computes (prefetch, more buffers), or move larger pieces";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_exposed_transfers;
const Rule rule_exposed_transfers{"exposed-transfers", "time in which nothing happens but transfers",
                                  Rank::kSymptom, look};

}  // namespace sublane::findings
