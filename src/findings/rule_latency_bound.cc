#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

constexpr auto kStalls = {Cause::kDependencyScalar,     Cause::kDependencyVectorAlu,
                          Cause::kDependencyVectorLoad, Cause::kDependencyExtended,
                          Cause::kDependencyCrossLane,  Cause::kDependencyMatrix,
                          Cause::kDependencyOther};

/// Inner loops whose chain of dependent operations is longer than their work.
std::vector<Finding> look(const Evidence& evidence) {
  const Rows rows = pick(evidence, [](const report::SimulatedRow& row) { return share(row, kStalls) > 0.4; });
  const double stalled = evidence.us(rows.cyclesOf(kStalls));
  if (rows.empty() || evidence.percent(stalled) < 3) return {};
  Finding finding = about(rows, "latency-bound");
  finding.what =
      fmt::format("{}: {:.1f} us ({:.0f} %) of empty bundles, each result waits for the one before",
                  named(rows), stalled, evidence.percent(stalled));
  finding.cure = "unroll, or work on several independent blocks at once, so that units overlap";
  finding.gain_us = stalled;
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_latency_bound;
const Rule rule_latency_bound{"latency-bound", "dependency chains longer than their work", look};

}  // namespace sublane::findings
