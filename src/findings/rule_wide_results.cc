#include <algorithm>
#include <map>

#include "base/units.h"
#include "findings/rows.h"
#include "report/traffic.h"

namespace sublane::findings {
namespace {

constexpr double kLarge = 1 << 20;

/// Whether a fusion does nothing with its operand but round it to a narrower float.
bool narrows(const Look& look, Spot user, Spot value) {
  const llo::Instruction& at = look.flow.at(user);
  if (at.is("convert")) return llo::bitsOf(at.shape.type) == 16;
  if (!at.is("fusion") || at.called.size() != 1) return false;
  const llo::Computation& inner = look.flow.module().at(at.called[0]);
  for (size_t k = 0; k < at.operands.size(); ++k) {
    if (look.flow.producer(look.flow.operand(user, k)) != value) continue;
    const int32_t parameter = inner.parameter(static_cast<int64_t>(k));
    for (const llo::Instruction& one : inner.instructions) {
      const bool uses = std::count(one.operands.begin(), one.operands.end(), parameter) > 0;
      if (uses && !(one.is("convert") && llo::bitsOf(one.shape.type) == 16 && llo::isFloat(one.shape.type)))
        return false;
    }
  }
  return true;
}

/// BEFORE  f32[..] %a = op(...) in HBM; each user: convert(%a) to bf16
/// AFTER   bf16[..] %a = convert inside op
std::vector<Finding> look(const Look& look) {
  std::map<int32_t, double> saved;
  double bytes = 0;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const Spot spot = look.flow.spotOf(row.row.op);
    if (!spot.found()) continue;
    const llo::Shape& shape = look.flow.at(spot).shape;
    if (shape.isTuple() || shape.type != llo::ElementType::kF32 || shape.memory() != llo::Memory::kHbm)
      continue;
    const auto size = static_cast<double>(llo::paddedBytes(shape));
    const std::vector<Spot> users = look.flow.consumers(spot);
    if (size < kLarge || users.empty() || look.flow.at(spot).is("parameter")) continue;
    if (!std::all_of(users.begin(), users.end(), [&](Spot user) { return narrows(look, user, spot); }))
      continue;
    const double half = 0.5 * size * static_cast<double>(row.row.count);
    saved[row.row.id] += look.evidence.hbmUs(half);
    bytes += half;
    for (const Spot user : users) {
      const report::SimulatedRow* reader = rowOf(look.evidence, look.flow.at(user).name);
      if (reader == nullptr) continue;
      saved[reader->row.id] += look.evidence.hbmUs(half);
      bytes += half;
    }
  }
  const Rows rows =
      pick(look.evidence, [&](const report::SimulatedRow& row) { return saved.count(row.row.id) > 0; });
  Finding finding = about(rows, "wide-results");
  save(finding, rows, [&](const report::SimulatedRow& row) { return saved[row.row.id]; });
  if (rows.empty() || look.evidence.percent(finding.gain_us) < 2) return {};
  finding.what = fmt::format(
      "{}: float32 results go to the HBM and every reader rounds them to 16 bits: {} more "
      "than needed",
      named(rows), formatBytes(bytes));
  finding.cure = "round them where they are made: half the bytes, the same values";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_wide_results;
const Rule rule_wide_results{"wide-results", "float32 results that every reader rounds", Rank::kPattern,
                             look};

}  // namespace sublane::findings
