#include "report/cost.h"

#include "modules.h"

namespace sublane::report {
namespace {

double sumOfUs(const Step& step) {
  double us = 0;
  for (const Row& row : step.rows) us += row.us;
  return us;
}
bool has(const Row& row, Flag flag) {
  return std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
}

std::string oneOperation(const std::string& shape_in, const std::string& more,
                         const std::string& opcode = "copy") {
  HloWriter hlo;
  const auto entry =
      hlo.computation("main",
                      {parameter(1, "x", shape_in, 0),
                       instruction(2, "op", opcode, bf16({1024, 1024}, kTiledVmem), {1}, more)},
                      2);
  return hlo.module(entry);
}

TEST(Cost, TheCompilersEstimateComesFirst) {
  const Step step = stepOf(oneOperation(bf16({1024, 1024}, kTiled), estimate(17500)));
  ASSERT_EQ(step.rows.size(), 1u);
  const Row& row = step.rows[0];
  EXPECT_EQ(row.origin, Origin::kCompiler);
  EXPECT_EQ(row.cycles, 17500);
  EXPECT_DOUBLE_EQ(row.us, 10.0);
  EXPECT_EQ(row.hbm_bytes, 2 << 20);
  EXPECT_FALSE(has(row, Flag::kBelowHbmBound));
  EXPECT_EQ(step.total.below_bound_rows, 0);
}

TEST(Cost, WithoutOneTheLargerBoundIsShown) {
  const Step step = stepOf(oneOperation(bf16({1024, 1024}, kTiled), ""));
  EXPECT_EQ(step.rows[0].origin, Origin::kDatasheet);
  EXPECT_EQ(step.rows[0].bound, Bound::kHbm);
  EXPECT_DOUBLE_EQ(step.rows[0].us, 1e6 * (2 << 20) / v6e().hbm_bytes_per_second);
  EXPECT_EQ(step.rows[0].cycles, std::llround(step.rows[0].us * 1e-6 * v6e().clock_hz));
}

TEST(Cost, AnEstimateBelowTheHbmBoundIsFlaggedAndRaised) {
  const Step step = stepOf(oneOperation(bf16({1024, 1024}, kTiled), estimate(175)));
  EXPECT_TRUE(has(step.rows[0], Flag::kBelowHbmBound));
  EXPECT_EQ(step.total.below_bound_rows, 1);
  EXPECT_DOUBLE_EQ(step.total.us, 0.1);
  EXPECT_DOUBLE_EQ(step.total.raised_us, 1e6 * (2 << 20) / v6e().hbm_bytes_per_second);
}

TEST(Cost, ALoopCountsItsBodyOnceForEachIteration) {
  const Step once = stepOf(loopModule(0, 1, 1)), often = stepOf(loopModule(0, 24, 1));
  ASSERT_EQ(once.rows.size(), often.rows.size());
  EXPECT_EQ(often.total.flops, 24 * once.total.flops);
  EXPECT_EQ(often.total.hbm_bytes, 24 * once.total.hbm_bytes);
  EXPECT_NEAR(often.total.us, 24 * once.total.us, 1e-9);
  EXPECT_EQ(often.rows.back().count, 24);
  EXPECT_EQ(often.rows.back().place, (RowPlace{RowPlace::kEvery, "mlp.up"}));
}

TEST(Cost, ALoopOfUnknownLengthCountsOnceAndSaysSo) {
  const Step step = stepOf(loopModule(0, 24, 0));
  EXPECT_EQ(step.rows.back().count, 1);
  EXPECT_TRUE(has(step.rows.back(), Flag::kTripsUnknown));
}

TEST(Cost, NestedLoopsMultiply) {
  const std::string state = tuple({s32({}), f32({8, 128})});
  HloWriter hlo;
  auto loop = [&](int64_t base, int64_t bound, const std::string& body_op) {
    const auto body =
        hlo.computation("body",
                        {parameter(base + 1, "s", state, 0), element(base + 2, s32({}), base + 1, 0),
                         element(base + 3, f32({8, 128}), base + 1, 1), constantS32(base + 4, "one", 1),
                         instruction(base + 5, "i", "add", s32({}), {base + 2, base + 4}), body_op,
                         instruction(base + 9, "t", "tuple", state, {base + 5, base + 8})},
                        base + 9);
    const auto condition = hlo.computation(
        "cond",
        {parameter(base + 11, "s", state, 0), element(base + 12, s32({}), base + 11, 0),
         constantS32(base + 13, "n", bound),
         instruction(base + 14, "lt", "compare", pred(), {base + 12, base + 13}, bytes(63, "LT"))},
        base + 14);
    return std::vector<int64_t>{body, condition};
  };
  const auto inner = loop(100, 5, instruction(108, "n", "negate", f32({8, 128}), {103}));
  const auto middle = hlo.computation(
      "middle",
      {parameter(1, "s", state, 0), element(2, s32({}), 1, 0), element(3, f32({8, 128}), 1, 1),
       constantS32(4, "one", 1), constantS32(5, "zero", 0), instruction(6, "i", "add", s32({}), {2, 4}),
       instruction(7, "t", "tuple", state, {5, 3}), instruction(8, "w", "while", state, {7}, calls(inner)),
       element(9, f32({8, 128}), 8, 1), instruction(10, "o", "tuple", state, {6, 9})},
      10);
  const auto condition =
      hlo.computation("cond2",
                      {parameter(21, "s", state, 0), element(22, s32({}), 21, 0), constantS32(23, "n", 7),
                       instruction(24, "lt", "compare", pred(), {22, 23}, bytes(63, "LT"))},
                      24);
  const auto entry = hlo.computation("main",
                                     {parameter(31, "x", f32({8, 128}), 0), constantS32(32, "zero", 0),
                                      instruction(33, "t", "tuple", state, {32, 31}),
                                      instruction(34, "w", "while", state, {33}, calls({middle, condition}))},
                                     34);
  const Step step = stepOf(hlo.module(entry));
  for (const Row& row : step.rows) {
    if (row.op == "n") {
      EXPECT_EQ(row.count, 35);
    }
  }
  EXPECT_EQ(step.total.flops, 35 * 1024 + 35 + 7);
}

TEST(Cost, TheMostExpensiveBranchIsTaken) {
  HloWriter hlo;
  const auto cheap = hlo.computation(
      "cheap",
      {parameter(1, "x", f32({8, 128}), 0), instruction(2, "n", "negate", f32({8, 128}), {1}, estimate(10))},
      2);
  const auto dear = hlo.computation("dear",
                                    {parameter(11, "x", f32({8, 128}), 0),
                                     instruction(12, "m", "negate", f32({8, 128}), {11}, estimate(1000))},
                                    12);
  const auto entry = hlo.computation(
      "main",
      {parameter(21, "p", pred(), 0), parameter(22, "x", f32({8, 128}), 1),
       instruction(23, "before", "copy", f32({8, 128}), {22}),
       instruction(24, "c", "conditional", f32({8, 128}), {21, 23, 23}, calls({dear, cheap}))},
      24);
  const Step step = stepOf(hlo.module(entry));
  ASSERT_EQ(step.rows.size(), 2u);
  EXPECT_EQ(step.rows[1].op, "m");
  EXPECT_EQ(step.rows[1].id, 1);
  EXPECT_TRUE(has(step.rows[1], Flag::kLargestBranch));
}

TEST(Cost, AKernelWithoutADescriptionIsUnknownNeverZero) {
  const Step step = stepOf(
      oneOperation(bf16({1024, 1024}, kTiled), bytes(28, "tpu_custom_call") + config("{}"), "custom-call"));
  EXPECT_FALSE(step.rows[0].flops);
  EXPECT_TRUE(has(step.rows[0], Flag::kNoDescription));
  EXPECT_EQ(step.total.unknown_rows, 1);
  EXPECT_EQ(step.rows[0].hbm_bytes, 2 << 20);
  EXPECT_EQ(step.rows[0].kernel, "tpu_custom_call");
}

TEST(Cost, ACopyOfADonatedBufferIsFlagged) {
  HloWriter hlo;
  hlo.alias(0, 0);
  const auto entry = hlo.computation("main",
                                     {parameter(1, "cache", bf16({1024, 1024}, kTiled), 0),
                                      parameter(2, "weight", bf16({1024, 2048}, kTiled), 1),
                                      instruction(3, "a", "copy", bf16({1024, 1024}, kTiled), {1}),
                                      instruction(4, "b", "copy", bf16({1024, 2048}, kTiled), {2})},
                                     4);
  const Step step = stepOf(hlo.module(entry));
  EXPECT_TRUE(has(step.rows[0], Flag::kWholeState));
  EXPECT_TRUE(has(step.rows[1], Flag::kWholeArgument));
}

// prefetch (10 us of HBM) started first; 4 us of work that leaves the HBM idle; then its user of 3 us.
TEST(Cost, ACopyHidesBehindWhatRunsBeforeItsUse) {
  Step step;
  auto row = [&](const char* kind, double us, double hbm_us, int32_t needed_by = -1) {
    Row one;
    one.id = static_cast<int32_t>(step.rows.size());
    one.kind = kind;
    one.us = us;
    one.hbm_us = hbm_us;
    one.needed_by = needed_by;
    one.flops = 0;
    step.rows.push_back(one);
  };
  row("prefetch", 10, 10, 2);
  row("matmul", 4, 0);
  row("matmul", 3, 0);
  sumRows(step, v6e());
  EXPECT_DOUBLE_EQ(step.total.us, 17);
  EXPECT_DOUBLE_EQ(step.total.overlapped_us, 4 + 6 + 3);
  step.rows[1].hbm_us = 4;  // now the HBM is busy: nothing hides
  sumRows(step, v6e());
  EXPECT_DOUBLE_EQ(step.total.overlapped_us, 17);
  step.rows[1].hbm_us = 0;
  step.rows[0].needed_by = -1;  // only the end of the step waits
  sumRows(step, v6e());
  EXPECT_DOUBLE_EQ(step.total.overlapped_us, 10);
}

TEST(Cost, TheTotalIsTheSumOfTheRows) {
  for (const std::string& bytes :
       {loopModule(0, 24, 1), oneOperation(bf16({1024, 1024}, kTiled), estimate(123457))}) {
    const Step step = stepOf(bytes);
    EXPECT_EQ(step.total.us, sumOfUs(step));  // not nearly: exactly
    int64_t cycles = 0;
    double share = 0;
    for (const Row& row : step.rows) {
      cycles += row.cycles;
      share += row.share;
    }
    EXPECT_EQ(step.total.cycles, cycles);
    EXPECT_NEAR(share, 1, 1e-12);
    EXPECT_NEAR(step.total.compiler_us + step.total.datasheet_us, step.total.us, 1e-9);
  }
}

}  // namespace
}  // namespace sublane::report
