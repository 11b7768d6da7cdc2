#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "findings/products.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

constexpr int64_t kLarge = 1 << 20;

/// The argument that an operation does nothing to but convert; -1: it is not so.
int64_t convertedArgument(const Look& look, Spot spot) {
  const llo::Instruction& at = look.flow.at(spot);
  Spot value;
  bool converts = at.is("convert");
  if (converts) {
    value = look.flow.operand(spot, 0);
  } else if (at.is("fusion") && at.called.size() == 1 && !at.shape.isTuple()) {
    const llo::Computation& inner = look.flow.module().at(at.called[0]);
    const int64_t number = parameterOf(look.flow.module(), inner, inner.root);
    if (number < 0 || number >= std::ssize(at.operands)) return -1;
    value = look.flow.operand(spot, static_cast<size_t>(number));
    converts = look.flow.at(value).shape.type != at.shape.type;
  }
  if (!converts || llo::logicalBytes(look.flow.at(value).shape) < kLarge) return -1;
  if (!llo::isFloat(at.shape.type)) return -1;
  const WholeArgument whole = look.flow.wholeArgument(value);
  return whole.updated ? -1 : whole.argument;
}

/// Products that take a wider argument than they multiply: the conversion is fused, its bytes are not.
double fusedBytes(const Look& look, Spot spot) {
  double bytes = 0;
  std::set<Spot> seen;
  for (const ProductOperand& operand : productOperands(look.flow, spot)) {
    const int64_t stored = llo::bitsOf(operand.stored), used = llo::bitsOf(operand.used);
    if (!llo::isFloat(operand.stored) || used <= 0 || stored <= used) continue;
    const WholeArgument whole = look.flow.wholeArgument(operand.value);
    if (whole.argument < 0 || whole.updated || !seen.insert(operand.value).second) continue;
    const auto size = static_cast<double>(llo::paddedBytes(look.flow.at(operand.value).shape));
    if (size >= kLarge) bytes += size * static_cast<double>(stored - used) / static_cast<double>(stored);
  }
  return bytes;
}

/// BEFORE  dot(%x, convert(f32[..] %weights))     converted at each step
/// AFTER   dot(%x, bf16[..] %weights)             converted once, when they are loaded
std::vector<Finding> look(const Look& look) {
  std::map<int32_t, double> saved;
  double bytes = 0;
  int64_t conversions = 0;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const Spot spot = look.flow.spotOf(row.row.op);
    if (!spot.found() || row.row.us <= 0) continue;
    const bool whole = convertedArgument(look, spot) >= 0;
    const double fused = whole ? 0 : fusedBytes(look, spot);
    if (!whole && fused <= 0) continue;
    ++conversions;
    bytes += whole ? static_cast<double>(row.row.hbm_bytes) : fused;
    saved[row.row.id] = whole ? row.row.us : look.evidence.hbmUs(fused * static_cast<double>(row.row.count));
  }
  const Rows rows =
      pick(look.evidence, [&](const report::SimulatedRow& row) { return saved.count(row.row.id) > 0; });
  Finding finding = about(rows, "converted-weights");
  save(finding, rows, [&](const report::SimulatedRow& row) { return saved[row.row.id]; });
  if (rows.empty() || look.evidence.percent(finding.gain_us) < 2) return {};
  finding.what =
      fmt::format("{}: {} whole arguments are converted to another type at each step: {} moved for it",
                  named(rows), formatCount(conversions), formatBytes(bytes));
  finding.cure = "convert them once (weights: when they are loaded), or let each user convert what it reads";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_converted_weights;
const Rule rule_converted_weights{"converted-weights", "weights that are converted at each step",
                                  Rank::kPattern, look};

}  // namespace sublane::findings
