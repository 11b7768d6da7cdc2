#include "sim/slice.h"

#include <gtest/gtest.h>

#include "sim/memory_system.h"

namespace sublane::sim {
namespace {

TEST(Slice, DistancesAlongTheAxes) {
  const Slice mesh{.dims = {2, 4}};
  EXPECT_EQ(mesh.devices(), 8);
  EXPECT_EQ(mesh.hops(1), 1);
  EXPECT_EQ(mesh.hops(3), 3) << "an axis of 4 is no ring on a chip with two axes";
  EXPECT_EQ(mesh.hops(4), 1);
  EXPECT_EQ(mesh.hops(7), 4);
  EXPECT_NE(mesh.link(1), mesh.link(4));
  EXPECT_EQ(mesh.link(5), mesh.link(1)) << "the last axis first";
  const Slice pod{.dims = {16, 16}};
  EXPECT_EQ(pod.hops(15), 1);
  EXPECT_NE(pod.link(15), pod.link(1));
  const Slice cube{.dims = {4, 4, 4}};
  EXPECT_EQ(cube.hops(3), 1);
  EXPECT_EQ(cube.hops(63), 3);
  EXPECT_EQ(cube.longAxes(), 3);
  EXPECT_EQ((Slice{.dims = {2, 2}}).longAxes(), 0);
  EXPECT_EQ(Slice{}.devices(), 1);
}

TEST(Links, SendOneTransferAfterTheOther) {
  MemoryTiming timing{.link_bytes_per_cycle = 10};
  timing.after[static_cast<size_t>(Route::kLink)] = 100;
  MemorySystem memory(timing);
  memory.issue(0, {.route = Route::kLink, .bytes = 1000, .link = 1}, 0);
  memory.issue(0, {.route = Route::kLink, .bytes = 1000, .link = 1}, 1);
  memory.issue(0, {.route = Route::kLink, .bytes = 1000, .link = 2, .hops = 3}, 2);
  const auto first = memory.next(MemorySystem::kForever);
  EXPECT_EQ(first->tag, 0);
  EXPECT_EQ(first->done, 200);
  const auto second = memory.next(MemorySystem::kForever);
  EXPECT_EQ(second->tag, 1) << "behind the first";
  EXPECT_EQ(second->done, 300);
  const auto third = memory.next(MemorySystem::kForever);
  EXPECT_EQ(third->done, 600) << "three links, three hops, its own way out";
  EXPECT_TRUE(memory.idle());
}

}  // namespace
}  // namespace sublane::sim
