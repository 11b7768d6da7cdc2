#include "passes/passes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "../graph/random_graph.h"
#include "graph/text_form.h"
#include "graph/verify.h"

namespace sublane::passes {
namespace {

/// The lines of the pass's comment from `heading` to the graph's closing brace, without their "//   ".
std::string exampleIn(const Pass& pass, const std::string& heading) {
  std::ifstream file(std::string(SUBLANE_SOURCE_DIR "/src/passes/") + std::string(pass.name) + ".cc");
  std::string line, text;
  while (std::getline(file, line) && line != "// " + heading) {
  }
  while (std::getline(file, line) && line.substr(0, 5) == "//   ") text += line.substr(5) + "\n";
  return text;
}

graph::Graph parsed(const std::string& text) {
  Result<graph::Graph> graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message()) << "\n" << text;
  return graph.ok() ? std::move(*graph) : graph::Graph{};
}

TEST(Passes, DoWhatTheirCommentsSay) {
  ASSERT_GE(allPasses().size(), 3u);
  for (const Pass* pass : allPasses()) {
    SCOPED_TRACE(pass->name);
    std::string before = exampleIn(*pass, "BEFORE"), after = exampleIn(*pass, "AFTER");
    ASSERT_FALSE(before.empty()) << "no BEFORE in the pass's comment";
    ASSERT_FALSE(after.empty()) << "no AFTER in the pass's comment";
    graph::Graph graph = parsed(before);
    EXPECT_EQ(graph::print(graph), before) << "the comment is not in the printer's form";
    EXPECT_TRUE(graph::verify(graph).ok());
    Context context;
    Result<bool> changed = pass->run(graph, context);
    ASSERT_TRUE(changed.ok()) << changed.error().message();
    EXPECT_TRUE(*changed);
    EXPECT_GT(context.rewrites, 0);
    EXPECT_EQ(graph::print(graph), after);
    EXPECT_TRUE(graph::verify(graph).ok());
    Context again;
    changed = pass->run(graph, again);
    EXPECT_TRUE(changed.ok() && !*changed) << "a second run changes something";
    EXPECT_EQ(again.rewrites, 0);
    EXPECT_EQ(graph::print(graph), after);
  }
}

TEST(Passes, EveryOneIsInThePipeline) {
  for (const Pass* pass : allPasses()) {
    auto order = pipelinePasses();
    EXPECT_NE(std::find(order.begin(), order.end(), pass), order.end()) << pass->name;
  }
}

const char* kLoop = R"(graph step {
  %0: f32[2] = input "x"
  %1: f32[2] = loop(%0) {count=2, carried=1} @ layer.*/block
    graph body {
      %0: i32[] = input "index"
      %1: f32[2] = input "carried.0"
      %2: f32[2] = tanh(%1) @ layer.*/mlp
      %3: f32[2] = reshape(%1) @ layer.*/mlp
      %4: f32[2] = tanh(%3) @ layer.*/mlp
      %5: f32[2] = exp(%1) @ layer.*/mlp
      %6: f32[2] = add(%2, %4) @ layer.*/mlp
      output "carried.0" = %6
    }
  output "y" = %1
}
)";

TEST(Pipeline, GoesIntoLoopsAndLeavesCopiesAlone) {
  graph::Graph graph = parsed(kLoop), copy = graph;
  Result<std::vector<PassReport>> reports = runPipeline(graph);
  ASSERT_TRUE(reports.ok()) << reports.error().message();
  EXPECT_EQ(graph::print(copy), kLoop);
  EXPECT_EQ(graph::print(graph), R"(graph step {
  %0: f32[2] = input "x"
  %1: f32[2] = loop(%0) {count=2, carried=1} @ layer.*/block
    graph body {
      %0: i32[] = input "index"
      %1: f32[2] = input "carried.0"
      %2: f32[2] = tanh(%1) @ layer.*/mlp
      %3: f32[2] = add(%2, %2) @ layer.*/mlp
      output "carried.0" = %3
    }
  output "y" = %1
}
)");
}

TEST(Pipeline, PrintsStopsAndTimes) {
  graph::Graph graph = parsed(kLoop);
  std::string text;
  PipelineOptions options;
  options.print = [&](std::string_view part) { text += part; };
  options.print_after = "all";
  options.stop_after = "common_subexpressions";
  options.time = true;
  Result<std::vector<PassReport>> reports = runPipeline(graph, options);
  ASSERT_TRUE(reports.ok()) << reports.error().message();
  ASSERT_EQ(reports->size(), 2u);
  EXPECT_EQ((*reports)[0].name, "simplify_shapes");
  EXPECT_TRUE((*reports)[0].changed);
  EXPECT_EQ((*reports)[1].rewrites, 1);
  EXPECT_NE(text.find("# after simplify_shapes\ngraph step {"), std::string::npos);
  EXPECT_NE(text.find("# after common_subexpressions\ngraph step {"), std::string::npos);
  EXPECT_NE(text.find("us (measured)"), std::string::npos);
  EXPECT_EQ(text.find("# after dead_code"), std::string::npos);
}

TEST(Pipeline, RefusesWhatItCantDo) {
  graph::Graph graph = parsed(kLoop);
  PipelineOptions options;
  options.stop_after = "fuse";
  EXPECT_EQ(runPipeline(graph, options).error().text(),
            "stop-after: no pass \"fuse\" in the pipeline\n"
            "  hint: passes, in order: simplify_shapes, common_subexpressions, dead_code");
  graph.nodes[0].place = {};
  EXPECT_EQ(runPipeline(graph).error().message(),
            "graph step: 1 fault\n  node 0 loop @ (no place): has no place: the part is empty");
}

TEST(Pipeline, KeepsTheBitsOfRandomGraphs) {
  int64_t rewrites = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    graph::RandomGraph random(seed);
    std::vector<graph::Array> arguments = random.arguments();
    Result<std::vector<graph::Array>> before = graph::interpret(random.graph, arguments);
    ASSERT_TRUE(before.ok()) << before.error().message();
    std::string text = graph::print(random.graph);
    Result<std::vector<PassReport>> reports = runPipeline(random.graph);
    ASSERT_TRUE(reports.ok()) << reports.error().message() << "\n" << text;
    for (const PassReport& report : *reports) rewrites += report.rewrites;
    Result<std::vector<graph::Array>> after = graph::interpret(random.graph, arguments);
    ASSERT_TRUE(after.ok()) << after.error().message();
    ASSERT_TRUE(*before == *after) << "seed " << seed << "\n"
                                   << text << "\nafter:\n"
                                   << graph::print(random.graph);
  }
  EXPECT_GT(rewrites, 2000) << "the graphs give the passes too little to do";
}

}  // namespace
}  // namespace sublane::passes
