// The two real checkpoints against independent programs.
#include <gtest/gtest.h>

#include <random>

#include "goldens.h"
#include "io/checkpoint.h"
#include "text/text.h"

namespace sublane::text {
namespace {

using Ids = std::vector<int32_t>;

const Tokenizer& tokenizerOf(const std::string& model) {
  static std::map<std::string, Tokenizer> loaded;
  auto found = loaded.find(model);
  if (found != loaded.end()) return found->second;
  auto checkpoint = io::openCheckpoint(model);
  if (!checkpoint.ok()) throw std::runtime_error(checkpoint.error().text());
  auto tokenizer = Tokenizer::fromCheckpoint(*checkpoint);
  if (!tokenizer.ok()) throw std::runtime_error(tokenizer.error().text());
  return loaded.emplace(model, std::move(*tokenizer)).first->second;
}

class RealCheckpoint : public testing::TestWithParam<const char*> {};

TEST_P(RealCheckpoint, idsEqualTheReference) {
  const Tokenizer& tokenizer = tokenizerOf(GetParam());
  auto rows = readGoldens(std::string(GetParam()) + ".jsonl");
  ASSERT_GT(rows.size(), 200u);
  for (const auto& row : rows) {
    std::string text = row["text"];
    Ids plain = row["ids"], special = row.contains("special_ids") ? row["special_ids"] : row["ids"];
    EXPECT_EQ(*tokenizer.encode(text, {.add_bos = false, .parse_special = false}), plain) << text;
    EXPECT_EQ(*tokenizer.encode(text, {.add_bos = false, .parse_special = true}), special) << text;
  }
}

// U+2581 stands for a space in SentencePiece, so that one text comes back changed.
TEST_P(RealCheckpoint, decodeGivesTheTextBack) {
  const Tokenizer& tokenizer = tokenizerOf(GetParam());
  for (const auto& row : readGoldens(std::string(GetParam()) + ".jsonl")) {
    std::string text = row["text"];
    if (text.find("\u2581") != std::string::npos) continue;
    EXPECT_EQ(tokenizer.decode(row["ids"].get<Ids>()), text);
  }
}

TEST_P(RealCheckpoint, streamOfRandomIdsEqualsDecode) {
  const Tokenizer& tokenizer = tokenizerOf(GetParam());
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Ids ids(50);
    for (int32_t& id : ids) id = static_cast<int32_t>(random() % tokenizer.vocabularySize());
    Detokenizer stream = tokenizer.detokenizer();
    std::string text;
    for (int32_t id : ids) text += stream.push(id);
    ASSERT_EQ(text + stream.finish(), tokenizer.decode(ids));
  }
}

INSTANTIATE_TEST_SUITE_P(, RealCheckpoint, testing::Values("smollm2-135m", "gemma3-270m"));

TEST(SmolLm2, describesItself) {
  EXPECT_EQ(tokenizerOf("smollm2-135m").describe(),
            "byte-level BPE (smollm), 49152 tokens, bos 1 (not added), stops 0 (by its use or name) 2");
}

TEST(SmolLm2, chatsEqualTheReference) {
  const Tokenizer& tokenizer = tokenizerOf("smollm2-135m");
  auto rows = readGoldens("smollm2-135m-chats.jsonl");
  ASSERT_GT(rows.size(), 10u);
  for (const auto& row : rows) {
    std::vector<Message> messages;
    for (const auto& message : row["messages"]) messages.push_back({message["role"], message["content"]});
    EXPECT_EQ(*tokenizer.renderChat(messages, row["add_generation_prompt"]), row["text"].get<std::string>());
  }
}

TEST(Gemma3, describesItself) {
  EXPECT_EQ(tokenizerOf("gemma3-270m").describe(),
            "SentencePiece BPE, 262144 tokens, bos 2, stops 1 106 (by its use or name)");
}

TEST(Gemma3, prependsBosAndHasNoTemplate) {
  const Tokenizer& tokenizer = tokenizerOf("gemma3-270m");
  EXPECT_EQ(*tokenizer.encode("Hello", {}), (Ids{2, 9259}));
  EXPECT_FALSE(tokenizer.hasChatTemplate());
  EXPECT_FALSE(tokenizer.renderChat({{"user", "hi"}}, true).ok());
}

}  // namespace
}  // namespace sublane::text
