// Paged attention as plain operations, on the CPU plugin, against the interpreter's loops. Everything that a
// step must not read is NaN, and every index that it must not follow is nonsense.
#include <algorithm>
#include <random>

#include "graph/builder.h"
#include "on_cpu.h"

namespace sublane::lower {
namespace {

using graph::DType;
using graph::Role;
using graph::Shape;
using graph::Type;
using graph::ValueId;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  std::string name;
  int64_t heads = 4, kv_heads = 2, dim = 8, page_size = 4, pages_per_sequence = 3;
  std::vector<int64_t> lengths = {9}, queries = {1};  // by sequence; queries are its last tokens
  int64_t padding_tokens = 0;
  double soft_cap = 0, window = 1 << 30;
  bool sinks = false;
  DType dtype = DType::kF32, cache = DType::kF32;
  double tolerance = 2e-6;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Step {
 public:
  Step(const Case& c, uint32_t seed) : c_(c), random_(seed) {
    int64_t most = std::max<int64_t>(1, *std::max_element(c.queries.begin(), c.queries.end()));
    int64_t sequences = static_cast<int64_t>(c.lengths.size());
    layOutPages(sequences);
    inverse_.assign(static_cast<size_t>(sequences * most), -1);
    for (int64_t i = 0; i < c.padding_tokens; ++i) pad(i);
    for (int64_t s = 0; s < sequences; ++s) {
      for (int64_t column = 0; column < c.queries[static_cast<size_t>(s)]; ++column) token(s, column, most);
      if (c.padding_tokens) pad(s);
    }
    build(sequences, most);
  }
  Graph graph;
  std::vector<Array> arguments;
  std::vector<bool> is_padding;

 private:
  double normal() { return std::normal_distribution<>()(random_); }

  // Pages in a shuffled order; two that nobody owns; slots past a length stay NaN.
  void layOutPages(int64_t sequences) {
    pages_ = sequences * c_.pages_per_sequence + 2;
    std::vector<double> order(static_cast<size_t>(pages_));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<double>(i);
    std::shuffle(order.begin(), order.end(), random_);
    int64_t row = c_.kv_heads * c_.dim;
    k_.assign(static_cast<size_t>(pages_ * c_.page_size * row), kNan);
    v_ = k_;
    for (int64_t s = 0; s < sequences; ++s) {
      for (int64_t p = 0; p < c_.pages_per_sequence; ++p) {
        int64_t used =
            std::clamp<int64_t>(c_.lengths[static_cast<size_t>(s)] - p * c_.page_size, 0, c_.page_size);
        double page = order[static_cast<size_t>(s * c_.pages_per_sequence + p)];
        table_.push_back(used ? page : p % 2 ? -2147483648.0 : 1e9);
        auto first = static_cast<size_t>(page) * static_cast<size_t>(c_.page_size * row);
        for (size_t i = first; i < first + static_cast<size_t>(used * row); ++i)
          k_[i] = normal(), v_[i] = normal();
      }
    }
  }
  void pad(int64_t i) {
    is_padding.push_back(true);
    q_.insert(q_.end(), static_cast<size_t>(c_.heads * c_.dim), kNan);
    positions_.push_back(i % 2 ? -5 : 2147483647.0);
    sequence_.push_back(i % 2 ? static_cast<double>(c_.lengths.size()) : -2147483648.0);
    column_.push_back(i % 2 ? 0 : 77);
  }
  void token(int64_t s, int64_t column, int64_t most) {
    inverse_[static_cast<size_t>(s * most + column)] = static_cast<double>(is_padding.size());
    is_padding.push_back(false);
    for (int64_t i = 0; i < c_.heads * c_.dim; ++i) q_.push_back(normal());
    positions_.push_back(static_cast<double>(c_.lengths[static_cast<size_t>(s)] -
                                             c_.queries[static_cast<size_t>(s)] + column));
    sequence_.push_back(static_cast<double>(s));
    column_.push_back(static_cast<double>(column));
  }
  void build(int64_t sequences, int64_t most) {
    int64_t tokens = static_cast<int64_t>(is_padding.size());
    Type cache{c_.cache, {pages_, c_.page_size, c_.kv_heads, c_.dim}};
    auto i32 = [](Shape shape) { return Type{DType::kI32, std::move(shape)}; };
    std::vector<double> lengths(c_.lengths.begin(), c_.lengths.end());
    std::vector<std::pair<Type, std::vector<double>>> operands = {
        {{c_.dtype, {tokens, c_.heads, c_.dim}}, q_},
        {cache, k_},
        {cache, v_},
        {i32({sequences, c_.pages_per_sequence}), table_},
        {i32({sequences}), lengths},
        {i32({tokens}), positions_},
        {i32({tokens}), sequence_},
        {i32({tokens}), column_},
        {i32({sequences, most}), inverse_},
        {i32({}), {c_.window}}};
    if (c_.sinks) {
      std::vector<double> sinks;
      for (int64_t head = 0; head < c_.heads; ++head) sinks.push_back(head == 1 ? 90.0 : normal());
      operands.push_back({{DType::kF32, {c_.heads}}, sinks});
    }
    graph::Builder b(graph);
    std::vector<ValueId> ids;
    for (auto& [type, data] : operands) {
      ids.push_back(b.parameter("p." + std::to_string(ids.size()), type, Role::kInput));
      arguments.push_back(graph::arrayOf(type, data));
    }
    b.output("attention", b.pagedAttention(ids, {0.35, c_.soft_cap}));
  }

  const Case& c_;
  std::mt19937 random_;
  int64_t pages_ = 0;
  std::vector<double> q_, k_, v_, table_, positions_, sequence_, column_, inverse_;
};

class Attention : public testing::TestWithParam<Case> {};

TEST_P(Attention, AsInterpretedAndPaddingIsZero) {
  Step step(GetParam(), 7);
  expectAsInterpreted(step.graph, step.arguments, GetParam().tolerance);
  Result<std::vector<Array>> got = runOn(cpu(), step.graph, step.arguments);
  ASSERT_TRUE(got.ok()) << got.error().text();
  std::vector<double> out = graph::values(got->front());
  size_t row = out.size() / step.is_padding.size();
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_TRUE(std::isfinite(out[i])) << "element " << i;
    if (step.is_padding[i / row]) {
      ASSERT_EQ(out[i], 0) << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Grid, Attention,
    testing::Values(
        Case{.name = "decode"}, Case{.name = "one_key", .lengths = {1}},
        Case{.name = "multi_head", .kv_heads = 4}, Case{.name = "multi_query", .kv_heads = 1},
        Case{.name = "ragged", .lengths = {9, 1, 12, 4}, .queries = {1, 1, 1, 1}},
        Case{.name = "empty_rows", .lengths = {0, 9, 0}, .queries = {0, 1, 0}, .padding_tokens = 2},
        Case{.name = "nothing_but_padding", .lengths = {0}, .queries = {0}, .padding_tokens = 1},
        Case{.name = "prefill", .lengths = {11}, .queries = {11}},
        Case{.name = "chunk", .lengths = {11}, .queries = {4}, .padding_tokens = 3},
        Case{.name = "mixed", .lengths = {11, 3, 7}, .queries = {5, 3, 1}, .padding_tokens = 2},
        Case{.name = "window", .lengths = {12, 10}, .queries = {6, 1}, .window = 3},
        Case{.name = "window_of_one", .lengths = {12}, .queries = {2}, .window = 1},
        Case{.name = "soft_cap", .lengths = {9, 5}, .queries = {2, 5}, .soft_cap = 1.5},
        Case{.name = "sinks",
             .lengths = {9, 5, 0},
             .queries = {2, 5, 0},
             .padding_tokens = 1,
             .window = 4,
             .sinks = true},
        Case{.name = "bf16",
             .lengths = {9, 5},
             .queries = {2, 5},
             .padding_tokens = 1,
             .dtype = DType::kBF16,
             .cache = DType::kBF16,
             .tolerance = 1e-2},
        Case{.name = "f32_on_bf16_cache",
             .lengths = {9, 5},
             .queries = {2, 1},
             .cache = DType::kBF16,
             .tolerance = 1e-2}),
    [](const auto& info) { return info.param.name; });

TEST(Attention, RandomShapes) {
  std::mt19937 random(11);
  auto number = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  for (int i = 0; i < 8; ++i) {
    Case c{.name = "random"};
    c.kv_heads = number(1, 3), c.heads = c.kv_heads * number(1, 3), c.dim = 2 * number(1, 9);
    c.page_size = number(1, 5), c.pages_per_sequence = number(1, 4), c.padding_tokens = number(0, 3);
    c.lengths.clear(), c.queries.clear();
    for (int64_t s = number(1, 4); s > 0; --s) {
      c.lengths.push_back(number(1, c.page_size * c.pages_per_sequence));
      c.queries.push_back(number(1, c.lengths.back()));
    }
    if (number(0, 1)) c.window = static_cast<double>(number(1, 6));
    if (number(0, 1)) c.soft_cap = 2;
    SCOPED_TRACE(i);
    Step step(c, static_cast<uint32_t>(i));
    expectAsInterpreted(step.graph, step.arguments, c.tolerance);
  }
}

}  // namespace
}  // namespace sublane::lower
