#include "pjrt/wire.h"

#include <gtest/gtest.h>

#include "pjrt/pjrt.h"

namespace sublane::pjrt {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (unsigned char byte : bytes) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", byte);
  return out;
}

TEST(CompileOptions, SmallestIsSixBytes) { EXPECT_EQ(hex(encodeCompileOptions({})), "1a 04 20 01 28 01"); }

TEST(CompileOptions, PartitionsTurnOnShardy) {
  EXPECT_EQ(hex(encodeCompileOptions({.partitions = 8})), "1a 09 20 01 28 08 30 01 98 01 01");
}

// The same message from protobuf: map entry (field 7) { key = 1, value = 2 { string 1 | bool 2 | int64 3 |
// double 4 } }.
TEST(CompileOptions, EachKindOfOverride) {
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"a", std::string("x")}}})),
            "1a 04 20 01 28 01 3a 08 0a 01 61 12 03 0a 01 78");
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"b", true}}})),
            "1a 04 20 01 28 01 3a 07 0a 01 62 12 02 10 01");
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"c", int64_t{300}}}})),
            "1a 04 20 01 28 01 3a 08 0a 01 63 12 03 18 ac 02");
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"d", 1.0}}})),
            "1a 04 20 01 28 01 3a 0e 0a 01 64 12 09 21 00 00 00 00 00 00 f0 3f");
}

TEST(Wire, NumbersSurvive) {
  WireWriter out;
  for (int64_t value : {int64_t{0}, int64_t{127}, int64_t{128}, int64_t{-1}, INT64_MAX, INT64_MIN})
    out.number(3, value);
  out.real(1000, -2.5);
  out.text(2, std::string("\0x", 2));
  WireReader in(out.bytes());
  for (int64_t value : {int64_t{0}, int64_t{127}, int64_t{128}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    ASSERT_TRUE(in.next());
    EXPECT_EQ(in.field(), 3u);
    EXPECT_EQ(in.number(), value);
  }
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.field(), 1000u);
  EXPECT_EQ(in.real(), -2.5);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.text(), std::string_view("\0x", 2));
  EXPECT_FALSE(in.next());
  EXPECT_TRUE(in.wellFormed());
}

TEST(Wire, MalformedBytesEndTheReading) {
  for (std::string_view bytes : {"\x80",        // tag cut short
                                 "\x08",        // value missing
                                 "\x12\x05xx",  // 5 bytes promised, 2 there
                                 "\x0b",        // groups do not exist here
                                 "\x09\x01",    // 64-bit cut short
                                 "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}) {  // absurd length
    WireReader in(bytes);
    while (in.next()) {
    }
    EXPECT_FALSE(in.wellFormed()) << hex(std::string(bytes));
  }
  // A varint of more than 64 bits.
  WireReader in("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
  EXPECT_FALSE(in.next());
  EXPECT_FALSE(in.wellFormed());
}

}  // namespace
}  // namespace sublane::pjrt
