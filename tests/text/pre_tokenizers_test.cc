// Where each pre-tokenizer cuts, read off a vocabulary in which whatever meets may merge: see pieces().
#include "text/pre_tokenizers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "text/text.h"
#include "tiny_vocabulary.h"

namespace sublane::text {
namespace {

/// The pieces of a text: every part of it is a token, any two neighbours merge, so what stays apart was cut.
Texts pieces(const std::string& pre, const std::string& text) {
  io::Metadata bytes = byteLevel({}, {}, {}, pre);
  const Texts letters = std::get<Texts>(bytes["tokenizer.ggml.tokens"].value);
  // Every substring of the text as a token, and a merge for every place where it may come together.
  Texts more, merges;
  for (size_t length = 2; length <= text.size(); ++length) {
    for (size_t start = 0; start + length <= text.size(); ++start) {
      Texts prefixes = {""};
      for (size_t i = start; i < start + length; ++i) {
        prefixes.push_back(prefixes.back() + letters[static_cast<unsigned char>(text[i])]);
      }
      const std::string& all = prefixes.back();
      if (std::ranges::find(more, all) != more.end()) continue;
      more.push_back(all);
      for (size_t i = 1; i < length; ++i)
        merges.push_back(prefixes[i] + " " + all.substr(prefixes[i].size()));
    }
  }
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(byteLevel(more, merges, {}, pre)));
  if (!tokenizer.ok()) return {tokenizer.error().text()};
  auto ids = tokenizer->encode(text, {.add_bos = false});
  if (!ids.ok()) return {ids.error().text()};
  Texts out;
  for (int32_t id : *ids) out.push_back(tokenizer->tokenBytes(id));
  return out;
}

struct Row {
  const char* text;
  Texts gpt2, llama3, qwen2, smollm;
};

// Right values from case 01 and 04 of our collection, measured with the `tokenizers` package on the published
// patterns.
const Row kRows[] = {
    {"(x):\n", {"(", "x", "):", "\n"}, {"(x", "):\n"}, {"(x", "):\n"}, {"(", "x", "):", "\n"}},
    {"a->b", {"a", "->", "b"}, {"a", "->", "b"}, {"a", "->", "b"}, {"a", "->", "b"}},
    {"12345", {"12345"}, {"123", "45"}, {"1", "2", "3", "4", "5"}, {"1", "2", "3", "4", "5"}},
    {"DON'T", {"DON", "'", "T"}, {"DON", "'T"}, {"DON", "'T"}, {"DON", "'", "T"}},
    {"日本語123", {"日本語", "123"}, {"日本語", "123"}, {"日本語", "1", "2", "3"}, {"日本語", "1", "2", "3"}},
    {"１２３４", {"１２３４"}, {"１２３", "４"}, {"１", "２", "３", "４"}, {"１", "２", "３", "４"}},
    {"\u00a0x", {"\u00a0", "x"}, {"\u00a0x"}, {"\u00a0x"}, {"\u00a0", "x"}},
    {"Fu\u0308hrer",
     {"Fu", "\u0308", "hrer"},
     {"Fu", "\u0308hrer"},
     {"Fu", "\u0308hrer"},
     {"Fu", "\u0308", "hrer"}},
    {"a  b", {"a", " ", " b"}, {"a", " ", " b"}, {"a", " ", " b"}, {"a", " ", " b"}},
};

TEST(PreTokenizers, cutWhereThePublishedPatternsCut) {
  for (const Row& row : kRows) {
    EXPECT_EQ(pieces("gpt-2", row.text), row.gpt2) << row.text;
    EXPECT_EQ(pieces("llama-bpe", row.text), row.llama3) << row.text;
    EXPECT_EQ(pieces("qwen2", row.text), row.qwen2) << row.text;
    EXPECT_EQ(pieces("smollm", row.text), row.smollm) << row.text;
  }
}

TEST(PreTokenizers, defaultIsNotGpt2) {
  EXPECT_EQ(pieces("default", "12345"), (Texts{"123", "45"}));
  EXPECT_EQ(pieces("default", "a $5"), (Texts{"a", " ", "$", "5"}));
  EXPECT_EQ(pieces("gpt-2", "a $5"), (Texts{"a", " $", "5"}));
}

// Case 02: with ignore_merges a whole piece in the vocabulary wins.
TEST(PreTokenizers, wholePieceWinsWhereTheFamilySaysSo) {
  auto ids = [](const std::string& pre, const Texts& merges) {
    auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(byteLevel({"ab", "bc", "abc"}, merges, {}, pre)));
    return *tokenizer->encode("abc", {.add_bos = false});
  };
  EXPECT_EQ(ids("llama-bpe", {"b c", "a b"}), (std::vector<int32_t>{258}));
  EXPECT_EQ(ids("qwen2", {"b c", "a b"}), (std::vector<int32_t>{'a', 257}));
  EXPECT_EQ(ids("qwen2", {"a b", "b c"}), (std::vector<int32_t>{256, 'c'}));
}

TEST(PreTokenizers, everyNameBuildsAndLosesNothing) {
  const std::string text =
      "It's 12345 a->b (x):\n\n  \tna\u0308ive 日本語カナ한국어 नमस्ते １２３ 🦙\r\n  HelloWorld!! \u00a0 .";
  std::string names = preTokenizerNames() + ", ";
  for (size_t at = 0, end; (end = names.find(", ", at)) != std::string::npos; at = end + 2) {
    std::string name = names.substr(at, end - at);
    auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(byteLevel({}, {}, {}, name)));
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
    auto ids = tokenizer->encode(text, {});
    ASSERT_TRUE(ids.ok()) << name << ": " << ids.error().text();
    EXPECT_EQ(tokenizer->decode(*ids), text) << name;
  }
}

TEST(PreTokenizers, familiesCutAsTheirPatternsSay) {
  EXPECT_EQ(pieces("falcon", "ab,1234 .5"), (Texts{"ab", ",", "123", "4", " ", ".", "5"}));
  EXPECT_EQ(pieces("deepseek-v3", "日本x12345"), (Texts{"日本", "x", "123", "45"}));
  EXPECT_EQ(pieces("qwen35", "नमस्ते1"), (Texts{"नमस्ते", "1"}));
  EXPECT_EQ(pieces("gpt-4o", "helloWorld's"), (Texts{"hello", "World's"}));
  EXPECT_EQ(pieces("tekken", "ABc 12"), (Texts{"ABc", " ", "1", "2"}));
  EXPECT_EQ(pieces("kimi-k2", "中文ab"), (Texts{"中文", "ab"}));
  EXPECT_EQ(pieces("superbpe", "1234567"), (Texts{"1", "234", "567"}));
  EXPECT_EQ(pieces("bloom", "ab, cd"), (Texts{"ab", ",", " cd"}));
  EXPECT_EQ(pieces("seed-coder", "a;\nb"), (Texts{"a", ";", "\n", "b"}));
}

TEST(PreTokenizers, unknownNameIsRefusedByName) {
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(byteLevel({}, {}, {}, "deepseek-v9")));
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_TRUE(
      tokenizer.error().message().starts_with("tiny.gguf: tokenizer: tokenizer.ggml.pre \"deepseek-v9\" is "
                                              "not supported (known: default, gpt-2, phi-2, "))
      << tokenizer.error().message();
}

}  // namespace
}  // namespace sublane::text
