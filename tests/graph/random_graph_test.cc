#include "random_graph.h"

#include <gtest/gtest.h>

#include "graph/text_form.h"
#include "graph/verify.h"

namespace sublane::graph {
namespace {

TEST(RandomGraph, VerifiesAndReadsBackTheSame) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    ASSERT_TRUE(verify(random.graph).ok()) << verify(random.graph).error().message();
    std::string text = print(random.graph);
    Result<Graph> again = parse(text);
    ASSERT_TRUE(again.ok()) << again.error().message() << "\n" << text;
    ASSERT_EQ(print(*again), text);
    std::vector<Array> arguments = random.arguments();
    Result<std::vector<Array>> first = interpret(random.graph, arguments),
                               second = interpret(*again, arguments);
    ASSERT_TRUE(first.ok() && second.ok());
    ASSERT_TRUE(*first == *second) << text;
  }
}

}  // namespace
}  // namespace sublane::graph
