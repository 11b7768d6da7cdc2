#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

using report::BufferLife;

constexpr size_t kBars = 64;

/// Bytes held at each position of the schedule.
std::vector<int64_t> heldBytes(const report::Anatomy& anatomy, std::string_view memory) {
  std::vector<int64_t> change(anatomy.schedule.size() + 1, 0);
  for (const BufferLife& life : anatomy.buffers) {
    if (life.memory != memory) continue;
    change[static_cast<size_t>(life.first)] += life.bytes;
    change[static_cast<size_t>(life.last) + 1] -= life.bytes;
  }
  std::vector<int64_t> held;
  int64_t now = 0;
  for (size_t p = 0; p < anatomy.schedule.size(); ++p) held.push_back(now += change[p]);
  return held;
}

/// A bar a stretch of the schedule: the most that was held in it, in eighths of the most of all.
std::string bars(const std::vector<int64_t>& held, int64_t most) {
  static constexpr std::string_view kLevels = " .:-=+*#@";
  std::string text;
  const size_t count = std::min(kBars, held.size());
  for (size_t b = 0; b < count; ++b) {
    const auto begin = held.begin() + static_cast<ptrdiff_t>(b * held.size() / count);
    const auto end = held.begin() + static_cast<ptrdiff_t>((b + 1) * held.size() / count);
    const int64_t here = *std::max_element(begin, end);
    text += kLevels[most > 0 ? static_cast<size_t>((here * 8 + most - 1) / most) : 0];
  }
  return text;
}

std::string lifeLine(const BufferLife& life) {
  return fmt::format("{:>12} {:<10} {:<24} {}\n", formatBytes(static_cast<double>(life.bytes)), life.what,
                     report::shortened(escaped(life.op), 24), report::shortened(escaped(life.shape), 48));
}

std::string memoryText(const Look& look, const std::string& memory) {
  const report::Anatomy& anatomy = look.step.anatomy;
  const std::vector<int64_t> held = heldBytes(anatomy, memory);
  if (held.empty()) return "";
  const auto peak = std::max_element(held.begin(), held.end());
  if (*peak == 0) return "";
  const auto at = static_cast<int32_t>(peak - held.begin());
  std::string text = fmt::format("{}: at most {}, at {} ({} of {} in the schedule)\n", memory,
                                 formatBytes(static_cast<double>(*peak)),
                                 escaped(anatomy.schedule[static_cast<size_t>(at)]), at + 1, held.size());
  text += "  |" + bars(held, *peak) + "|\n";
  std::vector<const BufferLife*> living;
  for (const BufferLife& life : anatomy.buffers)
    if (life.memory == memory && life.first <= at && at <= life.last) living.push_back(&life);
  std::stable_sort(living.begin(), living.end(),
                   [](const BufferLife* a, const BufferLife* b) { return a->bytes > b->bytes; });
  int64_t rest = 0;
  for (size_t i = 0; i < living.size(); ++i) {
    if (look.top > 0 && static_cast<int64_t>(i) >= look.top)
      rest += living[i]->bytes;
    else
      text += lifeLine(*living[i]);
  }
  if (rest > 0)
    text += fmt::format("{:>12} in {} more (--top 0 shows all)\n", formatBytes(static_cast<double>(rest)),
                        std::ssize(living) - look.top);
  return text;
}

/// What lies in each memory while the schedule runs, and what lives there at the peak.
std::string text(const Look& look) {
  std::string text;
  for (const char* memory : {"hbm", "vmem", "smem", "cmem"}) text += memoryText(look, memory);
  if (text.empty()) return "";
  return text +
         "  lifetimes from the compiled schedule, tiles' padding included (compiler); the scratch of "
         "kernels\n  and of loops' bodies is not in it\n";
}

}  // namespace

extern const View view_memory;
const View view_memory{"memory", "HBM and VMEM over the schedule, and what lives there at the peak", text};

}  // namespace sublane::views
