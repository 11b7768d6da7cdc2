#include <fmt/format.h>

#include "base/units.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

std::string limitText(const report::LimitUse& limit) {
  const bool flops = limit.limit == "mxu";
  const double amount = static_cast<double>(limit.amount);
  if (limit.unknown_rows > 0 && limit.amount == 0)
    return fmt::format("{} unknown ({} without a cost estimate)", limit.limit,
                       limit.unknown_rows == 1 ? "a kernel" : fmt::format("{} kernels", limit.unknown_rows));
  return fmt::format("{} {:.1f} % of {} ({}{})", limit.limit, 100 * limit.share,
                     flops ? formatFlopsPerSecond(limit.per_second) : formatBytesPerSecond(limit.per_second),
                     flops ? formatScaled(amount, "FLOP") : formatBytes(amount),
                     limit.limit_origin == Origin::kDatasheet ? "" : "; limit: compiler");
}

/// Speed of light: the whole step against what its memories and units can.
std::string text(const Look& look) {
  const report::Anatomy& anatomy = look.step.anatomy;
  std::string limits, units;
  for (const report::LimitUse& limit : anatomy.limits)
    limits += (limits.empty() ? "" : ", ") + limitText(limit);
  for (const report::UnitUse& unit : anatomy.units)
    units += fmt::format("{}{} {:.1f}", units.empty() ? "" : ", ", unit.unit, 100 * unit.share());
  std::string text;
  if (!limits.empty()) text += report::labelled("of the most", limits + " (simulated over datasheet)");
  if (!units.empty()) text += report::labelled("slots filled", units + " % (simulated over compiler)");
  if (!look.step.memory) return text;
  const report::HbmUse& memory = *look.step.memory;
  const auto bytes = [](int64_t value) { return formatBytes(static_cast<double>(value)); };
  text += report::labelled(
      "HBM held",
      fmt::format("{} of {}: arguments {} ({} of data), temporaries {}, code {}, outputs {}, "
                  "{} of them in place (compiler)",
                  bytes(memory.used()), bytes(static_cast<int64_t>(look.simulation.chip->hbm_usable_bytes)),
                  bytes(memory.arguments), bytes(memory.argument_data), bytes(memory.temporaries),
                  bytes(memory.code), bytes(memory.outputs), bytes(memory.aliased)));
  return text;
}

}  // namespace

extern const View view_limits;
const View view_limits{"limits", "speed of light: memories and units against the most that they can", text};

}  // namespace sublane::views
