#include "graph/text_form.h"

#include <random>

#include "graph/verify.h"
#include "run_text.h"

namespace sublane::graph {
namespace {

// Every attribute, role, kind of place and a nested loop.
constexpr const char* kEverything = R"(graph step {
  %0: i32[3] = input "tokens"
  %1: bf16[16,8] = weight "embed \"quoted\\\x0a"
  %2: bf16[4,2,1,8] = state "cache.k.0"
  %3: bf16[3,8] = take_rows(%1, %0) @ embed
  %4: f32[] = constant {value=1e-05} @ layer.0/norm
  %5: f32[] = constant {value=-inf} @ layer.0/norm
  %6: f32[] = constant {value=nan} @ layer.0/norm
  %7: f32[] = constant {value=3.1415926535897931} @ layer.0/norm
  %8: i32[3,4] = iota {axis=1} @ layer.0/norm
  %9: bool[3,4] = compare(%8, %8) {direction=less_equal} @ layer.0/norm
  %10: f32[3,8] = convert(%3) @ layer.12/attention.qkv
  %11: f32[3,16] = dot(%3, %1) {lhs_contract=[1], rhs_contract=[1]} @ layer.12/attention.qkv
  %12: f32[3,8,8] = dot(%10, %10) {lhs_batch=[0], rhs_batch=[0], precision=highest} @ head
  %13: f32[2,8] = slice(%10) {starts=[1,0], limits=[3,8]} @ head
  %14: f32[] = reduce_sum(%13) {dims=[0,1]} @ head
  %15: f32[3,8] = broadcast(%14) @ head
  %16: f32[3,8], %17: f32[] = loop(%15, %14, %4, %10) {count=3, carried=2, invariants=1, stacked=1} @ layer.*/block
    graph body {
      %0: i32[] = input "index"
      %1: f32[3,8] = input "carried.0"
      %2: f32[] = input "carried.1"
      %3: f32[] = input "invariant.0"
      %4: f32[8] = input "slice.0"
      %5: f32[3,8] = loop(%1) {count=0, carried=1} @ layer.*/inner
        graph body {
          %0: i32[] = input "index"
          %1: f32[3,8] = input "carried.0"
          output "carried.0" = %1
        }
      output "carried.0" = %5
      output "carried.1" = %3
    }
  output "y" = %16
  output "cache.k.0" = %2 aliases %2
}
)";

TEST(TextForm, RoundTrips) {
  Graph graph = parsed(kEverything);
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).error().message();
  std::string text = print(graph);
  std::string wanted = kEverything;
  size_t pi = wanted.find("3.1415926535897931");
  wanted.replace(pi, 18, "3.141592653589793");  // the shortest that reads back
  EXPECT_EQ(text, wanted);
  EXPECT_EQ(print(parsed(text)), text);
}

TEST(TextForm, NumbersValuesByDefinition) {
  EXPECT_EQ(
      print(parsed("graph g { # comment\n %70: f32[2] = input \"x\"   %5: f32[2] =\n tanh ( %70 )@head\n "
                   "output \"y\" = %5 }")),
      "graph g {\n  %0: f32[2] = input \"x\"\n  %1: f32[2] = tanh(%0) @ head\n  output \"y\" = %1\n}\n");
}

TEST(TextForm, EveryOperationHasAName) {
  for (int op = 0; op < kOpCount; ++op) {
    EXPECT_NE(name(static_cast<Op>(op)), "");
    for (int other = 0; other < op; ++other)
      EXPECT_NE(name(static_cast<Op>(op)), name(static_cast<Op>(other)));
  }
  EXPECT_EQ(name(Op::kLoop), "loop");
  EXPECT_EQ(name(Op::kCompare), "compare");
  EXPECT_EQ(name(static_cast<Op>(200)), "unknown_op");
}

