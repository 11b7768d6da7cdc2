#include "sim/values_compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

namespace sublane::sim {
namespace {

llo::Shape floats(std::vector<int64_t> dims) {
  llo::Shape shape{.type = llo::ElementType::kF32, .dims = std::move(dims)};
  shape.layout.tiles = {{8, 128}};
  for (size_t d = shape.dims.size(); d-- > 0;) shape.layout.minor_to_major.push_back(static_cast<int64_t>(d));
  return shape;
}
std::vector<std::byte> bytesOf(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(ValuesCompare, NamesTheFirstElementOutside) {
  const llo::Shape shape = floats({2, 3});
  const auto want = bytesOf({1, 2, 3, 4, 5, 6}), got = bytesOf({1, 2, 3, 4, 5.5f, 7});
  const auto c = compareValues(shape, got, want, {.absolute = 0.4});
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->outside, 2);
  EXPECT_EQ(c->worst, 1.0);
  ASSERT_TRUE(c->first.has_value());
  EXPECT_EQ(c->first->device_byte, 129 * 4) << "row 1, lane 1 of the tile";
  EXPECT_EQ(describe(shape, *c, [](int64_t) { return std::string("bundle 0x7 of fusion"); }),
            "f32[2,3]: 2 of 6 elements outside of the bound, worst by 1; first at [1,1]: 5.5, not 5 (row 1 "
            "of the buffer, "
            "lane 1), last written by bundle 0x7 of fusion");
  EXPECT_TRUE(compareValues(shape, got, want, {.absolute = 1.0})->equal());
}

TEST(ValuesCompare, NotANumberAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const llo::Shape shape = floats({3});
  EXPECT_TRUE(compareValues(shape, bytesOf({nan, inf, 1}), bytesOf({nan, inf, 1}), {})->equal());
  EXPECT_EQ(
      compareValues(shape, bytesOf({1, inf, 1}), bytesOf({nan, 1, inf}), {.absolute = 1e9, .relative = 1})
          ->outside,
      3);
}

TEST(ValuesCompare, BoundsGrowWithLengthAndType) {
  EXPECT_EQ(boundOf({.type = llo::ElementType::kS32}).absolute, 0);
  EXPECT_EQ(boundOf({.type = llo::ElementType::kS32}).relative, 0);
  EXPECT_EQ(boundOf({.type = llo::ElementType::kBF16}).relative, 0x1p-7);
  const Bound sum = boundOf({.type = llo::ElementType::kF32, .terms = 512, .magnitude = 512});
  EXPECT_EQ(sum.absolute, 2 * 512 * 0x1p-24 * 512);
  EXPECT_GT(boundOf({.terms = 512, .magnitude = 512, .rounded_operands = true}).absolute, 2.0);
}

TEST(ValuesCompare, ReadsEveryType) {
  const std::vector<std::byte> bytes = {std::byte{0x80}, std::byte{0xbf}};
  EXPECT_EQ(numberAt(llo::ElementType::kBF16, bytes, 0), -1.0);
  EXPECT_EQ(numberAt(llo::ElementType::kS8, bytes, 0), -128.0);
  EXPECT_EQ(numberAt(llo::ElementType::kU16, bytes, 0), 49024.0);
}

}  // namespace
}  // namespace sublane::sim
