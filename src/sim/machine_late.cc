// Transfers whose data moves when the program has waited for them, and not before: a kernel that forgets a
// wait would otherwise be right whenever the memory is fast. And which bundle wrote what a transfer carries.
#include <algorithm>

#include "sim/machine.h"

namespace sublane::sim {

void Machine::begin(int32_t tag) {
  Flight& flight = flights_[static_cast<size_t>(tag)];
  flight.active = true;
  if (options_.late_transfers) claim(flight, true);
}

/// A transfer is complete; its flag says so already.
void Machine::land(int32_t tag) {
  Flight& flight = flights_[static_cast<size_t>(tag)];
  if (options_.late_transfers) {
    Landings& landings = landings_[flight.flag];
    landings.waiting.emplace_back(tag, landings.landed);
    landings.landed += flight.granules;
    return;
  }
  const Flight moved = flight;
  flight.active = false;
  free_flights_.push_back(tag);
  if (moved.move) moveData(moved);
}

void Machine::settle(int32_t flag, int64_t until) {
  const auto found = landings_.find(flag);
  if (found == landings_.end()) return;
  Landings& landings = found->second;
  while (!landings.waiting.empty() && landings.waiting.front().second < landings.taken + until) {
    const int32_t tag = landings.waiting.front().first;
    landings.waiting.pop_front();
    const Flight flight = flights_[static_cast<size_t>(tag)];
    claim(flight, false);
    flights_[static_cast<size_t>(tag)].active = false;
    free_flights_.push_back(tag);
    if (flight.move) moveData(flight);
  }
}

/// A flag that is read, or set to something else, tells the program of all that has landed.
void Machine::settleAll(int32_t flag) {
  settle(flag, INT64_MAX / 2);
  if (const auto found = landings_.find(flag); found != landings_.end()) landings_.erase(found);
}

void Machine::addToFlag(int32_t flag, int32_t value) {
  flags_[static_cast<size_t>(flag)] += value;
  if (options_.sink && value < 0) arrivals_[flag].taken -= value;
  if (!options_.late_transfers || value >= 0) return;
  if (const auto found = landings_.find(flag); found != landings_.end()) found->second.taken -= value;
}

void Machine::claim(const Flight& flight, bool begins) {
  const DmaSite& site = code_.transfers[static_cast<size_t>(flight.site)];
  if (!vector_ || !flight.move) return;
  const auto rows = [&](int64_t at, int64_t bytes, bool incoming) {
    const int64_t first = at / kRowBytes, end = (at + bytes + kRowBytes - 1) / kRowBytes;
    vector_->claimVmem(first, end - first, incoming, begins);
  };
  flight.forRuns([&](int64_t from, int64_t to, int64_t bytes) {
    if (site.from == llo::Space::kVmem) rows(from, bytes, false);
    if (site.to == llo::Space::kVmem) rows(to, bytes, true);
  });
}

/// At the program's end: false, if a transfer was begun that nobody waited for.
bool Machine::nothingIsLeft() {
  if (!options_.late_transfers) return true;
  for (const Flight& flight : flights_) {
    if (!flight.active || !flight.move) continue;
    return fault(fmt::format(
        "the program ends, and nobody waited for the transfer of {} bytes that {} began (sync "
        "flag {})",
        flight.bytes, place(flight.function, flight.bundle), flagName(static_cast<uint32_t>(flight.flag))));
  }
  return true;
}

/// Which transfer claims the row that the vector unit refused to touch: ", which fusion.1, bundle 0x1f
/// began".
std::string Machine::contest() const {
  const int64_t row = vector_->contestedRow();
  if (row < 0) return "";
  for (const Flight& flight : flights_) {
    if (!flight.active || !flight.move) continue;
    const DmaSite& site = code_.transfers[static_cast<size_t>(flight.site)];
    bool touches = false;
    flight.forRuns([&](int64_t from, int64_t to, int64_t bytes) {
      const auto covers = [&](int64_t at) { return row >= at / kRowBytes && row * kRowBytes < at + bytes; };
      touches |=
          (site.from == llo::Space::kVmem && covers(from)) || (site.to == llo::Space::kVmem && covers(to));
    });
    if (touches)
      return fmt::format("; {} began the transfer, and nobody has waited for it",
                         place(flight.function, flight.bundle));
  }
  return "";
}

void Machine::carryWriters(const Flight& flight, int64_t from, int64_t to, int64_t bytes) {
  const DmaSite& site = code_.transfers[static_cast<size_t>(flight.site)];
  Writer writer;
  if (site.from == llo::Space::kVmem && vector_) writer = vector_->writerOf(from / kRowBytes);
  if (site.from == llo::Space::kHbm) {
    const auto found = hbm_writers_.find(from / kGranuleBytes);
    if (found != hbm_writers_.end()) writer = found->second;
  }
  if (writer.listing < 0 || writer.transfer)
    writer = {code_.functions[static_cast<size_t>(flight.function)].vector_listing, flight.bundle, true};
  if (site.to == llo::Space::kVmem && vector_) vector_->setWriter(to / kRowBytes, writer);
  if (site.to != llo::Space::kHbm) return;
  for (int64_t at = to / kGranuleBytes; at * kGranuleBytes < to + bytes; ++at) hbm_writers_[at] = writer;
}

WrittenBy Machine::writerOf(int64_t hbm_byte) const {
  const auto found = hbm_writers_.find(hbm_byte / kGranuleBytes);
  if (found == hbm_writers_.end() || found->second.listing < 0) return {};
  // The vector unit counts what was prepared for it; the program counts its listings.
  for (const Function& function : code_.functions)
    if (function.vector_listing == found->second.listing)
      return {function.listing, found->second.bundle, found->second.transfer};
  return {};
}

}  // namespace sublane::sim
