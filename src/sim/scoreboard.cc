#include "sim/scoreboard.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "sim/in_flight.h"

namespace sublane::sim {
namespace {

using llo::Unit;

class Scoreboard {
 public:
  Scoreboard(const llo::Listing& listing, const Latencies& latencies, int delay_slots)
      : listing_(listing),
        latencies_(latencies),
        delay_slots_(static_cast<size_t>(delay_slots)),
        kinds_(kindsOf(listing)),
        state_(listing, kinds_) {}

  std::vector<Issue> run() {
    findJumps();
    // Once more, now that it is known what a loop's end leaves in flight.
    pass();
    if (leads_back_) pass();
    return std::move(issues_);
  }

 private:
  size_t count() const { return listing_.bundles.size(); }

  bool empty(size_t b) const {
    const auto instructions = listing_.of(listing_.bundles[b]);
    return std::all_of(instructions.begin(), instructions.end(),
                       [](const llo::BundleInstruction& i) { return llo::unitOf(i.op) == Unit::kPseudo; });
  }

  void findJumps() {
    issues_.assign(count(), {});
    for (size_t b = 0; b < count(); ++b) issues_[b].issued = !empty(b);
    for (size_t b = 0; b < count(); ++b) {
      for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[b])) {
        if (i.target < 0) continue;
        const size_t at = std::min(b + 1 + delay_slots_, count());
        jumps_.emplace(at, static_cast<size_t>(i.target));
        arrivals_.try_emplace(static_cast<size_t>(i.target));
        leads_back_ |= static_cast<size_t>(i.target) < at;
        for (size_t d = b + 1; d < at; ++d) issues_[d].issued = true;
      }
    }
  }

  void pass() {
    state_.forget();
    now_ = 0;
    for (size_t b = 0; b < count(); ++b) {
      leave(b);
      arrive(b);
      issue(b);
    }
    leave(count());
  }

  /// Branches whose delay slots end before `b` take along what is in flight.
  void leave(size_t b) {
    const auto [first, last] = jumps_.equal_range(b);
    if (first == last) return;
    InFlight left = state_;
    left.shift(-now_);
    for (auto jump = first; jump != last; ++jump) {
      std::optional<InFlight>& arrival = arrivals_[jump->second];
      if (arrival)
        arrival->join(left);
      else
        arrival = left;
    }
  }
  void arrive(size_t b) {
    const auto arrival = arrivals_.find(b);
    if (arrival == arrivals_.end() || !arrival->second) return;
    state_.shift(-now_);
    now_ = 0;
    state_.join(*arrival->second);
  }

  void issue(size_t b) {
    Issue& issue = issues_[b];
    if (!issue.issued) return;
    int64_t ready = now_;
    const auto consider = [&](const InFlight::Made& made, int64_t at, Unit unit) {
      if (made.kind >= 0 && at > ready) ready = at, issue.unit = unit;
    };
    const auto instructions = listing_.of(listing_.bundles[b]);
    for (const llo::BundleInstruction& i : instructions) {
      const Unit taker = llo::unitOf(i.op);
      if (taker == Unit::kPseudo) continue;
      const int32_t kind = kinds_.of[static_cast<size_t>(&i - listing_.instructions.data())];
      state_.forSources(i, [&](const InFlight::Made& made) {
        consider(made, made.cycle + latency(made.kind, taker), made.unit);
      });
      state_.forUnit(i, [&](const InFlight::Made& made) {
        consider(made, made.cycle + interval(made.kind, kind), made.unit);
      });
    }
    issue.stall = static_cast<int>(ready - now_);
    for (const llo::BundleInstruction& i : instructions) {
      state_.note(i, ready);
      if (i.callee >= 0) state_.forget();
    }
    now_ = ready + 1;
  }

  int latency(int32_t from, Unit taker) {
    const auto [entry, added] = results_.try_emplace({from, static_cast<int>(taker)}, 0);
    if (added) entry->second = latencies_.result(kinds_.names[static_cast<size_t>(from)], taker);
    return entry->second;
  }
  int interval(int32_t from, int32_t to) {
    const auto [entry, added] = intervals_.try_emplace({from, to}, 0);
    if (added)
      entry->second =
          latencies_.interval(kinds_.names[static_cast<size_t>(from)], kinds_.names[static_cast<size_t>(to)]);
    return entry->second;
  }

  const llo::Listing& listing_;
  const Latencies& latencies_;
  size_t delay_slots_;
  Kinds kinds_;
  InFlight state_;
  int64_t now_ = 0;
  bool leads_back_ = false;
  std::vector<Issue> issues_;
  std::multimap<size_t, size_t> jumps_;  // the bundle before which one is taken, its target
  std::map<size_t, std::optional<InFlight>> arrivals_;
  std::map<std::pair<int32_t, int>, int> results_;
  std::map<std::pair<int32_t, int32_t>, int> intervals_;
};

}  // namespace

std::vector<Issue> scoreboard(const llo::Listing& listing, const Latencies& latencies, int delay_slots) {
  return Scoreboard(listing, latencies, delay_slots).run();
}

}  // namespace sublane::sim
