// One step program whatever the schedule: prefill, chunks, single tokens and batches give the same tokens, in
// a loop or unrolled, wherever the pages lie and whatever the padding holds.
#include "graph/verify.h"
#include "tiny_model.h"

namespace sublane::models {
namespace {

constexpr int kNewTokens = 6;
constexpr double kSame = 1e-5;  // float32 in another order of sums

const std::vector<std::vector<int32_t>> kPrompts = {
    {3},
    {9, 1, 40, 7, 22},
    {5, 15, 39, 16, 7, 12, 31, 3, 45, 46, 3, 31, 12},
    {2, 30, 6, 6, 41, 8, 19, 33, 4, 0, 27, 11, 38, 44, 17, 25, 1, 13, 29, 35, 10, 21},
};

/// What came of one prompt: the rows of its last prompt token and of each new token.
using Story = std::vector<Session::Row>;

/// Greedy continuation of each prompt, all in the same steps.
std::vector<Story> continueAll(Session& session, const std::vector<int>& sequences,
                               std::vector<Session::Row> rows) {
  std::vector<Story> stories(sequences.size());
  for (int step = 0;; ++step) {
    for (size_t i = 0; i < rows.size(); ++i) stories[i].push_back(rows[i]);
    if (step == kNewTokens) return stories;
    std::vector<Piece> pieces;
    for (size_t i = 0; i < rows.size(); ++i) pieces.push_back({sequences[i], {rows[i].token}});
    rows = session.run(pieces);
  }
}

Story alone(const io::Checkpoint& checkpoint, size_t prompt) {
  Session session(checkpoint, inFloat32());
  return continueAll(session, {0}, session.run({{0, kPrompts[prompt]}}))[0];
}

void expectSame(const Story& story, const Story& expected, const std::string& what) {
  ASSERT_EQ(story.size(), expected.size());
  for (size_t i = 0; i < story.size(); ++i) {
    EXPECT_EQ(story[i].token, expected[i].token) << what << ", token " << i;
    EXPECT_LT(largestDifference(story[i].logits, expected[i].logits), kSame) << what << ", token " << i;
  }
}

class StepTest : public testing::TestWithParam<std::string> {
 protected:
  TinyModel tiny_ = hfModel(GetParam() + ".json");
  const io::Checkpoint& checkpoint_ = tiny_.checkpoint;
};

TEST_P(StepTest, ChunksAndSingleTokensEqualOnePrefill) {
  for (size_t prompt = 0; prompt < kPrompts.size(); ++prompt) {
    Story expected = alone(checkpoint_, prompt);
    for (size_t chunk : {1, 3, 4, 7}) {
      Session session(checkpoint_, inFloat32());
      std::vector<Session::Row> rows;
      const std::vector<int32_t>& tokens = kPrompts[prompt];
      for (size_t at = 0; at < tokens.size(); at += chunk) {
        size_t end = std::min(tokens.size(), at + chunk);
        rows = session.run(
            {{0,
              {tokens.begin() + static_cast<ptrdiff_t>(at), tokens.begin() + static_cast<ptrdiff_t>(end)}}});
      }
      expectSame(continueAll(session, {0}, rows)[0], expected,
                 fmt::format("prompt {} in chunks of {}", prompt, chunk));
    }
  }
}

TEST_P(StepTest, ABatchOfFourUnlikePromptsEqualsEachAlone) {
  for (bool loop : loops(checkpoint_))
    for (Session::Options options :
         {Session::Options{},
          Session::Options{.spare_tokens = 5, .spare_rows = 2, .spare_queries = 3, .page_seed = 7}}) {
      Session session(checkpoint_, inFloat32(loop), options);
      std::vector<Piece> pieces;
      for (int i : {2, 0, 3, 1}) pieces.push_back({i, kPrompts[static_cast<size_t>(i)]});
      std::vector<Story> stories = continueAll(session, {2, 0, 3, 1}, session.run(pieces));
      for (size_t i = 0; i < pieces.size(); ++i)
        expectSame(
            stories[i], alone(checkpoint_, static_cast<size_t>(pieces[i].sequence)),
            fmt::format("prompt {}, loop {}, padding {}", pieces[i].sequence, loop, options.spare_tokens));
    }
}

// Prefill of one sequence beside the decode of others, in one step.
TEST_P(StepTest, AMixedStepEqualsEachAlone) {
  Session session(checkpoint_, inFloat32(), {.spare_tokens = 2, .page_seed = 3});
  Story first = alone(checkpoint_, 3), second = alone(checkpoint_, 2);
  EXPECT_EQ(session.run({{3, kPrompts[3]}})[0].token, first[0].token);
  std::vector<Session::Row> rows = session.run({{3, {first[0].token}}, {2, kPrompts[2]}});
  expectSame({rows[0]}, {first[1]}, "the decoding sequence");
  expectSame({rows[1]}, {second[0]}, "the new sequence");
}

// What an ended sequence left in its state slot is nothing to the next one.
TEST_P(StepTest, AReusedSlotStartsAnew) {
  Session session(checkpoint_, inFloat32(), {.state_slots = 2});
  session.run({{0, kPrompts[3]}, {1, kPrompts[1]}});
  session.end(0);
  std::vector<Session::Row> rows = session.run({{2, kPrompts[2]}});
  expectSame(continueAll(session, {2}, rows)[0], alone(checkpoint_, 2), "the next sequence");
}

TEST_P(StepTest, BFloat16StaysNearFloat32) {
  Session exact(checkpoint_, inFloat32());
  StepOptions narrow{.weights = DType::kBF16, .activations = DType::kBF16, .cache = DType::kBF16};
  std::vector<double> expected = exact.run({{0, kPrompts[3]}})[0].logits;
  // With experts a rounded input may choose another one, and a state carries what was rounded on:
  // transformers' own logits of qwen3_5 differ by 0.07 of the largest.
  const DecoderConfig& config = exact.config();
  const double bound = config.experts.count > 0 || config.recurrence.heads > 0 ? 0.12 : 0.06;
  double largest = 0;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  for (bool loop : loops(checkpoint_)) {
    narrow.layers_in_loop = loop;
    Session session(checkpoint_, narrow, {.spare_tokens = 3, .spare_rows = 1});
    double difference = largestDifference(session.run({{0, kPrompts[3]}})[0].logits, expected);
    EXPECT_LT(difference, bound * largest) << "loop " << loop;
    EXPECT_GT(difference, 1e-5 * largest) << "loop " << loop;
  }
}

TEST_P(StepTest, SampledRowsBesideGreedyOnes) {
  StepOptions options = inFloat32();
  options.sampling = Sampling::kFull;
  Story greedy = alone(checkpoint_, 1);
  std::set<int32_t> seen;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    Session batch(checkpoint_, options, {.spare_tokens = 2, .spare_rows = 1}), single(checkpoint_, options);
    batch.settings[2] = single.settings[2] = {.temperature = 20.0f, .seed = seed};
    std::vector<Session::Row> rows = batch.run({{1, kPrompts[1]}, {2, kPrompts[2]}});
    EXPECT_EQ(rows[0].token, greedy[0].token);
    EXPECT_EQ(rows[1].token, single.run({{2, kPrompts[2]}})[0].token) << "the draw depends on the batch";
    seen.insert(rows[1].token);
  }
  EXPECT_GT(seen.size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(Tiny, StepTest, testing::ValuesIn(goldenNames()),
                         [](const auto& name) { return name.param; });

// The window has an effect past its length, and none within it.
TEST(Window, CountsPastItsLengthOnly) {
  TinyModel tiny = hfModel("gemma3.json"), wide = hfModel("gemma3.json");
  wide.checkpoint.metadata["sliding_window"] = integer(100);
  for (int64_t length = 1; length <= 7; ++length) {
    std::vector<int32_t> prompt(kPrompts[3].begin(), kPrompts[3].begin() + length);
    Session narrow_session(tiny.checkpoint, inFloat32()), wide_session(wide.checkpoint, inFloat32());
    double difference = largestDifference(narrow_session.run({{0, prompt}})[0].logits,
                                          wide_session.run({{0, prompt}})[0].logits);
    EXPECT_EQ(difference > 0, length > 5) << length << ": " << difference;
  }
}

// --- the program itself -------------------------------------------------------------------------------

const std::set<std::string> kParts = {
    "embed",           "attention.norm", "attention.qkv", "attention.rotary",
    "attention.cache", "attention.core", "attention.out", "mlp.norm",
    "mlp.up",          "mlp.down",       "final_norm",    "head",
    "sample",          "layers"};

void expectPlaces(const graph::Graph& g, int32_t layers, bool in_body) {
  for (const graph::Node& node : g.nodes) {
    EXPECT_TRUE(kParts.contains(node.place.part)) << graph::toString(node.place);
    EXPECT_LT(node.place.layer, layers);
    EXPECT_TRUE(!in_body || node.place.layer == graph::Place::kEveryLayer) << graph::toString(node.place);
    if (node.body) expectPlaces(*node.body, layers, node.place.part == "layers");
  }
}

TEST(StepProgram, NamesPlacesAndTypes) {
  DecoderConfig config = must(readConfig(hfModel("gemma3.json").checkpoint));
  StepShape shape{
      .tokens = 8, .sequences = 4, .queries = 5, .pages_per_sequence = 3, .page_size = 4, .pages = 10};
  StepOptions options{.sampling = Sampling::kFull, .return_logits = true};
  StepProgram step = must(buildStep(config, shape, options, io::Container::kHuggingFace));
  std::vector<std::string> names, outputs;
  for (const graph::Parameter& parameter : step.graph.parameters) names.push_back(parameter.name);
  for (const graph::Output& output : step.graph.outputs) outputs.push_back(output.name);
  std::vector<std::string> inputs = {
      "tokens",  "positions",   "token_sequence", "token_column", "query_token", "kv_slots", "page_table",
      "lengths", "logit_token", "temperature",    "top_k",        "top_p",       "seed"};
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.begin() + 13), inputs);
  EXPECT_EQ(names.back(), "cache.v.4");
  EXPECT_EQ(outputs.front(), "sampled");
  EXPECT_EQ(outputs[1], "logits");
  EXPECT_EQ(outputs.size(), 2u + 2 * 5);
  EXPECT_EQ(step.graph.outputs[3].name, "cache.v.0");
  EXPECT_EQ(step.graph.type(step.graph.outputs[1].value), (graph::Type{DType::kF32, {4, 53}}));
  EXPECT_EQ(graph::toString(step.graph.type(step.graph.outputs[3].value)), "bf16[10,4,3,8]");
  ASSERT_EQ(step.weights.size(), 2u + 5 * 13 + 4);
  EXPECT_EQ(step.weights[2].parameter, "layer.0.attention.norm.weight");
  EXPECT_EQ(graph::toString(step.weights[2].type), "f32[30]");
  EXPECT_EQ(step.weights.back().parameter, "rope.1.sin");
  EXPECT_EQ(graph::toString(step.weights.back().type), "f32[12,4]");
  expectPlaces(step.graph, 5, false);

