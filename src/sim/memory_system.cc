#include "sim/memory_system.h"

#include <algorithm>
#include <cmath>

namespace sublane::sim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

size_t at(Route route) { return static_cast<size_t>(route); }

double extra(const ChipModel& model, const char* key, double otherwise = 0) {
  const auto found = model.extra.find(key);
  return found == model.extra.end() ? otherwise : found->second;
}

void addLinks(const ChipModel& model, MemoryTiming& timing) {
  timing.link_bytes_per_cycle = extra(model, "ici_bytes_per_second") / model.clock_hz;
  timing.after[at(Route::kLink)] = extra(model, "ici_hop_us") * 1e-6 * model.clock_hz;
}

MemoryTiming sharedTiming(const ChipModel& model) {
  // The cores of a device work side by side, each with its part of the HBM.
  const double cores = std::max(extra(model, "cores_per_device"), 1.0);
  MemoryTiming timing{
      .shared = true,
      .bytes_per_cycle = model.hbm_peak_bytes_per_second * model.hbm_efficiency / model.clock_hz / cores,
      .mixed_efficiency = extra(model, "hbm_mixed_efficiency", 1),
      .run_overhead_bytes = model.hbm_run_overhead_bytes,
      .local_bytes_per_cycle = model.local_bytes_per_cycle};
  // A read's bytes come late; a write's leave at once and are known to be there late.
  timing.before[at(Route::kRead)] = model.read_latency_cycles;
  timing.after[at(Route::kWrite)] = model.write_latency_cycles;
  timing.before[at(Route::kCopy)] = model.read_latency_cycles;
  timing.after[at(Route::kCopy)] = model.write_latency_cycles;
  timing.before[at(Route::kSmall)] = model.small_latency_cycles;
  timing.before[at(Route::kLocal)] = extra(model, "local_latency_cycles");
  addLinks(model, timing);
  return timing;
}

Result<MemoryTiming> compilerTiming(const ChipModel& model) {
  const double rate = extra(model, "compiler_bytes_per_cycle");
  if (!(rate > 0)) {
    return inputError("simulator: the model of {} holds no figures of the compiler's own DMA model",
                      model.chip)
        .hint("use the shared model");
  }
  MemoryTiming timing{.shared = false, .bytes_per_cycle = rate, .local_bytes_per_cycle = rate};
  timing.before[at(Route::kRead)] = extra(model, "compiler_read_latency_cycles");
  timing.before[at(Route::kWrite)] = extra(model, "compiler_write_latency_cycles");
  timing.before[at(Route::kCopy)] = timing.before[at(Route::kRead)] + timing.before[at(Route::kWrite)];
  timing.before[at(Route::kSmall)] = extra(model, "compiler_small_latency_cycles");
  timing.before[at(Route::kLocal)] = extra(model, "compiler_local_latency_cycles");
  addLinks(model, timing);  // of which the compiler's figures say nothing
  return timing;
}

}  // namespace

Result<MemoryTiming> memoryTiming(const ChipModel& model, DmaTiming timing,
                                  std::span<const Without> without) {
  MemoryTiming result = sharedTiming(model);
  if (timing == DmaTiming::kCompiler) {
    SUBLANE_TRY(result, compilerTiming(model));
  }
  const auto taken = [&](Without w) { return std::find(without.begin(), without.end(), w) != without.end(); };
  if (taken(Without::kHbmLimit) || taken(Without::kDma)) {
    result.bytes_per_cycle = result.local_bytes_per_cycle = result.link_bytes_per_cycle = kInfinite;
  }
  if (taken(Without::kDmaLatency) || taken(Without::kDma)) {
    std::fill(std::begin(result.before), std::end(result.before), 0);
    std::fill(std::begin(result.after), std::end(result.after), 0);
  }
  return result;
}

int32_t MemorySystem::issue(int64_t now, const TransferShape& shape, int32_t tag) {
  int32_t slot = static_cast<int32_t>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
    shapes_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Transfer& transfer = slots_[static_cast<size_t>(slot)];
  transfer = {.issue = now, .serial = serial_++, .tag = tag};
  shapes_[static_cast<size_t>(slot)] = shape;
  transfer.start = static_cast<double>(now) + timing_.before[at(shape.route)];
  ++under_way_;
  if (shape.route == Route::kLink) {
    cross(transfer, shape, slot);
  } else {
    waiting_.push({transfer.start, transfer.serial, slot});
  }
  return transfer.serial;
}

