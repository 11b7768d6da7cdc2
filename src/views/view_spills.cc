#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

/// Kernels that ran out of registers: what they keep in VMEM instead, and the cycles that only move it.
std::string text(const Look& look) {
  constexpr auto kSpill = static_cast<size_t>(events::Cause::kSpill);
  std::string lines;
  int64_t cycles = 0;
  for (const report::KernelUse& kernel : look.step.anatomy.kernels) {
    if (!look.shows(kernel) || (kernel.spill_bytes == 0 && kernel.causes[kSpill] == 0)) continue;
    cycles += kernel.causes[kSpill];
    lines += fmt::format("{:>12} {:>6.1f}% {:>10}  {}\n", kernel.causes[kSpill],
                         100.0 * static_cast<double>(kernel.causes[kSpill]) /
                             static_cast<double>(std::max<int64_t>(1, kernel.cycles)),
                         report::scaled(kernel.spill_bytes), escaped(kernel.name));
  }
  if (look.step.anatomy.kernels.empty()) return "";
  if (lines.empty()) return "no kernel spills registers (compiler)\n";
  return fmt::format("{:>12} {:>7} {:>10}  kernel\n", "spill cycles", "of it", "bytes") + lines +
         fmt::format("{:>12} cycles of bundles that only move spilled registers (simulated)\n", cycles);
}

}  // namespace

extern const View view_spills;
const View view_spills{"spills", "kernels that spill registers, and the cycles that it takes", text};

}  // namespace sublane::views
