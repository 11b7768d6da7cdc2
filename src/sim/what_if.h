// The same run with one thing taken away, side by side with the real one: what a cause claims is what its
// absence would save, and that is not what one sees where it stalls. Behind a wait for bytes may lie a wait
// for latency, and behind an empty bundle a transfer that was not there yet, either.
//
// Control does not depend on time, so all of them execute the same operations; each has its own clock, memory
// and sync flags. `attribute` then makes the causes of a run agree with what was found.
//
//   WhatIf what_if(code, {.without = Without::kSpills, .timing = timing, .removed = causesOf(kSpills)},
//   flags); what_if.pass(segment, 1); what_if.wait(flag, 16); what_if.switchAccount(0);
#pragma once

#include <cstdint>
#include <vector>

#include "sim/code.h"
#include "sim/memory_system.h"

namespace sublane::sim {

/// Whether bundles of this cause take no time without `without`.
bool takenAway(events::Cause cause, Without without);

struct WhatIfOptions {
  Without without{};
  MemoryTiming timing{};
  size_t sync_flags = 0;
};

class WhatIf {
 public:
  WhatIf(const Code& code, const WhatIfOptions& options);

  Without without() const { return without_; }
  /// The segment was executed so often since the last event.
  void pass(int32_t segment, int64_t count) { clock_ += count * cycles_[static_cast<size_t>(segment)]; }
  void pause(int64_t cycles) { clock_ += cycles; }
  /// `added` goes to the flag when the transfer is complete, and to the second, if there is one.
  void issue(const TransferShape& shape, int32_t flag, int32_t added, int32_t second = -1);
  /// The other core sends so many bytes now, unless the flag is there.
  void receive(uint32_t flag, int32_t value, double bytes);
  /// A wait for the other chips' signals.
  void meet() { clock_ += static_cast<int64_t>(timing_.after[static_cast<size_t>(Route::kLink)]); }
  void wait(uint32_t flag, int32_t value);
  void add(uint32_t flag, int32_t value) { flags_[flag] += value; }
  void set(uint32_t flag, int32_t value);

  void switchAccount(size_t account);
  /// Cycles of each account; closes the one that is open.
  const std::vector<int64_t>& accounts();

 private:
  struct Flight {
    int32_t flag = 0, added = 0, second = -1;
  };
  void complete(const Transfer& transfer);

  Without without_{};
  std::vector<int32_t> cycles_;  // of each segment
  MemoryTiming timing_;
  MemorySystem memory_;
  std::vector<int32_t> flags_;
  std::vector<Flight> flights_;
  std::vector<int32_t> free_;
  int64_t clock_ = 0, entered_ = 0;
  size_t account_ = 0;
  std::vector<int64_t> accounts_;
};

/// What one thing's absence saves, in each account.
struct Saving {
  Without without{};
  std::vector<int64_t> cycles;
};

/// Gives each cause the cycles that its absence alone saves, over the whole run exactly. Waits for transfers
/// become kDma (only more bandwidth helps), kDmaLatency (only less latency), kDmaEither (one of the two is
/// enough) and kDmaBoth (it takes both). Cycles of other causes behind which a transfer would be waited for
/// become kOverlapped. Every account keeps its sum.
void attribute(std::vector<OpTime>& accounts, const std::vector<Saving>& savings);

}  // namespace sublane::sim
