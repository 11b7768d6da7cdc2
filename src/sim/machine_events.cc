// What the machine tells its sink: cycles by cause, and the life of each transfer. Nothing here changes a
// run.
#include <cmath>

#include "sim/machine.h"

namespace sublane::sim {

/// Fills in where the program is.
void Machine::tell(events::Event event) {
  event.op = currentOp();
  event.listing = code_.functions[static_cast<size_t>(function_)].listing;
  event.bundle = code_.bundles[static_cast<size_t>(pc_)];
  options_.sink(event);
}

void Machine::emitSegment(int32_t number, int64_t end) {
  const Segment& segment = code_.segments[static_cast<size_t>(number)];
  int64_t cycle = end - segment.cycles;
  for (int32_t i = segment.first_span; i < segment.first_span + segment.spans; ++i) {
    const Span& span = code_.spans[static_cast<size_t>(i)];
    options_.sink({.cycle = cycle,
                   .duration = span.cycles,
                   .cause = span.cause,
                   .op = currentOp(),
                   .listing = code_.functions[static_cast<size_t>(segment.function)].listing,
                   .bundle = span.bundle});
    cycle += span.cycles;
  }
}

void Machine::tellIssued(const Flight& flight, int32_t serial, events::Memory from, events::Memory to,
                         bool link) {
  tell({.cycle = clock_,
        .kind = events::Kind::kIssued,
        .cause = events::Cause::kDma,
        .bytes = flight.bytes,
        .transfer = serial,
        .from = from,
        .to = to,
        .link = link});
}

void Machine::tellDone(const Flight& flight, const Transfer& transfer) {
  options_.sink({.cycle = transfer.done,
                 .kind = events::Kind::kDone,
                 .cause = events::Cause::kDma,
                 .op = flight.op,
                 .listing = code_.functions[static_cast<size_t>(flight.function)].listing,
                 .bundle = flight.bundle,
                 .transfer = transfer.serial,
                 .first_byte = std::llround(transfer.start),
                 .last_byte = std::llround(transfer.finish)});
  Arrivals& arrivals = arrivals_[flight.flag];
  arrivals.waiting.emplace_back(transfer.serial, arrivals.landed);
  arrivals.landed += flight.added;
}

/// A wait for n takes the n that follow what the program has taken off the flag.
void Machine::tellTaken(int32_t flag, int64_t until) {
  const auto found = arrivals_.find(flag);
  if (found == arrivals_.end()) return;
  Arrivals& arrivals = found->second;
  while (!arrivals.waiting.empty() && arrivals.waiting.front().second < arrivals.taken + until) {
    tell({.cycle = clock_,
          .kind = events::Kind::kTaken,
          .cause = events::Cause::kDma,
          .transfer = arrivals.waiting.front().first});
    arrivals.waiting.pop_front();
  }
}

/// As settleAll.
void Machine::tellAllTaken(int32_t flag) {
  tellTaken(flag, INT64_MAX / 2);
  arrivals_.erase(flag);
}

/// Transfers that nobody has waited for end, too.
void Machine::tellTheRest() {
  while (const std::optional<Transfer> done = memory_.next(MemorySystem::kForever))
    tellDone(flights_[static_cast<size_t>(done->tag)], *done);
}

}  // namespace sublane::sim
