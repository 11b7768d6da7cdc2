// Both real checkpoints in float32 against an independent reference
// (tools/reference/make_generation_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/engine.h"
#include "text/text.h"

namespace sublane::engine {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

json golden(const std::string& model) {
  std::ifstream file(std::string(SUBLANE_SOURCE_DIR) + "/tests/engine/goldens/" + model + ".json");
  return json::parse(file);
}

/// Tokens until every sequence has ended, by sequence.
std::vector<Ids> generate(Engine& engine, const std::vector<Ids>& prompts, int64_t max_tokens) {
  std::vector<Ids> answers(prompts.size());
  std::map<int32_t, size_t> rows;
  for (size_t i = 0; i < prompts.size(); ++i) {
    Result<int32_t> id =
        engine.add({.prompt = prompts[i], .max_tokens = max_tokens, .stop_ids = {}, .draw = {}});
    EXPECT_TRUE(id.ok()) << id.error().text();
    rows[*id] = i;
  }
  while (!engine.idle()) {
    Result<std::vector<Token>> tokens = engine.step();
    if (!tokens.ok()) {
      ADD_FAILURE() << tokens.error().text();
      break;
    }
    for (const Token& token : *tokens) answers[rows[token.sequence]].push_back(token.id);
  }
  return answers;
}

class RealCheckpoint : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<io::Checkpoint> opened = io::openCheckpoint(GetParam());
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    checkpoint_ = std::make_unique<io::Checkpoint>(std::move(opened).value());
    golden_ = golden(GetParam());
  }
  Engine engine(EngineOptions options) {
    Result<Engine> engine = Engine::load(*checkpoint_, options);
    if (!engine.ok()) throw std::runtime_error(engine.error().text());
    return std::move(engine).value();
  }
  std::unique_ptr<io::Checkpoint> checkpoint_;
  json golden_;
};

/// How many tokens to compare: up to the first near-tie of the reference.
size_t comparable(const json& prompt) {
  const auto gaps = prompt["gaps"].get<std::vector<double>>();
  return static_cast<size_t>(std::find_if(gaps.begin(), gaps.end(), [](double gap) { return gap < 1e-3; }) -
                             gaps.begin());
}

Ids head(Ids ids, size_t n) {
  ids.resize(std::min(n, ids.size()));
  return ids;
}

TEST_P(RealCheckpoint, TokenizesAsTheReference) {
  auto tokenizer = text::Tokenizer::fromCheckpoint(*checkpoint_);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  for (const auto& [name, prompt] : golden_["prompts"].items()) {
    auto ids = tokenizer->encode(prompt["text"].get<std::string>(),
                                 {.add_bos = true, .parse_special = prompt["parse_special"]});
    ASSERT_TRUE(ids.ok()) << ids.error().text();
    EXPECT_EQ(*ids, prompt["ids"].get<Ids>()) << name;
  }
}

TEST_P(RealCheckpoint, GreedyTextAndLogitsEqualTheReference) {
  Engine e = engine({.context = 768, .prefill_chunk = 128, .return_logits = true});
  const auto probe_ids = golden_["probe_ids"].get<Ids>();
  for (const auto& [name, prompt] : golden_["prompts"].items()) {
    const json& logits = prompt["logits"];
    ASSERT_TRUE(
        e.add({.prompt = prompt["ids"].get<Ids>(), .max_tokens = 48, .stop_ids = {}, .draw = {}}).ok());
    Ids answer;
    while (!e.idle()) {
      Result<std::vector<Token>> tokens = e.step();
      ASSERT_TRUE(tokens.ok()) << tokens.error().text();
      if (answer.empty() && !tokens->empty()) {
        double scale = logits["max_abs"], worst = 0;
        for (size_t i = 0; i < probe_ids.size(); ++i) {
          worst = std::max(worst, std::abs(e.logits()[static_cast<size_t>(probe_ids[i])] -
                                           logits["probe"][i].get<double>()));
        }
        for (size_t i = 0; i < logits["top"].size(); ++i) {
          worst = std::max(worst, std::abs(e.logits()[logits["top_ids"][i].get<size_t>()] -
                                           logits["top"][i].get<double>()));
        }
        EXPECT_LE(worst / scale, 1e-3) << name;
        std::printf("%s %s: worst logit difference %.2g of the largest (bound 1e-3)\n", GetParam(),
                    name.c_str(), worst / scale);
      }
      for (const Token& token : *tokens) answer.push_back(token.id);
    }
    size_t n = comparable(prompt);
    EXPECT_GE(n, 40u) << name;
    EXPECT_EQ(head(answer, n), head(prompt["tokens"].get<Ids>(), n)) << name;
  }
}

