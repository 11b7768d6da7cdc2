#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using report::Unit;

constexpr std::array kVector = {Unit::kVectorAlu, Unit::kVectorLoad, Unit::kVectorStore,
                                Unit::kExtended,  Unit::kCrossLane,  Unit::kMatrix};

/// Bundles that a loop's instructions need at least: those of its fullest unit.
double leastBundles(const Evidence& evidence, const report::LoopUse& loop) {
  double least = 0;
  for (const Unit unit : kVector) {
    const auto u = static_cast<size_t>(unit);
    const double slots = u < evidence.anatomy().units.size() ? evidence.anatomy().units[u].slots : 0;
    if (slots > 0) least = std::max(least, static_cast<double>(loop.issued[u]) / slots);
  }
  return least;
}

/// BEFORE  loop: mark; a few operations; mark; a few operations     nothing is scheduled across a mark
/// AFTER   loop: all of them, packed into fewer bundles
std::vector<Finding> look(const Look& look) {
  constexpr double kDense = 1.0 / 64;  // marks in a bundle
  const Evidence& evidence = look.evidence;
  std::vector<Finding> found;
  for (const report::KernelUse& kernel : evidence.anatomy().kernels) {
    const Rows rows = pick(evidence, [&](const report::SimulatedRow& row) {
      return row.row.kind == "kernel" && std::count(kernel.rows.begin(), kernel.rows.end(), row.row.id) > 0;
    });
    if (rows.empty()) continue;
    const report::LoopUse* most = nullptr;
    for (const report::LoopUse& loop : kernel.loops)
      if (most == nullptr || loop.trace_marks > most->trace_marks) most = &loop;
    if (most == nullptr) continue;
    const auto bundles = static_cast<double>(most->cycles - cyclesOf(most->causes, waitCauses()));
    if (static_cast<double>(most->trace_marks) < kDense * bundles || most->iterations < 2) continue;
    const double gain = evidence.us(static_cast<int64_t>(bundles - 1.1 * leastBundles(evidence, *most)));
    if (evidence.percent(gain) < 3) continue;
    Finding finding = about(rows, "trace-marks");
    save(finding, rows, [&](const report::SimulatedRow& row) { return gain * row.row.us / rows.us; });
    finding.what = fmt::format(
        "{}: {} trace markers run in a loop of {} cycles whose instructions fit into {}: the parts between "
        "them are "
        "too short to fill bundles",
        named(rows), formatCount(most->trace_marks), formatCount(most->cycles),
        formatCount(static_cast<int64_t>(leastBundles(evidence, *most))));
    finding.cure = "compile without markers in kernels, or put them around larger parts";
    finding.evidence.push_back(
        fmt::format("{}: bundles {}-{}, {} iterations with {} markers each (simulated)", escaped(kernel.name),
                    most->first, most->last, formatCount(most->iterations),
                    formatCount(most->trace_marks / most->iterations)));
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace

extern const Rule rule_trace_marks;
const Rule rule_trace_marks{"trace-marks", "trace markers that split bundles", Rank::kPattern, look};

}  // namespace sublane::findings
