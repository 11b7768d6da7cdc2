#include "views/transfers.h"

#include <algorithm>
#include <utility>

namespace sublane::views {

std::string name(const Way& way) {
  std::string text(events::name(way.from));
  text += " to ";
  text += events::name(way.to);
  if (way.link) text += " of another chip";
  return text;
}

void Transfers::issue(const events::Event& event) {
  Moved moved{.way = {event.from, event.to, event.link},
              .issued = {event.cycle, event.op, event.listing, event.bundle},
              .done = event.cycle,
              .bytes = event.bytes,
              .transfer = event.transfer};
  flights_[event.transfer] = {.at = put(moved), .way = moved.way, .bytes = event.bytes};
  if (moved_.size() > most_) widen();
}

Moved Transfers::done(const events::Event& event) {
  const auto found = flights_.find(event.transfer);
  if (found == flights_.end()) return {};
  Moved& moved = moved_[found->second.at];
  moved.done = std::max(moved.done, event.cycle);
  moved.first_byte = moved.first_byte < 0 ? event.first_byte : std::min(moved.first_byte, event.first_byte);
  moved.last_byte = std::max(moved.last_byte, event.last_byte);
  found->second.done = true;
  const Moved own{.way = found->second.way,
                  .done = event.cycle,
                  .first_byte = event.first_byte,
                  .last_byte = event.last_byte,
                  .bytes = found->second.bytes};
  // Who takes it is shown of single ones only.
  if (moved.count > 1) flights_.erase(found);
  return own;
}

void Transfers::take(const events::Event& event) {
  const auto found = flights_.find(event.transfer);
  if (found == flights_.end()) return;
  Moved& moved = moved_[found->second.at];
  if (moved.count == 1) moved.taken = {event.cycle, event.op, event.listing, event.bundle};
  if (found->second.done) flights_.erase(found);
}

size_t Transfers::put(const Moved& moved) {
  if (window_ > 1) {
    if (moved.issued.cycle / window_ != at_) filled_.clear();
    at_ = moved.issued.cycle / window_;
    const Kind kind{moved.way, moved.issued.op, moved.issued.listing};
    const auto [entry, added] = filled_.try_emplace(kind, moved_.size());
    if (!added) {
      Moved& joined = moved_[entry->second];
      joined.done = std::max(joined.done, moved.done);
      if (moved.first_byte >= 0 && (joined.first_byte < 0 || moved.first_byte < joined.first_byte))
        joined.first_byte = moved.first_byte;
      joined.last_byte = std::max(joined.last_byte, moved.last_byte);
      joined.bytes += moved.bytes;
      joined.count += moved.count;
      joined.taken = {};
      return entry->second;
    }
  }
  moved_.push_back(moved);
  return moved_.size() - 1;
}

void Transfers::widen() {
  constexpr int64_t kWidest = int64_t{1} << 40;
  std::vector<size_t> to(moved_.size());
  for (size_t i = 0; i < to.size(); ++i) to[i] = i;
  do {
    window_ *= 2;
    at_ = -1;
    filled_.clear();
    std::vector<size_t> next;
    for (const Moved& moved : std::exchange(moved_, {})) next.push_back(put(moved));
    for (size_t& i : to) i = next[i];
  } while (moved_.size() > most_ / 2 && window_ < kWidest);
  if (window_ >= kWidest) most_ = 2 * moved_.size();
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    flight->second.at = to[flight->second.at];
    const bool over = flight->second.done && moved_[flight->second.at].count > 1;
    flight = over ? flights_.erase(flight) : std::next(flight);
  }
}

Lanes lanesOf(const std::vector<Moved>& all, const Way& way, size_t most) {
  Lanes lanes;
  std::vector<int64_t> free;  // when each lane is
  std::vector<size_t> last;   // index of what was put there
  for (const Moved& moved : all) {
    if (moved.way != way) continue;
    size_t lane = 0;
    while (lane < free.size() && free[lane] > moved.issued.cycle) ++lane;
    if (lane == free.size() && lane == most) {
      const size_t with = static_cast<size_t>(std::max_element(last.begin(), last.end()) - last.begin());
      Moved& joined = lanes.moved[last[with]];
      joined.done = std::max(joined.done, moved.done);
      joined.last_byte = std::max(joined.last_byte, moved.last_byte);
      joined.bytes += moved.bytes;
      joined.count += moved.count;
      free[with] = joined.done;
      continue;
    }
    if (lane == free.size()) {
      free.push_back(0);
      last.push_back(0);
    }
    free[lane] = moved.done;
    last[lane] = lanes.moved.size();
    lanes.moved.push_back(moved);
    lanes.lane.push_back(lane);
  }
  lanes.count = free.size();
  return lanes;
}

}  // namespace sublane::views
