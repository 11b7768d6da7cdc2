#include "findings/rows.h"

namespace sublane::findings {
namespace {

/// Inner loops whose chain of dependent operations is longer than their work.
std::vector<Finding> look(const Look& look) {
  return findingsOfCauses(
      look.evidence,
      {.rule = "latency-bound",
       .causes = dependencyCauses(),
       .least_share = 0.4,
       .least_percent = 3,
       .what = "of empty bundles, each result waits for the one before",
       .cure = "unroll, or work on several independent blocks at once, so that units overlap"});
}

}  // namespace

extern const Rule rule_latency_bound;
const Rule rule_latency_bound{"latency-bound", "dependency chains longer than their work", Rank::kSymptom,
                              look};

}  // namespace sublane::findings
