#include <gtest/gtest.h>

#include "hlo_writer.h"
#include "llo/llo.h"

namespace sublane::llo {
namespace {

std::optional<int64_t> tripsOf(const std::string& bytes) {
  auto module = readHloModule(bytes);
  EXPECT_TRUE(module.ok()) << module.error().text();
  const Computation& entry = module->entryComputation();
  for (const Instruction& one : entry.instructions) {
    if (one.is("while")) return tripCount(*module, entry, one);
  }
  return std::nullopt;
}

TEST(TripCount, IsReadFromTheComparison) {
  EXPECT_EQ(tripsOf(testing::loopModule(0, 24, 1)), 24);
  EXPECT_EQ(tripsOf(testing::loopModule(0, 24, 5)), 5);
  EXPECT_EQ(tripsOf(testing::loopModule(3, 24, 1)), 21);
  EXPECT_EQ(tripsOf(testing::loopModule(30, 24, 1)), 0);
}

TEST(TripCount, TheBoundMayStandInTheState) { EXPECT_EQ(tripsOf(testing::loopModule(0, 7, 1, true)), 7); }

TEST(TripCount, AnEndlessLoopHasNone) {
  EXPECT_EQ(tripsOf(testing::loopModule(0, 24, 0)), std::nullopt);
  EXPECT_EQ(tripsOf(testing::loopModule(0, 24, -1)), std::nullopt);
}

TEST(BackendConfig, ReadsWhatLibtpuWrites) {
  const BackendConfig window = readBackendConfig(
      R"({"window_config": {"estimated_cycles": "3040"}, "used_scoped_memory_configs":
          [{"memory_space": "1", "offset": "0", "size": "524288"}]})");
  EXPECT_EQ(window.estimated_cycles, 3040);
  EXPECT_EQ(window.vmem_bytes, 524288);
  EXPECT_EQ(readBackendConfig(R"({"known_trip_count": {"n": "12"}})").trip_count, 12);
  const BackendConfig kernel = readBackendConfig(
      R"({"custom_call_config": {"cost_estimate": {"flops": "134217728", "bytes_accessed": "999"}}})");
  EXPECT_EQ(kernel.kernel_flops, 134217728);
  EXPECT_EQ(kernel.kernel_bytes, 999);
  EXPECT_FALSE(kernel.kernel_transcendentals);
}

TEST(BackendConfig, WhatIsNotUnderstoodIsNothing) {
  for (const char* json :
       {"", "{", "[]", "7", R"({"estimated_cycles": "many"})", R"({"estimated_cycles": "-4"})",
        R"({"window_config": 3, "custom_call_config": []})"}) {
    const BackendConfig config = readBackendConfig(json);
    EXPECT_FALSE(config.estimated_cycles) << json;
    EXPECT_FALSE(config.kernel_flops) << json;
  }
}

}  // namespace
}  // namespace sublane::llo
