#include "sim/memory_system.h"

#include <gtest/gtest.h>

namespace sublane::sim {
namespace {

constexpr size_t kReadIndex = static_cast<size_t>(Route::kRead);
constexpr size_t kWriteIndex = static_cast<size_t>(Route::kWrite);

/// 10 bytes a cycle; a read begins 100 cycles late, a write is known to be there 50 cycles late.
MemoryTiming timing() {
  MemoryTiming timing{
      .shared = true, .bytes_per_cycle = 10, .run_overhead_bytes = 0, .local_bytes_per_cycle = 4};
  timing.before[kReadIndex] = 100;
  timing.after[kWriteIndex] = 50;
  return timing;
}

int64_t doneAt(MemorySystem& memory, int32_t tag) {
  const std::optional<Transfer> transfer = memory.next(MemorySystem::kForever);
  EXPECT_TRUE(transfer.has_value());
  EXPECT_EQ(transfer->tag, tag);
  return transfer ? transfer->done : -1;
}

TEST(MemorySystem, OneTransferTakesLatencyAndBytes) {
  MemorySystem memory(timing());
  memory.issue(7, {.route = Route::kRead, .bytes = 1000}, 1);
  EXPECT_EQ(doneAt(memory, 1), 7 + 100 + 100);
  EXPECT_TRUE(memory.idle());
  memory.issue(1000, {.route = Route::kWrite, .bytes = 1000}, 2);
  const std::optional<Transfer> write = memory.next(MemorySystem::kForever);
  EXPECT_EQ(write->start, 1000);
  EXPECT_EQ(write->finish, 1100);
  EXPECT_EQ(write->done, 1150);
}

TEST(MemorySystem, TwoTransfersShareEvenly) {
  MemorySystem memory(timing());
  memory.issue(0, {.bytes = 1000}, 1);
  memory.issue(0, {.bytes = 500}, 2);
  // Each gets 5 bytes a cycle until the small one is done; then the other one has all.
  EXPECT_EQ(doneAt(memory, 2), 100 + 100);
  EXPECT_EQ(doneAt(memory, 1), 100 + 100 + 50);
}

TEST(MemorySystem, ReadingAndWritingAtOnceCostsBandwidth) {
  MemoryTiming mixed = timing();
  mixed.mixed_efficiency = 0.5;
  MemorySystem memory(mixed);
  memory.issue(0, {.route = Route::kRead, .bytes = 1000}, 1);   // from 100 on
  memory.issue(0, {.route = Route::kWrite, .bytes = 1250}, 2);  // 1000 alone; 250 at 2.5 bytes a cycle
  EXPECT_EQ(doneAt(memory, 2), 100 + 100 + 50);
  EXPECT_EQ(doneAt(memory, 1), 200 + 75);  // it got 250 by then; the rest alone
  memory.issue(1000, {.route = Route::kRead, .bytes = 1000}, 3);
  memory.issue(1000, {.route = Route::kRead, .bytes = 1000}, 4);
  EXPECT_EQ(doneAt(memory, 3), 1000 + 100 + 200) << "reads alone lose nothing";
  EXPECT_EQ(doneAt(memory, 4), 1000 + 100 + 200);
}

TEST(MemorySystem, ASmallTransferIsNotStuckBehindALargeOne) {
  MemorySystem memory(timing());
  memory.issue(0, {.bytes = 1000000}, 1);
  memory.issue(5000, {.bytes = 100}, 2);
  EXPECT_EQ(doneAt(memory, 2), 5000 + 100 + 20);
  EXPECT_EQ(doneAt(memory, 1), 100 + 100000 + 10);
}

TEST(MemorySystem, BandwidthIsKept) {
  MemorySystem memory(timing());
  int64_t bytes = 0, last = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t size = 100 + 37 * (i % 11);
    bytes += size;
    memory.issue(i / 4, {.bytes = size}, i);
  }
  int count = 0;
  while (const auto transfer = memory.next(MemorySystem::kForever)) {
    EXPECT_GE(transfer->done, last);
    last = transfer->done;
    ++count;
  }
  EXPECT_EQ(count, 1000);
  EXPECT_NEAR(static_cast<double>(last), 100 + static_cast<double>(bytes) / 10, 2);
}

TEST(MemorySystem, NothingCompletesAfterTheLimit) {
  MemorySystem memory(timing());
  memory.issue(0, {.bytes = 1000}, 1);
  EXPECT_FALSE(memory.next(199));
  EXPECT_FALSE(memory.idle());
  EXPECT_TRUE(memory.next(200));
}

TEST(MemorySystem, RunsCostAndCopiesCountTwice) {
  MemoryTiming with_runs = timing();
  with_runs.run_overhead_bytes = 10;
  MemorySystem memory(with_runs);
  memory.issue(0, {.bytes = 1000, .runs = 20}, 1);
  EXPECT_EQ(doneAt(memory, 1), 100 + 120);
  memory.issue(1000, {.route = Route::kCopy, .bytes = 1000, .runs = 0}, 2);
  EXPECT_EQ(doneAt(memory, 2), 1000 + 200);
}

TEST(MemorySystem, LocalTransfersDoNotTouchHbm) {
  MemorySystem memory(timing());
  memory.issue(0, {.bytes = 1000}, 1);
  memory.issue(0, {.route = Route::kLocal, .bytes = 40}, 2);
  EXPECT_EQ(doneAt(memory, 2), 10);
  EXPECT_EQ(doneAt(memory, 1), 200);
}

TEST(MemorySystem, TheCompilersModelKnowsNoSharing) {
  ChipModel model = *chipModel("v6e");
  const MemoryTiming compiler = *memoryTiming(model, DmaTiming::kCompiler, {});
  MemorySystem alone(compiler), together(compiler);
  alone.issue(0, {.bytes = 1 << 20}, 1);
  const int64_t one = alone.next(MemorySystem::kForever)->done;
  for (int i = 0; i < 3; ++i) together.issue(0, {.bytes = 1 << 20}, i);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(doneAt(together, i), one);
  EXPECT_FALSE(memoryTiming(*chipModel("v4"), DmaTiming::kCompiler, {}).ok());
}

TEST(MemorySystem, CounterfactualsTakeTheirPart) {
  const ChipModel model = *chipModel("v6e");
  const auto done = [&](std::vector<Without> without) {
    MemorySystem memory(*memoryTiming(model, DmaTiming::kShared, without));
    memory.issue(0, {.bytes = 1 << 20}, 1);
    return memory.next(MemorySystem::kForever)->done;
  };
  const int64_t whole = done({});
  const int64_t without_bytes = done({Without::kHbmLimit}), without_latency = done({Without::kDmaLatency});
  EXPECT_EQ(without_bytes, static_cast<int64_t>(model.read_latency_cycles));
  EXPECT_NEAR(static_cast<double>(without_bytes + without_latency), static_cast<double>(whole), 1);
  EXPECT_EQ(done({Without::kDma}), 0);
}

}  // namespace
}  // namespace sublane::sim
