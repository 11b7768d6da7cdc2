#include "views/traffic.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sublane::views {
namespace {

/// So many are spread at a time; those before and behind do not see each other.
constexpr size_t kBatch = size_t{1} << 16;

/// How much a transfer gets that moves bytes all the time, in cycles of a memory of its own.
class Shares {
 public:
  explicit Shares(const std::vector<Traffic::Move>& moves) {
    std::vector<std::pair<int64_t, int>> changes;
    for (const Traffic::Move& move : moves) {
      changes.emplace_back(move.begin, 1);
      changes.emplace_back(move.end, -1);
    }
    std::sort(changes.begin(), changes.end());
    double got = 0;
    int64_t at = 0, moving = 0;
    for (const auto& [cycle, change] : changes) {
      if (moving > 0) got += static_cast<double>(cycle - at) / static_cast<double>(moving);
      at = cycle;
      moving += change;
      points_.push_back({cycle, got, moving});
    }
  }

  double until(int64_t cycle) const {
    const auto after = std::upper_bound(points_.begin(), points_.end(), cycle,
                                        [](int64_t c, const Point& point) { return c < point.cycle; });
    if (after == points_.begin()) return 0;
    const Point& point = *std::prev(after);
    if (point.moving == 0) return point.got;
    return point.got + static_cast<double>(cycle - point.cycle) / static_cast<double>(point.moving);
  }

 private:
  struct Point {
    int64_t cycle = 0;
    double got = 0;
    int64_t moving = 0;  // from here on
  };
  std::vector<Point> points_;
};

void halve(std::vector<int64_t>& bytes) {
  for (size_t i = 0; 2 * i < bytes.size(); ++i)
    bytes[i] = bytes[2 * i] + (2 * i + 1 < bytes.size() ? bytes[2 * i + 1] : 0);
  bytes.resize((bytes.size() + 1) / 2);
}

}  // namespace

void Traffic::add(const Move& move) {
  if (move.bytes <= 0 || move.begin < 0) return;
  moves_.push_back(move);
  moves_.back().end = std::max(move.end, move.begin + 1);
  if (moves_.size() >= kBatch) finish();
}

/// Makes room up to `cycle`.
void Traffic::reach(int64_t cycle) {
  while (static_cast<size_t>((cycle - 1) / interval_) >= most_) {
    halve(read_);
    halve(written_);
    interval_ *= 2;
  }
  const size_t size = std::max(read_.size(), static_cast<size_t>((cycle - 1) / interval_) + 1);
  read_.resize(size, 0);
  written_.resize(size, 0);
}

void Traffic::finish() {
  const Shares shares(moves_);
  for (const Move& move : moves_) {
    reach(move.end);
    const double begin = shares.until(move.begin), all = shares.until(move.end) - begin;
    int64_t given = 0;
    for (int64_t at = move.begin / interval_; at <= (move.end - 1) / interval_; ++at) {
      const int64_t until = std::min(move.end, (at + 1) * interval_);
      const double share = until == move.end ? 1 : (shares.until(until) - begin) / all;
      const int64_t due = std::llround(static_cast<double>(move.bytes) * share);
      const auto i = static_cast<size_t>(at);
      if (move.read) read_[i] += due - given;
      if (move.written) written_[i] += due - given;
      given = due;
    }
  }
  moves_.clear();
}

}  // namespace sublane::views
