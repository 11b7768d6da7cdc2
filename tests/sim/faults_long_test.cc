// Hundreds of faults made mechanically in our programs as libtpu compiled them. Prints the tables of
// docs/simulator.md.
#include <gtest/gtest.h>

#include "faults_campaign.h"

namespace sublane::sim {
namespace {

class Faults : public testing::TestWithParam<std::string> {};

/// Programs whose every operation's result is an output, but for copies that the compiler adds: the first
/// wrong output is that of the operation with the fault.
TEST_P(Faults, AreCaughtAndLocated) {
  const Result<Campaign> result = campaign(
      {"elementwise_f32", "elementwise_bf16", "integers", "reductions", "softmax_parts", "layer_norm_parts",
       "matmul_bf16", "matmul_f32", "matmul_transposed", "matmul_int8", "unpack_int8", "flash", "paged"},
      GetParam(), 4);
  ASSERT_TRUE(result.ok()) << result.error().text();
  print(*result);
  EXPECT_GE(result->all.made, 50);
  EXPECT_GE(result->all.shareCaught(), 0.9);
  EXPECT_GE(result->all.shareLocated(), 0.9);
}
INSTANTIATE_TEST_SUITE_P(, Faults, testing::Values("v6e", "tpu7x", "v5e"),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

/// Where operations follow each other and only the last one's result is seen, a fault is caught as well, but
/// what is named may be an operation that only carried it on.
TEST(FaultsOfChains, AreCaught) {
  const Result<Campaign> result =
      campaign({"softmax", "layer_norm", "transpose", "gather", "sort", "scan", "decode_layer"}, "v6e", 4);
  ASSERT_TRUE(result.ok()) << result.error().text();
  print(*result);
  EXPECT_GE(result->all.shareCaught(), 0.8);
}

}  // namespace
}  // namespace sublane::sim
