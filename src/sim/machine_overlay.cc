// Code that is fetched while the program runs, and the runs beside the real one (what_if.h).
#include <algorithm>

#include "sim/machine.h"

namespace sublane::sim {
namespace {

constexpr int64_t kBundleBytes = 64;
/// Bundles of the instruction memory: the limit in every program's own loader.
constexpr int64_t kInstructionMemoryBundles = 65536;

}  // namespace

bool Machine::enterOverlay(int32_t overlay) {
  if (overlay < 0 || overlay == overlay_ || !options_.overlays) return true;
  const int32_t last = static_cast<int32_t>(program_.overlay_bundles.size()) - 1;
  if (overlay > last) return true;
  // The first is there before the program starts.
  if (overlay_ < 0) keepOverlay(overlay);
  overlay_ = overlay;
  if (!resident(overlay)) fetchOverlay(overlay);
  if (!waitForOverlays()) return false;
  // The loader asks for the next one at once, if there is one.
  if (overlay < last && !resident(overlay + 1)) fetchOverlay(overlay + 1);
  return true;
}

bool Machine::resident(int32_t overlay) const {
  return std::find(residents_.begin(), residents_.end(), overlay) != residents_.end();
}

/// The oldest make room; but not the one that runs.
void Machine::keepOverlay(int32_t overlay) {
  const auto bundles = [this](int32_t o) { return program_.overlay_bundles[static_cast<size_t>(o)]; };
  residents_.push_back(overlay);
  int64_t used = 0;
  for (const int32_t o : residents_) used += bundles(o);
  for (size_t i = 0; i < residents_.size() && used > kInstructionMemoryBundles;) {
    if (residents_[i] == overlay || residents_[i] == overlay_) {
      ++i;
      continue;
    }
    used -= bundles(residents_[i]);
    residents_.erase(residents_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void Machine::fetchOverlay(int32_t overlay) {
  keepOverlay(overlay);
  const int64_t bytes = program_.overlay_bundles[static_cast<size_t>(overlay)] * kBundleBytes;
  const int32_t granules = static_cast<int32_t>(bytes / placement_.dma_granule_bytes);
  const Flight flight{.flag = codeFlag(),
                      .granules = granules,
                      .function = function_,
                      .bundle = code_.bundles[static_cast<size_t>(pc_)],
                      .op = currentOp(),
                      .bytes = bytes,
                      .added = granules};
  const TransferShape shape{.route = Route::kRead, .bytes = bytes};
  const int32_t serial = memory_.issue(clock_, shape, keepFlight(flight));
  if (options_.sink) tellIssued(flight, serial, events::Memory::kHbm, events::Memory::kCode, false);
  forWhatIfs([&](WhatIf& what_if) { what_if.issue(shape, codeFlag(), granules); });
  code_granules_ += granules;
  ++overlay_fetches_;
  overlay_bytes_ += bytes;
}

bool Machine::waitForOverlays() {
  const uint32_t flag = static_cast<uint32_t>(codeFlag());
  forWhatIfs([&](WhatIf& what_if) { what_if.wait(flag, code_granules_); });
  if (!deliver(clock_)) return false;
  while (flags_[flag] < code_granules_) {
    const std::optional<Transfer> done = memory_.next(MemorySystem::kForever);
    if (!done) return fault("the program's own code does not arrive");
    if (!complete(*done)) return false;
    addStall(events::Cause::kOverlay, done->done - clock_, done->serial);
  }
  if (options_.sink) tellTaken(codeFlag(), code_granules_);
  return true;
}

int32_t Machine::keepFlight(const Flight& flight) {
  if (free_flights_.empty()) {
    flights_.push_back(flight);
    return static_cast<int32_t>(flights_.size()) - 1;
  }
  const int32_t tag = free_flights_.back();
  free_flights_.pop_back();
  flights_[static_cast<size_t>(tag)] = flight;
  return tag;
}

void Machine::tellWhatIfs(Do op, uint32_t flag, int32_t value) {
  if (what_ifs_.empty() || op == Do::kFlagRead) return;
  // Adding commutes with whatever happens until the next event.
  if (op != Do::kFlagAdd) flush();
  for (WhatIf& what_if : what_ifs_) {
    if (op == Do::kFlagAdd) what_if.add(flag, value);
    if (op == Do::kFlagSet) what_if.set(flag, value);
    if (op == Do::kWait) what_if.wait(flag, value);
  }
}

std::vector<Saving> Machine::savings() {
  std::vector<Saving> savings;
  for (WhatIf& what_if : what_ifs_) {
    Saving saving{.without = what_if.without()};
    const std::vector<int64_t>& cycles = what_if.accounts();
    for (size_t i = 0; i < accounts_.size(); ++i)
      saving.cycles.push_back(accounts_[i].time.cycles - (i < cycles.size() ? cycles[i] : 0));
    savings.push_back(std::move(saving));
  }
  return savings;
}

}  // namespace sublane::sim
