// The machine among others that run the same program in step (slice.h): transfers and signals between chips.
#include <algorithm>

#include "sim/machine.h"

namespace sublane::sim {
namespace {

// The words of a transfer between chips, as programs for slices of known shapes make them: in `overrides`
// this bit and the other chip's number; in the flags of both sides the flag's number, with more above it; in
// the source's also whether completion adds 1 instead of the size.
constexpr uint32_t kRemote = 0x4000, kChipMask = 0x3fff, kFlagMask = 0x1fff, kCounts = 0x10000;
/// The runtime's routing tables: a row of 4 words for each device of the slice.
constexpr int64_t kRowWords = 4;

}  // namespace

void Machine::waitForOthers() {
  if (options_.slice.devices() <= 1) return;
  const double hop = options_.timing.after[static_cast<size_t>(Route::kLink)];
  forWhatIfs([](WhatIf& what_if) { what_if.meet(); });
  addStall(events::Cause::kSemaphore, static_cast<int64_t>(hop), -1);
}

/// The other core of the device sends what this one waits for, at this moment: both came out of one barrier.
void Machine::waitForOtherCore(uint32_t flag, int32_t value) {
  const double bytes = static_cast<double>(value) * static_cast<double>(placement_.dma_granule_bytes);
  forWhatIfs([&](WhatIf& what_if) { what_if.receive(flag, value, bytes); });
  if (!deliver(clock_) || flags_[flag] >= value) return;
  const MemoryTiming& timing = options_.timing;
  addStall(events::Cause::kDmaLatency,
           static_cast<int64_t>(timing.before[static_cast<size_t>(Route::kLocal)]), -1);
  addStall(events::Cause::kSemaphore, static_cast<int64_t>(bytes / timing.local_bytes_per_cycle), -1);
  flags_[flag] = value;
}

/// The other chip's transfer to this one ends when this one's to it does: both flags are this chip's.
bool Machine::leaveChip(const DmaSite& site, Flight& flight, TransferShape& shape) {
  const uint32_t overrides = registers_[static_cast<size_t>(site.overrides)];
  if (site.overrides < kConstants && register_origin_[static_cast<size_t>(site.overrides)]) {
    return unknownUsed(register_origin_[static_cast<size_t>(site.overrides)], "the other chip of a transfer");
  }
  if (!(overrides & kRemote)) return true;
  if (!(options_.timing.link_bytes_per_cycle > 0))
    return fault("a transfer to another chip: no links are known");
  const uint32_t source = registers_[static_cast<size_t>(site.source_flag)];
  flight.flag &= kFlagMask;
  flight.source_flag = static_cast<int32_t>(source & kFlagMask);
  if (!flagInRange(static_cast<uint32_t>(flight.source_flag))) return false;
  if (source & kCounts) flight.added = 1;
  const int64_t device = overrides & kChipMask;
  shape.route = Route::kLink;
  const bool ring = routing_tables_.contains(flight.op);  // whose neighbours are a link away
  shape.hops = ring ? 1 : options_.slice.hops(device);
  shape.link = ring ? static_cast<int32_t>(device) : options_.slice.link(device);
  return true;
}

/// A row says the device's place in the ring of its group, the next one, the one before, and the place once
/// more. The second table of an operation is a second ring, over links of its own where the slice has them.
void Machine::fillRoutingTable(const Flight& flight) {
  if (flight.op < 0 || static_cast<size_t>(flight.op) >= options_.groups.size()) return;
  const DmaSite& site = code_.transfers[static_cast<size_t>(flight.site)];
  const auto members = static_cast<int64_t>(options_.groups[static_cast<size_t>(flight.op)].size());
  if (members == 0 || site.from != llo::Space::kHbm || site.to != llo::Space::kSmem) return;
  int64_t base = flight.source;
  const llo::Listing& top = program_.listings[static_cast<size_t>(program_.top)];
  for (size_t i = 0; i < top.allocations.size(); ++i) {
    const int64_t at =
        placement_.addresses[static_cast<size_t>(program_.top)][i] * placement_.hbm_address_bytes;
    if (top.allocations[i].space == llo::Space::kHbm && at <= flight.source &&
        flight.source < at + std::max<int64_t>(top.allocations[i].bytes, 1))
      base = at;
  }
  std::set<int64_t>& tables = routing_tables_[flight.op];
  tables.insert(base);
  const int64_t ring =
      options_.slice.longAxes() > 1 ? std::distance(tables.begin(), tables.find(base)) : int64_t{0};
  for (int64_t w = 0; w < flight.bytes / 4; ++w) {
    const size_t at = static_cast<size_t>(flight.destination / 4 + w);
    if (at >= smem_.size() || smem_origin_[at] == 0) continue;
    const int64_t word = (flight.source - base) / 4 + w, row = word / kRowWords % members;
    const int64_t column = word % kRowWords;
    const int64_t other = column == 1   ? (row + 1) % members
                          : column == 2 ? (row + members - 1) % members
                                        : row;
    smem_[at] = static_cast<uint32_t>(column == 1 || column == 2 ? (ring << 12 | other) : other);
    smem_origin_[at] = 0;
  }
}

}  // namespace sublane::sim
