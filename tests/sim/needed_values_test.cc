#include "sim/needed_values.h"

#include <gtest/gtest.h>

#include "../llo/hlo_writer.h"

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

}  // namespace
}  // namespace sublane::sim
