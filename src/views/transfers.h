// The transfers of a step: when each was issued, complete and waited for, kept within a bounded number.
// Private to the folder.
//
// When there are more than allowed, those that one operation issued in the same window of cycles, between the
// same memories, become one, and the window grows until they fit. Counts and bytes stay exact; a joined one
// lasts from the first issue to the last completion.
//
//   Transfers transfers(50'000);
//   transfers.issue(event);                 // of kIssued
//   transfers.done(event);                  // of kDone
//   transfers.take(event);                  // of kTaken
//   for (const Moved& moved : transfers.all()) fmt::print("{} bytes\n", moved.bytes);
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "events/events.h"

namespace sublane::views {

/// From where to where.
struct Way {
  events::Memory from = events::Memory::kNone, to = events::Memory::kNone;
  bool link = false;
  auto operator<=>(const Way&) const = default;
};
std::string name(const Way& way);  // "hbm to vmem", "vmem to hbm of another chip"

/// Where the program was.
struct Site {
  int64_t cycle = -1;  // -1: it never was
  int32_t op = -1, listing = -1, bundle = -1;
};

/// One transfer, or `count` of them.
struct Moved {
  Way way;
  Site issued, taken;  // of the first
  int64_t done = 0, first_byte = -1, last_byte = 0;
  int64_t bytes = 0, count = 1;
  int32_t transfer = -1;  // of the first
};

class Transfers {
 public:
  explicit Transfers(size_t most) : most_(most) {}
  void issue(const events::Event& event);
  /// Returns the way and bytes of the transfer, whose first and last byte the event tells.
  Moved done(const events::Event& event);
  void take(const events::Event& event);
  /// In order of their first issue.
  const std::vector<Moved>& all() const { return moved_; }
  int64_t window() const { return window_; }  // 1: none is joined

 private:
  using Kind = std::tuple<Way, int32_t, int32_t>;  // operation, listing
  struct Flight {
    size_t at = 0;  // into moved_
    Way way;
    int64_t bytes = 0;
    bool done = false;
  };
  size_t put(const Moved& moved);
  void widen();

  size_t most_;
  int64_t window_ = 1, at_ = -1;
  std::vector<Moved> moved_;
  std::map<Kind, size_t> filled_;
  std::unordered_map<int32_t, Flight> flights_;  // not taken yet
};

/// A track for each of some transfers that are under way at once. What finds none of `most` is counted with
/// the last one that did.
struct Lanes {
  std::vector<Moved> moved;  // in order of issue
  std::vector<size_t> lane;  // of each
  size_t count = 0;
};
Lanes lanesOf(const std::vector<Moved>& all, const Way& way, size_t most);

}  // namespace sublane::views
