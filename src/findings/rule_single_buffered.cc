#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

/// Transfers of one loop of a kernel.
struct Pipeline {
  int64_t flight = 0, waited = 0, bytes = 0, count = 0, longest_hidden = 0;
};

/// The innermost loop around a bundle that runs more than once; -1: none.
int32_t loopAround(const report::KernelUse& kernel, int32_t bundle) {
  int32_t found = -1;
  for (size_t i = 0; i < kernel.loops.size(); ++i) {
    const report::LoopUse& loop = kernel.loops[i];
    if (bundle < loop.first || bundle > loop.last || loop.iterations < 2) continue;
    const bool inner =
        found < 0 || loop.last - loop.first <= kernel.loops[static_cast<size_t>(found)].last -
                                                   kernel.loops[static_cast<size_t>(found)].first;
    if (inner) found = static_cast<int32_t>(i);
  }
  return found;
}

/// What the loop's work could hide and does not: of a transfer that is issued and waited for in one
/// iteration, next to nothing of its flight passes while something computes.
int64_t lost(const report::LoopUse& loop, const Pipeline& pipeline) {
  const int64_t waits = cyclesOf(loop.causes, waitCauses());
  const int64_t work = loop.cycles - waits;
  if (work < loop.cycles / 10 || waits < loop.cycles / 5) return 0;
  if (pipeline.longest_hidden > work / 4 || 5 * pipeline.waited < 3 * pipeline.flight) return 0;
  return std::min({work, waits, pipeline.waited});
}

/// BEFORE  loop: start(block i); wait(block i); compute(block i)
/// AFTER   loop: start(block i + 1); wait(block i); compute(block i)
std::vector<Finding> look(const Look& look) {
  const Evidence& evidence = look.evidence;
  std::vector<Finding> found;
  for (size_t k = 0; k < evidence.anatomy().kernels.size(); ++k) {
    const report::KernelUse& kernel = evidence.anatomy().kernels[k];
    std::map<int32_t, Pipeline> loops;
    for (const report::TransferUse& transfer : evidence.anatomy().transfers) {
      if (transfer.kernel != static_cast<int32_t>(k) || transfer.remote) continue;
      const int32_t loop = loopAround(kernel, transfer.bundle);
      if (loop < 0 || transfer.to == "hbm") continue;
      Pipeline& pipeline = loops[loop];
      pipeline.flight += transfer.flight_cycles;
      pipeline.waited += transfer.waited_cycles;
      pipeline.bytes += transfer.bytes;
      pipeline.count += transfer.count;
      pipeline.longest_hidden =
          std::max(pipeline.longest_hidden, transfer.flight_cycles - transfer.waited_cycles);
    }
    for (const auto& [index, pipeline] : loops) {
      const report::LoopUse& loop = kernel.loops[static_cast<size_t>(index)];
      const double gain = evidence.us(lost(loop, pipeline));
      if (evidence.percent(gain) < 3) continue;
      if (2 * pipeline.count < loop.iterations) continue;  // no block an iteration: not a pipeline
      const Rows rows = pick(evidence, [&](const report::SimulatedRow& row) {
        return std::count(kernel.rows.begin(), kernel.rows.end(), row.row.id) > 0;
      });
      if (rows.empty()) continue;
      Finding finding = about(rows, "single-buffered");
      save(finding, rows, [&](const report::SimulatedRow& row) { return gain * row.row.us / rows.us; });
      finding.what = fmt::format(
          "{}: a loop starts {} transfers ({}) and waits for each before it computes: {} of {} cycles in "
          "flight "
          "are waited for",
          named(rows), formatCount(pipeline.count), formatBytes(static_cast<double>(pipeline.bytes)),
          formatCount(pipeline.waited), formatCount(pipeline.flight));
      finding.cure = "two buffers: start the next block before waiting for this one";
      finding.evidence.push_back(fmt::format(
          "{}: bundles {}-{}, {} iterations of {} cycles, {} of them waits (simulated)", escaped(kernel.name),
          loop.first, loop.last, formatCount(loop.iterations),
          formatCount(loop.cycles / std::max<int64_t>(1, loop.iterations)),
          formatCount(cyclesOf(loop.causes, waitCauses()) / std::max<int64_t>(1, loop.iterations))));
      found.push_back(std::move(finding));
    }
  }
  return found;
}

}  // namespace

extern const Rule rule_single_buffered;
const Rule rule_single_buffered{"single-buffered", "loops that wait for a transfer before they compute",
                                Rank::kPattern, look};

}  // namespace sublane::findings
