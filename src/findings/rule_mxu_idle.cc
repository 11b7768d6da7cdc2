#include <algorithm>
#include <array>

#include "findings/products.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

/// How long a row's matrix instructions take at least, where its author gave no description.
double issuedUs(const Evidence& evidence, const report::SimulatedRow& row) {
  double slots = 1;
  for (const report::UnitUse& unit : evidence.anatomy().units)
    if (unit.unit == name(report::Unit::kMatrix) && unit.slots > 0) slots = unit.slots;
  const auto issued = static_cast<double>(row.issued[static_cast<size_t>(report::Unit::kMatrix)]);
  return evidence.us(static_cast<int64_t>(issued / slots));
}

/// The time of the products alone.
double mxuUs(const Evidence& evidence, const report::SimulatedRow& row) {
  return row.row.matmul_flops > 0 ? row.row.mxu_us : issuedUs(evidence, row);
}

/// Share of a row's cycles in which vector and scalar work, or a result that is not there yet, keeps matrix
/// instructions from being issued. Loads that feed the MXU are its own.
double behind(const report::SimulatedRow& row) {
  static constexpr std::array kBehind = {Cause::kIssueScalar,   Cause::kIssueVectorAlu,
                                         Cause::kIssueExtended, Cause::kIssueCrossLane,
                                         Cause::kBranch,        Cause::kSpill};
  const int64_t hidden = row.causes[static_cast<size_t>(Cause::kOverlapped)];
  const int64_t cycles = std::max<int64_t>(1, row.row.cycles - hidden);
  return static_cast<double>(cyclesOf(row.causes, kBehind) + cyclesOf(row.causes, dependencyCauses())) /
         static_cast<double>(cycles);
}

bool isIdle(const Evidence& evidence, const report::SimulatedRow& row) {
  const double mxu = mxuUs(evidence, row);
  const double bound = std::max(row.row.hbm_us, mxu);
  if (evidence.step.rung != report::Rung::kBundles)
    return row.row.kind == "matmul" && mxu > 0 && row.row.us > 2 * bound;
  return mxu > 0 && row.row.us > 1.5 * bound && behind(row) > 0.5;
}

/// How the operands of a row's products lie: a batch dimension inside, or a contracted one outside, is
/// gathered row by row.
std::string operandsOf(const Look& look, const report::SimulatedRow& row) {
  const Spot spot = look.flow.spotOf(row.row.op);
  if (!spot.found()) return "";
  std::string text;
  for (const ProductOperand& operand : productOperands(look.flow, spot))
    text += (text.empty() ? "" : " and ") + layoutOf(look.flow.at(operand.value).shape);
  return text;
}

/// The largest causes of these rows, but for the MXU's own work.
std::string causesOf(const Rows& rows) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.causes.size(); ++i) {
    const auto cause = static_cast<Cause>(i);
    if (rows.causes[i] > 0 && cause != Cause::kOverlapped && cause != Cause::kIssueMatrix) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rows.causes[a] > rows.causes[b]; });
  std::string text;
  for (size_t i = 0; i < order.size() && i < 3; ++i)
    text += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", events::name(static_cast<Cause>(order[i])),
                        100.0 * static_cast<double>(rows.causes[order[i]]) /
                            static_cast<double>(std::max<int64_t>(1, rows.cycles)));
  return text;
}

/// Matrix products that neither the MXU nor their bytes limit.
std::vector<Finding> look(const Look& look) {
  const Evidence& evidence = look.evidence;
  const Rows rows = pick(evidence, [&](const report::SimulatedRow& row) { return isIdle(evidence, row); });
  Finding finding = about(rows, "mxu-idle");
  double mxu_us = 0;
  for (const report::SimulatedRow* row : rows.rows) mxu_us += mxuUs(evidence, *row);
  save(finding, rows, [&](const report::SimulatedRow& row) {
    return row.row.us - std::max(row.row.hbm_us, mxuUs(evidence, row));
  });
  if (rows.empty() || evidence.percent(finding.gain_us) < 3) return {};
  finding.what =
      fmt::format("{}: {} of matrix products whose MXU time is {:.1f} us and whose bytes are {:.1f} us",
                  named(rows), timeOf(evidence, rows.us), mxu_us, rows.hbm_us);
  const std::string causes = causesOf(rows);
  if (!causes.empty()) {
    finding.what += fmt::format("; the largest cause is {}", causes.substr(0, causes.find('%') + 1));
    finding.evidence.push_back(fmt::format("cycles: {} (simulated)", causes));
  }
  const std::string operands = operandsOf(look, *rows.rows[0]);
  if (!operands.empty())
    finding.evidence.push_back(fmt::format("{} multiplies {} (compiler)", rows.rows[0]->row.op, operands));
  const std::string loop = loopOf(evidence, *rows.rows[0], dependencyCauses());
  if (!loop.empty()) finding.evidence.push_back(loop);
  finding.cure = operands.empty()
                     ? "larger blocks, so that the MXU has work while vector units and transfers run"
                     : "operands in an order that the MXU takes as they lie (batch dimensions outside), "
                       "larger products, or less vector work fused with them";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_mxu_idle;
const Rule rule_mxu_idle{"mxu-idle", "matrix products behind vector work, transposes or latency",
                         Rank::kSymptom, look};

}  // namespace sublane::findings