TEST_P(RealCheckpoint, ChunkedPrefillDecodeAndABatchOfFourAgreeWithEachAlone) {
  std::vector<Ids> prompts, expected;
  for (const char* name : {"short", "code", "non_ascii", "long"}) {
    const json& prompt = golden_["prompts"][name];
    prompts.push_back(prompt["ids"].get<Ids>());
    expected.push_back(head(prompt["tokens"].get<Ids>(), 12));
  }
  {
    Engine batch = engine({.context = 720, .sequences = 4, .prefill_chunk = 48});
    EXPECT_EQ(generate(batch, prompts, 12), expected) << "four unlike prompts, chunks of 48, mixed steps";
  }
  {
    Engine one_by_one = engine({.context = 80, .prefill_chunk = 1});
    EXPECT_EQ(generate(one_by_one, {prompts[2]}, 12)[0], expected[2]) << "prompt read one token at a time";
  }
}

TEST_P(RealCheckpoint, LayersInALoopGiveTheSameText) {
  Engine loop = engine({.context = 96, .prefill_chunk = 32, .layers_in_loop = true});
  const json& prompt = golden_["prompts"]["short"];
  EXPECT_EQ(generate(loop, {prompt["ids"].get<Ids>()}, 12)[0], head(prompt["tokens"].get<Ids>(), 12));
}

TEST_P(RealCheckpoint, UpdatesTheCacheInPlace) {
  Engine e = engine({.context = 64, .prefill_chunk = 16});
  uintptr_t before = e.cacheAddress().value();
  generate(e, {golden_["prompts"]["short"]["ids"].get<Ids>()}, 3);
  EXPECT_EQ(e.cacheAddress().value(), before);
}

INSTANTIATE_TEST_SUITE_P(
    All, RealCheckpoint, testing::Values("smollm2-135m", "gemma3-270m"), [](const auto& info) {
      return std::string(info.param).substr(0, std::string(info.param).find_first_of("23")) + "_";
    });

TEST(EngineErrors, NamesTheTwoNumbers) {
  Result<io::Checkpoint> checkpoint = io::openCheckpoint("smollm2-135m");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().text();
  Result<Engine> engine = Engine::load(*checkpoint, {.context = 16});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  auto text = [&](Ids prompt) {
    auto added = engine->add({.prompt = std::move(prompt), .max_tokens = 4, .stop_ids = {}, .draw = {}});
    return added.ok() ? std::string("accepted") : added.error().text();
  };
  EXPECT_EQ(text({}), "the prompt has no tokens\n  hint: give at least one character");
  EXPECT_EQ(text(Ids(16, 5)),
            "prompt of 16 tokens: the context holds 16, and the answer needs at least one of them\n"
            "  hint: shorten the prompt, or pass --context 8192 (the model's limit)");
  EXPECT_EQ(text({1, 49152}), "prompt: token id 49152 is outside the vocabulary of 49152");
  EXPECT_EQ(text({-1}), "prompt: token id -1 is outside the vocabulary of 49152");
  EXPECT_EQ(text({1}), "accepted");
  EXPECT_EQ(text({1}), "1 sequences are running, and 1 is the most");
  auto too_long = Engine::load(*checkpoint, {.context = 8193});
  ASSERT_FALSE(too_long.ok());
  EXPECT_EQ(too_long.error().text(),
            "context of 8193 tokens: llama was made for 8192\n  hint: pass a smaller --context");
}

TEST(EngineSampling, DependsOnlyOnSeedAndPosition) {
  Result<io::Checkpoint> checkpoint = io::openCheckpoint("smollm2-135m");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().text();
  auto draw = [&](int64_t sequences, uint32_t seed) {
    Result<Engine> engine = Engine::load(
        *checkpoint, {.context = 32, .sequences = sequences, .prefill_chunk = 8, .sampling = true});
    EXPECT_TRUE(engine.ok());
    std::vector<Ids> answers(static_cast<size_t>(sequences));
    for (int64_t i = 0; i < sequences; ++i) {
      EXPECT_TRUE(engine
                      ->add({.prompt = {1, 520, 310},
                             .max_tokens = 12,
                             .stop_ids = {},
                             .draw = {.temperature = 1.0f, .top_k = 50, .top_p = 0.95f, .seed = seed}})
                      .ok());
    }
    while (!engine->idle()) {
      auto tokens = engine->step();
      EXPECT_TRUE(tokens.ok()) << tokens.error().text();
      for (const Token& token : *tokens) answers[static_cast<size_t>(token.sequence)].push_back(token.id);
    }
    return answers;
  };
  std::vector<Ids> alone = draw(1, 7), batch = draw(3, 7), other = draw(1, 8);
  for (const Ids& row : batch) EXPECT_EQ(row, alone[0]) << "same seed, another row and batch size";
  EXPECT_NE(other[0], alone[0]) << "another seed";
}

}  // namespace
}  // namespace sublane::engine
