// The scoreboard against the schedule, on programs that its latencies were not taken from.
#include <gtest/gtest.h>

#include <cmath>

#include "values_cases.h"

namespace sublane::sim {
namespace {

/// Of the whole: fixed beforehand. Without transfers, which hide an operation's own cycles, it is the same.
constexpr double kBound = 0.05;

class ScoreboardOf : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ScoreboardOf, TakesWhatTheScheduleTakes) {
  const auto& [chip, name] = GetParam();
  const Result<Subject> subject = subjectNamed(name);
  ASSERT_TRUE(subject.ok()) << subject.error().text();
  const Result<Compiled> compiled = compile(subject->stablehlo, chip, subject->fill);
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  const auto cycles = [&](Mode mode, std::vector<Without> without) {
    const Result<sim::Run> run =
        simulate(compiled->program, compiled->model,
                 {.mode = mode, .without = std::move(without), .inputs = compiled->options.inputs});
    EXPECT_TRUE(run.ok()) << run.error().text();
    return run.ok() ? static_cast<double>(run->cycles) : std::nan("");
  };
  for (const bool transfers : {true, false}) {
    const std::vector<Without> without =
        transfers ? std::vector<Without>{} : std::vector<Without>{Without::kDma};
    const double packed = cycles(Mode::kPacked, without), board = cycles(Mode::kScoreboard, without);
    std::printf("[ measured ] %-6s %-18s %-17s packed %9.0f, scoreboard %9.0f (%+.2f %%)\n", chip.c_str(),
                name.c_str(), transfers ? "" : "without transfers", packed, board,
                100 * (board / packed - 1));
    EXPECT_NEAR(board / packed, 1, kBound);
  }
}

std::string nameOf(const testing::TestParamInfo<std::tuple<std::string, std::string>>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param);
}
const auto kPrograms = testing::Values("elementwise_f32", "transcendental", "reductions", "softmax",
                                       "layer_norm", "matmul_bf16", "matmul_int8", "transpose", "gather",
                                       "sort", "permutations", "scan", "flash", "decode_layer");
INSTANTIATE_TEST_SUITE_P(, ScoreboardOf, testing::Combine(testing::Values("v6e", "v5e", "tpu7x"), kPrograms),
                         nameOf);

}  // namespace
}  // namespace sublane::sim
