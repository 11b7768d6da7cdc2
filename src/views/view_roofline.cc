#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "report/step_text.h"
#include "views/focus.h"
#include "views/views.h"

namespace sublane::views {
namespace {

struct Point {
  double us = 0, flops = 0, hbm_bytes = 0, vmem_bytes = 0;
};

/// Each part of the model against the two roofs: FLOP a byte, and how much of the roof there it reaches.
std::string line(const std::string& name, const Point& point, const Look& look) {
  const chips::Chip& chip = *look.simulation.chip;
  const double cores = std::max<double>(1, static_cast<double>(chip.cores_per_device));
  const double seconds = point.us * 1e-6;
  const double by_hbm = point.hbm_bytes / (chip.hbm_bytes_per_second / cores);
  const double by_mxu = point.flops / chip.bf16_flops;
  const double roof = std::max(by_hbm, by_mxu);
  return fmt::format("{:>9.2f} {:>9} {:>9} {:>10} {:>9} {:>12} {:>5} {:>6.1f}% {}\n", point.us,
                     report::scaled(static_cast<int64_t>(point.flops)),
                     report::scaled(static_cast<int64_t>(point.hbm_bytes)),
                     point.hbm_bytes > 0 ? fmt::format("{:.1f}", point.flops / point.hbm_bytes) : "-",
                     point.vmem_bytes > 0 ? fmt::format("{:.1f}", point.flops / point.vmem_bytes) : "-",
                     seconds > 0 ? formatFlopsPerSecond(point.flops / seconds) : "-",
                     roof <= 0         ? "-"
                     : by_mxu > by_hbm ? "mxu"
                                       : "hbm",
                     seconds > 0 ? 100 * roof / seconds : 0, report::shortened(escaped(name), 24));
}

std::string text(const Look& look) {
  std::map<std::string, Point> parts;
  Point all;
  for (const report::SimulatedRow& row : look.step.rows) {
    const report::Row& at = row.row;
    Point& point = parts[at.place.part.empty() ? at.kind : at.place.part];
    const auto vmem = static_cast<double>(report::kRegisterBytes *
                                          (row.issued[static_cast<size_t>(report::Unit::kVectorLoad)] +
                                           row.issued[static_cast<size_t>(report::Unit::kVectorStore)]));
    for (Point* to : {&point, &all}) {
      to->us += at.us;
      to->flops += static_cast<double>(at.matmul_flops);
      to->hbm_bytes += static_cast<double>(at.hbm_bytes);
      to->vmem_bytes += vmem;
    }
  }
  std::vector<std::pair<std::string, Point>> order(parts.begin(), parts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.us > b.second.us; });
  const chips::Chip& chip = *look.simulation.chip;
  std::string text = fmt::format("{:>9} {:>9} {:>9} {:>10} {:>9} {:>12} {:>5} {:>7} {}\n", "us", "FLOP",
                                 "HBM B", "FLOP/HBM B", "/VMEM B", "reached", "roof", "of it", "part");
  for (size_t i = 0; i < order.size() && (look.top == 0 || static_cast<int64_t>(i) < look.top); ++i)
    text += line(order[i].first, order[i].second, look);
  text += line("all", all, look);
  return text +
         report::wrapped(
             fmt::format("roofs: HBM {}, MXU {} in bf16, ridge at {:.0f} FLOP/B (datasheet); FLOP: "
                         "matrix products; over 100 %: its bytes moved while other parts ran",
                         formatBytesPerSecond(chip.hbm_bytes_per_second),
                         formatFlopsPerSecond(chip.bf16_flops), chip.bf16_flops / chip.hbm_bytes_per_second),
             "  ", "  ");
}

}  // namespace

extern const View view_roofline;
const View view_roofline{"roofline", "each part's FLOP a byte of HBM and VMEM, against its roof", text};

}  // namespace sublane::views
