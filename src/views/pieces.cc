#include "views/pieces.h"

#include <utility>

namespace sublane::views {

void Pieces::add(const Piece& piece) {
  if (piece.cycles <= 0) return;
  put(piece);
  while (pieces_.size() > most_) widen();
}

void Pieces::put(const Piece& piece) {
  if (!pieces_.empty() && kindOf(pieces_.back()) == kindOf(piece) && pieces_.back().joined == 1 &&
      piece.joined == 1 && pieces_.back().cycle + pieces_.back().cycles == piece.cycle) {
    pieces_.back().cycles += piece.cycles;
    return;
  }
  if (window_ > 1) {
    if (piece.cycle / window_ != at_) filled_.clear();
    at_ = piece.cycle / window_;
    const auto [entry, added] = filled_.try_emplace(kindOf(piece), pieces_.size());
    if (!added) {
      pieces_[entry->second].cycles += piece.cycles;
      pieces_[entry->second].joined += piece.joined;
      return;
    }
  }
  pieces_.push_back(piece);
}

/// Leaves room for as much again, so that widening stays rare.
void Pieces::widen() {
  constexpr int64_t kWidest = int64_t{1} << 40;
  do {
    window_ *= 2;
    at_ = -1;
    filled_.clear();
    for (const Piece& piece : std::exchange(pieces_, {})) put(piece);
  } while (pieces_.size() > most_ / 2 && window_ < kWidest);
  if (window_ >= kWidest) most_ = 2 * pieces_.size();  // so many kinds; one piece each
}

}  // namespace sublane::views
