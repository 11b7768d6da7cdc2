#include "base/deflate.h"

#include <gtest/gtest.h>

namespace sublane {
namespace {

std::string lines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += "line " + std::to_string(i * i) + "\n";
  return text;
}

TEST(Deflate, GoesThereAndBack) {
  for (const std::string& text : {std::string(), std::string("x"), lines(300000), std::string(3 << 20, 'a'),
                                  std::string(1 << 20, '\0')}) {
    const std::string packed = deflated(text);
    EXPECT_LT(packed.size(), text.size() / 2 + 20);
    Result<std::string> back = inflated(packed, text.size(), DeflateForm::kZlib);
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_TRUE(*back == text);
  }
}

TEST(Deflate, RawStreamsHaveNoHeadAndNoChecksum) {
  const std::string packed = deflated("text");
  const std::string raw = packed.substr(2, packed.size() - 6);
  EXPECT_EQ(*inflated(raw, 4, DeflateForm::kRaw), "text");
  EXPECT_FALSE(inflated(raw, 4, DeflateForm::kZlib).ok());
}

TEST(Gzipped, GoesThereAndBackAndHoldsNoTime) {
  for (const std::string& text : {std::string(), std::string("x"), lines(300000)}) {
    const std::string packed = gzipped(text);
    EXPECT_EQ(packed, gzipped(text));
    EXPECT_EQ(packed.substr(0, 8), std::string("\x1f\x8b\x08\0\0\0\0\0", 8));  // no flags, no time
    Result<std::string> back = inflated(packed, text.size(), DeflateForm::kGzip);
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_TRUE(*back == text);
  }
}

TEST(Deflate, WhatIsWrongIsSaid) {
  const std::string text = lines(1000), packed = deflated(text);
  auto message = [&](std::string_view bytes, uint64_t size) {
    return inflated(bytes, size, DeflateForm::kZlib).error().message();
  };
  EXPECT_EQ(message(packed, text.size() - 1),
            fmt::format("packed bytes: more than the {} bytes that were said", text.size() - 1));
  EXPECT_EQ(message(packed, text.size() + 1),
            fmt::format("packed bytes: {} bytes, {} were said", text.size(), text.size() + 1));
  EXPECT_EQ(message(packed, uint64_t{1} << 60),
            fmt::format("packed bytes: {} bytes, {} were said", text.size(), uint64_t{1} << 60));
  EXPECT_EQ(message(packed + "ab", text.size()), "packed bytes: 2 follow their end");
  for (size_t size = 0; size < packed.size(); size += 7) {
    EXPECT_NE(message(packed.substr(0, size), text.size()).find("malformed after"), std::string::npos)
        << size;
  }
  EXPECT_EQ(message("this is no zlib stream", 5), "packed bytes: malformed after 0 of 5 bytes");
}

TEST(Crc32, IsTheCommonOne) { EXPECT_EQ(crc32Of("123456789"), 0xcbf43926u); }

}  // namespace
}  // namespace sublane
