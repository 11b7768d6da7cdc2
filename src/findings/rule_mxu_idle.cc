#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

/// Matrix products that neither the MXU nor their bytes limit.
std::vector<Finding> look(const Evidence& evidence) {
  const Rows rows = pick(evidence, [](const report::SimulatedRow& row) {
    const double bound = std::max(row.row.hbm_us, row.row.mxu_us);
    return row.row.matmul_flops > 0 && row.row.us > 2 * bound;
  });
  if (rows.empty()) return {};
  const double lost = rows.us - std::max(rows.hbm_us, rows.mxu_us);
  if (evidence.percent(lost) < 3) return {};
  size_t most = 0;
  for (size_t i = 0; i < rows.causes.size(); ++i)
    if (rows.causes[i] > rows.causes[most]) most = i;
  Finding finding = about(rows, "mxu-idle");
  finding.what = fmt::format(
      "{}: {:.1f} us ({:.0f} %) of matrix products whose MXU time is {:.1f} us and whose bytes "
      "are {:.1f} us; {} takes most of it",
      named(rows), rows.us, evidence.percent(rows.us), rows.mxu_us, rows.hbm_us,
      events::name(static_cast<Cause>(most)));
  finding.cure = "larger blocks, so that the MXU has work while vector units and transfers run";
  finding.gain_us = lost;
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_mxu_idle;
const Rule rule_mxu_idle{"mxu-idle", "matrix products behind vector work, transposes or latency", look};

}  // namespace sublane::findings