  options.layers_in_loop = true;
  StepProgram loop = must(buildStep(config, shape, options, io::Container::kHuggingFace));
  EXPECT_EQ(loop.weights[3].parameter, "layers.attention.q.weight");
  EXPECT_EQ(graph::toString(loop.weights[3].type), "bf16[5,48,30]");
  EXPECT_EQ(loop.graph.parameters.back().name, "cache.v");
  EXPECT_EQ(graph::toString(loop.graph.type(loop.graph.parameters.back().value)), "bf16[50,4,3,8]");
  EXPECT_EQ(loop.graph.outputs.back().aliased_parameter,
            static_cast<int32_t>(loop.graph.parameters.size()) - 1);
  expectPlaces(loop.graph, 5, false);
}

TEST(StepProgram, RefusesALoopOverUnlikeLayers) {
  DecoderConfig config = must(readConfig(hfModel("qwen3_moe.json").checkpoint));
  Result<StepProgram> step = buildStep(config, {}, {.layers_in_loop = true}, io::Container::kHuggingFace);
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.error().message(), "qwen3: its layers are of several kinds, which no loop holds");
}

TEST(StepProgram, RefusesShapesThatDontFit) {
  DecoderConfig config = must(readConfig(hfModel("llama.json").checkpoint));
  StepShape shape{.tokens = 2, .sequences = 0, .queries = 3};
  Result<StepProgram> step = buildStep(config, shape, {}, io::Container::kHuggingFace);
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.error().message(), "llama step: sequences is 0");
  shape = {.tokens = 2, .queries = 3, .page_size = 1024, .pages = int64_t{1} << 21};
  step = buildStep(config, shape, {}, io::Container::kHuggingFace);
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(
      step.error().message(),
      "llama step: queries 3 exceed tokens 2; 3 layers of 2097152 pages of 1024 tokens exceed 32-bit slots");
}

}  // namespace
}  // namespace sublane::models
