#include <array>

#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

/// Grids of tiny steps, loops over rows: the scalar unit computes addresses and the others wait for it.
std::vector<Finding> look(const Look& look) {
  static constexpr std::array kScalar = {Cause::kIssueScalar, Cause::kBranch, Cause::kDependencyScalar};
  return findingsOfCauses(look.evidence, {.rule = "scalar-bound",
                                          .causes = kScalar,
                                          .least_share = 0.5,
                                          .least_percent = 3,
                                          .what = "of scalar work and branches",
                                          .cure = "fewer, larger grid steps or rows at a time",
                                          .says_executions = true});
}

}  // namespace

extern const Rule rule_scalar_bound;
const Rule rule_scalar_bound{"scalar-bound", "operations that the scalar unit limits", Rank::kPattern, look};

}  // namespace sublane::findings
