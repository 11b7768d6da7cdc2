#include "llo/shape.h"

#include <gtest/gtest.h>

namespace sublane::llo {
namespace {

Shape array(ElementType type, std::vector<int64_t> dims, std::vector<int64_t> order = {},
            std::vector<std::vector<int64_t>> tiles = {}, int64_t memory = 0) {
  Shape shape{.type = type, .dims = std::move(dims), .layout = {}, .elements = {}};
  shape.layout.minor_to_major = std::move(order);
  shape.layout.tiles = std::move(tiles);
  shape.layout.memory_space = memory;
  return shape;
}

TEST(Shape, TilesPad) {
  EXPECT_EQ(paddedBytes(array(ElementType::kBF16, {8, 576}, {1, 0}, {{8, 128}, {2, 1}})), 8 * 640 * 2);
  EXPECT_EQ(paddedBytes(array(ElementType::kBF16, {3, 5, 100}, {2, 1, 0}, {{8, 128}, {2, 1}})),
            3 * 8 * 128 * 2);
  EXPECT_EQ(paddedBytes(array(ElementType::kF32, {576, 8}, {0, 1}, {{8, 128}})), 640 * 8 * 4);
  EXPECT_EQ(paddedBytes(array(ElementType::kBF16, {64}, {0}, {{256}, {128}, {2, 1}})), 512);
  EXPECT_EQ(paddedBytes(array(ElementType::kS32, {}, {}, {{128}})), 512);
  EXPECT_EQ(paddedBytes(array(ElementType::kF32, {0, 128}, {1, 0}, {{8, 128}})), 0);
  EXPECT_EQ(logicalBytes(array(ElementType::kS4, {3})), 2);
}

TEST(Shape, AnUntiledArrayIsItsElements) { EXPECT_EQ(paddedBytes(array(ElementType::kF32, {3, 5})), 60); }

TEST(Shape, HugeDimensionsSaturate) {
  const Shape huge = array(ElementType::kF32, std::vector<int64_t>(8, int64_t{1} << 40));
  EXPECT_GT(paddedBytes(huge), int64_t{1} << 50);
}

TEST(Shape, ABoxMovesWholeLanesAndPackedRows) {
  const Shape table = array(ElementType::kBF16, {32000, 576}, {1, 0}, {{8, 128}, {2, 1}});
  EXPECT_EQ(boxBytes(table, {1, 576}), 2 * 640 * 2);
  EXPECT_EQ(boxBytes(table, {16, 576}), 16 * 640 * 2);
  const Shape floats = array(ElementType::kF32, {32000, 576}, {1, 0}, {{8, 128}});
  EXPECT_EQ(boxBytes(floats, {1, 576}), 640 * 4);
}

TEST(Shape, ATupleIsTheSumOfWhatLiesInHbm) {
  Shape tuple{.type = ElementType::kTuple, .dims = {}, .layout = {}, .elements = {}};
  tuple.elements = {array(ElementType::kF32, {8, 128}), array(ElementType::kF32, {8, 128}, {}, {}, 1)};
  EXPECT_EQ(hbmBytes(tuple), 4096);
  EXPECT_EQ(paddedBytes(tuple), 8192);
  EXPECT_EQ(toString(tuple), "(f32[8,128], f32[8,128] VMEM)");
}

}  // namespace
}  // namespace sublane::llo
