// Decides when the bytes of a DMA have arrived: one HBM that all running transfers share evenly, with a fixed
// latency by direction, and a cost for each contiguous run of a strided transfer. While it is both read and
// written, a part of the bandwidth goes into turning the bus round.
//
// Sharing is exact ("fluid"): with n transfers running, each gets 1/n of the bandwidth, so a small one is not
// stuck behind a large one. Virtual time (bytes that each running transfer has received) makes an arrival or
// a departure cost O(log n). Transfers between VMEM and SMEM do not touch HBM and run apart.
//
//   MemorySystem memory(memoryTiming(model, DmaTiming::kShared, {}));
//   memory.issue(now, {.route = Route::kRead, .bytes = 16384}, slot);
//   while (std::optional<Transfer> done = memory.next(MemorySystem::kForever)) fmt::print("{}\n",
//   done->done);
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "sim/sim.h"

namespace sublane::sim {

enum class Route : uint8_t {
  kRead,   // HBM to VMEM
  kWrite,  // VMEM to HBM
  kCopy,   // HBM to HBM: its bytes count twice
  kSmall,  // between HBM and SMEM
  kLocal,  // between VMEM and SMEM, VMEM and VMEM
  kLink,   // to another chip
};
inline constexpr int kRoutes = 6;

struct TransferShape {
  Route route = Route::kRead;
  int64_t bytes = 0;
  int64_t runs = 1;  // contiguous pieces in HBM
  int32_t link = 0;  // kLink: the one that it leaves by, and how many it crosses
  int64_t hops = 1;
};

/// A transfer's life, in cycles: it waits from `issue` to `start`, moves bytes until `finish`, and is
/// complete at `done`. `tag` is the caller's.
struct Transfer {
  int64_t issue = 0;
  double start = 0, finish = 0;
  int64_t done = 0;
  int32_t serial = 0, tag = 0;
};

struct MemoryTiming {
  bool shared = true;           // else each transfer has the whole bandwidth
  double bytes_per_cycle = 0;   // of HBM; infinite: bytes cost nothing
  double mixed_efficiency = 1;  // share of it that is left while HBM is both read and written
  double run_overhead_bytes = 0;
  double local_bytes_per_cycle = 0;
  double link_bytes_per_cycle = 0;                   // one way; 0: there are no links
  double before[kRoutes] = {}, after[kRoutes] = {};  // latency, cycles
};
/// Error: `kCompiler` for a chip whose model holds no figures of the compiler.
Result<MemoryTiming> memoryTiming(const ChipModel& model, DmaTiming timing, std::span<const Without> without);

class MemorySystem {
 public:
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  explicit MemorySystem(const MemoryTiming& timing) : timing_(timing) {}

  /// Starts a transfer at cycle `now`, which must not be before any time that `next` has returned. Returns
  /// its serial number.
  int32_t issue(int64_t now, const TransferShape& shape, int32_t tag);

  /// The next transfer that completes, if it does by cycle `limit`, in order of completion.
  std::optional<Transfer> next(int64_t limit);

  bool idle() const { return under_way_ == 0; }
  int64_t issued() const { return serial_; }

 private:
  struct Entry {
    double key = 0;  // time, or virtual time among the running
    int32_t serial = 0, slot = 0;
    bool operator>(const Entry& other) const {
      return key != other.key ? key > other.key : serial > other.serial;
    }
  };
  using Heap = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

  double bytesPerCycle() const;
  void count(Route route, int32_t by);
  void cross(Transfer& transfer, const TransferShape& shape, int32_t slot);
  void runUntil(double time);
  void startOldest();
  void finishOldest();

  MemoryTiming timing_;
  std::vector<Transfer> slots_;
  std::vector<TransferShape> shapes_;
  std::vector<int32_t> free_;
  std::map<int32_t, double> link_free_;  // when each link has sent what it was given
  Heap waiting_, running_, ending_;
  double time_ = 0, received_ = 0;     // bytes that each running transfer got so far
  int32_t reading_ = 0, writing_ = 0;  // of the running
  int32_t serial_ = 0, under_way_ = 0;
};

}  // namespace sublane::sim
