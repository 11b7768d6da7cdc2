#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

std::string slotsText(const report::Issued& issued, int64_t cycles, const Look& look) {
  std::string text;
  for (size_t u = 0; u < issued.size(); ++u) {
    const double slots = look.step.anatomy.units[u].slots * static_cast<double>(std::max<int64_t>(1, cycles));
    const double percent = 100 * static_cast<double>(issued[u]) / slots;
    if (percent >= 1)
      text +=
          fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", name(static_cast<report::Unit>(u)), percent);
  }
  return text;
}

std::string loopLine(const report::LoopUse& loop, size_t depth) {
  std::string line = fmt::format(
      "{:>12} {}loop {:#x} to {:#x}, {} times, {:.1f} cycles each: ", loop.cycles,
      std::string(2 * depth, ' '), loop.first, loop.last, loop.iterations,
      static_cast<double>(loop.cycles) / static_cast<double>(std::max<int64_t>(1, loop.iterations)));
  const size_t room = line.size() < report::kColumns ? report::kColumns - line.size() : 0;
  return line + report::causesText(loop.causes, loop.cycles, std::max<size_t>(12, room)) + "\n";
}

/// Functions as libtpu compiled them, each once for all operations that run it.
std::string text(const Look& look) {
  const report::Anatomy& anatomy = look.step.anatomy;
  if (anatomy.kernels.empty()) return "";
  std::string text = fmt::format("{:>12} {:>6} {:<24} {:>5} {:>8} {:>8} {}\n", "cycles", "share", "kernel",
                                 "ops", "VMEM", "spills", "slots filled, %");
  int64_t shown = 0, rest = 0, rest_cycles = 0;
  for (const report::KernelUse& kernel : anatomy.kernels) {
    if (!look.shows(kernel)) continue;
    if (look.top > 0 && ++shown > look.top) {
      ++rest;
      rest_cycles += kernel.cycles;
      continue;
    }
    const double share = 100.0 * static_cast<double>(kernel.cycles) /
                         static_cast<double>(std::max<int64_t>(1, look.step.cycles));
    text += fmt::format("{:>12} {:>5.1f}% {:<24} {:>5} {:>8} {:>8} {}\n", kernel.cycles, share,
                        report::shortened(escaped(kernel.name), 24), kernel.rows.size(),
                        report::scaled(kernel.vmem_bytes), report::scaled(kernel.spill_bytes),
                        slotsText(kernel.issued, kernel.cycles, look));
    std::vector<size_t> depths;
    for (const report::LoopUse& loop : kernel.loops) {
      depths.push_back(loop.parent < 0 ? 1 : depths[static_cast<size_t>(loop.parent)] + 1);
      if (look.top == 0 || loop.cycles * 10 > kernel.cycles) text += loopLine(loop, depths.back());
    }
  }
  if (rest > 0) text += fmt::format("{:>12} {} more kernels (--top 0 shows all)\n", rest_cycles, rest);
  return text + "             cycles: simulated; VMEM, spills: bytes that a kernel allocates (compiler)\n";
}

}  // namespace

extern const View view_kernels;
const View view_kernels{"kernels", "compiled functions and their loops: slots filled, VMEM, spills", text};

}  // namespace sublane::views
