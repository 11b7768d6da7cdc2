#include "graph/builder.h"

#include <gtest/gtest.h>

#include "graph/text_form.h"
#include "graph/verify.h"

namespace sublane::graph {
namespace {

TEST(Builder, InfersTypesAndKeepsPlaces) {
  Graph graph;
  Builder b(graph);
  ValueId x = b.parameter("x", {DType::kBF16, {4, 8}}, Role::kInput);
  ValueId w = b.parameter("w", {DType::kBF16, {16, 8}}, Role::kWeight);
  {
    auto scope = b.at({3, "mlp.up"});
    ValueId y = b.linear(x, w, DType::kF32);
    EXPECT_EQ(toString(b.type(y)), "f32[4,16]");
    EXPECT_EQ(toString(graph.nodes.back().place), "layer.3/mlp.up");
    b.output("y", b.convert(y, DType::kBF16));
  }
  EXPECT_EQ(b.place(), Place{});
  EXPECT_EQ(b.convert(x, DType::kBF16), x) << "a conversion to the same type makes no node";
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).error().message();
}

TEST(Builder, BroadcastsRankZeroOperands) {
  Graph graph;
  Builder b(graph);
  auto scope = b.at({Place::kNoLayer, "head"});
  ValueId x = b.parameter("x", {DType::kF32, {2, 3}}, Role::kInput);
  ValueId one = b.constant(DType::kF32, 1);
  ValueId sum = b.add(x, one);
  ValueId chosen = b.select(b.compare(Comparison::kLess, one, x), one, sum);
  EXPECT_EQ(toString(b.type(chosen)), "f32[2,3]");
  ValueId flag = b.compare(Comparison::kLess, one, one);
  EXPECT_EQ(toString(b.type(b.select(flag, x, sum))), "f32[2,3]");
  EXPECT_EQ(toString(b.type(b.splat({DType::kBF16, {5}}, 0))), "bf16[5]");
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).error().message();
}

TEST(Builder, DotOrdersItsAxesBatchLeftRight) {
  Graph graph;
  Builder b(graph);
  ValueId x = b.parameter("x", {DType::kF32, {2, 3, 5, 7}}, Role::kInput);
  ValueId y = b.parameter("y", {DType::kF32, {7, 11, 3}}, Role::kInput);
  DotAttrs attrs;
  attrs.lhs_batch = {1}, attrs.rhs_batch = {2}, attrs.lhs_contract = {3}, attrs.rhs_contract = {0};
  EXPECT_EQ(toString(b.type(b.dot(x, y, attrs, DType::kF32))), "f32[3,2,5,11]");
}

TEST(Builder, MakesLoops) {
  Graph graph;
  Builder b(graph);
  auto scope = b.at({Place::kEveryLayer, "block"});
  ValueId x = b.parameter("x", {DType::kF32, {4}}, Role::kInput);
  ValueId bias = b.parameter("bias", {DType::kF32, {4}}, Role::kWeight);
  ValueId scales = b.parameter("scales", {DType::kF32, {3, 4}}, Role::kWeight);
  auto results =
      b.loop(3, {x}, {bias}, {scales},
             [](Builder& body, ValueId, const auto& carried, const auto& invariants, const auto& slices) {
               return std::vector{body.add(body.multiply(carried[0], slices[0]), invariants[0])};
             });
  b.output("y", results[0]);
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).error().message();
  EXPECT_EQ(print(graph), R"(graph step {
  %0: f32[4] = input "x"
  %1: f32[4] = weight "bias"
  %2: f32[3,4] = weight "scales"
  %3: f32[4] = loop(%0, %1, %2) {count=3, carried=1, invariants=1, stacked=1} @ layer.*/block
    graph body {
      %0: i32[] = input "index"
      %1: f32[4] = input "carried.0"
      %2: f32[4] = input "invariant.0"
      %3: f32[4] = input "slice.0"
      %4: f32[4] = multiply(%1, %3) @ layer.*/block
      %5: f32[4] = add(%4, %2) @ layer.*/block
      output "carried.0" = %5
    }
  output "y" = %3
}
)");
}

TEST(BuilderDeathTest, NamesThePlaceOfAWrongShape) {
  Graph graph;
  Builder b(graph);
  auto scope = b.at({3, "mlp.up"});
  ValueId x = b.parameter("x", {DType::kF32, {4, 8}}, Role::kInput);
  ValueId y = b.parameter("y", {DType::kF32, {4, 9}}, Role::kInput);
  EXPECT_DEATH(b.add(x, y), "add @ layer.3/mlp.up: operands f32.4,8. and f32.4,9. must be of one type");
  EXPECT_DEATH(b.linear(x, y, DType::kF32),
               "dot @ layer.3/mlp.up: contract: axis 1 of f32.4,8. has 8 elements, axis 1 of f32.4,9. has 9");
  EXPECT_DEATH(b.outputInPlace("y", y, x), "output y: value 0 is not a state parameter");
  EXPECT_DEATH(b.exp(99), "exp @ layer.3/mlp.up: value 99 is not in this graph");
}

}  // namespace
}  // namespace sublane::graph
