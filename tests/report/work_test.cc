#include "report/work.h"

#include "modules.h"

namespace sublane::report {
namespace {

Work workOfRoot(const std::string& bytes) {
  const llo::HloModule module = read(bytes);
  WorkCounter counter(module, v6e());
  const llo::Computation& entry = module.entryComputation();
  return counter.of(entry, entry.at(entry.root));
}

std::string single(const std::vector<std::string>& instructions, int64_t root) {
  HloWriter hlo;
  const auto entry = hlo.computation("main", instructions, root);
  return hlo.module(entry);
}

TEST(Work, ADotIsTwoOperationsAMultiplyAdd) {
  const Work work = workOfRoot(single(
      {parameter(1, "x", bf16({256, 512}), 0), parameter(2, "w", bf16({512, 1024}), 1),
       instruction(3, "dot", "dot", bf16({256, 1024}), {1, 2}, bytes(30, numbers(1, {1}) + numbers(2, {0})))},
      3));
  EXPECT_EQ(work.matmul_flops, 2.0 * 256 * 512 * 1024);
  EXPECT_DOUBLE_EQ(work.mxu_seconds, 2.0 * 256 * 512 * 1024 / v6e().bf16_flops);
}

std::string floatDot(int64_t precision) {
  return single({parameter(1, "x", f32({8, 16}), 0), parameter(2, "w", f32({16, 4}), 1),
                 instruction(3, "dot", "dot", f32({8, 4}), {1, 2},
                             bytes(30, numbers(1, {1}) + numbers(2, {0})) +
                                 bytes(51, numbers(1, {precision, precision})))},
                3);
}

TEST(Work, TrueFloat32TakesSixPassesOfTheMxu) {
  const double flops = 2.0 * 8 * 16 * 4;
  EXPECT_EQ(workOfRoot(floatDot(2)).matmul_flops, flops);
  EXPECT_DOUBLE_EQ(workOfRoot(floatDot(2)).mxu_seconds, 6 * flops / v6e().bf16_flops);
  EXPECT_DOUBLE_EQ(workOfRoot(floatDot(1)).mxu_seconds, 3 * flops / v6e().bf16_flops);
  EXPECT_DOUBLE_EQ(workOfRoot(floatDot(0)).mxu_seconds, flops / v6e().bf16_flops);
}

TEST(Work, Int8RunsAtItsOwnRate) {
  const Work work = workOfRoot(single(
      {parameter(1, "x", shape(2, {8, 16}), 0), parameter(2, "w", shape(2, {16, 4}), 1),
       instruction(3, "dot", "dot", s32({8, 4}), {1, 2}, bytes(30, numbers(1, {1}) + numbers(2, {0})))},
      3));
  EXPECT_DOUBLE_EQ(work.mxu_seconds, 2.0 * 8 * 16 * 4 / v6e().int8_ops);
}

// dim_labels=bf_io->bf, as the TPU compiler writes a plain dot: x [M, K], w [K, N].
TEST(Work, AConvolutionWithoutAWindowIsADot) {
  const std::string dims =
      bytes(16, number(7, 0) + number(8, 1) + number(3, 0) + number(4, 1) + number(9, 0) + number(10, 1));
  const Work work =
      workOfRoot(single({parameter(1, "x", bf16({256, 512}), 0), parameter(2, "w", bf16({512, 1024}), 1),
                         instruction(3, "c", "convolution", bf16({256, 1024}), {1, 2}, dims)},
                        3));
  EXPECT_EQ(work.matmul_flops, 2.0 * 256 * 512 * 1024);
}

// A batched dot comes as a convolution whose window runs over the batch with holes between: of the 4 x 4
// pairs of batch positions only the 4 equal ones meet. (input 0bf, kernel 0io, output 0bf)
TEST(Work, OnlyPositionsThatMeetCount) {
  const std::string window = bytes(
      15, bytes(1, number(1, 4) + number(2, 3) + number(3, 0) + number(4, 0) + number(5, 1) + number(6, 4)));
  const std::string dims =
      bytes(16, number(7, 1) + number(8, 2) + number(3, 1) + number(4, 2) + number(9, 1) + number(10, 2) +
                    numbers(11, {0}) + numbers(6, {0}) + numbers(12, {0}));
  const Work work =
      workOfRoot(single({parameter(1, "x", bf16({4, 8, 64}), 0), parameter(2, "w", bf16({4, 64, 32}), 1),
                         instruction(3, "c", "convolution", bf16({4, 8, 32}), {1, 2}, window + dims)},
                        3));
  EXPECT_EQ(work.matmul_flops, 2.0 * 4 * 8 * 64 * 32);
}

TEST(Work, ElementsAndReductionsCountAsXlaDoes) {
  HloWriter hlo;
  const auto sum = hlo.computation("sum",
                                   {parameter(1, "a", f32({}), 0), parameter(2, "b", f32({}), 1),
                                    instruction(3, "add", "add", f32({}), {1, 2})},
                                   3);
  const auto fused = hlo.computation(
      "fused",
      {parameter(11, "x", f32({8, 128}), 0), instruction(12, "e", "exponential", f32({8, 128}), {11}),
       instruction(13, "m", "multiply", f32({8, 128}), {12, 12}), instruction(14, "z", "constant", f32({})),
       instruction(15, "r", "reduce", f32({8}), {13, 14}, calls({sum}) + numbers(14, {1}))},
      15, true);
  const auto entry = hlo.computation(
      "main",
      {parameter(21, "x", f32({8, 128}), 0), instruction(22, "f", "fusion", f32({8}), {21}, calls({fused}))},
      22);
  const Work work = workOfRoot(hlo.module(entry));
  EXPECT_EQ(work.transcendentals, 8 * 128);
  EXPECT_EQ(work.other_flops, 8 * 128 + 8 * 127);
  EXPECT_EQ(work.matmul_flops, 0);
  EXPECT_FALSE(work.has_matmul);
}

TEST(Work, AKernelSaysItsCostOrIsUnknown) {
  auto kernel = [](const std::string& json) {
    return single(
        {parameter(1, "x", bf16({256, 512}), 0), instruction(2, "k", "custom-call", bf16({256, 512}), {1},
                                                             bytes(28, "tpu_custom_call") + config(json))},
        2);
  };
  EXPECT_TRUE(workOfRoot(kernel("{}")).unknown);
  const Work described =
      workOfRoot(kernel(R"({"custom_call_config": {"cost_estimate": {"flops": "134217728"}}})"));
  EXPECT_FALSE(described.unknown);
  EXPECT_EQ(described.other_flops, 134217728);
}

}  // namespace
}  // namespace sublane::report