TEST(TextForm, PrintsBrokenGraphsToo) {
  Graph graph;
  graph.addValue({});
  graph.nodes.push_back({Op::kAdd, {0, 9}, {-1}, {}, {}, nullptr});
  graph.outputs.push_back({"y", 3, 8});
  EXPECT_EQ(print(graph), "graph step {\n  %?: ? = add(%?, %?)\n  output \"y\" = %? aliases %?\n}\n");
}

std::string errorOf(const std::string& text) {
  Result<Graph> graph = parse(text);
  return graph.ok() ? "" : graph.error().message();
}

TEST(TextForm, ErrorsNameLineAndColumn) {
  EXPECT_EQ(errorOf(""), "1:1: expected \"graph\", found the end of the text");
  EXPECT_EQ(errorOf("graph g {\n  output \"y\" = %3\n"),
            "2:16: %3 is not defined before\n3:1: expected '}', found the end of the text");
  EXPECT_EQ(errorOf("graph g {} x"), "1:12: expected the end of the text, found 'x'");
  EXPECT_EQ(errorOf(R"(graph g {
  %0: f33[2] = input "x"
  %1: f32[2] = input "y
  %2: f32[2] = tan(%1)
  %2: f32[2] = tanh(%1, %9)
  %3: f32[2] = tanh(%1) {axis=1}
  %4: f32[] = constant @ head
  %5: f32[] = constant {value=[1]}
  %6: f32[99999999999999999999] = input "z"
  %7: bool[2] = compare(%1, %1) {direction=above}
  %8: f32[2] = tanh(%1) @ layer.x/y
  %9, %10: f32[2] = tanh(%1)
  !
  output "y" = %1 aliases %2
})"),
            R"(2:7: "f33" is not a number type
3:22: the name's quotes don't close on this line
4:16: "tan" is not an operation
5:3: %2 is defined twice
6:26: attribute "axis" is not known here or written twice
7:15: attribute "value" is missing
8:25: value must be a number
9:11: "99999999999999999999" is not an integer of 64 bits
10:34: direction must be one of equal, not_equal, less, less_equal, greater, greater_equal
11:27: "layer.x" is not a layer like layer.3 or layer.*
12:5: expected ':', found ','
13:3: expected a value or "output", found '!'
14:27: aliases a value that is not a parameter)");
}

// Whatever is in the text, the parser returns; and what it accepts, the printer and verifier take.
void readAll(const std::string& text) {
  Result<Graph> graph = parse(text);
  if (!graph.ok()) {
    EXPECT_FALSE(graph.error().message().empty());
    return;
  }
  std::string printed = print(*graph);
  (void)verify(*graph);
  Result<Graph> again = parse(printed);
  if (!again.ok()) {
    ADD_FAILURE() << again.error().message() << "\n" << printed;
    return;
  }
  EXPECT_EQ(print(*again), printed);
}

TEST(TextForm, SurvivesTruncationAtEachByte) {
  std::string text = kEverything;
  for (size_t length = 0; length < text.size(); ++length) {
    Result<Graph> graph = parse(std::string_view(text).substr(0, length));
    EXPECT_EQ(graph.ok(), length + 1 == text.size()) << length;  // only the last line's end may be missing
  }
}

TEST(TextForm, SurvivesChangedBytes) {
  std::mt19937 random(7);
  std::string original = kEverything;
  const std::string alphabet = "%:[]{}()=,\"\\@#/*. \n-0179aegx\xff";
  for (int round = 0; round < 4000; ++round) {
    std::string text = original;
    for (int change = 0; change <= round % 4; ++change) {
      size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 8);
      else
        text[at] = alphabet[random() % alphabet.size()];
    }
    readAll(text);
  }
}

TEST(TextForm, RefusesLoopsThatNestTooDeep) {
  std::string text = "graph a {\n";
  for (int depth = 0; depth < 100000; ++depth) text += "%0: f32[] = loop {count=1} graph b {\n";
  EXPECT_NE(errorOf(text).find("expected loops at most 32 deep"), std::string::npos);
}

}  // namespace
}  // namespace sublane::graph
