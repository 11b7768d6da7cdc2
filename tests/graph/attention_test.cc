// Paged attention against dense attention on contiguous keys, computed here from the formula.
#include <random>

#include "graph/builder.h"
#include "run_text.h"

namespace sublane::graph {
namespace {

struct Case {
  int64_t heads = 2, kv_heads = 2, dim = 4, page_size = 4;
  std::vector<int64_t> lengths = {5};  // tokens in the cache, those of the step included
  std::vector<int64_t> queries = {1};  // tokens of the step, the last of each sequence
  int64_t padding = 0;                 // tokens of no sequence, between the others
  double scale = 0.5, soft_cap = 0;
  int64_t window = 1 << 30;
  DType dtype = DType::kF32, cache_dtype = DType::kF32;
  std::vector<double> sinks = {};  // by head
};

/// A case with random q, k and v in contiguous form, laid out in pages in a shuffled order.
struct Laid {
  std::vector<std::vector<double>> q, k, v;  // by sequence: [queries or length, heads, dim]
  std::vector<Array> operands;
  std::vector<std::pair<int64_t, int64_t>> tokens;  // (sequence, column); sequence -1: padding
};

constexpr double kPoison = std::numeric_limits<double>::quiet_NaN();

std::vector<double> randomRounded(std::mt19937& random, int64_t count, DType dtype) {
  std::vector<double> data(static_cast<size_t>(count));
  for (double& value : data) value = std::normal_distribution<>()(random);
  return values(arrayOf({dtype, {count}}, data));
}

std::vector<double> toDoubles(const std::vector<int64_t>& in) { return {in.begin(), in.end()}; }

Laid layOut(const Case& c, uint32_t seed) {
  std::mt19937 random(seed);
  Laid laid;
  int64_t sequences = static_cast<int64_t>(c.lengths.size()), per_sequence = 1, pages = 2;  // two never used
  for (int64_t length : c.lengths) {
    int64_t used = (length + c.page_size - 1) / c.page_size;
    per_sequence = std::max(per_sequence, used + 1);  // one entry past the length, always
    pages += used;
  }
  std::vector<int64_t> free(static_cast<size_t>(pages));
  for (size_t i = 0; i < free.size(); ++i) free[i] = static_cast<int64_t>(i);
  std::shuffle(free.begin(), free.end(), random);

  int64_t row = c.kv_heads * c.dim;
  std::vector<double> k_cache(static_cast<size_t>(pages * c.page_size * row), kPoison), v_cache = k_cache;
  std::vector<int64_t> table(static_cast<size_t>(sequences * per_sequence),
                             123456);  // past the length: nonsense
  for (int64_t s = 0; s < sequences; ++s) {
    int64_t length = c.lengths[static_cast<size_t>(s)];
    laid.k.push_back(randomRounded(random, length * row, c.cache_dtype));
    laid.v.push_back(randomRounded(random, length * row, c.cache_dtype));
    for (int64_t p = 0; p * c.page_size < length; ++p) {
      table[static_cast<size_t>(s * per_sequence + p)] = free.back();
      free.pop_back();
    }
    for (int64_t i = 0; i < length; ++i) {
      int64_t slot =
          table[static_cast<size_t>(s * per_sequence + i / c.page_size)] * c.page_size + i % c.page_size;
      std::copy_n(laid.k.back().begin() + i * row, row, k_cache.begin() + slot * row);
      std::copy_n(laid.v.back().begin() + i * row, row, v_cache.begin() + slot * row);
    }
  }

  int64_t most = 1;
  for (int64_t s = 0; s < sequences; ++s) {
    most = std::max(most, c.queries[static_cast<size_t>(s)]);
    laid.q.push_back(randomRounded(random, c.queries[static_cast<size_t>(s)] * c.heads * c.dim, c.dtype));
    for (int64_t i = 0; i < c.queries[static_cast<size_t>(s)]; ++i) laid.tokens.push_back({s, i});
  }
  for (int64_t i = 0; i < c.padding; ++i) laid.tokens.insert(laid.tokens.begin() + i * 2 % 3, {-1, 0});

  std::vector<double> q;
  std::vector<int64_t> positions, token_sequence, token_column,
      inverse(static_cast<size_t>(sequences * most), -1);
  for (size_t t = 0; t < laid.tokens.size(); ++t) {
    auto [s, column] = laid.tokens[t];
    if (s < 0) {
      q.insert(q.end(), static_cast<size_t>(c.heads * c.dim), kPoison);
      positions.push_back(3), token_sequence.push_back(t % 2 ? sequences : -7), token_column.push_back(99);
      continue;
    }
    auto first = laid.q[static_cast<size_t>(s)].begin() + column * c.heads * c.dim;
    q.insert(q.end(), first, first + c.heads * c.dim);
    positions.push_back(c.lengths[static_cast<size_t>(s)] - c.queries[static_cast<size_t>(s)] + column);
    token_sequence.push_back(s), token_column.push_back(column);
    inverse[static_cast<size_t>(s * most + column)] = static_cast<int64_t>(t);
  }
  int64_t tokens = static_cast<int64_t>(laid.tokens.size());
  auto i32 = [](Shape shape, const std::vector<int64_t>& data) {
    return arrayOf({DType::kI32, shape}, toDoubles(data));
  };
  Type cache{c.cache_dtype, {pages, c.page_size, c.kv_heads, c.dim}};
  laid.operands = {arrayOf({c.dtype, {tokens, c.heads, c.dim}}, q),
                   arrayOf(cache, k_cache),
                   arrayOf(cache, v_cache),
                   i32({sequences, per_sequence}, table),
                   i32({sequences}, c.lengths),
                   i32({tokens}, positions),
                   i32({tokens}, token_sequence),
                   i32({tokens}, token_column),
                   i32({sequences, most}, inverse),
                   i32({}, {c.window})};
  if (!c.sinks.empty()) laid.operands.push_back(arrayOf({DType::kF32, {c.heads}}, c.sinks));
  return laid;
}

/// softmax(scale q k^T + mask) v over whole matrices of one sequence and head.
std::vector<double> dense(const Case& c, const Laid& laid, int64_t sequence, int64_t column, int64_t head) {
  size_t s = static_cast<size_t>(sequence);
  int64_t length = c.lengths[s], position = length - c.queries[s] + column, kv = head * c.kv_heads / c.heads;
  auto at = [&](const std::vector<double>& m, int64_t row, int64_t heads, int64_t h, int64_t d) {
    return m[static_cast<size_t>((row * heads + h) * c.dim + d)];
  };
  std::vector<double> p(static_cast<size_t>(length), 0.0), out(static_cast<size_t>(c.dim), 0.0);
  double total = c.sinks.empty() ? 0 : std::exp(c.sinks[static_cast<size_t>(head)]);
  for (int64_t key = 0; key < length; ++key) {
    bool masked = key > position || position - key >= c.window;
    double score = 0;
    for (int64_t d = 0; d < c.dim; ++d)
      score += at(laid.q[s], column, c.heads, head, d) * at(laid.k[s], key, c.kv_heads, kv, d);
    score *= c.scale;
    if (c.soft_cap > 0) score = c.soft_cap * std::tanh(score / c.soft_cap);
    total += p[static_cast<size_t>(key)] = masked ? 0 : std::exp(score);
  }
  for (int64_t key = 0; key < length; ++key)
    for (int64_t d = 0; d < c.dim; ++d)
      out[static_cast<size_t>(d)] +=
          p[static_cast<size_t>(key)] / total * at(laid.v[s], key, c.kv_heads, kv, d);
  return out;
}

Array paged(const Case& c, const Laid& laid) {
  Graph graph;
  Builder b(graph);
  auto scope = b.at({0, "attention"});
  std::vector<ValueId> parameters;
  for (size_t i = 0; i < laid.operands.size(); ++i)
    parameters.push_back(b.parameter(fmt::format("operand.{}", i), laid.operands[i].type, Role::kInput));
  b.output("y", b.pagedAttention(parameters, {c.scale, c.soft_cap}));
  Result<std::vector<Array>> results = interpret(graph, laid.operands);
  EXPECT_TRUE(results.ok()) << results.error().message();
  return results.ok() ? results->front() : Array{};
}

void expectDense(const Case& c, double tolerance = 1e-6) {
  Laid laid = layOut(c, 11);
  std::vector<double> got = values(paged(c, laid)), wanted;
  for (auto [sequence, column] : laid.tokens)
    for (int64_t head = 0; head < c.heads; ++head) {
      std::vector<double> row = sequence < 0 ? std::vector<double>(static_cast<size_t>(c.dim), 0.0)
                                             : dense(c, laid, sequence, column, head);
      wanted.insert(wanted.end(), row.begin(), row.end());
    }
  expectValues(got, wanted, tolerance);
}

// Every case has NaN in unused pages, in the rest of the last page and in padding tokens' queries.
TEST(PagedAttention, DecodesOneToken) { expectDense({}); }
TEST(PagedAttention, IsCausalInPrefill) { expectDense({.lengths = {9}, .queries = {9}}); }
TEST(PagedAttention, ContinuesAChunk) { expectDense({.lengths = {13}, .queries = {4}}); }
TEST(PagedAttention, SharesHeadsInGroups) {
  expectDense({.heads = 6, .kv_heads = 2, .lengths = {7}, .queries = {3}});
}
TEST(PagedAttention, HasOneKeyHeadForAll) {
  expectDense({.heads = 4, .kv_heads = 1, .lengths = {7}, .queries = {7}});
}
TEST(PagedAttention, SeesAWindow) { expectDense({.lengths = {11}, .queries = {11}, .window = 3}); }
TEST(PagedAttention, SeesItselfInAWindowOfOne) { expectDense({.lengths = {6}, .queries = {6}, .window = 1}); }
TEST(PagedAttention, CapsScores) { expectDense({.lengths = {8}, .queries = {8}, .scale = 3, .soft_cap = 2}); }
TEST(PagedAttention, GivesSinksTheirShare) {
  expectDense({.lengths = {8, 1}, .queries = {8, 1}, .window = 3, .sinks = {2.5, -1.0}});
}
TEST(PagedAttention, FillsItsLastPage) { expectDense({.lengths = {8}, .queries = {2}}); }
TEST(PagedAttention, IsRaggedAndPadded) {
  expectDense({.heads = 4,
               .kv_heads = 2,
               .lengths = {1, 17, 6, 4},
               .queries = {1, 5, 1, 4},
               .padding = 5,
               .window = 7});
}
TEST(PagedAttention, HasBf16Operands) {
  expectDense({.lengths = {9, 3}, .queries = {2, 3}, .dtype = DType::kBF16, .cache_dtype = DType::kBF16},
              1.0 / 256);
}
TEST(PagedAttention, HasABf16CacheUnderF32) {
  expectDense({.lengths = {9}, .queries = {9}, .cache_dtype = DType::kBF16});
}

TEST(PagedAttention, AnEmptyRowGivesZeros) {
  Case c{.lengths = {5, 3}, .queries = {1, 1}};
  Laid laid = layOut(c, 3);
  laid.operands[4] = arrayOf({DType::kI32, {2}}, std::vector<double>{5, 0});
  std::vector<double> got = values(paged(c, laid));
  for (size_t i = 8; i < 16; ++i) EXPECT_EQ(got[i], 0.0) << i;
  EXPECT_NE(got[0], 0.0);
}

TEST(PagedAttention, TheLengthHidesLaterKeys) {
  // The key at the token's own position is past the length: NaN there doesn't matter.
  Case c{.lengths = {5}, .queries = {1}};
  Laid laid = layOut(c, 3);
  std::vector<double> before = values(paged(c, laid));
  laid.operands[4] = arrayOf({DType::kI32, {1}}, std::vector<double>{4});
  std::vector<double> after = values(paged(c, laid));
  EXPECT_NE(before, after);
  for (double value : after) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace sublane::graph
