#include "base/wire.h"

#include <gtest/gtest.h>

namespace sublane {
namespace {

TEST(Wire, NumbersSurvive) {
  WireWriter out;
  for (int64_t value : {int64_t{0}, int64_t{127}, int64_t{128}, int64_t{-1}, INT64_MAX, INT64_MIN})
    out.number(3, value);
  out.real(1000, -2.5);
  out.fixed(7, 0xfedcba9876543210);
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
  EXPECT_EQ(in.field(), 7u);
  EXPECT_EQ(static_cast<uint64_t>(in.number()), 0xfedcba9876543210);
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
    EXPECT_FALSE(in.wellFormed()) << ::testing::PrintToString(bytes);
  }
  // A varint of more than 64 bits.
  WireReader in("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
  EXPECT_FALSE(in.next());
  EXPECT_FALSE(in.wellFormed());
}

}  // namespace
}  // namespace sublane
