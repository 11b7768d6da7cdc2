// Case 07: a character cut by tokens, and bytes that are no character at all.
#include <gtest/gtest.h>

#include <random>

#include "text/text.h"
#include "text/utf8_stream.h"
#include "tiny_vocabulary.h"

namespace sublane::text {
namespace {

Tokenizer tinySentencePiece() {
  return *Tokenizer::fromCheckpoint(checkpointOf(sentencePiece({{"\u2581Hi", -1}, {"x", -2}})));
}
int32_t byteToken(int byte) { return 3 + byte; }

TEST(Detokenizer, holdsACharacterUntilItIsWhole) {
  Tokenizer tokenizer = tinySentencePiece();
  Detokenizer stream = tokenizer.detokenizer();
  EXPECT_EQ(stream.push(byteToken(0xF0)), "");
  EXPECT_EQ(stream.push(byteToken(0x9F)), "");
  EXPECT_EQ(stream.push(byteToken(0xA6)), "");
  EXPECT_EQ(stream.push(byteToken(0x99)), "🦙");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Detokenizer, truncatedTailIsReplacedAtTheEndOnly) {
  Tokenizer tokenizer = tinySentencePiece();
  Detokenizer stream = tokenizer.detokenizer();
  EXPECT_EQ(stream.push(byteToken(0xF0)), "");
  EXPECT_EQ(stream.push(byteToken(0x9F)), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Detokenizer, wordAfterHalfACharacterFreesBoth) {
  Tokenizer tokenizer = tinySentencePiece();
  Detokenizer stream = tokenizer.detokenizer();
  EXPECT_EQ(stream.push(byteToken(0xF0)), "");
  EXPECT_EQ(stream.push(byteToken(0x9F)), "");
  EXPECT_EQ(stream.push(259), "\uFFFD Hi");
}

TEST(Detokenizer, invalidByteIsReplacedAtOnceAndDoesNotStall) {
  Tokenizer tokenizer = tinySentencePiece();
  Detokenizer stream = tokenizer.detokenizer();
  EXPECT_EQ(stream.push(260), "x");
  EXPECT_EQ(stream.push(byteToken(0xFF)), "\uFFFD");
  EXPECT_EQ(stream.push(260), "x");
}

TEST(Detokenizer, specialTokensGiveNoTextAndBreakNoCharacter) {
  Tokenizer tokenizer = tinySentencePiece();
  Detokenizer stream = tokenizer.detokenizer();
  for (int32_t id : {byteToken(0xC3), 2, 0, -1, 9999}) EXPECT_EQ(stream.push(id), "");
  EXPECT_EQ(stream.push(byteToken(0xA9)), "é");
}

TEST(Detokenizer, outlivesItsTokenizer) {
  auto stream = [] { return tinySentencePiece().detokenizer(); }();
  EXPECT_EQ(stream.push(259), " Hi");
}

// Unicode's table of maximal subparts: how many U+FFFD stand for what.
TEST(Utf8Stream, replacesMaximalSubparts) {
  auto whole = [](std::string_view bytes) {
    Utf8Stream stream;
    std::string text = stream.push(bytes);
    return text + stream.finish();
  };
  const std::string r = "\uFFFD";
  EXPECT_EQ(whole("\xC0\xAF"), r + r);  // overlong
  EXPECT_EQ(whole("\xE0\x80\x80"), r + r + r);
  EXPECT_EQ(whole("\xED\xA0\x80"), r + r + r);          // surrogate
  EXPECT_EQ(whole("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
  EXPECT_EQ(whole("\xF1\x80\x80\xE1\x80\xC2"
                  "b"),
            r + r + r + "b");
  EXPECT_EQ(whole("a\x80\xBF"
                  "b"),
            "a" + r + r + "b");
  EXPECT_EQ(whole("\xF4\x8F\xBF\xBF"), "\U0010FFFF");
}

TEST(Utf8Stream, knowsWholeText) {
  EXPECT_TRUE(isUtf8("") && isUtf8("aé漢🦙"));
  EXPECT_FALSE(isUtf8("a\xF0\x9F") || isUtf8("\xFF") || isUtf8("\xC0\x80"));
}

// Every way to cut 200 random strings, half of them valid, gives one text, and never half a character.
TEST(Utf8Stream, textDoesNotDependOnTheCuts) {
  std::mt19937 random(7);
  const std::string alphabet[] = {"a",    "é",        "漢",   "🦙",   "\xF0",
                                  "\x9F", "\xE2\x82", "\xFF", "\xC3", "\xED\xA0"};
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    while (bytes.size() < 8) bytes += alphabet[random() % (round % 2 ? 4 : 10)];
    bytes.resize(std::min<size_t>(bytes.size(), 10));
    Utf8Stream once;
    std::string expected = once.push(bytes);
    expected += once.finish();
    for (unsigned cuts = 0; cuts < 1u << (bytes.size() - 1); ++cuts) {
      Utf8Stream stream;
      std::string text;
      size_t start = 0;
      for (size_t i = 0; i < bytes.size(); ++i) {
        bool cut = i + 1 == bytes.size() || (cuts >> i & 1);
        if (!cut) continue;
        std::string piece = stream.push(std::string_view(bytes).substr(start, i + 1 - start));
        Utf8Stream check;
        ASSERT_EQ(check.push(piece), piece);
        ASSERT_EQ(check.finish(), "");
        text += piece;
        start = i + 1;
      }
      ASSERT_EQ(text + stream.finish(), expected) << "round " << round << ", cuts " << cuts;
    }
  }
}

TEST(Detokenizer, streamEqualsDecodeForRandomIds) {
  std::mt19937 random(11);
  for (bool prefix : {false, true}) {
    auto tokenizer = Tokenizer::fromCheckpoint(
        checkpointOf(sentencePiece({{"\u2581Hi", -1}, {"é", -2}, {"\u2581", -3}}, prefix)));
    for (int round = 0; round < 300; ++round) {
      std::vector<int32_t> ids(random() % 20);
      for (int32_t& id : ids) id = static_cast<int32_t>(random() % 262);
      Detokenizer stream = tokenizer->detokenizer();
      std::string text;
      for (int32_t id : ids) text += stream.push(id);
      ASSERT_EQ(text + stream.finish(), tokenizer->decode(ids));
    }
  }
}

}  // namespace
}  // namespace sublane::text
