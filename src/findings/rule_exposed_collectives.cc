#include "findings/rows.h"

namespace sublane::findings {
namespace {

std::vector<Finding> look(const Look& look) {
  const Rows rows =
      pick(look.evidence, [](const report::SimulatedRow& row) { return row.row.kind == "collective"; });
  if (rows.empty() || look.evidence.percent(rows.us) < 5) return {};
  Finding finding = about(rows, "exposed-collectives");
  finding.what = fmt::format("{}: {} of collectives with nothing else under way", named(rows),
                             timeOf(look.evidence, rows.us));
  finding.cure =
      "overlap them with the products before and after (collective matmul), or send narrower types";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_exposed_collectives;
const Rule rule_exposed_collectives{"exposed-collectives", "collectives that nothing hides", Rank::kPattern,
                                    look};

}  // namespace sublane::findings
