// A second opinion on time: the schedule's empty bundles are dropped, and each other bundle is issued in
// order, one a cycle, as soon as its registers and FIFO results are there and its units are free.
//
// Empty delay slots of a branch are kept. What a call's code takes from before it is ready, and so is all
// that is made before a wait, as far as the listing's own cycles go: a wait counts as no time. Where a branch
// leads back, what the loop's end left in flight is awaited at its start. FIFOs have no depth here: bundles
// keep their order, so the order alone decides how many results are in flight.
//
//   std::vector<Issue> issues = scoreboard(listing, *latenciesOf("v6e"), 4);
//   issues[7].stall;   // cycles before bundle 7, for what issues[7].unit makes
#pragma once

#include <vector>

#include "llo/listing.h"
#include "sim/latencies.h"

namespace sublane::sim {

struct Issue {
  bool issued = true;                 // false: an empty bundle that is dropped
  int stall = 0;                      // cycles in front of it
  llo::Unit unit = llo::Unit::kMisc;  // whose result, or whose turn, it waits for
};
std::vector<Issue> scoreboard(const llo::Listing& listing, const Latencies& latencies, int delay_slots);

}  // namespace sublane::sim
