#include "findings/rows.h"

namespace sublane::findings {
namespace {

std::vector<Finding> look(const Evidence& evidence) {
  const Rows rows =
      pick(evidence, [](const report::SimulatedRow& row) { return row.row.kind == "collective"; });
  if (rows.empty() || evidence.percent(rows.us) < 5) return {};
  Finding finding = about(rows, "exposed-collectives");
  finding.what = fmt::format("{}: {:.1f} us ({:.0f} %) of collectives with nothing else under way",
                             named(rows), rows.us, evidence.percent(rows.us));
  finding.cure =
      "overlap them with the products before and after (collective matmul), or send narrower types";
  finding.gain_us = rows.us;
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_exposed_collectives;
const Rule rule_exposed_collectives{"exposed-collectives", "collectives that nothing hides", look};

}  // namespace sublane::findings
