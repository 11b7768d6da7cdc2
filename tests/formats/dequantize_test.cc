// dequantize against PyPI `gguf` (goldens/, made by tools/reference/formats/make_goldens.py), bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include "formats/formats.h"

namespace sublane::formats {
namespace {

struct Golden {
  std::vector<std::byte> blocks;
  std::vector<float> values;
};

Golden readGolden(Packing packing) {
  std::ifstream file(
      std::string(SUBLANE_SOURCE_DIR "/tests/formats/goldens/") + std::string(info(packing).name) + ".bin",
      std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  // n blocks and their values: n * (block_bytes + 4 * block_elements) bytes.
  const size_t blocks =
      bytes.size() / static_cast<size_t>(info(packing).block_bytes + 4 * info(packing).block_elements);
  Golden golden;
  golden.blocks.resize(blocks * static_cast<size_t>(info(packing).block_bytes));
  golden.values.resize(blocks * static_cast<size_t>(info(packing).block_elements));
  if (blocks == 0) return golden;
  std::memcpy(golden.blocks.data(), bytes.data(), golden.blocks.size());
  std::memcpy(golden.values.data(), bytes.data() + golden.blocks.size(), 4 * golden.values.size());
  return golden;
}

class GoldenPacking : public testing::TestWithParam<Packing> {};

TEST_P(GoldenPacking, EqualsTheReferenceBitForBit) {
  const Golden golden = readGolden(GetParam());
  ASSERT_GT(golden.values.size(), 500u) << "golden missing?";
  std::vector<float> values(golden.values.size());
  ASSERT_TRUE(dequantize(GetParam(), golden.blocks, values).ok());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(golden.values[i]))
        << "value " << i << ": " << values[i] << ", not " << golden.values[i];
  }
}

// Blocks lie at any byte of a file: the same values come from an odd address.
TEST_P(GoldenPacking, NeedsNoAlignment) {
  const Golden golden = readGolden(GetParam());
  std::vector<std::byte> shifted(golden.blocks.size() + 1);
  std::copy(golden.blocks.begin(), golden.blocks.end(), shifted.begin() + 1);
  std::vector<float> values(golden.values.size());
  ASSERT_TRUE(dequantize(GetParam(), std::span(shifted).subspan(1), values).ok());
  EXPECT_EQ(std::memcmp(values.data(), golden.values.data(), 4 * values.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenPacking,
                         testing::Values(Packing::kF16, Packing::kBF16, Packing::kQ4_0, Packing::kQ4_1,
                                         Packing::kQ5_0, Packing::kQ5_1, Packing::kQ8_0, Packing::kQ2_K,
                                         Packing::kQ3_K, Packing::kQ4_K, Packing::kQ5_K, Packing::kQ6_K,
                                         Packing::kMXFP4),
                         [](const auto& test) { return std::string(formats::info(test.param).name); });

TEST(Dequantize, F32IsCopiedAndF64IsRounded) {
  const std::vector<float> floats = {1.5f, -0.0f, std::numeric_limits<float>::infinity()};
  std::vector<float> out(3);
  ASSERT_TRUE(dequantize(Packing::kF32, std::as_bytes(std::span(floats)), out).ok());
  EXPECT_EQ(std::memcmp(out.data(), floats.data(), 12), 0);
  const std::vector<double> doubles = {0.1, 1e300, -2.0};
  ASSERT_TRUE(dequantize(Packing::kF64, std::as_bytes(std::span(doubles)), out).ok());
  EXPECT_EQ(out[0], 0.1f);
  EXPECT_TRUE(std::isinf(out[1]));
  EXPECT_EQ(out[2], -2.0f);
}

// A scale that is NaN must not come out as a number.
TEST(Dequantize, NanScaleMakesNanValues) {
  std::vector<std::byte> block(34, std::byte{1});
  block[0] = std::byte{0x01};
  block[1] = std::byte{0x7e};
  std::vector<float> out(32);
  ASSERT_TRUE(dequantize(Packing::kQ8_0, block, out).ok());
  for (float value : out) EXPECT_TRUE(std::isnan(value));
}

// Its reference has no words for it in Python: 292 bytes, of which the last 32 are sums.
TEST(Dequantize, Q8_KIsAFloatTimesBytes) {
  std::vector<std::byte> block(292, std::byte{0x55});
  const float scale = 0.3f;
  std::memcpy(block.data(), &scale, 4);
  for (int i = 0; i < 256; ++i) block[4 + static_cast<size_t>(i)] = static_cast<std::byte>(i);
  std::vector<float> out(256);
  ASSERT_TRUE(dequantize(Packing::kQ8_K, block, out).ok());
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(out[static_cast<size_t>(i)], 0.3f * static_cast<float>(i < 128 ? i : i - 256));
}

TEST(Dequantize, F4HoldsTheLowNibbleFirst) {
  const std::vector<std::byte> bytes = {std::byte{0x72}, std::byte{0xf8}};
  std::vector<float> out(4);
  ASSERT_TRUE(dequantize(Packing::kF4, bytes, out).ok());
  EXPECT_EQ(out, (std::vector<float>{1.0f, 6.0f, -0.0f, -6.0f}));
  EXPECT_TRUE(std::signbit(out[2]));
}

TEST(Dequantize, EveryPackingIsUnpackedOrRefusedAsInteger) {
  for (size_t i = 0; i < kPackingCount; ++i) {
    const Packing packing = static_cast<Packing>(i);
    std::vector<std::byte> block(static_cast<size_t>(info(packing).block_bytes));
    std::vector<float> out(static_cast<size_t>(info(packing).block_elements), 1.0f);
    const Status status = dequantize(packing, block, out);
    EXPECT_EQ(status.ok(), !isInteger(packing)) << info(packing).name;
    if (isInteger(packing)) continue;
    EXPECT_EQ(out[0], packing == Packing::kF8_E8M0 ? 0x1p-127f : 0.0f) << info(packing).name;
  }
}

TEST(Dequantize, ErrorsNameBothSizes) {
  std::vector<std::byte> bytes(288);
  std::vector<float> out(256);
  EXPECT_EQ(dequantize(Packing::kQ4_K, std::span(bytes).first(143), out).error().text(),
            "dequantize Q4_K: 143 bytes are not whole blocks of 144 bytes");
  EXPECT_EQ(dequantize(Packing::kQ4_K, bytes, out).error().text(),
            "dequantize Q4_K: 288 bytes hold 512 values, but 256 were asked for");
  EXPECT_EQ(dequantize(Packing::kI32, bytes, out).error().text(),
            "dequantize I32: an integer packing has no float meaning");
}

TEST(Packing, SizesFollowTheBlocks) {
  EXPECT_EQ(packedBytes(Packing::kQ4_1, 576), 360);
  EXPECT_EQ(packedElements(Packing::kQ6_K, 420), 512);
  EXPECT_EQ(packedBytes(Packing::kBF16, 3), 6);
  EXPECT_EQ(info(Packing::kQ5_0).name, "Q5_0");
  EXPECT_EQ(bytesPerElement(DType::kBool), 1);
  EXPECT_EQ(bytesPerElement(DType::kBF16), 2);
  EXPECT_EQ(bytesPerElement(DType::kI64), 8);
  EXPECT_EQ(name(DType::kU32), "u32");
}

}  // namespace
}  // namespace sublane::formats
