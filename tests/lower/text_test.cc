// The text of small graphs, beside their text form in goldens/. SUBLANE_WRITE_GOLDENS=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "graph/builder.h"
#include "graph/text_form.h"
#include "lower/lower.h"

namespace sublane::lower {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Role;
using graph::ValueId;

std::string goldenPath(const std::string& file) {
  return std::string(SUBLANE_SOURCE_DIR) + "/tests/lower/goldens/" + file;
}

std::string readAll(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Text : public testing::TestWithParam<const char*> {};

TEST_P(Text, EqualsItsGolden) {
  std::string name = GetParam();
  Result<Graph> graph = graph::parse(readAll(goldenPath(name + ".graph")));
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  Result<std::string> text = toStableHlo(*graph);
  ASSERT_TRUE(text.ok()) << text.error().text();
  if (std::getenv("SUBLANE_WRITE_GOLDENS")) std::ofstream(goldenPath(name + ".mlir")) << *text;
  EXPECT_EQ(*text, readAll(goldenPath(name + ".mlir")));
}
INSTANTIATE_TEST_SUITE_P(Goldens, Text, testing::Values("elementwise", "shapes", "state", "loop"),
                         [](const auto& info) { return std::string(info.param); });

std::string errorOf(const Graph& graph) {
  Result<std::string> text = toStableHlo(graph);
  return text.ok() ? "no error" : text.error().text();
}

TEST(Lowering, RefusesACacheOfMoreSlotsThanAnIndexHolds) {
  Graph graph;
  Builder b(graph);
  auto scope = b.at({4, "attention.cache"});
  ValueId cache = b.parameter("cache", {DType::kBF16, {134217729, 16, 1, 64}}, Role::kState);
  ValueId rows = b.parameter("rows", {DType::kBF16, {1, 1, 64}}, Role::kInput);
  ValueId slots = b.parameter("slots", {DType::kI32, {1}}, Role::kInput);
  b.outputInPlace("cache", b.cacheWrite(cache, rows, slots), cache);
  EXPECT_EQ(errorOf(graph),
            "layer.4/attention.cache: 2147483664 cache slots exceed 2147483647, the largest i32 index\n"
            "  hint: use fewer pages, or more devices");
}

TEST(Lowering, RefusesAGraphThatDoesNotVerify) {
  Graph graph;
  Builder b(graph);
  ValueId x = b.parameter("x", {DType::kF32, {4}}, Role::kInput);
  b.output("y", b.tanh(x));
  graph.nodes[0].operands[0] = 1;
  EXPECT_NE(errorOf(graph).find("1 fault"), std::string::npos) << errorOf(graph);
}

TEST(Lowering, NarrowCachesAreRowMajorAndWideOnesAsTheCompilerLikes) {
  for (int64_t dim : {64, 128}) {
    Graph graph;
    Builder b(graph);
    ValueId cache = b.parameter("cache", {DType::kBF16, {8, 16, 2, dim}}, Role::kState);
    b.outputInPlace("cache", b.negate(cache), cache);
    Result<std::string> text = toStableHlo(graph);
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(text->find("mhlo.layout_mode") != std::string::npos, dim == 64);
    EXPECT_NE(text->find("tf.aliasing_output = 0 : i32"), std::string::npos);
  }
}

// Text grows with the nodes and nothing else: twice the layers, twice the text.
TEST(Lowering, TextIsLinearInTheGraph) {
  auto bytes = [](int64_t nodes) {
    Graph graph;
    Builder b(graph);
    ValueId x = b.parameter("x", {DType::kF32, {8}}, Role::kInput);
    for (int64_t i = 0; i < nodes; ++i) x = b.tanh(x);
    b.output("y", x);
    return static_cast<double>(toStableHlo(graph)->size());
  };
  EXPECT_NEAR(bytes(20000) / bytes(10000), 2, 0.05);
}

}  // namespace
}  // namespace sublane::lower
