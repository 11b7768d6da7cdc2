#include <algorithm>
#include <array>
#include <set>

#include "base/units.h"
#include "findings/copies.h"

namespace sublane::findings {
namespace {

using events::Cause;

std::string line(const Look& look, const Copy& copy) {
  return fmt::format("{}: {} as {} gives it, {} as {} wants it (compiler)", copy.row->row.op,
                     layoutOf(*copy.from), whoMade(look, look.flow.operand(copy.spot, 0)), layoutOf(*copy.to),
                     whoWants(look, copy.spot));
}

/// A fused operation that reorders what it computes, and is slow for that: its cross-lane unit or its stores,
/// not its bytes, limit it.
bool isFusedTranspose(const Look& look, const report::SimulatedRow& row) {
  const Spot spot = look.flow.spotOf(row.row.op);
  if (!spot.found() || !look.flow.at(spot).is("fusion") || row.row.matmul_flops > 0) return false;
  constexpr std::array kCrossLane = {Cause::kIssueCrossLane, Cause::kDependencyCrossLane};
  if (row.row.us < 1.5 * row.row.hbm_us || share(row, kCrossLane) < 0.3) return false;
  for (int32_t called : look.flow.at(spot).called)
    for (const llo::Instruction& inner : look.flow.module().at(called).instructions)
      if (inner.is("transpose") || (inner.is("copy") && !inner.shape.dims.empty())) return true;
  return false;
}

/// BEFORE  %a = op(...) {1,0}; %c = copy(%a) {0,1}; op(%c)     each step turns it
/// AFTER   %a = op(...) {0,1}; op(%a)
std::vector<Finding> look(const Look& look) {
  std::set<int32_t> whole;  // of other rules
  for (const Copy& copy : wholeCopies(look)) whole.insert(copy.row->row.id);
  std::vector<Copy> copies;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const std::optional<Copy> copy = copyOf(look, row);
    if (copy && !copy->same_layout && copy->us > 0 && whole.count(row.row.id) == 0) copies.push_back(*copy);
  }
  std::stable_sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) { return a.us > b.us; });
  std::vector<const Copy*> all;
  for (const Copy& copy : copies) all.push_back(&copy);
  std::set<int32_t> ids;
  for (const report::SimulatedRow* row : rowsOf(look, all).rows) ids.insert(row->row.id);
  const Rows rows = pick(look.evidence, [&](const report::SimulatedRow& row) {
    return ids.count(row.row.id) > 0 || isFusedTranspose(look, row);
  });
  Finding finding = about(rows, "relayouts");
  save(finding, rows, [&](const report::SimulatedRow& row) {
    return ids.count(row.row.id) > 0 ? row.row.us : row.row.us - row.row.hbm_us;
  });
  if (rows.empty() || look.evidence.percent(finding.gain_us) < 3) return {};
  finding.what = fmt::format("{}: {} executions that turn values into another layout take {}", named(rows),
                             formatCount(rows.count), timeOf(look.evidence, rows.us));
  finding.cure = "let the one that makes it give the order that is wanted (move or drop the transpose)";
  for (size_t i = 0; i < copies.size() && i < 3; ++i) finding.evidence.push_back(line(look, copies[i]));
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_relayouts;
const Rule rule_relayouts{"relayouts", "values that are transposed or laid out anew", Rank::kPattern, look};

}  // namespace sublane::findings
