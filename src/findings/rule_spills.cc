#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

std::vector<Finding> look(const Evidence& evidence) {
  return findingsOfCauses(evidence, {.rule = "spills",
                                     .causes = {Cause::kSpill},
                                     .least_share = 0.02,
                                     .least_percent = 1,
                                     .what = "of bundles that only move spilled registers",
                                     .cure = "smaller blocks, or fewer values alive at once"});
}

}  // namespace

extern const Rule rule_spills;
const Rule rule_spills{"spills", "bundles that only move spilled registers", look};

}  // namespace sublane::findings
