// The 16-bit conversions over all of their 2^16 values, against arithmetic that is slow and plain.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "formats/formats.h"

namespace sublane::formats {
namespace {

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }

// What 16 bits mean, by the definition of the format.
double meaning(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double fraction = static_cast<double>(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

struct Format {
  int exponent_bits, mantissa_bits;
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float);
  uint16_t quiet_bit;
};
const Format kF16{5, 10, floatFromF16, f16FromFloat, 0x0200};
const Format kBF16{8, 7, floatFromBf16, bf16FromFloat, 0x0040};

class NarrowFloat : public testing::TestWithParam<Format> {};

TEST_P(NarrowFloat, WidensEveryValueExactly) {
  const Format& format = GetParam();
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = format.widen(static_cast<uint16_t>(bits));
    const double expected = meaning(bits, format.exponent_bits, format.mantissa_bits);
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << std::hex << bits;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << std::hex << bits;
    } else {
      ASSERT_EQ(static_cast<double>(wide), expected) << std::hex << bits;
    }
  }
}

TEST_P(NarrowFloat, ComesBackFromFloatUnchanged) {
  const Format& format = GetParam();
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = format.widen(static_cast<uint16_t>(bits));
    const uint16_t back = format.narrow(wide);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(format.widen(back))) << std::hex << bits;
      ASSERT_TRUE(back & format.quiet_bit) << std::hex << bits;
      ASSERT_EQ(back & 0x8000, bits & 0x8000) << std::hex << bits;
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

// Between each two neighbours: the middle goes to the even one, and a float just off the middle to its side.
TEST_P(NarrowFloat, RoundsToNearestEven) {
  const Format& format = GetParam();
  const uint16_t infinity = static_cast<uint16_t>(((1u << format.exponent_bits) - 1) << format.mantissa_bits);
  for (uint32_t bits = 0; bits + 1 < infinity; ++bits) {
    const double low = meaning(bits, format.exponent_bits, format.mantissa_bits);
    const double high = meaning(bits + 1, format.exponent_bits, format.mantissa_bits);
    const float middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(middle), (low + high) / 2);
    ASSERT_EQ(format.narrow(middle), bits + (bits & 1)) << std::hex << bits;
    ASSERT_EQ(format.narrow(std::nextafter(middle, 0.0f)), bits) << std::hex << bits;
    ASSERT_EQ(format.narrow(std::nextafter(middle, INFINITY)), bits + 1) << std::hex << bits;
    ASSERT_EQ(format.narrow(-middle), 0x8000 | (bits + (bits & 1))) << std::hex << bits;
  }
}

TEST_P(NarrowFloat, OverflowsToInfinityFromTheMiddle) {
  const Format& format = GetParam();
  const uint16_t infinity = static_cast<uint16_t>(((1u << format.exponent_bits) - 1) << format.mantissa_bits);
  const double largest = meaning(infinity - 1u, format.exponent_bits, format.mantissa_bits);
  const double before = meaning(infinity - 2u, format.exponent_bits, format.mantissa_bits);
  const float middle = static_cast<float>(largest + (largest - before) / 2);
  EXPECT_EQ(format.narrow(middle), infinity);
  EXPECT_EQ(format.narrow(std::nextafter(middle, 0.0f)), infinity - 1);
  EXPECT_EQ(format.narrow(-INFINITY), 0x8000 | infinity);
}

INSTANTIATE_TEST_SUITE_P(Both, NarrowFloat, testing::Values(kF16, kBF16),
                         [](const auto& test) { return test.param.mantissa_bits == 10 ? "f16" : "bf16"; });

// Public reports, case 38: NaN never becomes infinity or -0, whatever its payload.
TEST(Bf16, CasesThatOthersGotWrong) {
  const std::pair<uint32_t, uint16_t> kCases[] = {
      {0x7F800001, 0x7FC0}, {0x7FFF8C22, 0x7FC0}, {0xFF800001, 0xFFC0}, {0x3E89CCD5, 0x3E8A},
      {0x3F808000, 0x3F80}, {0x3F818000, 0x3F82}, {0x7F7FFFFF, 0x7F80}};
  for (auto [input, expected] : kCases)
    EXPECT_EQ(bf16FromFloat(floatOf(input)), expected) << std::hex << input;
}

TEST(F16, NanPayloadThatWouldShiftToZeroStaysNan) {
  EXPECT_EQ(f16FromFloat(floatOf(0x7F800001)), 0x7E00);
  EXPECT_EQ(f16FromFloat(floatOf(0xFFC00000)), 0xFE00);
  EXPECT_EQ(bitsOf(floatFromF16(0x7C01)), 0x7FC02000u);
}

TEST(F16, BelowHalfOfTheSmallestIsZeroWithItsSign) {
  EXPECT_EQ(f16FromFloat(0x1p-25f), 0x0000);  // the middle, to even
  EXPECT_EQ(f16FromFloat(std::nextafter(0x1p-25f, 1.0f)), 0x0001);
  EXPECT_EQ(f16FromFloat(-0x1p-140f), 0x8000);
}

}  // namespace
}  // namespace sublane::formats
