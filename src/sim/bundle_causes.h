// The cause of each bundle's cycle, read from the listing alone: what a full bundle issues, and what an empty
// one waits for. Waits for DMAs are not seen here; the machine adds them when they happen.
//
// A full bundle belongs to the unit whose slots it fills most. An empty one belongs to the unit whose result
// the next full bundle takes: of all its operands, the one that is ready last. Latencies only choose among
// operands here; how long a stall lasts is in the listing.
//
//   std::vector<events::Cause> causes = bundleCauses(listing, {.delay_slots = 4});
#pragma once

#include <vector>

#include "events/events.h"
#include "llo/listing.h"
#include "sim/sim.h"

namespace sublane::sim {

struct CauseOptions {
  int delay_slots = 4;
  Slots slots{};
  bool all_launch = false;      // the runtime's own functions
  bool launch_outside = false;  // of the top-level program: what no traced operation holds
  int64_t traced = 0;           // markers from here on are not operations
};
/// What a wait for that unit's result is.
events::Cause dependencyOn(llo::Unit unit);
std::vector<events::Cause> bundleCauses(const llo::Listing& listing, const CauseOptions& options);

}  // namespace sublane::sim
