// How quantities, foreign text and JSON are shown.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

namespace sublane {
namespace {

TEST(Units, ThreeFiguresAndADecimalPrefix) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(950), "950 B");
  EXPECT_EQ(formatBytes(999'400), "999 kB");
  EXPECT_EQ(formatBytes(999'600), "1.00 MB");  // not "1000 kB"
  EXPECT_EQ(formatBytes(135'000'000), "135 MB");
  EXPECT_EQ(formatBytes(9'994'000), "9.99 MB");
  EXPECT_EQ(formatBytes(9'996'000), "10.0 MB");
  EXPECT_EQ(formatBytesPerSecond(1.36e12), "1.36 TB/s");
  EXPECT_EQ(formatFlopsPerSecond(918e12), "918 TFLOP/s");
  EXPECT_EQ(formatHz(1.75e9), "1.75 GHz");
  EXPECT_EQ(formatScaled(-2500, "B"), "-2.50 kB");
  EXPECT_EQ(formatScaled(std::numeric_limits<double>::infinity(), "B/s"), "inf B/s");
}

TEST(Units, BinarySizes) {
  EXPECT_EQ(formatBinaryBytes(16 << 20), "16 MiB");
  EXPECT_EQ(formatBinaryBytes(33543700480), "31.2 GiB");
  EXPECT_EQ(formatBinaryBytes(1023), "1023 B");
  EXPECT_EQ(formatBinaryBytes(1536), "1.50 KiB");
}

TEST(Units, Times) {
  EXPECT_EQ(formatSeconds(0), "0 s");
  EXPECT_EQ(formatSeconds(12.34e-6), "12.3 us");
  EXPECT_EQ(formatSeconds(1.5e-3), "1.50 ms");
  EXPECT_EQ(formatSeconds(5e-9), "5.00 ns");
  EXPECT_EQ(formatSeconds(0.9999), "1.00 s");
  EXPECT_EQ(formatSeconds(119.4), "119 s");
  EXPECT_EQ(formatSeconds(200), "3 min 20 s");
}

TEST(Units, CountsAndTypes) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(1234567), "1,234,567");
  EXPECT_EQ(formatCount(-123456), "-123,456");
  EXPECT_EQ((Cycles{5} + Cycles{7}).count, 12);
  EXPECT_LT(Bytes{5}, Bytes{7});
  EXPECT_DOUBLE_EQ(secondsOf(Cycles{1750}, Hz{1.75e9}), 1e-6);
}

TEST(Text, ForeignNamesAreHarmless) {
  EXPECT_EQ(inQuotes("blk.0.attn_q"), "\"blk.0.attn_q\"");
  EXPECT_EQ(inQuotes("a\n\x1b[2J\x7f\xc3\xa4"), "\"a\\x0a\\x1b[2J\\x7f\\xc3\\xa4\"");
  EXPECT_EQ(inQuotes("say \"x\" \\"), "\"say \\\"x\\\" \\\\\"");
  EXPECT_EQ(inQuotes("abcdef", 3), "\"abc\"...");
  EXPECT_EQ(escaped("abcdef", 3), "abc...");
  EXPECT_EQ(escaped(""), "");
}

TEST(Json, HeadOrderAndOrigin) {
  nlohmann::ordered_json document = jsonDocument("sublane.test/1");
  document["z"] = jsonNumber(1.5, "s", Origin::kMeasured);
  document["a"] = "bad \xff byte";
  document["nan"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(jsonText(document),
            "{\n"
            "  \"schema\": \"sublane.test/1\",\n"
            "  \"z\": {\n"
            "    \"value\": 1.5,\n"
            "    \"unit\": \"s\",\n"
            "    \"origin\": \"measured\"\n"
            "  },\n"
            "  \"a\": \"bad \xef\xbf\xbd byte\",\n"
            "  \"nan\": null\n"
            "}\n");
  EXPECT_EQ(name(Origin::kAssumed), "assumed");
}

}  // namespace
}  // namespace sublane
