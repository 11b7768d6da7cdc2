// Programs for slices: one device is executed among others that do the same.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/paths.h"
#include "report/simulate.h"

namespace sublane::report {
namespace {

class Collectives : public testing::Test {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }

  /// A row of `rows` x 1024 float32 on each of 8 devices, through one collective.
  SimulatedStep simulated(const std::string& chip, const std::string& mesh, int64_t rows,
                          const std::string& result, const std::string& operation,
                          std::vector<sim::Without> without = {}) {
    const std::string text = fmt::format(
        "module @m attributes {{mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}} {{\n"
        "  func.func public @main(%x: tensor<{0}x1024xf32>) -> {1} {{\n    %0 = {2}\n"
        "    return %0 : {1}\n  }}\n}}\n",
        rows, result, operation);
    const std::string path = folder_.path() + "/program.mlir";
    EXPECT_TRUE(writeFileAtomically(path, text).ok());
    const Result<Simulation> run =
        simulateFile(path, {.chip = chip, .mesh = mesh}, {.without = std::move(without)});
    EXPECT_TRUE(run.ok()) << run.error().text();
    return run.ok() ? run->steps.at(0) : SimulatedStep{};
  }
  SimulatedStep allReduce(const std::string& chip, int64_t rows, std::vector<sim::Without> without = {}) {
    const std::string type = fmt::format("tensor<{}x1024xf32>", rows);
    return simulated(
        chip, "2x4", rows, type,
        fmt::format("\"stablehlo.all_reduce\"(%x) ({{\n    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
                    "      %s = stablehlo.add %a, %b : tensor<f32>\n"
                    "      stablehlo.return %s : tensor<f32>\n    }}) {{channel_handle = "
                    "#stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids, "
                    "replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}} : "
                    "({0}) -> {0}",
                    type),
        std::move(without));
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
};

TEST_F(Collectives, AnAllReduceIsBoundByItsLinks) {
  for (const char* chip : {"v6e", "v5e"}) {
    const SimulatedStep large = allReduce(chip, 4096);
    ASSERT_EQ(large.rung, Rung::kBundles) << large.reason;
    // 7/8 of the array leave twice, over two links of 90 or 45 GB/s.
    const double link = std::string(chip) == "v6e" ? 90e9 : 45e9;
    const double bound_us = 2 * 7.0 / 8 * 4096 * 1024 * 4 / (2 * link) * 1e6;
    EXPECT_GE(large.us, bound_us) << chip;
    EXPECT_LE(large.us, 1.6 * bound_us) << chip;
    const SimulatedStep small = allReduce(chip, 512);
    EXPECT_LT(small.us, large.us / 3);
    EXPECT_GT(large.causes[static_cast<size_t>(events::Cause::kSemaphore)], 0) << "barriers take a hop";
    // Bytes that cost nothing: what the links took is gone.
    EXPECT_LT(allReduce(chip, 4096, {sim::Without::kHbmLimit}).us, 0.35 * large.us) << chip;
    fmt::print("[ simulated] {} all-reduce of 16.8 MB over 8 chips: {:.1f} us, bound {:.1f} us\n", chip,
               large.us, bound_us);
  }
}

TEST_F(Collectives, OthersAreExecutedToo) {
  const std::string groups =
      "replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids, "
      "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
  const SimulatedStep gather = simulated("v6e", "2x4", 512, "tensor<4096x1024xf32>",
                                         "\"stablehlo.all_gather\"(%x) {all_gather_dim = 0 : i64, " + groups +
                                             "} : (tensor<512x1024xf32>) -> tensor<4096x1024xf32>");
  EXPECT_EQ(gather.rung, Rung::kBundles) << gather.reason;
  EXPECT_GE(gather.us, 7 * 512 * 1024 * 4 / (2 * 90e9) * 1e6);
  const SimulatedStep permute = simulated(
      "v6e", "2x4", 512, "tensor<512x1024xf32>",
      "\"stablehlo.collective_permute\"(%x) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 7], "
      "[7, 6], [6, 5], [5, 4], [4, 0]]> : tensor<8x2xi64>, channel_handle = "
      "#stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<512x1024xf32>) -> tensor<512x1024xf32>");
  EXPECT_EQ(permute.rung, Rung::kBundles) << permute.reason;
  EXPECT_GE(permute.us, 512 * 1024 * 4 / 90e9 * 1e6);
  EXPECT_LE(permute.us, 2 * 512 * 1024 * 4 / 90e9 * 1e6);
}

/// A reduction over rows that both cores of a v4 hold ends with one core waiting for the other's part.
TEST_F(Collectives, TheOtherCoreOfADeviceSendsItsPart) {
  for (const char* chip : {"v4", "v5p"}) {
    const Result<Simulation> run =
        simulateFile(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/mlp_softmax.mlir", {.chip = chip}, {});
    ASSERT_TRUE(run.ok()) << run.error().text();
    EXPECT_EQ(run->steps.at(0).rung, Rung::kBundles) << run->steps[0].reason;
    const int64_t semaphore = run->steps[0].causes[static_cast<size_t>(events::Cause::kSemaphore)];
    EXPECT_EQ(semaphore > 0, std::string(chip) == "v4") << chip << ": " << semaphore;
  }
}

TEST_F(Collectives, ValuesOfASliceAreRefused) {
  const std::string path = folder_.path() + "/program.mlir";
  ASSERT_TRUE(
      writeFileAtomically(path, readFile(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/scan_24.mlir").value())
          .ok());
  const Result<Simulation> run = simulateFile(path, {.chip = "v6e", .mesh = "2x4"}, {.values = true});
  EXPECT_FALSE(run.ok());
}

}  // namespace
}  // namespace sublane::report