/// A link sends one transfer after the other. Every chip sends as this one does, so one that crosses several
/// links takes their time from others: it counts once for each.
void MemorySystem::cross(Transfer& transfer, const TransferShape& shape, int32_t slot) {
  double& free = link_free_[shape.link];
  const double hops = static_cast<double>(shape.hops);
  free =
      std::max(transfer.start, free) + static_cast<double>(shape.bytes) * hops / timing_.link_bytes_per_cycle;
  transfer.finish = free;
  transfer.done =
      static_cast<int64_t>(std::ceil(transfer.finish + hops * timing_.after[at(Route::kLink)] - 1e-6));
  ending_.push({static_cast<double>(transfer.done), transfer.serial, slot});
}

std::optional<Transfer> MemorySystem::next(int64_t limit) {
  const double most = limit == kForever ? kInfinite : static_cast<double>(limit);
  for (;;) {
    const double starts = waiting_.empty() ? kInfinite : waiting_.top().key;
    const double finishes = running_.empty()
                                ? kInfinite
                                : time_ + (running_.top().key - received_) *
                                              static_cast<double>(running_.size()) / bytesPerCycle();
    const double ends = ending_.empty() ? kInfinite : ending_.top().key;
    const double soonest = std::min({starts, finishes, ends});
    if (soonest == kInfinite || soonest > most) return std::nullopt;
    if (ends <= soonest) {
      const Entry entry = ending_.top();
      ending_.pop();
      --under_way_;
      free_.push_back(entry.slot);
      return slots_[static_cast<size_t>(entry.slot)];
    }
    runUntil(std::max(soonest, time_));
    finishes <= soonest ? finishOldest() : startOldest();
  }
}

double MemorySystem::bytesPerCycle() const {
  return timing_.bytes_per_cycle * (reading_ > 0 && writing_ > 0 ? timing_.mixed_efficiency : 1);
}

void MemorySystem::count(Route route, int32_t by) {
  if (route != Route::kWrite) reading_ += by;
  if (route == Route::kWrite || route == Route::kCopy) writing_ += by;
}

void MemorySystem::runUntil(double time) {
  if (!running_.empty()) {
    received_ += (time - time_) * bytesPerCycle() / static_cast<double>(running_.size());
  }
  time_ = time;
}

void MemorySystem::startOldest() {
  const Entry entry = waiting_.top();
  waiting_.pop();
  Transfer& transfer = slots_[static_cast<size_t>(entry.slot)];
  const TransferShape& shape = shapes_[static_cast<size_t>(entry.slot)];
  const bool local = shape.route == Route::kLocal;
  double bytes = static_cast<double>(shape.bytes);
  if (shape.route == Route::kCopy && timing_.shared) bytes *= 2;
  if (!local) bytes += static_cast<double>(shape.runs) * timing_.run_overhead_bytes;
  if (timing_.shared && !local && timing_.bytes_per_cycle != kInfinite) {
    if (running_.empty()) received_ = 0;
    running_.push({received_ + bytes, entry.serial, entry.slot});
    count(shape.route, 1);
    return;
  }
  const double rate = local ? timing_.local_bytes_per_cycle : timing_.bytes_per_cycle;
  transfer.finish = transfer.start + bytes / rate;
  transfer.done = static_cast<int64_t>(std::ceil(transfer.finish + timing_.after[at(shape.route)] - 1e-6));
  ending_.push({static_cast<double>(transfer.done), entry.serial, entry.slot});
}

void MemorySystem::finishOldest() {
  const Entry entry = running_.top();
  running_.pop();
  received_ = entry.key;  // exactly, whatever rounding did
  Transfer& transfer = slots_[static_cast<size_t>(entry.slot)];
  const Route route = shapes_[static_cast<size_t>(entry.slot)].route;
  count(route, -1);
  transfer.finish = time_;
  transfer.done = static_cast<int64_t>(std::ceil(time_ + timing_.after[at(route)] - 1e-6));
  ending_.push({static_cast<double>(transfer.done), entry.serial, entry.slot});
}

}  // namespace sublane::sim
