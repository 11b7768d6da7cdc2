#include <algorithm>

#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

std::string text(const Look& look) {
  if (look.step.rung == report::Rung::kRoofline && look.findings.empty()) return "";
  const findings::Evidence evidence{look.step, *look.simulation.chip, look.simulation.clock_hz};
  constexpr int64_t kMost = 5;
  return findings::toText(look.findings, evidence, look.top == 0 ? 1000 : std::min(look.top, kMost));
}

}  // namespace

extern const View view_findings;
const View view_findings{"findings", "what to look at first, and the edit that cures it", text};

}  // namespace sublane::views
