// The sampler alone, through the interpreter: public cases 50, 52 and 53.
#include "models/layers/sampler.h"

#include "tiny_model.h"

namespace sublane::models {
namespace {

using Logits = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Request {
  Logits logits;
  Settings settings;
  int32_t position = 1;
};

/// All requests as one batch.
std::vector<int32_t> draw(const std::vector<Request>& requests) {
  int64_t rows = static_cast<int64_t>(requests.size()),
          width = static_cast<int64_t>(requests[0].logits.size());
  graph::Graph g;
  graph::Builder b(g);
  auto scope = b.at({graph::Place::kNoLayer, "sample"});
  auto input = [&](const char* name, DType dtype, graph::Shape shape) {
    return b.parameter(name, {dtype, std::move(shape)}, graph::Role::kInput);
  };
  SamplerInputs in;
  in.logits = input("logits", DType::kF32, {rows, width});
  in.temperature = input("temperature", DType::kF32, {rows});
  in.top_k = input("top_k", DType::kI32, {rows});
  in.top_p = input("top_p", DType::kF32, {rows});
  in.seed = input("seed", DType::kU32, {rows});
  in.position = input("position", DType::kI32, {rows});
  b.output("token", buildSampler(b, in));
  std::vector<std::vector<double>> columns(6);
  for (const Request& r : requests) {
    columns[0].insert(columns[0].end(), r.logits.begin(), r.logits.end());
    const Settings& s = r.settings;
    double values[] = {s.temperature, static_cast<double>(s.top_k), s.top_p, static_cast<double>(s.seed),
                       static_cast<double>(r.position)};
    for (size_t i = 0; i < 5; ++i) columns[i + 1].push_back(values[i]);
  }
  std::vector<graph::Array> arguments;
  for (size_t i = 0; i < 6; ++i)
    arguments.push_back(graph::arrayOf(g.type(g.parameters[i].value), columns[i]));
  std::vector<int32_t> tokens;
  for (double token : graph::values(must(graph::interpret(g, arguments))[0]))
    tokens.push_back(static_cast<int32_t>(token));
  return tokens;
}

/// How often each token is drawn in `count` draws at rising positions.
std::vector<int> histogram(const Logits& logits, Settings settings, int count) {
  std::vector<Request> requests;
  for (int i = 0; i < count; ++i) requests.push_back({logits, settings, i});
  std::vector<int> drawn(logits.size());
  for (int32_t token : draw(requests)) ++drawn[static_cast<size_t>(token)];
  return drawn;
}

std::set<int> support(const Logits& logits, Settings settings, int count = 600) {
  std::set<int> tokens;
  std::vector<int> drawn = histogram(logits, settings, count);
  for (size_t i = 0; i < drawn.size(); ++i)
    if (drawn[i] > 0) tokens.insert(static_cast<int>(i));
  return tokens;
}

Logits logOf(const std::vector<double>& probabilities) {
  Logits logits;
  for (double p : probabilities) logits.push_back(std::log(p));
  return logits;
}

double chiSquare(const std::vector<int>& drawn, const std::vector<double>& probabilities) {
  double total = 0, sum = 0;
  for (int n : drawn) total += n;
  for (size_t i = 0; i < drawn.size(); ++i) {
    double expected = total * probabilities[i];
    sum += (drawn[i] - expected) * (drawn[i] - expected) / expected;
  }
  return sum;
}

const std::vector<double> kFour = {0.1, 0.2, 0.3, 0.4};
const Logits kFive = logOf({0.5, 0.2, 0.15, 0.1, 0.05});
constexpr double kChi3 = 16.27;  // chi-square of 3 degrees of freedom exceeds it once in 1000

TEST(Sampler, DrawsWithTheirProbabilities) {
  EXPECT_LT(chiSquare(histogram(logOf(kFour), {.temperature = 1, .seed = 9}, 4000), kFour), kChi3);
  std::vector<double> squared = {0.01 / 0.3, 0.04 / 0.3, 0.09 / 0.3, 0.16 / 0.3};
  EXPECT_LT(chiSquare(histogram(logOf(kFour), {.temperature = 0.5f, .seed = 9}, 4000), squared), kChi3);
  EXPECT_GT(chiSquare(histogram(logOf(kFour), {.temperature = 0.5f, .seed = 9}, 4000), kFour), 10 * kChi3);
}

TEST(Sampler, TopKOfZeroNegativeOrAllLimitsNothing) {  // case 50
  for (int32_t k : {-1, 0, 4, 5, 2147483647})
    EXPECT_LT(chiSquare(histogram(logOf(kFour), {.temperature = 1, .top_k = k, .seed = 9}, 4000), kFour),
              kChi3)
        << k;
  EXPECT_EQ(support(logOf(kFour), {.temperature = 1, .top_k = 1}), (std::set<int>{3}));
  EXPECT_EQ(support(logOf(kFour), {.temperature = 1, .top_k = 2}), (std::set<int>{2, 3}));
}

TEST(Sampler, TemperatureZeroIsTheLowestIdOfTheLargest) {  // case 50
  Logits ties = {1, 3, 3, 2};
  for (Settings settings :
       {Settings{.temperature = 0}, Settings{.temperature = -1}, Settings{.temperature = 1, .top_k = 1},
        Settings{.temperature = 1, .top_p = 0}, Settings{.temperature = kNan}})
    EXPECT_EQ(support(ties, settings, 50), (std::set<int>{1}));
  EXPECT_EQ(support({1, 3, 3.001, 2}, {.temperature = 1e-6f}), (std::set<int>{2}));
  EXPECT_EQ(support({1, 3, 3.001, 2}, {.temperature = 1e-38f}), (std::set<int>{2}));
  EXPECT_EQ(support(ties, {.temperature = 1e-6f}), (std::set<int>{1, 2}));  // equal ones are drawn alike
}

TEST(Sampler, TopPKeepsAtLeastOne) {  // case 50
  EXPECT_EQ(support(kFive, {.temperature = 1, .top_p = 1e-9f}), (std::set<int>{0}));
  EXPECT_EQ(support(kFive, {.temperature = 1, .top_p = 1}), (std::set<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(support(kFive, {.temperature = 1, .top_p = 7}), (std::set<int>{0, 1, 2, 3, 4}));
}

TEST(Sampler, TemperatureThenTopKThenTopP) {  // case 52
  EXPECT_EQ(support(kFive, {.temperature = 0.5f, .top_p = 0.8f}), (std::set<int>{0, 1}));
  EXPECT_EQ(support(kFive, {.temperature = 1, .top_p = 0.8f}), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(support(kFive, {.temperature = 2, .top_p = 0.8f}), (std::set<int>{0, 1, 2, 3}));
  // Renormalised after top-k (joint would keep {0, 1, 2}).
  EXPECT_EQ(support(kFive, {.temperature = 1, .top_k = 3, .top_p = 0.8f}), (std::set<int>{0, 1}));
}

TEST(Sampler, InfiniteAndNanLogits) {  // case 52
  for (float temperature : {0.5f, 1.0f, 1000.0f})
    EXPECT_EQ(support({-kInfinity, 0, -kInfinity, 1}, {.temperature = temperature}), (std::set<int>{1, 3}));
  EXPECT_EQ(support({0, kNan, 1, 0}, {.temperature = 0}), (std::set<int>{2}));
  EXPECT_EQ(support({0, kNan, 1, 0}, {.temperature = 1}), (std::set<int>{0, 2, 3}));
  for (float temperature : {0.0f, 1.0f})
    EXPECT_EQ(draw({{{kNan, kNan, kNan}, {.temperature = temperature}}, {{1, kNan, 0}, {.temperature = 0}}}),
              (std::vector<int32_t>{-1, 0}));
  EXPECT_EQ(support({0, kInfinity, 1, 0}, {.temperature = 1}), (std::set<int>{1}));
}

TEST(Sampler, NegativeAndPositiveLogitsOrder) {
  EXPECT_EQ(support({-5, -4, -6, -4.5}, {.temperature = 3, .top_k = 2}), (std::set<int>{1, 3}));
  EXPECT_EQ(support({-1, 0.25, 0.125, -0.5}, {.temperature = 3, .top_k = 3}), (std::set<int>{1, 2, 3}));
}

TEST(Sampler, StreamsAdvanceAndDependOnSeedAndPositionOnly) {  // case 53
  Logits flat(1000, 0.25);
  std::vector<Request> steps;
  for (int32_t i = 0; i < 64; ++i) steps.push_back({flat, {.temperature = 1, .seed = 42}, i});
  std::vector<int32_t> stream = draw(steps);
  EXPECT_GE(std::set<int32_t>(stream.begin(), stream.end()).size(), 56u);  // 62 expected
  for (int32_t i : {0, 17, 63}) {
    size_t at = static_cast<size_t>(i);
    EXPECT_EQ(draw({steps[at]})[0], stream[at]);
    EXPECT_EQ(draw({{flat, {.temperature = 1, .seed = 7}, 3}, {flat, {}, 1}, steps[at]})[2], stream[at]);
  }
  std::vector<Request> other = steps;
  for (Request& request : other) request.settings.seed = 43;
  std::vector<int32_t> second = draw(other);
  int same = 0;
  for (size_t i = 0; i < 64; ++i) same += second[i] == stream[i];
  EXPECT_LE(same, 3);
}

TEST(Sampler, GreedyAndSampledRowsMix) {  // case 52
  std::vector<Request> mixed, drawn;
  for (int32_t i = 0; i < 40; ++i) {
    mixed.push_back({kFive, {.temperature = i % 2 == 0 ? 0.0f : 2.0f, .seed = 5}, i});
    if (i % 2 == 1) drawn.push_back(mixed.back());
  }
  std::vector<int32_t> tokens = draw(mixed), alone = draw(drawn);
  std::set<int32_t> seen;
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i], i % 2 == 0 ? 0 : alone[i / 2]) << i;
    if (i % 2 == 1) seen.insert(tokens[i]);
  }
  EXPECT_GT(seen.size(), 2u);
}

// Many unlikely tokens together must be drawn as often as they weigh: the tail of the noise counts.
TEST(Sampler, TailsKeepTheirWeight) {
  Logits logits(2001, std::log(0.5 / 2000));
  logits[0] = std::log(0.5);
  int first = histogram(logits, {.temperature = 1, .seed = 3}, 60)[0];
  EXPECT_NEAR(first, 30, 4 * 3.87);  // four standard deviations
}

TEST(Sampler, ThreefryEqualsThePublishedVectors) {
  // Of Random123's known answers for threefry2x32, 20 rounds.
  graph::Graph g;
  graph::Builder b(g);
  auto scope = b.at({graph::Place::kNoLayer, "sample"});
  std::vector<graph::ValueId> words;
  for (const char* name : {"k0", "k1", "c0", "c1"})
    words.push_back(b.parameter(name, {DType::kU32, {3}}, graph::Role::kInput));
  b.output("bits", threefry(b, words[0], words[1], words[2], words[3]));
  double all = 4294967295.0;
  std::vector<std::vector<double>> columns = {
      {0, all, 0x13198a2e}, {0, all, 0x03707344}, {0, all, 0x243f6a88}, {0, all, 0x85a308d3}};
  std::vector<graph::Array> arguments;
  for (const auto& column : columns) arguments.push_back(graph::arrayOf({DType::kU32, {3}}, column));
  EXPECT_EQ(graph::values(must(graph::interpret(g, arguments))[0]),
            (std::vector<double>{0x6b200159, 0x1cb996fc, 0xc4923a9c}));
}

}  // namespace
}  // namespace sublane::models
