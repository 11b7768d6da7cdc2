// The machine's transfers, sync flags and vector work.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/machine.h"

namespace sublane::sim {
namespace {

/// A transfer of the top-level program's own code that is not larger moves its data always.
constexpr int64_t kSmallTransfer = 4096;
constexpr int64_t kTileBytes = kSublanes * kRowBytes;

events::Memory memoryOf(llo::Space space) {
  switch (space) {
    case llo::Space::kHbm:
      return events::Memory::kHbm;
    case llo::Space::kVmem:
      return events::Memory::kVmem;
    case llo::Space::kSmem:
      return events::Memory::kSmem;
    case llo::Space::kCmem:
      return events::Memory::kCmem;
    default:
      return events::Memory::kOther;
  }
}

}  // namespace

bool Machine::flagInRange(uint32_t flag) {
  if (flag < flags_.size()) return true;
  return fault(fmt::format("sync flag {}; there are {}", flag, flags_.size()));
}

bool Machine::deliver(int64_t limit) {
  while (const std::optional<Transfer> done = memory_.next(limit)) {
    if (!complete(*done)) return false;
  }
  return true;
}

bool Machine::complete(const Transfer& transfer) {
  const Flight& flight = flights_[static_cast<size_t>(transfer.tag)];
  flags_[static_cast<size_t>(flight.flag)] += flight.added;
  profile_.complete(flight.use, transfer.done - transfer.issue);
  if (flight.source_flag >= 0) flags_[static_cast<size_t>(flight.source_flag)] += flight.added;
  if (options_.sink) tellDone(flight, transfer);
  land(transfer.tag);
  return true;
}

bool Machine::waitFor(uint32_t flag, int32_t value) {
  if (!waitedFor(flag, value)) return false;
  if (options_.sink) tellTaken(static_cast<int32_t>(flag), value);
  return true;
}

bool Machine::waitedFor(uint32_t flag, int32_t value) {
  if (!deliver(clock_)) return false;
  std::optional<Transfer> last;
  while (flags_[flag] < value) {
    last = memory_.next(MemorySystem::kForever);
    if (!last) return fault(deadlock(flag, value));
    if (!complete(*last)) return false;
  }
  if (options_.late_transfers) settle(static_cast<int32_t>(flag), value);
  if (!last || last->done <= clock_) return true;
  // Of the stall, what lies between the first and the last byte is the bytes'; the rest is latency.
  const int64_t stall = last->done - clock_;
  const double from = std::max(static_cast<double>(clock_), last->start);
  const int64_t bytes =
      std::clamp(static_cast<int64_t>(std::llround(last->finish - from)), int64_t{0}, stall);
  const int64_t before =
      std::clamp(static_cast<int64_t>(std::llround(last->start)) - clock_, int64_t{0}, stall - bytes);
  profile_.waited(flights_[static_cast<size_t>(last->tag)].use, stall);
  addStall(events::Cause::kDmaLatency, before, last->serial);
  addStall(events::Cause::kDma, bytes, last->serial);
  addStall(events::Cause::kDmaLatency, stall - bytes - before, last->serial);
  return true;
}

std::string Machine::flagName(uint32_t flag) const {
  const int32_t index = code_.functions[static_cast<size_t>(function_)].listing;
  const llo::Listing& listing = program_.listings[static_cast<size_t>(index)];
  for (size_t i = 0; i < listing.allocations.size(); ++i) {
    const int64_t begin = placement_.addresses[static_cast<size_t>(index)][i];
    const llo::Allocation& allocation = listing.allocations[i];
    if (allocation.space != llo::Space::kSyncFlag || flag < begin) continue;
    if (flag < begin + std::max<int64_t>(1, allocation.bytes / 4))
      return fmt::format("{} (#{} + {})", flag, allocation.name, flag - begin);
  }
  return fmt::format("{}", flag);
}

std::string Machine::deadlock(uint32_t flag, int32_t value) const {
  return fmt::format("deadlock: sync flag {} is {}, {} are waited for, and no transfer is under way",
                     flagName(flag), flags_[flag], value);
}

bool Machine::issue(const DmaSite& site) {
  if (site.to_host) {
    ++unmoved_host_;
    return true;
  }
  for (const int32_t reg : {site.source, site.destination, site.size, site.flag, site.source_stride,
                            site.destination_stride, site.steps}) {
    if (reg >= 0 && reg < kConstants && register_origin_[static_cast<size_t>(reg)])
      return unknownUsed(register_origin_[static_cast<size_t>(reg)], "a transfer");
  }
  const auto value = [&](int32_t reg) { return int64_t{registers_[static_cast<size_t>(reg)]}; };
  const int64_t granule = placement_.dma_granule_bytes;
  // VMEM in granules, SMEM in words. HBM in granules: v5e's code shifts its rows to granules beforehand.
  const auto bytesAt = [&](int32_t reg, llo::Space space) {
    return value(reg) * (space == llo::Space::kSmem ? 4 : granule);
  };
  const int32_t function = function_, bundle = code_.bundles[static_cast<size_t>(pc_)];
  Flight flight{.site = static_cast<int32_t>(&site - code_.transfers.data()),
                .flag = static_cast<int32_t>(value(site.flag) & 0xffff),
                .granules = static_cast<int32_t>(value(site.size)),
                .function = function,
                .bundle = bundle,
                .op = currentOp(),
                .source = bytesAt(site.source, site.from),
                .destination = bytesAt(site.destination, site.to)};
  flight.bytes = flight.granules * granule;
  flight.added = flight.granules;
  TransferShape shape{.route = site.route, .bytes = flight.bytes};
  if (site.overrides >= 0 && !leaveChip(site, flight, shape)) return false;
  if (flight.granules < 0) return fault(fmt::format("a transfer of {} granules", flight.granules));
  if (!flagInRange(static_cast<uint32_t>(flight.flag))) return false;
  flight.run_bytes = flight.bytes;
  if (site.steps >= 0) {
    flight.run_bytes = std::min(flight.bytes, std::max<int64_t>(value(site.steps), 1) * kRowBytes);
    flight.source_stride = value(site.source_stride) * granule;
    flight.destination_stride = value(site.destination_stride) * granule;
  }
  if (site.descriptor >= 0 && !readDescriptor(site, flight)) return false;
  const int64_t hbm_stride = site.from == llo::Space::kHbm ? flight.source_stride : flight.destination_stride;
  const bool contiguous = flight.run_bytes == 0 || hbm_stride == flight.run_bytes;
  shape.runs = contiguous ? 1 : (flight.bytes + flight.run_bytes - 1) / flight.run_bytes;

  flight.use = profile_.issue({.site = flight.site, .traced = flight.op}, function, bundle, shape);
  OpTime& time = accounts_[static_cast<size_t>(account_)].time;
  if (site.from == llo::Space::kHbm) time.hbm_read_bytes += flight.bytes;
  if (site.to == llo::Space::kHbm) time.hbm_write_bytes += flight.bytes;
  const bool top = function_ == code_.top;
  const bool valued = options_.all_valued ||
                      (flight.op >= 0 && valued_ops_[static_cast<size_t>(flight.op)]) ||
                      (top && options_.top_valued && flight.bytes <= kSmallTransfer);
  // What the scalar unit will read must be right; what nobody moves is no longer what it was.
  flight.move = valued || site.to == llo::Space::kSmem || site.from == llo::Space::kSmem;
  if (!flight.move && site.to == llo::Space::kHbm && !hbm_.empty()) forgetDestination(flight);
  if (valued) forgetDestination(flight);

  int32_t tag = static_cast<int32_t>(flights_.size());
  if (free_flights_.empty()) {
    flights_.push_back(flight);
  } else {
    tag = free_flights_.back();
    free_flights_.pop_back();
    flights_[static_cast<size_t>(tag)] = flight;
  }
  begin(tag);
  // Whatever is complete by now comes first: `next` never goes back in time.
  const int32_t serial = memory_.issue(clock_, shape, tag);
  forWhatIfs([&](WhatIf& what_if) { what_if.issue(shape, flight.flag, flight.added, flight.source_flag); });
  if (options_.sink)
    tellIssued(flight, serial, memoryOf(site.from), memoryOf(site.to), shape.route == Route::kLink);
  return true;
}

/// Six words in SMEM: strides of the outer steps (source, destination), inner steps in an outer one, strides
/// of the inner steps, and the length of a run in rows of 512 bytes. Strides are in granules.
bool Machine::readDescriptor(const DmaSite& site, Flight& flight) {
  const size_t at = registers_[static_cast<size_t>(site.descriptor)];
  int64_t words[6];
  for (size_t w = 0; w < 6; ++w) {
    if (at + w >= smem_.size()) return fault(fmt::format("strides at word {} of SMEM", at + w));
    // A transfer to another chip without strides names words that nobody writes.
    if (smem_origin_[at + w] == 1 && flight.source_flag >= 0) return true;
    if (smem_origin_[at + w] == 1)
      return fault(fmt::format("the strides of a transfer, word {} of SMEM, were written by nobody", at + w));
    if (smem_origin_[at + w]) return unknownUsed(smem_origin_[at + w], "the strides of a transfer");
    words[w] = smem_[at + w];
  }
  const int64_t granule = placement_.dma_granule_bytes;
  flight.outer_source_stride = words[0] * granule;
  flight.outer_destination_stride = words[1] * granule;
  flight.inner_runs = words[2];
  flight.source_stride = words[3] * granule;
  flight.destination_stride = words[4] * granule;
  flight.run_bytes = std::min(flight.bytes, std::max<int64_t>(words[5], 1) * kRowBytes);
  return true;
}

void Machine::forgetDestination(const Flight& flight) {
  const DmaSite& site = code_.transfers[static_cast<size_t>(flight.site)];
  flight.forRuns([&](int64_t, int64_t at, int64_t bytes) {
    if (site.to == llo::Space::kHbm) hbm_.forget(at, bytes);
    if (site.to == llo::Space::kVmem && vector_)
      vector_->forgetVmem(at / kRowBytes, (bytes + kRowBytes - 1) / kRowBytes);
  });
}

void Machine::moveData(const Flight& flight) {
  flight.forRuns([&](int64_t from, int64_t to, int64_t bytes) { moveRun(flight, from, to, bytes); });
  const bool to_vmem = code_.transfers[static_cast<size_t>(flight.site)].to == llo::Space::kVmem;
  if (to_vmem && vector_ && flight.bytes < kTileBytes) fillTile(flight);
  if (!options_.groups.empty()) fillRoutingTable(flight);
}

void Machine::moveRun(const Flight& flight, int64_t from, int64_t to, int64_t bytes) {
  const DmaSite& site = code_.transfers[static_cast<size_t>(flight.site)];
  constexpr int64_t kPiece = kRowBytes;
  std::byte piece[kPiece];
  uint32_t words[kPiece / 4];
  for (int64_t done = 0; done < bytes; done += kPiece) {
    const int64_t count = std::min(kPiece, bytes - done);
    const std::span<std::byte> room(piece, static_cast<size_t>(count));
    int64_t unknown = count / 4;
    if (site.from == llo::Space::kHbm) {
      unknown = hbm_.read(from + done, room, kPoison);
      if (unknown > 0) noteUnknown(from + done);
    } else if (site.from == llo::Space::kVmem && vector_) {
      const Result<int64_t> read = vector_->readVmem(from + done, room);
      if (read.ok()) unknown = *read;
    } else if (site.from == llo::Space::kCmem) {
      unknown = cmem_.read(from + done, room, kPoison);
    } else if (site.from == llo::Space::kSmem) {
      unknown = readSmem(from + done, room);
    }
    std::memcpy(words, piece, static_cast<size_t>(count));
    // Poison that was stored is as unknown as memory that nothing wrote.
    if (unknown == 0 && site.from == llo::Space::kVmem)
      unknown = std::count(words, words + count / 4, kPoison);
    if (unknown == count / 4) std::fill(std::begin(words), std::end(words), kPoison);
    if (site.to == llo::Space::kSmem) {
      uint32_t origin = 0;
      if (unknown > 0) {
        origin = originOf({.kind = Origin::Kind::kTransfer,
                           .function = flight.function,
                           .bundle = flight.bundle,
                           .op = flight.op,
                           .address = from + done,
                           .space = site.from});
      }
      for (int64_t w = 0; w < count / 4; ++w) {
        const size_t at = static_cast<size_t>((to + done) / 4 + w);
        if (at >= smem_.size()) break;
        smem_[at] = words[w];
        smem_origin_[at] = unknown > 0 && words[w] == kPoison ? origin : 0;
      }
    } else if (unknown < count / 4 && site.to == llo::Space::kHbm) {
      hbm_.write(to + done, room);
    } else if (unknown < count / 4 && site.to == llo::Space::kCmem) {
      cmem_.write(to + done, room);
    } else if (unknown < count / 4 && site.to == llo::Space::kVmem && vector_) {
      (void)vector_->writeVmem(to + done, room).ok();
    }
    if (options_.track_writers) carryWriters(flight, from + done, to + done, count);
  }
}

/// A load takes a whole tile, even of a scalar: what the transfer left out of its allocation is there, but
/// says nothing.
void Machine::fillTile(const Flight& flight) {
  const int64_t first = flight.destination / kRowBytes;
  const int32_t listing = code_.functions[static_cast<size_t>(flight.function)].listing;
  const std::vector<int64_t>& addresses = placement_.addresses[static_cast<size_t>(listing)];
  int64_t end = first;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const llo::Allocation& allocation = program_.listings[static_cast<size_t>(listing)].allocations[i];
    const int64_t rows = (allocation.bytes + kRowBytes - 1) / kRowBytes;
    if (allocation.space != llo::Space::kVmem || first < addresses[i] || first >= addresses[i] + rows)
      continue;
    end = std::max(end, std::min(first + kSublanes, addresses[i] + rows));
  }
  std::byte row[kRowBytes];
  for (int64_t at = first; at < end; ++at) {
    const Result<int64_t> unknown = vector_->readVmem(at * kRowBytes, row);
    if (unknown.ok() && *unknown == kLanes) (void)vector_->writeVmem(at * kRowBytes, row).ok();
  }
}

