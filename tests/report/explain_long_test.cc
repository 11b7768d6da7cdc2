// Minutes of compiling: both checkpoints for all five chips, Llama-3-8B's shapes, and sorting.
#include <cstdlib>
#include <set>

#include "modules.h"
#include "report/simulate.h"

namespace sublane::report {
namespace {

struct Case {
  const char* model;
  const char* chip;
};

class Long : public testing::Test {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }
};

class EachModelAndChip : public Long, public testing::WithParamInterface<Case> {};

const SimulateOptions kEstimates{.estimates = true};

void expectExplained(const ModelRequest& request) {
  auto explanation = simulateModel(request, kEstimates);
  ASSERT_TRUE(explanation.ok()) << explanation.error().text();
  ASSERT_EQ(explanation->steps.size(), 2u);
  for (const SimulatedStep& step : explanation->steps) {
    double us = 0, placed_us = 0;
    int64_t flops = 0;
    for (const SimulatedRow& each : step.rows) {
      us += each.row.us;
      flops += each.row.matmul_flops;
      if (!each.row.place.part.empty()) placed_us += each.row.us;
    }
    EXPECT_EQ(step.us, us);
    EXPECT_GE(placed_us, 0.98 * step.us) << step.name;
    EXPECT_GT(flops, 0);
    ASSERT_TRUE(step.memory);
    if (!request.layers_in_loop) {
      EXPECT_FALSE(step.memory->holdsWholeState()) << step.name;
    }
  }
  EXPECT_EQ(toJson(*explanation), toJson(*simulateModel(request, kEstimates)))
      << "the second run comes from the cache";
}

TEST_P(EachModelAndChip, IsExplained) {
  expectExplained({.model = GetParam().model, .common = {.chip = GetParam().chip}});
}

INSTANTIATE_TEST_SUITE_P(All, EachModelAndChip,
                         testing::Values(Case{"smollm2-135m", "v4"}, Case{"smollm2-135m", "v5e"},
                                         Case{"smollm2-135m", "v5p"}, Case{"smollm2-135m", "v6e"},
                                         Case{"smollm2-135m", "tpu7x"}, Case{"gemma3-270m", "v4"},
                                         Case{"gemma3-270m", "v5e"}, Case{"gemma3-270m", "v5p"},
                                         Case{"gemma3-270m", "v6e"}, Case{"gemma3-270m", "tpu7x"}),
                         [](const auto& info) {
                           return std::string(info.param.model).substr(0, 5) + "_" + info.param.chip;
                         });

/// Not from the cache: each time libtpu compiles anew.
TEST_F(Long, TwoCompilesOfAModelPrintTheSameBytes) {
  ModelRequest request{.model = "smollm2-135m", .layers_in_loop = true, .common = {.chip = "v6e"}};
  request.common.compile = [](const pjrt::AheadOfTimeRequest& wanted) {
    return pjrt::compileAheadOfTime(wanted);
  };
  auto once = simulateModel(request, kEstimates), again = simulateModel(request, kEstimates);
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(toJson(*once), toJson(*again));
  EXPECT_EQ(toText(*once, {}), toText(*again, {}));
}

TEST_F(Long, ShapesOfLlama3) {
  expectExplained({.config = SUBLANE_SOURCE_DIR "/tests/report/configs/llama3_8b.json",
                   .layers_in_loop = true,
                   .common = {.chip = "v6e"}});
}

/// Full-size configurations, cut where they don't fit one device.
class EachFamily : public Long, public testing::WithParamInterface<const char*> {};

TEST_P(EachFamily, IsExplainedOnTwoChips) {
  for (const char* chip : {"v6e", "tpu7x"}) {
    auto explanation = simulateModel(
        {.config = fmt::format("{}/tests/report/configs/{}.json", SUBLANE_SOURCE_DIR, GetParam()),
         .common = {.chip = chip}},
        kEstimates);
    ASSERT_TRUE(explanation.ok()) << chip << ": " << explanation.error().text();
    for (const SimulatedStep& step : explanation->steps) EXPECT_GT(step.us, 0) << chip << " " << step.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EachFamily,
                         testing::Values("llama3_8b", "qwen3_8b", "qwen3_30b_a3b", "gemma3_27b",
                                         "gpt_oss_20b", "deepseek_v3"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Long, SortingHasRowsForGatherTopKAndSort) {
  for (const char* chip : {"v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    auto explanation = simulateFile(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/gather_top_k_sort.mlir",
                                    {.chip = chip}, kEstimates);
    ASSERT_TRUE(explanation.ok()) << explanation.error().text();
    std::set<std::string> kinds;
    for (const SimulatedRow& row : explanation->steps[0].rows) kinds.insert(row.row.kind);
    for (const char* kind : {"gather", "sort"}) EXPECT_TRUE(kinds.count(kind)) << kind << " on " << chip;
  }
}

}  // namespace
}  // namespace sublane::report
