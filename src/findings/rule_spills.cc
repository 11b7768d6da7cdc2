#include <algorithm>
#include <array>

#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using events::Cause;

std::vector<Finding> look(const Look& look) {
  static constexpr std::array kSpills = {Cause::kSpill};
  std::vector<Finding> found =
      findingsOfCauses(look.evidence, {.rule = "spills",
                                       .causes = kSpills,
                                       .least_share = 0.02,
                                       .least_percent = 1,
                                       .what = "of bundles that only move spilled registers",
                                       .cure = "smaller blocks, or fewer values alive at once"});
  for (Finding& finding : found) {
    for (const report::KernelUse& kernel : look.evidence.anatomy().kernels) {
      const bool ours =
          std::any_of(finding.savings.begin(), finding.savings.end(), [&](const Saving& saving) {
            return std::count(kernel.rows.begin(), kernel.rows.end(), saving.row) > 0;
          });
      if (ours && kernel.spill_bytes > 0 && finding.evidence.size() < 4)
        finding.evidence.push_back(fmt::format("{} spills into {} of VMEM (compiler)", kernel.name,
                                               formatBinaryBytes(kernel.spill_bytes)));
    }
  }
  return found;
}

}  // namespace

extern const Rule rule_spills;
const Rule rule_spills{"spills", "bundles that only move spilled registers", Rank::kPattern, look};

}  // namespace sublane::findings