int64_t Machine::readSmem(int64_t address, std::span<std::byte> bytes) const {
  int64_t unknown = 0;
  for (size_t w = 0; w < bytes.size() / 4; ++w) {
    const size_t at = static_cast<size_t>(address / 4) + w;
    const bool known = at < smem_.size() && smem_origin_[at] == 0;
    const uint32_t word = known ? smem_[at] : kPoison;
    std::memcpy(bytes.data() + w * 4, &word, 4);
    unknown += !known;
  }
  return unknown;
}

void Machine::noteUnknown(int64_t address) {
  for (size_t p = 0; p < placement_.parameters.size(); ++p) {
    const HbmBuffer& buffer = placement_.parameters[p];
    if (address >= buffer.begin && address < buffer.begin + buffer.bytes)
      unknown_arguments_.insert(static_cast<int32_t>(p));
  }
}

bool Machine::executeVector(int32_t bundle) {
  uint32_t predicates = 0;
  for (uint32_t p = 0; p < 16; ++p) predicates |= (registers_[kPredicates + p] & 1) << p;
  const ScalarView scalars{.registers = registers_.data(), .predicates = predicates};
  const int32_t listing = code_.functions[static_cast<size_t>(function_)].vector_listing;
  if (vector_->execute(listing, bundle, scalars, vector_results_)) return true;
  refused_ =
      Origin{.kind = Origin::Kind::kVector, .function = function_, .bundle = bundle, .op = currentOp()};
  message_ = vector_->takeError().message() + contest();
  vector_fault_ = true;
  return false;
}

/// Returns whether a result is not known.
bool Machine::commitVector() {
  bool unknown = false;
  for (const ScalarWrite& write : vector_results_) {
    const int32_t base = write.reg.file == llo::RegisterFile::kPredicate ? kPredicates : 0;
    const auto reg = static_cast<size_t>(base) + write.reg.index;
    registers_[reg] = write.value;
    register_origin_[reg] = 0;
    if (write.value != kPoison) continue;
    register_origin_[reg] =
        originOf({Origin::Kind::kVector, function_, code_.bundles[static_cast<size_t>(pc_)], currentOp()});
    unknown = true;
  }
  vector_results_.clear();
  return unknown;
}

}  // namespace sublane::sim
