#include <algorithm>
#include <set>

#include "base/units.h"
#include "findings/products.h"
#include "findings/rows.h"
#include "report/traffic.h"

namespace sublane::findings {
namespace {

constexpr double kLarge = 1 << 20;

/// An argument, or a slice of one in a loop over stacked weights.
bool isOfArgument(const Look& look, Spot value) {
  value = look.flow.producer(value);
  const llo::Instruction& at = look.flow.at(value);
  if (at.is("dynamic-slice") || at.is("slice")) return isOfArgument(look, look.flow.operand(value, 0));
  const WholeArgument whole = look.flow.wholeArgument(value);
  return whole.argument >= 0 && !whole.updated;
}

/// The row in which the bytes of an operand are waited for: the product's own, or the end of its prefetch.
const report::SimulatedRow* readerOf(const Look& look, Spot value, const report::SimulatedRow& product) {
  for (int depth = 0; depth < 200; ++depth) {
    const llo::Instruction& at = look.flow.at(value);
    if (at.is("copy-done") || at.is("async-done")) {
      const report::SimulatedRow* wait = rowOf(look.evidence, at.name);
      if (wait == nullptr) wait = rowOf(look.evidence, look.flow.at(look.flow.operand(value, 0)).name);
      return wait != nullptr ? wait : &product;
    }
    if (!at.is("bitcast") || at.operands.empty()) break;
    value = look.flow.operand(value, 0);
  }
  return &product;
}

/// BEFORE  dot(f32[..] %x, f32[..] %weights), precision default     the MXU rounds both to bf16
/// AFTER   dot(bf16[..] %x, bf16[..] %weights)                      with half the bytes
std::vector<Finding> look(const Look& look) {
  std::map<int32_t, double> saved;
  std::set<int32_t> ids;
  double bytes = 0;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const Spot spot = look.flow.spotOf(row.row.op);
    if (!spot.found()) continue;
    std::set<Spot> seen;
    for (const ProductOperand& operand : productOperands(look.flow, spot)) {
      const auto size = static_cast<double>(llo::paddedBytes(look.flow.at(operand.value).shape));
      const bool wide = operand.stored == llo::ElementType::kF32 && operand.used == llo::ElementType::kF32;
      if (!wide || !operand.default_precision || !isOfArgument(look, operand.value)) continue;
      if (!seen.insert(operand.value).second) continue;
      const llo::Instruction& at = look.flow.at(spot);
      const auto place = std::find(at.operands.begin(), at.operands.end(), operand.value.instruction);
      const double read = std::min(size, report::readOf(look.flow.module(), look.flow.computation(spot), at,
                                                        static_cast<size_t>(place - at.operands.begin())));
      if (read < kLarge) continue;
      const report::SimulatedRow* reader = readerOf(look, operand.value, row);
      const double half = 0.5 * read * static_cast<double>(row.row.count);
      bytes += half;
      saved[reader->row.id] += look.evidence.hbmUs(half);
      ids.insert(reader->row.id);
      ids.insert(row.row.id);
    }
  }
  const Rows rows =
      pick(look.evidence, [&](const report::SimulatedRow& row) { return ids.count(row.row.id) > 0; });
  Finding finding = about(rows, "wide-weights");
  save(finding, rows, [&](const report::SimulatedRow& row) { return saved[row.row.id]; });
  if (rows.empty() || look.evidence.percent(finding.gain_us) < 2) return {};
  finding.what = fmt::format(
      "{}: matrix products at default precision read float32 weights, which the MXU rounds to bf16: {} more "
      "than needed",
      named(rows), formatBytes(bytes));
  finding.cure = "store the weights in bf16: half the bytes, the same products";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_wide_weights;
const Rule rule_wide_weights{"wide-weights", "float32 weights of products that round them to bf16",
                             Rank::kPattern, look};

}  // namespace sublane::findings
