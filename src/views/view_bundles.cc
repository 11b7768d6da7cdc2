#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

constexpr int32_t kAround = 2;

struct Hot {
  const report::KernelUse* kernel = nullptr;
  int32_t bundle = 0;
  int64_t cycles = 0;
};

std::string line(const report::BundleUse& bundle, int32_t number) {
  const std::string head = fmt::format("{:>10} {:>9} {:>7} {:<18} ", bundle.executions, bundle.waited,
                                       fmt::format("{:#x}", number), events::name(bundle.cause));
  return report::wrapped(bundle.text.empty() ? "-" : escaped(bundle.text), head, std::string(16, ' '));
}

/// The slowest stretch of each of the slowest kernels: its bundles, where the cycles pass.
std::string text(const Look& look) {
  const report::Anatomy& anatomy = look.step.anatomy;
  std::string text;
  int64_t kernels = 0;
  for (const report::KernelUse& kernel : anatomy.kernels) {
    if (!look.shows(kernel) || (look.top > 0 && ++kernels > 3)) continue;
    const auto cost = [](const report::BundleUse& b) { return b.executions + b.waited; };
    const auto hottest = std::max_element(kernel.bundles.begin(), kernel.bundles.end(),
                                          [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
    if (hottest == kernel.bundles.end()) continue;
    int32_t first = 0, last = static_cast<int32_t>(kernel.bundles.size()) - 1;
    if (hottest->loop >= 0) {
      first = kernel.loops[static_cast<size_t>(hottest->loop)].first;
      last = kernel.loops[static_cast<size_t>(hottest->loop)].last;
    }
    const int32_t at = static_cast<int32_t>(hottest - kernel.bundles.begin());
    const auto room = static_cast<int32_t>(look.top > 0 ? look.top : last - first + 1);
    first = std::max(first, at - room / 2 - kAround);
    last = std::min(last, first + room - 1);
    text += fmt::format("{} ({} cycles), bundles {:#x} to {:#x} of {:#x}{}\n", escaped(kernel.name),
                        kernel.cycles, first, last, kernel.bundles.size(),
                        kernel.source.empty() ? "" : ", " + escaped(kernel.source));
    text += fmt::format("{:>10} {:>9} {:>7} {:<18} {}\n", "executed", "waited", "bundle", "cause",
                        "instructions");
    for (int32_t b = first; b <= last; ++b) text += line(kernel.bundles[static_cast<size_t>(b)], b);
  }
  return text;
}

}  // namespace

extern const View view_bundles;
const View view_bundles{"bundles", "the hottest bundles of the slowest kernels, with what they wait for",
                        text};

}  // namespace sublane::views
