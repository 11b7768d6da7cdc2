#include <array>

#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

/// Waits for prefetches and for transfers of operations, whose work could have hidden them.
std::vector<Finding> look(const Evidence& evidence) {
  const std::array waits = {Cause::kDma, Cause::kDmaLatency, Cause::kDmaEither, Cause::kDmaBoth};
  const Rows rows = pick(evidence, [&](const report::SimulatedRow& row) {
    const bool collective = row.row.kind == "collective";
    return !collective && share(row, waits) > 0.4 && row.row.us < 3 * row.row.hbm_us;
  });
  const double waited = evidence.us(rows.cyclesOf(waits));
  if (rows.empty() || evidence.percent(waited) < 5) return {};
  Finding finding = about(rows, "exposed-transfers");
  finding.what = fmt::format("{}: {:.1f} us ({:.0f} %) pass in waiting for {} of HBM traffic", named(rows),
                             waited, evidence.percent(waited), formatBytes(static_cast<double>(rows.bytes)));
  finding.cure =
      "read fewer bytes (narrower weights or cache), or start the transfers while something computes";
  finding.gain_us = waited;
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_exposed_transfers;
const Rule rule_exposed_transfers{"exposed-transfers", "time in which nothing happens but transfers", look};

}  // namespace sublane::findings
