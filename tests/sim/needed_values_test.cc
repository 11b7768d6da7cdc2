#include "sim/needed_values.h"

#include <gtest/gtest.h>

#include "../llo/hlo_writer.h"
#include "program_builder.h"

namespace sublane::sim {
namespace {

using namespace llo::testing;  // NOLINT: the encoder

using Names = std::set<std::string>;

/// rows = exp(x); slots = n + n; "scatter" takes both.
llo::HloModule module() {
  HloWriter hlo;
  const auto entry = hlo.computation(
      "main",
      {parameter(1, "x", f32({8}), 0), parameter(2, "n", s32({8}), 1),
       instruction(3, "rows", "exponential", f32({8}), {1}), instruction(4, "slots", "add", s32({8}), {2, 2}),
       instruction(5, "scatter", "scatter", f32({8}), {3, 4}),
       instruction(6, "other", "negate", f32({8}), {1})},
      5);
  auto read = llo::readHloModule(hlo.module(entry));
  EXPECT_TRUE(read.ok());
  return std::move(*read);
}

TEST(NeededValues, IntegersComeFirstThenAllThatAnOperationIsComputedFrom) {
  const llo::HloModule program = module();
  ValueSlice slice(program);
  EXPECT_TRUE(slice.add("scatter"));
  EXPECT_EQ(slice.names(), (Names{"scatter", "slots"})) << "addresses don't need what is written";
  EXPECT_TRUE(slice.add("scatter")) << "it was not enough";
  EXPECT_EQ(slice.names(), (Names{"scatter", "slots", "rows"}));
  EXPECT_FALSE(slice.add("scatter"));
}

TEST(NeededValues, ANameThatTheModuleLacksAddsItself) {
  const llo::HloModule program = module();
  ValueSlice slice(program);
  EXPECT_TRUE(slice.add("inner"));
  EXPECT_EQ(slice.names(), Names{"inner"});
  EXPECT_FALSE(slice.add("inner"));
}

TEST(NeededValues, WhatAnOperationIsGivenWithoutItself) {
  const llo::HloModule program = module();
  ValueSlice slice(program);
  EXPECT_TRUE(slice.addOperands("scatter"));
  EXPECT_EQ(slice.names(), Names{"slots"});
  EXPECT_TRUE(slice.addOperands("scatter"));
  EXPECT_EQ(slice.names(), (Names{"slots", "rows"}));
  EXPECT_FALSE(slice.addOperands("scatter"));
}

/// A top-level program that pops a scalar from what a load takes: of an operation's output, or of a buffer
/// that a transfer filled. Another operation's output is read beside it.
class Sources : public ::testing::Test {
 protected:
  int32_t output(const std::string& of, llo::Space space) {
    const int32_t allocation = top.allocate(space, 4096);
    top.allocation(allocation).tag = "output of " + of + "@{}";
    return allocation;
  }
  Draft load(int32_t allocation, int32_t id) { return op("vld", v(0), {vmem(allocation)}).as(id); }
  /// The bundle of the pop.
  int32_t popOf(int32_t loaded) {
    llo::Operand source = reg(v(0));
    source.value = loaded;
    top.bundle({op("vpush", none(), {source}).as(900)});
    return top.bundle({op("spop", s(0), {value(900)})});
  }
  FunctionBuilder top{"TLP"};
};

TEST_F(Sources, AreFoundByTheValuesNotByTheNeighbourhood) {
  const int32_t wanted = output("fusion.5", llo::Space::kVmem), other = output("big.1", llo::Space::kVmem);
  top.bundle({load(wanted, 1)});
  top.bundle({load(other, 2)});
  EXPECT_EQ(sourcesOf(top.listing(), popOf(1)), Names{"fusion.5"});
}

TEST_F(Sources, OfAScalarThatIsPassedToACall) {
  const int32_t wanted = output("fusion.5", llo::Space::kVmem), other = output("big.1", llo::Space::kVmem);
  top.bundle({load(wanted, 1)});
  llo::Operand source = reg(v(0)), popped = reg(s(0));
  source.value = 1, popped.value = 2;
  top.bundle({op("vpush", none(), {source}).as(900)});
  top.bundle({op("spop", s(0), {value(900)}).as(2)});
  Draft call = top.call("kernel");
  call.operands = {at(other), popped};
  EXPECT_EQ(sourcesOf(top.listing(), top.bundle({call})), Names{"fusion.5"}) << "an address is no value";
}

TEST_F(Sources, ReachThroughTheTransferThatFillsABuffer) {
  const int32_t wanted = output("fusion.5", llo::Space::kHbm), other = output("big.1", llo::Space::kHbm);
  const int32_t staged = top.allocate(llo::Space::kVmem, 4096),
                unused = top.allocate(llo::Space::kVmem, 4096);
  const auto fill = [&](int32_t from, int32_t to) {
    return op("dma.hbm_to_vmem", none(),
              {at(from, llo::Role::kHbm), imm(1, llo::Role::kSizeInGranules), at(to, llo::Role::kVmem)});
  };
  top.bundle({fill(other, unused)});
  top.bundle({fill(wanted, staged)});
  top.bundle({load(staged, 1)});
  const int32_t pop = popOf(1);
  const int32_t late = top.bundle({fill(other, staged)});
  EXPECT_EQ(sourcesOf(top.listing(), pop), Names{"fusion.5"}) << "what comes later does not matter";
  EXPECT_EQ(sourcesOf(top.listing(), late), (Names{"fusion.5", "big.1"})) << "a transfer's own source";
}

}  // namespace
}  // namespace sublane::sim
