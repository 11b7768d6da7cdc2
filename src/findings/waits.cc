#include "findings/waits.h"

#include <algorithm>

namespace sublane::findings {

/// A step cannot be shorter than its bytes take, nor than its work. What it takes beyond both is waiting that
/// transfers which start earlier would hide. Long transfers reach about 85 % of the published bandwidth.
Waits waitsOf(const Evidence& evidence) {
  constexpr double kReached = 0.85;
  Waits waits;
  double us = 0, hbm_us = 0;
  for (const report::SimulatedRow& row : evidence.step.rows) {
    if (row.row.kind == "collective") continue;
    us += row.row.us;
    hbm_us += row.row.hbm_us;
    waits.all_us += evidence.us(cyclesOf(row.causes, waitCauses()));
  }
  const double work_us = us - waits.all_us;
  waits.idle_us = std::clamp(us - std::max(hbm_us / kReached, work_us), 0.0, waits.all_us);
  return waits;
}

}  // namespace sublane::findings
