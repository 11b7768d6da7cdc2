#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

struct Use {
  double us = 0;
  int64_t cycles = 0;
  report::Issued issued{};
};

std::string line(const std::string& name, const Use& use, const Look& look) {
  std::string text = fmt::format("{:>9.2f} ", use.us);
  for (size_t u = 0; u < use.issued.size(); ++u) {
    const double slots =
        look.step.anatomy.units[u].slots * static_cast<double>(std::max<int64_t>(1, use.cycles));
    text += fmt::format("{:>7.1f} ", 100 * static_cast<double>(use.issued[u]) / slots);
  }
  return text + report::shortened(escaped(name), 32) + "\n";
}

/// Slots that each unit was given work for, of those that its bundles had.
std::string text(const Look& look) {
  if (look.step.anatomy.units.empty()) return "";
  std::map<std::string, Use> parts;
  Use all;
  for (const report::SimulatedRow& row : look.step.rows) {
    const report::Row& at = row.row;
    const std::string part = at.place.part.empty() ? at.op : at.place.part;
    for (Use* to : {&parts[part + " " + at.kind], &all}) {
      to->us += at.us;
      to->cycles += at.cycles;
      for (size_t u = 0; u < to->issued.size(); ++u) to->issued[u] += row.issued[u];
    }
  }
  std::vector<std::pair<std::string, Use>> order(parts.begin(), parts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.us > b.second.us; });
  std::string text = fmt::format("{:>9} ", "us");
  for (const report::UnitUse& unit : look.step.anatomy.units) text += fmt::format("{:>6}% ", unit.unit);
  text += "operation\n";
  for (size_t i = 0; i < order.size() && (look.top == 0 || static_cast<int64_t>(i) < look.top); ++i)
    text += line(order[i].first, order[i].second, look);
  text += line("all", all, look);
  std::string slots;
  for (const report::UnitUse& unit : look.step.anatomy.units)
    slots += fmt::format("{}{} {:g}", slots.empty() ? "" : ", ", unit.unit, unit.slots);
  return text +
         report::wrapped("instructions issued (simulated), of the slots of a bundle (compiler): " + slots,
                         "  ", "  ");
}

}  // namespace

extern const View view_units;
const View view_units{"units", "how full each unit's slots are, by operation", text};

}  // namespace sublane::views
