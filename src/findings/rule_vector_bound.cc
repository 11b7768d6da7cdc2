#include <algorithm>
#include <array>

#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

/// Operations without matrix products that neither bytes nor latency limit, but the vector units.
std::vector<Finding> look(const Look& look) {
  constexpr std::array kVector = {Cause::kIssueVectorAlu, Cause::kIssueVectorLoad, Cause::kIssueVectorStore,
                                  Cause::kIssueExtended, Cause::kIssueCrossLane};
  const bool executed = look.evidence.step.rung == report::Rung::kBundles;
  const Rows rows = pick(look.evidence, [&](const report::SimulatedRow& row) {
    if (row.row.matmul_flops > 0 || row.row.us < 2 * row.row.hbm_us) return false;
    const double each = row.row.us / static_cast<double>(std::max<int64_t>(1, row.row.count));
    if (executed) return share(row, kVector) > 0.6 && each >= 5;
    return (row.row.kind == "elementwise" || row.row.kind == "reduce") && each >= 5;
  });
  Finding finding = about(rows, "vector-bound");
  save(finding, rows, [](const report::SimulatedRow& row) { return row.row.us - row.row.hbm_us; });
  if (rows.empty() || look.evidence.percent(finding.gain_us) < 5) return {};
  finding.what = fmt::format("{}: {} of vector work, whose bytes need {:.1f} us", named(rows),
                             timeOf(look.evidence, rows.us), rows.hbm_us);
  finding.cure =
      "fewer passes over the values: cheaper functions, a narrower type where the chip has one, less "
      "padding";
  const std::string loop = loopOf(look.evidence, *rows.rows[0], kVector);
  if (!loop.empty()) finding.evidence.push_back(loop);
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_vector_bound;
const Rule rule_vector_bound{"vector-bound", "work that the vector units limit", Rank::kSymptom, look};

}  // namespace sublane::findings
