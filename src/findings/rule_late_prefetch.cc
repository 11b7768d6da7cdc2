#include <algorithm>
#include <map>

#include "base/units.h"
#include "findings/waits.h"

namespace sublane::findings {
namespace {

/// The operation that starts what a row waits for; not found: it is not known.
Spot startOf(const Look& look, const report::SimulatedRow& wait) {
  Spot spot = look.flow.spotOf(wait.row.op);
  for (int depth = 0; spot.found() && depth < 200; ++depth) {
    const llo::Instruction& at = look.flow.at(spot);
    if (at.is("copy-start") || at.is("async-start")) return spot;
    if (at.operands.empty() || !(at.opcode.ends_with("-done") || at.is("async-update"))) break;
    spot = look.flow.operand(spot, 0);
  }
  return {};
}

/// Work that passes after a transfer could have started, and before it does: what it copies is there already.
double workBefore(const Look& look, Spot start) {
  const Spot source = look.flow.producer(look.flow.operand(start, 0));
  const auto& order = look.flow.computation(start).schedule;
  double us = 0;
  bool made = look.flow.at(source).is("parameter") || look.flow.at(source).is("get-tuple-element");
  for (const int32_t index : order) {
    if (index == start.instruction) break;
    const report::SimulatedRow* row =
        made ? rowOf(look.evidence, look.flow.at({start.computation, index}).name) : nullptr;
    if (row != nullptr && row->row.kind != "wait")
      us += row->row.us - look.evidence.us(cyclesOf(row->causes, waitCauses()));
    made |= index == source.instruction;
  }
  return us;
}

/// BEFORE  op; copy-start; copy-done; op'      the copy starts when its bytes are wanted
/// AFTER   copy-start; op; copy-done; op'      it passes while the operation before computes
std::vector<Finding> look(const Look& look) {
  const Evidence& evidence = look.evidence;
  const Waits waits = waitsOf(evidence);
  std::map<int32_t, double> hidden;  // that could be, by row
  for (const report::SimulatedRow& row : evidence.step.rows) {
    const double us = evidence.us(cyclesOf(row.causes, waitCauses()));
    const Spot start = row.row.kind == "wait" && us > 0 ? startOf(look, row) : Spot{};
    const double could = start.found() ? std::min(us * waits.part(), workBefore(look, start)) : 0;
    if (could > 0) hidden[row.row.id] = could;
  }
  const Rows rows =
      pick(evidence, [&](const report::SimulatedRow& row) { return hidden.count(row.row.id) > 0; });
  const double waited = evidence.us(rows.cyclesOf(waitCauses()));
  Finding finding = about(rows, "late-prefetch");
  save(finding, rows, [&](const report::SimulatedRow& row) { return hidden[row.row.id]; });
  if (rows.empty() || evidence.percent(finding.gain_us) < 5) return {};
  finding.what = fmt::format("{}: {} pass in waiting for {} prefetches and write-backs that start too late",
                             named(rows), timeOf(evidence, waited), formatCount(rows.count));
  finding.cure =
      "start them before the operations that leave the HBM idle (a prefetch across iterations or layers)";
  int64_t flight = 0, stalled = 0;
  for (const report::TransferUse& transfer : evidence.anatomy().transfers) {
    if (transfer.remote || transfer.row < 0) continue;
    flight += transfer.flight_cycles;
    stalled += transfer.waited_cycles;
  }
  if (flight > 0)
    finding.evidence.push_back(
        fmt::format("of all transfers {:.0f} % of the time in flight is waited for (simulated)",
                    100.0 * static_cast<double>(stalled) / static_cast<double>(flight)));
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_late_prefetch;
const Rule rule_late_prefetch{"late-prefetch", "asynchronous copies that start too late", Rank::kSymptom,
                              look};

}  // namespace sublane::findings
