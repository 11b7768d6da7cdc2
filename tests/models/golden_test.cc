// The tiny models against Hugging Face transformers (tools/reference/models/make_goldens.py).
#include "tiny_model.h"

namespace sublane::models {
namespace {

constexpr double kTolerance = 1e-4;

struct Golden {
  std::vector<int32_t> tokens;
  std::map<int64_t, std::vector<double>> logits;  // by position
};

Golden readGolden(const std::string& name) {
  std::ifstream file(goldenPath(name + ".txt"));
  EXPECT_TRUE(file.good()) << name;
  Golden golden;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "tokens")
      for (int32_t token; words >> token;) golden.tokens.push_back(token);
    if (kind != "logits") continue;
    int64_t position;
    words >> position;
    for (double value; words >> value;) golden.logits[position].push_back(value);
  }
  EXPECT_GE(golden.logits.size(), 5u);
  return golden;
}

/// Largest difference over the golden's positions, each the end of a chunk of prefill.
double differenceInChunks(Session& session, const Golden& golden) {
  double worst = 0;
  auto next = golden.tokens.begin();
  for (const auto& [position, logits] : golden.logits) {
    auto end = golden.tokens.begin() + position + 1;
    std::vector<Session::Row> rows = session.run({{0, std::vector<int32_t>(next, end)}});
    worst = std::max(worst, largestDifference(rows[0].logits, logits));
    next = end;
  }
  return worst;
}

double differenceAtOnce(Session& session, const Golden& golden) {
  return largestDifference(session.run({{0, golden.tokens}})[0].logits, golden.logits.rbegin()->second);
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, LogitsEqualTransformers) {
  Golden golden = readGolden(GetParam());
  TinyModel tiny = hfModel(GetParam() + ".json");
  must(checkTensors(tiny.checkpoint, must(readConfig(tiny.checkpoint))));
  for (bool loop : loops(tiny.checkpoint)) {
    Session chunks(tiny.checkpoint, inFloat32(loop)), once(tiny.checkpoint, inFloat32(loop));
    EXPECT_LT(differenceInChunks(chunks, golden), kTolerance) << "loop " << loop;
    EXPECT_LT(differenceAtOnce(once, golden), kTolerance) << "loop " << loop;
  }
}

TEST_P(GoldenTest, APerturbedWeightShows) {
  Golden golden = readGolden(GetParam());
  TinyModel tiny = hfModel(GetParam() + ".json");
  for (const io::Tensor& tensor : tiny.checkpoint.tensors) {
    std::vector<float>& values = tiny.values(tensor.name);
    size_t element = tensor.name.find("embed") != std::string::npos
                         ? static_cast<size_t>(golden.tokens[1] * tensor.shape[1] + 3)
                         : values.size() / 2;
    float saved = values[element];
    values[element] += 0.5f;
    Session once(tiny.checkpoint, inFloat32());
    double difference = differenceAtOnce(once, golden);
    if (difference <= kTolerance) {  // an expert that the last token doesn't take
      Session chunks(tiny.checkpoint, inFloat32());
      difference = differenceInChunks(chunks, golden);
    }
    EXPECT_GT(difference, kTolerance) << tensor.name;
    values[element] = saved;
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, GoldenTest, testing::ValuesIn(goldenNames()),
                         [](const auto& name) { return name.param; });

// One model in two containers: q and k rows interleaved (case 25), norms as gains (case 58), llama3 scaling
// as divisors (case 20).
TEST(Containers, GgufGivesTheSameLogits) {
  for (const std::string& name : goldenNames()) {
    if (!hasGguf(hfModel(name + ".json"))) continue;
    Golden golden = readGolden(name);
    TinyModel tiny = ggufModel(name + ".json");
    must(checkTensors(tiny.checkpoint, must(readConfig(tiny.checkpoint))));
    Session session(tiny.checkpoint, inFloat32());
    EXPECT_LT(differenceAtOnce(session, golden), kTolerance) << name;
  }
}

}  // namespace
}  // namespace sublane::models
