#include <algorithm>
#include <array>

#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using llo::Computation;
using llo::Instruction;

bool isTranscendental(const Instruction& at) {
  constexpr std::array<std::string_view, 12> kNames = {"cosine", "sine", "exponential", "log",
                                                       "power",  "tanh", "tan",         "logistic",
                                                       "rsqrt",  "sqrt", "erf",         "atan2"};
  return std::find(kNames.begin(), kNames.end(), at.opcode) != kNames.end();
}

/// Elements of the transcendental functions of a fused computation, and of those that depend on no argument.
struct Elements {
  double all = 0, constant = 0;
};
Elements elementsOf(const llo::HloModule& module, const Computation& in, const std::vector<bool>& operands,
                    int depth) {
  Elements elements;
  std::vector<bool> depends(in.instructions.size());
  for (size_t i = 0; i < in.instructions.size(); ++i) {
    const Instruction& at = in.instructions[i];
    bool on = false;
    if (at.is("parameter")) {
      const auto number = static_cast<size_t>(at.parameter_number);
      on = number >= operands.size() || operands[number];
    }
    for (int32_t operand : at.operands) on |= depends[static_cast<size_t>(operand)];
    depends[i] = on;
    if (at.is("fusion") && at.called.size() == 1 && depth < 8) {
      std::vector<bool> inner;
      for (int32_t operand : at.operands) inner.push_back(depends[static_cast<size_t>(operand)]);
      const Elements part = elementsOf(module, module.at(at.called[0]), inner, depth + 1);
      elements.all += part.all;
      elements.constant += part.constant;
    } else if (isTranscendental(at)) {
      const auto count = static_cast<double>(llo::elementCount(at.shape));
      elements.all += count;
      elements.constant += on ? 0 : count;
    }
  }
  return elements;
}

/// Whether an operation computes something, rather than fills a buffer that is then written to.
bool computes(const Look& look, Spot spot) {
  const Instruction& at = look.flow.at(spot);
  if (!at.is("fusion"))
    return !at.is("broadcast") && !at.is("copy") && !at.is("copy-start") && !at.is("custom-call");
  for (int32_t called : at.called)
    for (const Instruction& inner : look.flow.module().at(called).instructions)
      if (inner.is("iota") || isTranscendental(inner)) return true;
  return !at.operands.empty();
}

/// What a row spends on values that are the same at each step.
double spentOn(const Look& look, const report::SimulatedRow& row) {
  constexpr double kFewest = 1 << 16;
  const Spot spot = look.flow.spotOf(row.row.op);
  if (!spot.found()) return 0;
  const Instruction& at = look.flow.at(spot);
  if (at.shape.dims.empty() && !at.shape.isTuple()) return 0;  // a scalar
  if (!look.flow.dependsOnArguments(spot)) return computes(look, spot) ? row.row.us : 0;
  if (!at.is("fusion") || row.row.matmul_flops > 0) return 0;
  Elements elements;
  for (int32_t called : at.called) {
    std::vector<bool> operands;
    for (size_t k = 0; k < at.operands.size(); ++k)
      operands.push_back(look.flow.dependsOnArguments(look.flow.operand(spot, k)));
    elements = elementsOf(look.flow.module(), look.flow.module().at(called), operands, 0);
  }
  if (elements.constant < kFewest || row.row.us < 1.5 * row.row.hbm_us) return 0;
  return (row.row.us - row.row.hbm_us) * elements.constant / elements.all;
}

/// BEFORE  %cos = cosine(multiply(iota, constant)); multiply(%x, %cos)      at each step
/// AFTER   multiply(%x, %table)      with the table an argument, made once
std::vector<Finding> look(const Look& look) {
  const Rows rows =
      pick(look.evidence, [&](const report::SimulatedRow& row) { return spentOn(look, row) > 0; });
  Finding finding = about(rows, "recomputed-constants");
  save(finding, rows, [&](const report::SimulatedRow& row) { return spentOn(look, row); });
  if (rows.empty() || look.evidence.percent(finding.gain_us) < 2) return {};
  finding.what = fmt::format("{}: {} go into values that depend on no argument and are the same at each step",
                             named(rows), timeOf(look.evidence, finding.gain_us));
  finding.cure = "compute them once and pass them as an argument";
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_recomputed_constants;
const Rule rule_recomputed_constants{"recomputed-constants", "values that are the same at each step",
                                     Rank::kPattern, look};

}  // namespace sublane::findings
