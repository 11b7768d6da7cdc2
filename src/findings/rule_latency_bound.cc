#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

/// Inner loops whose chain of dependent operations is longer than their work.
std::vector<Finding> look(const Evidence& evidence) {
  return findingsOfCauses(
      evidence, {.rule = "latency-bound",
                 .causes = {Cause::kDependencyScalar, Cause::kDependencyVectorAlu,
                            Cause::kDependencyVectorLoad, Cause::kDependencyExtended,
                            Cause::kDependencyCrossLane, Cause::kDependencyMatrix, Cause::kDependencyOther},
                 .least_share = 0.4,
                 .least_percent = 3,
                 .what = "of empty bundles, each result waits for the one before",
                 .cure = "unroll, or work on several independent blocks at once, so that units overlap"});
}

}  // namespace

extern const Rule rule_latency_bound;
const Rule rule_latency_bound{"latency-bound", "dependency chains longer than their work", look};

}  // namespace sublane::findings
