#include "graph/verify.h"

#include "run_text.h"

namespace sublane::graph {
namespace {

std::string faults(const Graph& graph) {
  Status status = verify(graph);
  return status.ok() ? "" : status.error().message();
}
std::string faultsOf(const std::string& body) { return faults(parsed("graph test {\n" + body + "\n}")); }

/// One statement's fault, over two parameters of each common kind.
std::string faultOf(const std::string& statement) {
  std::string text = faultsOf(R"(
    %0: f32[4,8] = input "a"
    %1: f32[4,8] = input "b"
    %2: bf16[4,8] = input "c"
    %3: i32[4] = input "i"
    %4: bool[4,8] = input "p"
    )" + statement + " @ head");
  size_t at = text.find(": ", text.find(" @ head"));
  return at == text.npos ? text : text.substr(at + 2);
}

TEST(Verify, AcceptsAGoodGraph) {
  EXPECT_EQ(faultsOf(R"(
    %0: f32[4] = input "x"
    %1: f32[2,4,1,4] = state "cache"
    %2: f32[4] = tanh(%0) @ layer.0/mlp
    output "y" = %2
    output "cache" = %1 aliases %1)"),
            "");
}

TEST(Verify, SaysTheRulesOfEachOperation) {
  EXPECT_EQ(faultOf("%9: f32[4,8] = add(%0, %2)"), "operands f32[4,8] and bf16[4,8] must be of one type");
  EXPECT_EQ(faultOf("%9: f32[4,9] = add(%0, %1)"), "result is f32[4,9], must be f32[4,8]");
  EXPECT_EQ(faultOf("%9: f32[4,8] = add(%0)"), "has 1 operands, must have 2");
  EXPECT_EQ(faultOf("%9: bool[4,8] = add(%4, %4)"), "operands are bool[4,8]: not defined for bool");
  EXPECT_EQ(faultOf("%9: f32[4,8] = and(%0, %1)"), "operands are f32[4,8]: not defined for f32");
  EXPECT_EQ(faultOf("%9: i32[4] = shift_left(%3, %3)"), "operands are i32[4]: not defined for i32");
  EXPECT_EQ(faultOf("%9: i32[4] = exp(%3)"), "operand is i32[4]: not defined for i32");
  EXPECT_EQ(faultOf("%9: f32[4,8] = not(%0)"), "operand is f32[4,8]: not defined for f32");
  EXPECT_EQ(faultOf("%9: f32[4,8] = is_finite(%0)"), "result is f32[4,8], must be bool[4,8]");
  EXPECT_EQ(faultOf("%9: f32[4,9] = convert(%2)"), "result is f32[4,9], must be f32[4,8]");
  EXPECT_EQ(faultOf("%9: f32[4,8] = bitcast(%2)"), "bf16 and f32 differ in width");
  EXPECT_EQ(faultOf("%9: f32[4,8] = compare(%0, %1) {direction=less}"),
            "result is f32[4,8], must be bool[4,8]");
  EXPECT_EQ(faultOf("%9: f32[4,8] = select(%0, %0, %1)"), "predicate is f32[4,8], must be bool[4,8]");
  EXPECT_EQ(faultOf("%9: f32[4,8] = select(%4, %0, %2)"),
            "branches f32[4,8] and bf16[4,8] must be of one type");
  EXPECT_EQ(faultOf("%9: f32[2] = constant {value=1}"), "result is f32[2], must be f32[]");
  EXPECT_EQ(faultOf("%9: f32[2] = iota {axis=0}"), "result is f32[2], must be i32 or u32");
  EXPECT_EQ(faultOf("%9: i32[2] = iota {axis=1}"), "axis 1 is outside the 1 axes of i32[2]");
}

TEST(Verify, SaysTheRulesOfShapes) {
  EXPECT_EQ(faultOf("%9: f32[4,8,2] = broadcast(%0) {dims=[0]}"), "dims [0] name 1 axes, f32[4,8] has 2");
  EXPECT_EQ(faultOf("%9: f32[4,8,2] = broadcast(%0) {dims=[0,2]}"),
            "axis 1 of f32[4,8] has 8 elements, axis 2 of f32[4,8,2] has 2");
  EXPECT_EQ(faultOf("%9: f32[8,4] = broadcast(%0) {dims=[1,0]}"), "dims [1,0] must rise");
  EXPECT_EQ(faultOf("%9: f32[4,8] = broadcast(%0) {dims=[0,2]}"),
            "dims [0,2]: axis 2 is outside the 2 axes of f32[4,8]");
  EXPECT_EQ(faultOf("%9: f32[33] = reshape(%0)"), "f32[4,8] has 32 elements, f32[33] has 33");
  EXPECT_EQ(faultOf("%9: f32[4,4] = transpose(%0) {dims=[0,0]}"), "dims [0,0]: axis 0 appears twice");
  EXPECT_EQ(faultOf("%9: f32[4,8] = transpose(%0) {dims=[1,0]}"), "result is f32[4,8], must be f32[8,4]");
  EXPECT_EQ(faultOf("%9: f32[4,8] = slice(%0) {starts=[0,3], limits=[4,9]}"),
            "axis 1: [3, 9) is not inside the 8 elements of f32[4,8]");
  EXPECT_EQ(faultOf("%9: f32[4,8] = slice(%0) {starts=[0], limits=[4]}"),
            "starts [0] and limits [4] must each name the 2 axes of f32[4,8]");
  EXPECT_EQ(faultOf("%9: f32[8,8] = concatenate(%0, %2) {axis=0}"),
            "operands 0 f32[4,8] and 1 bf16[4,8] may differ only along axis 0");
  EXPECT_EQ(faultOf("%9: f32[4] = reduce_sum(%0) {dims=[2]}"),
            "dims [2]: axis 2 is outside the 2 axes of f32[4,8]");
  EXPECT_EQ(faultOf("%9: f32[4] = arg_max(%0) {axis=1}"), "result is f32[4], must be i32[4]");
  EXPECT_EQ(faultOf("%9: f32[4,4] = dot(%0, %2) {lhs_contract=[1], rhs_contract=[1]}"),
            "operands f32[4,8] and bf16[4,8] must be of one number type");
  EXPECT_EQ(faultOf("%9: f16[4,4] = dot(%2, %2) {lhs_contract=[1], rhs_contract=[1]}"),
            "operands bf16 give bf16 or f32, not f16");
  EXPECT_EQ(faultOf("%9: f32[4,4] = dot(%0, %1) {lhs_contract=[1], rhs_contract=[0]}"),
            "contract: axis 1 of f32[4,8] has 8 elements, axis 0 of f32[4,8] has 4");
  EXPECT_EQ(faultOf("%9: f32[4,4] = dot(%0, %1) {lhs_contract=[1]}"),
            "lhs_contract [1] and rhs_contract [] differ in length");
}

TEST(Verify, SaysTheRulesOfState) {
  EXPECT_EQ(faultOf("%9: f32[4,8] = take_rows(%0, %1)"), "ids are f32[4,8], must be i32");
  EXPECT_EQ(faultOf("%9: f32[4,8] = take_rows(%0, %3)"), "");
  EXPECT_EQ(faultOf("%9: f32[4,8] = cache_write(%0, %1, %3)"), "cache f32[4,8] has rank 2, must have rank 4");
  std::string caches = R"(
    %10: f32[3,2,2,4] = input "k"
    %11: f32[5,2,4] = input "rows"
    %12: i32[5] = input "t"
    %13: i32[2,3] = input "pages"
    %14: i32[2] = input "s"
    %15: i32[2,4] = input "inverse"
    %16: i32[] = input "window"
    %17: f32[5,3,4] = input "q3"
    )";
  EXPECT_NE(faultsOf(caches + "%9: f32[3,2,2,4] = cache_write(%10, %11, %14) @ head")
                .find("rows is f32[5,2,4], must be f32[2,2,4]"),
            std::string::npos);
  std::string attention =
      caches +
      "%9: f32[5,2,4] = paged_attention(%11, %10, %10, %13, %14, %12, %12, %12, %15, %16) {scale=1} @ head";
  EXPECT_EQ(faultsOf(attention), "");
  std::string odd =
      caches +
      "%9: f32[5,3,4] = paged_attention(%17, %10, %10, %13, %14, %12, %12, %12, %15, %16) {scale=1} @ head";
  EXPECT_NE(faultsOf(odd).find("3 heads of q are not a multiple of 2 kv heads"), std::string::npos);
  std::string swapped =
      caches +
      "%9: f32[5,2,4] = paged_attention(%11, %10, %10, %13, %12, %14, %12, %12, %15, %16) {scale=1} @ head";
  EXPECT_NE(faultsOf(swapped).find("lengths is i32[5], must be i32[2]"), std::string::npos);
}

TEST(Verify, ReportsAllFaultsInOrder) {
  EXPECT_EQ(faultsOf(R"(
    %0: f32[4] = input "x"
    %1: f32[8] = input "x"
    %2: f32[4] = state "cache"
    %3: f32[4] = add(%0, %1) @ layer.3/mlp.up
    %4: f32[4] = tanh(%0)
    %5: f32[4] = tanh(%0) @ layer.2/a/b
    output "y" = %1 aliases %2
    output "z" = %0 aliases %0)"),
            R"(graph test: 6 faults
  parameter 1 "x": the name is used twice
  node 0 add @ layer.3/mlp.up: operands f32[4] and f32[8] must be of one type
  node 1 tanh @ (no place): has no place: the part is empty
  node 2 tanh @ layer.2/a/b: part "a/b" may hold letters, digits, '.', '_' and '-' only
  output 0 "y": is f32[8], but aliases "cache" f32[4]
  output 1 "z": aliases "x", which is not state)");
}

TEST(Verify, EachStateIsAliasedOnce) {
  EXPECT_EQ(faultsOf("%0: f32[4] = state \"k\"\n%1: f32[4] = state \"v\"\n"
                     "output \"a\" = %1 aliases %1\noutput \"b\" = %1 aliases %1"),
            "graph test: 2 faults\n"
            "  parameter 0 \"k\": state must be aliased by 1 output, is by 0\n"
            "  parameter 1 \"v\": state must be aliased by 1 output, is by 2");
}

TEST(Verify, HoldsTheOrderOfDefinitions) {
  Graph graph;
  graph.name = "test";
  ValueId x = graph.addValue({DType::kF32, {2}}), y = graph.addValue({DType::kF32, {2}});
  graph.nodes.push_back({Op::kTanh, {y}, {x}, {}, {0, "mlp"}, nullptr});
  graph.nodes.push_back({Op::kTanh, {x}, {x}, {}, {0, "mlp"}, nullptr});
  graph.nodes.push_back({Op::kTanh, {77}, {-4}, {}, {0, "mlp"}, nullptr});
  graph.nodes.push_back({Op::kTanh, {x}, {y}, AxisAttrs{0}, {0, "mlp"}, nullptr});
  EXPECT_EQ(faults(graph), R"(graph test: 5 faults
  node 0 tanh @ layer.0/mlp: operand 0 is value 1, which is not defined before
  node 1 tanh @ layer.0/mlp: value 0 is defined twice
  node 2 tanh @ layer.0/mlp: operand 0 is value 77, which is not defined before
  node 2 tanh @ layer.0/mlp: value -4 is outside the 2 values of the graph
  node 3 tanh @ layer.0/mlp: has axis attributes, must have no)");
  graph.nodes.clear();
  graph.name = "";
  graph.types[0].shape = {-1};
  graph.types[1].shape = {1 << 30, 1 << 30};
  graph.parameters = {{"x", Role::kInput, x}, {"", Role::kInput, y}};
  EXPECT_EQ(faults(graph), R"(graph : 4 faults
  graph: name "" must be letters, digits, '.', '_' and '-'
  parameter 0 "x": f32[-1] has a negative extent -1
  parameter 1 "": has no name
  parameter 1 "": f32[1073741824,1073741824] has more than 2^48 elements)");
}

TEST(Verify, HoldsTheSignatureOfLoops) {
  EXPECT_EQ(faultsOf(R"(
    %0: f32[4] = input "x"
    %1: f32[3,4] = input "w"
    %2: f32[4] = loop(%0, %1) {count=2, carried=1, stacked=1} @ layer.*/block
      graph body {
        %0: i32[] = input "index"
        %1: f32[5] = input "carried"
        %2: f32[4] = weight "w"
        %3: f32[4] = add(%1, %2) @ layer.*/mlp
        output "x" = %0
      }
    %3: f32[4] = loop(%0) {count=2, carried=1} @ layer.*/block
    %4: f32[4] = loop(%0) {count=2, carried=2} @ layer.*/block
      graph body {
      })"),
            R"(graph test: 7 faults
  node 0 loop @ layer.*/block: stacked operand 1 is f32[3,4], must have 2 slices
  node 0 loop @ layer.*/block: body parameter 1 is f32[5], must be f32[4]
  node 0 loop @ layer.*/block: body output 0 is i32[], must be f32[4]
  node 0 loop @ layer.*/block > parameter 2 "w": parameters of a loop body must be inputs
  node 0 loop @ layer.*/block > node 0 add @ layer.*/mlp: operands f32[5] and f32[4] must be of one type
  node 1 loop @ layer.*/block: must have loop attributes and a body
  node 2 loop @ layer.*/block: 2 carried, 0 invariants and 0 stacked are not its 1 operands)");
}

TEST(Verify, StopsAtALoopThatHoldsItself) {
  Graph graph;
  ValueId x = graph.addValue({DType::kF32, {}});
  graph.parameters.push_back({"x", Role::kInput, x});
  auto body = std::make_shared<Graph>();
  body->nodes.push_back({Op::kLoop, {}, {}, LoopAttrs{}, {0, "a"}, body});
  body->addValue({DType::kI32, {}});
  body->parameters.push_back({"index", Role::kInput, 0});
  graph.nodes.push_back({Op::kLoop, {}, {}, LoopAttrs{}, {0, "a"}, body});
  EXPECT_NE(faults(graph).find("loops are nested more than 32 deep"), std::string::npos);
  body->nodes.clear();
}

}  // namespace
}  // namespace sublane::graph
