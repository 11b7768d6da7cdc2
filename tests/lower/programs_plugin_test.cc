// Whole programs: random graphs, caches updated in place on every CPU plugin, and what libtpu makes of a
// cache.
#include "../graph/random_graph.h"
#include "on_cpu.h"

namespace sublane::lower {
namespace {

using graph::Builder;
using graph::DType;
using graph::Role;
using graph::Type;
using graph::ValueId;

// Values feed on each other for 30 nodes, so bf16 rounding differs by more than one place: XLA keeps float32
// between fused bf16 operations. Exactness of each operation is tested alone.
TEST(Programs, RandomGraphs) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    graph::RandomGraph random(seed);
    expectAsInterpreted(random.graph, random.arguments(), 0.1, {{"xla_allow_excess_precision", false}});
  }
}

/// A decode step's state: two big caches, written at one slot and read by attention.
Graph cacheStep(int64_t pages, DType dtype, int64_t kv_heads, int64_t dim, int64_t tokens) {
  Graph graph;
  Builder b(graph);
  auto scope = b.at({0, "attention.core"});
  auto i32 = [&](const char* name, graph::Shape shape) {
    return b.parameter(name, {DType::kI32, std::move(shape)}, Role::kInput);
  };
  ValueId q = b.parameter("q", {dtype, {tokens, kv_heads, dim}}, Role::kInput);
  ValueId slots = i32("slots", {tokens}), table = i32("page_table", {tokens, 2}),
          lengths = i32("lengths", {tokens});
  ValueId positions = i32("positions", {tokens}), sequence = i32("sequence", {tokens}),
          column = i32("column", {tokens});
  ValueId inverse = i32("query_token", {tokens, 1}), window = b.constant(DType::kI32, 1 << 30);
  Type cache{dtype, {pages, 16, kv_heads, dim}};
  ValueId k = b.parameter("cache.k", cache, Role::kState), v = b.parameter("cache.v", cache, Role::kState);
  ValueId new_k = b.cacheWrite(k, q, slots), new_v = b.cacheWrite(v, q, slots);
  b.output("out",
           b.pagedAttention({q, new_k, new_v, table, lengths, positions, sequence, column, inverse, window},
                            {0.1, 0}));
  b.outputInPlace("cache.k", new_k, k);
  b.outputInPlace("cache.v", new_v, v);
  return graph;
}

class InPlace : public testing::TestWithParam<const char*> {};

TEST_P(InPlace, CachesKeepTheirAddress) {
  Result<pjrt::Client> client = openClient(GetParam());
  ASSERT_TRUE(client.ok()) << client.error().text();
  Graph graph = cacheStep(64, DType::kF32, 3, 64, 1);
  Result<std::string> text = toStableHlo(graph);
  ASSERT_TRUE(text.ok()) << text.error().text();
  Result<pjrt::Executable> program = client->compile(*text, {});
  ASSERT_TRUE(program.ok()) << program.error().text();
  std::vector<pjrt::Buffer> buffers;
  for (const graph::Parameter& parameter : graph.parameters) {
    Array zeros = graph::zeros(graph.type(parameter.value));
    Result<pjrt::Buffer> buffer = client->toDevice(zeros.type, zeros.data);
    ASSERT_TRUE(buffer.ok()) << buffer.error().text();
    buffers.push_back(std::move(*buffer));
  }
  std::vector<pjrt::Buffer*> arguments;
  for (pjrt::Buffer& buffer : buffers) arguments.push_back(&buffer);
  size_t first = buffers.size() - 2;
  Result<uintptr_t> k = buffers[first].address(), v = buffers[first + 1].address();
  ASSERT_TRUE(k.ok() && v.ok());
  Result<std::vector<pjrt::Buffer>> results = program->execute(arguments);
  ASSERT_TRUE(results.ok()) << results.error().text();
  EXPECT_EQ(*(*results)[1].address(), *k);
  EXPECT_EQ(*(*results)[2].address(), *v);
}
INSTANTIATE_TEST_SUITE_P(Plugins, InPlace, testing::Values("cpu", "cpu-fastatomstruct", "cpu-xla"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// libtpu may store a cache in another layout than it computes in, and then copies it whole in every step: the
// temporaries show it. Narrow heads (SmolLM2), wide ones (Gemma 3), several tokens.
TEST(Programs, LibtpuMakesNoCopyOfACache) {
  struct Shape {
    int64_t kv_heads, dim, tokens;
  };
  for (Shape s : {Shape{3, 64, 1}, Shape{3, 64, 8}, Shape{1, 256, 8}}) {
    SCOPED_TRACE(s.dim);
    Graph graph = cacheStep(2048, DType::kBF16, s.kv_heads, s.dim, s.tokens);
    Result<std::string> text = toStableHlo(graph);
    ASSERT_TRUE(text.ok()) << text.error().text();
    pjrt::AheadOfTimeRequest request;
    request.stablehlo = *text;
    request.topology = "v6e:1x1";
    Result<pjrt::AheadOfTimeResult> result = pjrt::compileAheadOfTime(request);
    ASSERT_TRUE(result.ok()) << result.error().text();
    ASSERT_TRUE(result->memory.has_value());
    int64_t cache_bytes = graph::byteCount(graph.type(graph.outputs[1].value));
    EXPECT_LT(result->memory->temporaries, cache_bytes / 4);
    EXPECT_GE(result->memory->aliased, 2 * cache_bytes);
    EXPECT_NE(result->optimized_hlo.find("layer.0/attention.core/paged_attention.scores"), std::string::npos);
  }
}

}  // namespace
}  // namespace sublane::lower
