// Cycles in the order in which they pass, kept within a bounded number of pieces. Private to the folder.
//
// Cycles of one kind that follow one another are one piece. When there are more pieces than allowed, those of
// one kind that begin in the same window of cycles become one, and the window grows until they fit. What a
// piece counts is always exact; of a joined one only the first cycle is known.
//
//   Pieces pieces(100'000);
//   pieces.add({.cycle = 0, .cycles = 3, .cause = events::Cause::kIssueMatrix});
//   for (const Piece& piece : pieces.all()) fmt::print("{} cycles\n", piece.cycles);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "events/events.h"

namespace sublane::views {

struct Piece {
  int64_t cycle = 0;  // the first
  int64_t cycles = 0;
  int64_t joined = 1;  // runs of cycles
  int32_t op = -1, listing = -1;
  int32_t bundle = -1, transfer = -1;  // of the first cycle
  events::Cause cause = events::Cause::kNotModelled;
};

class Pieces {
 public:
  explicit Pieces(size_t most) : most_(most) {}
  /// In order of time, and never two at once.
  void add(const Piece& piece);
  /// In order of their first cycles.
  const std::vector<Piece>& all() const { return pieces_; }
  /// Cycles of a window; 1: nothing is joined but what follows one another.
  int64_t window() const { return window_; }

 private:
  using Kind = std::tuple<int32_t, int32_t, events::Cause>;
  static Kind kindOf(const Piece& piece) { return {piece.op, piece.listing, piece.cause}; }
  void put(const Piece& piece);
  void widen();

  size_t most_;
  int64_t window_ = 1, at_ = -1;  // at_: the window that is filled
  std::vector<Piece> pieces_;
  std::map<Kind, size_t> filled_;  // pieces of that window
};

/// Where pieces stand on a track of their own: at their first cycle, or behind the one before. That is never
/// later than where their last cycle was, since pieces behind one another have their cycles to themselves.
class Cursor {
 public:
  int64_t place(const Piece& piece) {
    const int64_t begin = piece.cycle > end_ ? piece.cycle : end_;
    end_ = begin + piece.cycles;
    return begin;
  }

 private:
  int64_t end_ = 0;
};

}  // namespace sublane::views
