#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

using report::BufferLife;

int64_t paddingOf(const BufferLife& life) { return life.bytes - life.data_bytes; }

/// Buffers by what the padding of their tiles costs.
std::string text(const Look& look) {
  std::vector<const BufferLife*> padded;
  int64_t bytes = 0, data = 0;
  for (const BufferLife& life : look.step.anatomy.buffers) {
    bytes += life.bytes;
    data += life.data_bytes;
    if (paddingOf(life) > 0) padded.push_back(&life);
  }
  if (bytes == 0) return "";
  std::stable_sort(padded.begin(), padded.end(),
                   [](const BufferLife* a, const BufferLife* b) { return paddingOf(*a) > paddingOf(*b); });
  std::string text = fmt::format("{:>10} {:>10} {:>7} {:<5} {:<10} {:<16} {}\n", "takes", "of data",
                                 "padding", "where", "what", "operation", "shape");
  for (size_t i = 0; i < padded.size() && (look.top == 0 || static_cast<int64_t>(i) < look.top); ++i) {
    const BufferLife& life = *padded[i];
    text += fmt::format(
        "{:>10} {:>10} {:>6.0f}% {:<5} {:<10} {:<16} {}\n", formatBytes(static_cast<double>(life.bytes)),
        formatBytes(static_cast<double>(life.data_bytes)),
        100.0 * static_cast<double>(paddingOf(life)) / static_cast<double>(life.bytes), life.memory,
        life.what, report::shortened(escaped(life.op), 16), report::shortened(escaped(life.shape), 36));
  }
  return text + fmt::format("  {} of {} buffers are padded: {} take {} (compiler)\n", padded.size(),
                            look.step.anatomy.buffers.size(), formatBytes(static_cast<double>(data)),
                            formatBytes(static_cast<double>(bytes)));
}

}  // namespace

extern const View view_layouts;
const View view_layouts{"layouts", "buffers by what the padding of their tiles costs", text};

}  // namespace sublane::views
