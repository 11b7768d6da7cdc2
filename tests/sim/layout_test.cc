#include "sim/layout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sim/vector_unit.h"

namespace sublane::sim {
namespace {

using llo::ElementType;

llo::Shape shapeOf(ElementType type, std::vector<int64_t> dims, std::vector<int64_t> minor_to_major,
                   std::vector<std::vector<int64_t>> tiles, int64_t element_bits = 0) {
  llo::Shape shape{.type = type, .dims = std::move(dims)};
  shape.layout = {
      .minor_to_major = std::move(minor_to_major), .tiles = std::move(tiles), .element_bits = element_bits};
  return shape;
}

std::vector<std::byte> counting(const llo::Shape& shape) {
  std::vector<std::byte> host(static_cast<size_t>(hostBytes(shape)));
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::byte>(i * 7 + i / 251);
  return host;
}

void expectRoundTrip(const llo::Shape& shape) {
  std::vector<std::byte> host = counting(shape);
  if (shape.layout.element_bits == 4)
    for (std::byte& b : host) b = static_cast<std::byte>((static_cast<int>(b) & 15) - 8);
  const auto device = toDevice(shape, host);
  ASSERT_TRUE(device.ok()) << device.error().text();
  const auto again = toHost(shape, *device);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(*again, host);
}

TEST(Layout, RoundTrips) {
  expectRoundTrip(shapeOf(ElementType::kF32, {20, 200}, {1, 0}, {{8, 128}}));
  expectRoundTrip(shapeOf(ElementType::kF32, {20, 200}, {0, 1}, {{8, 128}}));
  expectRoundTrip(shapeOf(ElementType::kBF16, {3, 20, 200}, {2, 1, 0}, {{8, 128}, {2, 1}}));
  expectRoundTrip(shapeOf(ElementType::kBF16, {3, 20, 200}, {2, 0, 1}, {{4, 128}, {2, 1}}));
  expectRoundTrip(shapeOf(ElementType::kS8, {70, 130}, {1, 0}, {{8, 128}, {4, 1}}));
  expectRoundTrip(shapeOf(ElementType::kF32, {768}, {0}, {{1024}}));
  expectRoundTrip(shapeOf(ElementType::kBF16, {576}, {0}, {{1024}, {128}, {2, 1}}));
  expectRoundTrip(shapeOf(ElementType::kF32, {}, {}, {{128}}));
  expectRoundTrip(shapeOf(ElementType::kS4, {64, 256}, {1, 0}, {{8, 128}, {8, 1}}, 4));
}

TEST(Layout, TilesOfEightRowsAreRegisters) {
  const llo::Shape shape = shapeOf(ElementType::kF32, {16, 256}, {1, 0}, {{8, 128}});
  std::vector<std::byte> host(16 * 256 * 4);
  for (uint32_t i = 0; i < 16 * 256; ++i) std::memcpy(&host[i * 4], &i, 4);
  const auto device = toDevice(shape, host);
  ASSERT_TRUE(device.ok());
  const auto word = [&](size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, device->data() + at * 4, 4);
    return value;
  };
  EXPECT_EQ(word(0), 0u);
  EXPECT_EQ(word(128), 256u) << "the second row of the first tile";
  EXPECT_EQ(word(1024), 128u) << "the second tile";
  EXPECT_EQ(word(2048), 8u * 256) << "the third, which begins at row 8";
}

TEST(Layout, TwoRowsOfBf16ShareAWord) {
  const llo::Shape shape = shapeOf(ElementType::kBF16, {8, 130}, {1, 0}, {{8, 128}, {2, 1}});
  std::vector<std::byte> host(8 * 130 * 2);
  for (uint16_t i = 0; i < 8 * 130; ++i) std::memcpy(&host[i * 2u], &i, 2);
  const auto device = toDevice(shape, host);
  ASSERT_TRUE(device.ok());
  ASSERT_EQ(device->size(), 2u * 8 * 128 * 2);
  const auto half = [&](size_t at) {
    uint16_t value = 0;
    std::memcpy(&value, device->data() + at * 2, 2);
    return value;
  };
  EXPECT_EQ(half(1), 130) << "row 1 of lane 0";
  EXPECT_EQ(half(2), 1) << "row 0 of lane 1";
  EXPECT_EQ(half(256), 2 * 130) << "row 2 of lane 0";
  EXPECT_EQ(half(1024 + 2), 129) << "the second tile";
  EXPECT_EQ(half(1024 + 4), kPoison & 0xffff) << "what the array does not fill is poison";
}

TEST(Layout, SaysWhatIsWrong) {
  const llo::Shape shape = shapeOf(ElementType::kF32, {20, 200}, {1, 0}, {{8, 128}});
  EXPECT_FALSE(toDevice(shape, std::vector<std::byte>(10)).ok());
  EXPECT_FALSE(toHost(shape, std::vector<std::byte>(20 * 200 * 4)).ok()) << "the device's array is padded";
  EXPECT_FALSE(placingOf(shapeOf(ElementType::kF32, {4, 4}, {1, 0}, {{llo::kCombineDimension, 4}})).ok());
  EXPECT_FALSE(placingOf(shapeOf(ElementType::kF32, {4, 4}, {1, 2}, {})).ok());
}

}  // namespace
}  // namespace sublane::sim
