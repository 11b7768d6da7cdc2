// Tiny models with recurrent layers, compiled for the CPU plugin: the same tokens as the interpreter,
// whatever slots and buckets the sequences get.
#include "../models/tiny_model.h"
#include "engine/engine.h"

namespace sublane::engine {
namespace {

using Ids = std::vector<int32_t>;
constexpr int64_t kNew = 5;

const std::vector<Ids> kPrompts = {
    {5, 15, 39, 16, 7, 12, 31, 3, 45, 46, 3, 31, 12}, {3}, {9, 1, 40, 7, 22}, {2, 30, 6, 6, 41, 8, 19}};

Ids interpreted(const io::Checkpoint& checkpoint, const Ids& prompt) {
  models::Session session(checkpoint, models::inFloat32());
  Ids answer = {session.run({{0, prompt}})[0].token};
  while (static_cast<int64_t>(answer.size()) < kNew)
    answer.push_back(session.run({{0, {answer.back()}}})[0].token);
  return answer;
}

class Hybrid : public testing::TestWithParam<const char*> {};

/// Two at once, chunks of four, four prompts one after another: slots are taken, given back and taken again.
TEST_P(Hybrid, TokensEqualTheInterpreters) {
  const models::TinyModel tiny = models::hfModel(std::string(GetParam()) + ".json");
  Engine engine = models::must(
      Engine::load(tiny.checkpoint, {.context = 32, .sequences = 2, .prefill_chunk = 4, .page_size = 4}));
  std::map<int32_t, size_t> prompts;
  std::vector<Ids> answers(kPrompts.size());
  size_t next = 0, running = 0;
  while (next < kPrompts.size() || !engine.idle()) {
    for (; running < 2 && next < kPrompts.size(); ++running, ++next) {
      Result<int32_t> id =
          engine.add({.prompt = kPrompts[next], .max_tokens = kNew, .stop_ids = {}, .draw = {}});
      prompts[models::must(std::move(id))] = next;
    }
    for (const Token& token : models::must(engine.step())) {
      answers[prompts.at(token.sequence)].push_back(token.id);
      if (token.finish != Finish::kRunning) --running;
    }
  }
  for (size_t i = 0; i < kPrompts.size(); ++i)
    EXPECT_EQ(answers[i], interpreted(tiny.checkpoint, kPrompts[i])) << "prompt " << i;
}

INSTANTIATE_TEST_SUITE_P(Tiny, Hybrid, testing::Values("qwen3_next", "qwen3_5", "granite_hybrid"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sublane::engine
