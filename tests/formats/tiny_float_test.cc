// Floats of 8 bits and fewer: every code, and every 16-bit float that is rounded to them, against plain
// arithmetic.
#include "formats/tiny_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <string>

namespace sublane::formats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// What a code means, by the definition of the format.
struct Format {
  const char* name;
  int bits, exponent_bits, mantissa_bits, bias;
  uint32_t codes;  // of finite magnitudes
  float (*widen)(uint8_t);
  uint8_t (*narrow)(float);
};
double meaning(const Format& format, uint32_t code) {
  const uint32_t sign_bit = 1u << (format.bits - 1);
  const uint32_t magnitude = code & (sign_bit - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const double fraction =
      static_cast<double>(magnitude & ((1u << format.mantissa_bits) - 1)) / (1 << format.mantissa_bits);
  const double sign = code & sign_bit ? -1 : 1;
  if (magnitude >= format.codes) {
    return format.mantissa_bits == 2 && magnitude == format.codes ? sign * kInf : kNan;
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                               : std::ldexp(1 + fraction, exponent - format.bias));
}

const Format kFormats[] = {{"e4m3", 8, 4, 3, 7, 0x7f, widenF8E4M3, f8E4M3FromFloat},
                           {"e5m2", 8, 5, 2, 15, 0x7c, widenF8E5M2, f8E5M2FromFloat},
                           {"e2m1", 4, 2, 1, 1, 8, widenF4E2M1, f4E2M1FromFloat}};

class TinyFloat : public testing::TestWithParam<Format> {};

TEST_P(TinyFloat, WidensEveryCodeAndComesBack) {
  const Format& format = GetParam();
  for (uint32_t code = 0; code < 1u << format.bits; ++code) {
    const float wide = format.widen(static_cast<uint8_t>(code));
    const double expected = meaning(format, code);
    ASSERT_EQ(std::signbit(wide), (code >> (format.bits - 1)) != 0) << code;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << code;
      ASSERT_TRUE(std::isnan(format.widen(format.narrow(wide)))) << code;
    } else {
      ASSERT_EQ(static_cast<double>(wide), expected) << code;
      ASSERT_EQ(format.narrow(wide), code);
    }
  }
}

TEST_P(TinyFloat, RoundsToNearestEvenBetweenNeighbours) {
  const Format& format = GetParam();
  const uint32_t sign_bit = 1u << (format.bits - 1);
  for (uint32_t code = 0; code + 1 < format.codes; ++code) {
    const float middle = static_cast<float>((meaning(format, code) + meaning(format, code + 1)) / 2);
    EXPECT_EQ(format.narrow(middle), code + (code & 1));
    EXPECT_EQ(format.narrow(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(format.narrow(std::nextafter(middle, INFINITY)), code + 1);
    EXPECT_EQ(format.narrow(-middle), sign_bit | (code + (code & 1)));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, TinyFloat, testing::ValuesIn(kFormats),
                         [](const auto& test) { return std::string(test.param.name); });

// All 2^16 bfloat16 values, against PyPI ml_dtypes (goldens/casts.txt, made by
// tools/reference/formats/make_goldens.py).
TEST(Casts, EqualTheReferenceOverAllBfloats) {
  const std::pair<std::string, uint8_t (*)(float)> kCasts[] = {{"f8e4m3", f8E4M3FromFloat},
                                                               {"f8e5m2", f8E5M2FromFloat},
                                                               {"f8e8m0", f8E8M0FromFloat},
                                                               {"f4e2m1", f4E2M1FromFloat}};
  std::ifstream file(SUBLANE_SOURCE_DIR "/tests/formats/goldens/casts.txt");
  std::map<std::string, std::map<uint32_t, uint32_t>> codes;  // from which bfloat16 on, by type
  std::string type;
  uint32_t first = 0, code = 0;
  while (file >> type >> std::hex >> first >> code) codes[type][first] = code;
  for (const auto& [name, cast] : kCasts) {
    ASSERT_GT(codes[name].size(), 16u) << "golden missing?";
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      uint32_t expected = std::prev(codes[name].upper_bound(bits))->second;
      // The reference takes all that is above 2^-127 up to 2^-126, which is nearest from 1.5 * 2^-127 on
      // only.
      if (name == "f8e8m0" && bits > 0x40 && bits < 0x60) expected = 0;
      ASSERT_EQ(cast(std::bit_cast<float>(bits << 16)), expected) << name << " of " << std::hex << bits;
    }
  }
}

// Public reports, case 38.
TEST(F8E4M3, CastsOverflowToNanAndQuantisersClamp) {
  EXPECT_EQ(f8E4M3FromFloat(448.0f), 0x7e);
  EXPECT_EQ(f8E4M3FromFloat(464.0f), 0x7e);
  EXPECT_EQ(f8E4M3FromFloat(std::nextafter(464.0f, 1000.0f)), 0x7f);
  EXPECT_EQ(f8E4M3FromFloat(-1000.0f), 0xff);
  EXPECT_EQ(f8E4M3FromFloat(INFINITY), 0x7f);
  EXPECT_EQ(f8E4M3FromFloat(NAN), 0x7f);
  EXPECT_EQ(f8E4M3FromFloatSaturating(1000.0f), 0x7e);
  EXPECT_EQ(f8E4M3FromFloatSaturating(-INFINITY), 0xfe);
  EXPECT_EQ(f8E4M3FromFloatSaturating(NAN), 0x7f);
}

TEST(F8E5M2, CastsOverflowToInfinityAndQuantisersClamp) {
  EXPECT_EQ(f8E5M2FromFloat(std::nextafter(61440.0f, 0.0f)), 0x7b);
  EXPECT_EQ(f8E5M2FromFloat(61440.0f), 0x7c);
  EXPECT_EQ(f8E5M2FromFloat(-INFINITY), 0xfc);
  EXPECT_EQ(f8E5M2FromFloat(std::bit_cast<float>(0x7f800001u)), 0x7e);
  EXPECT_EQ(f8E5M2FromFloatSaturating(1e9f), 0x7b);
  EXPECT_EQ(f8E5M2FromFloatSaturating(-INFINITY), 0xfb);
}

TEST(F8E8M0, IsPowersOfTwo) {
  for (uint32_t code = 0; code < 0xff; ++code) {
    const float wide = widenF8E8M0(static_cast<uint8_t>(code));
    EXPECT_EQ(static_cast<double>(wide), std::ldexp(1.0, static_cast<int>(code) - 127));
    EXPECT_EQ(f8E8M0FromFloat(wide), code);
    const float middle = wide * 1.5f;
    EXPECT_EQ(f8E8M0FromFloat(middle), code + 1);
    EXPECT_EQ(f8E8M0FromFloat(std::nextafter(middle, 0.0f)), code);
  }
  EXPECT_TRUE(std::isnan(widenF8E8M0(0xff)));
  for (float value : {0.0f, -0.0f, -1.0f, INFINITY, -INFINITY, std::nanf("")})
    EXPECT_EQ(f8E8M0FromFloat(value), 0xff) << value;
  EXPECT_EQ(f8E8M0FromFloat(0x1p-149f), 0);
}

TEST(F4E2M1, SaturatesAndHasNoNan) {
  EXPECT_EQ(f4E2M1FromFloat(1e9f), 7);
  EXPECT_EQ(f4E2M1FromFloat(-INFINITY), 15);
  EXPECT_EQ(f4E2M1FromFloat(std::nanf("")), 8);
}

}  // namespace
}  // namespace sublane::formats
