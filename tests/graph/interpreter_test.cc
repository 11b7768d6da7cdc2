#include "graph/interpreter.h"

#include "run_text.h"

namespace sublane::graph {
namespace {

std::string unary(const std::string& op, const std::string& type, const std::string& result) {
  return "%0: " + type + " = input \"x\"\n%1: " + result + " = " + op + "(%0)\noutput \"y\" = %1";
}
std::vector<double> binary(const std::string& op, const std::string& type, std::vector<double> a,
                           std::vector<double> b, const std::string& result = "") {
  return run("%0: " + type + " = input \"a\"\n%1: " + type + " = input \"b\"\n%2: " +
                 (result.empty() ? type : result) + " = " + op + "\noutput \"y\" = %2",
             {a, b});
}

TEST(Interpreter, UnaryFloats) {
  auto on = [](const std::string& op, std::vector<double> x) {
    return run(unary(op, "f32[3]", "f32[3]"), {x});
  };
  expectValues(on("negate", {1, -2, 0}), {-1, 2, 0});
  expectValues(on("exp", {0, 1, -kInf}), {1, std::exp(1.0), 0}, 1e-7);
  expectValues(on("log", {1, 0, -1}), {0, -kInf, NAN});
  expectValues(on("tanh", {0, 0.5, 100}), {0, std::tanh(0.5), 1}, 1e-7);
  expectValues(on("rsqrt", {4, 0, -1}), {0.5, kInf, NAN});
  expectValues(on("sqrt", {4, 2, -1}), {2, std::sqrt(2.0f), NAN});
  expectValues(on("logistic", {0, 200, -200}), {0.5, 1, 0}, 1e-7);
  expectValues(run(unary("is_finite", "f32[3]", "bool[3]"), {{1, kInf, NAN}}), {1, 0, 0});
  expectValues(run(unary("not", "bool[2]", "bool[2]"), {{1, 0}}), {0, 1});
  expectValues(run(unary("not", "u32[1]", "u32[1]"), {{1}}), {4294967294.0});
  expectValues(run(unary("negate", "i32[2]", "i32[2]"), {{5, -2147483648.0}}), {-5, -2147483648.0});
}

TEST(Interpreter, RoundsToTheDtype) {
  // 256 + 1 has 9 bits: bf16 keeps 8, ties to even.
  expectValues(binary("add(%0, %1)", "bf16[3]", {256, 258, 1}, {1, 1, 1.0 / 512}), {256, 260, 1});
  expectValues(binary("multiply(%0, %1)", "f16[1]", {60000}, {2}), {kInf});
  expectValues(binary("add(%0, %1)", "f32[1]", {16777216}, {1}), {16777216});
  expectValues(run(unary("exp", "bf16[1]", "bf16[1]"), {{1}}), {2.71875});
}

TEST(Interpreter, BinaryFloats) {
  expectValues(binary("subtract(%0, %1)", "f32[2]", {3, kInf}, {5, kInf}), {-2, NAN});
  expectValues(binary("divide(%0, %1)", "f32[3]", {1, 1, 0}, {4, 0, 0}), {0.25, kInf, NAN});
  expectValues(binary("maximum(%0, %1)", "f32[3]", {1, NAN, 2}, {3, 1, NAN}), {3, NAN, NAN});
  expectValues(binary("minimum(%0, %1)", "f32[3]", {1, NAN, 2}, {3, 1, NAN}), {1, NAN, NAN});
  expectValues(binary("remainder(%0, %1)", "f32[3]", {7, -7, 1}, {4, 4, 0}), {3, -3, NAN});
}

TEST(Interpreter, IntegersWrapAndDivideLikeXla) {
  expectValues(binary("add(%0, %1)", "i32[1]", {2147483647}, {1}), {-2147483648.0});
  expectValues(binary("subtract(%0, %1)", "u32[1]", {0}, {1}), {4294967295.0});
  expectValues(binary("multiply(%0, %1)", "u32[1]", {4294967295.0}, {4294967295.0}), {1});
  expectValues(binary("divide(%0, %1)", "i32[4]", {7, -7, 7, -2147483648.0}, {2, 2, 0, -1}),
               {3, -3, -1, -2147483648.0});
  expectValues(binary("divide(%0, %1)", "u32[1]", {7}, {0}), {4294967295.0});
  expectValues(binary("remainder(%0, %1)", "i32[4]", {7, -7, 7, -2147483648.0}, {2, 2, 0, -1}),
               {1, -1, 7, 0});
  expectValues(binary("maximum(%0, %1)", "u32[1]", {4294967295.0}, {1}), {4294967295.0});
  expectValues(binary("xor(%0, %1)", "u32[1]", {12}, {10}), {6});
  expectValues(binary("and(%0, %1)", "bool[2]", {1, 1}, {1, 0}), {1, 0});
  expectValues(binary("or(%0, %1)", "i32[1]", {12}, {3}), {15});
  expectValues(binary("shift_left(%0, %1)", "u32[3]", {3, 2147483649.0, 1}, {1, 1, 32}), {6, 2, 0});
  expectValues(binary("shift_right(%0, %1)", "u32[2]", {4294967295.0, 8}, {31, 40}), {1, 0});
}

TEST(Interpreter, ComparesInOrder) {
  auto on = [](const std::string& direction) {
    return binary("compare(%0, %1) {direction=" + direction + "}", "f32[4]", {1, 2, 2, NAN}, {2, 2, 1, NAN},
                  "bool[4]");
  };
  expectValues(on("equal"), {0, 1, 0, 0});
  expectValues(on("not_equal"), {1, 0, 1, 1});
  expectValues(on("less"), {1, 0, 0, 0});
  expectValues(on("less_equal"), {1, 1, 0, 0});
  expectValues(on("greater"), {0, 0, 1, 0});
  expectValues(on("greater_equal"), {0, 1, 1, 0});
  expectValues(binary("compare(%0, %1) {direction=less}", "u32[1]", {4294967295.0}, {0}, "bool[1]"), {0});
  expectValues(run("%0: bool[2] = input \"p\"\n%1: f32[2] = input \"a\"\n%2: f32[2] = input \"b\"\n"
                   "%3: f32[2] = select(%0, %1, %2)\noutput \"y\" = %3",
                   {{1, 0}, {1, NAN}, {NAN, 4}}),
               {1, 4});
}

TEST(Interpreter, Converts) {
  auto to = [](const std::string& from, const std::string& type, std::vector<double> x) {
    std::string n = "[" + std::to_string(x.size()) + "]";
    return run(unary("convert", from + n, type + n), {x});
  };
  expectValues(to("f32", "i32", {2.9, -2.9, NAN, kInf, -kInf, 3e9}),
               {2, -2, 0, 2147483647, -2147483648.0, 2147483647});
  expectValues(to("f32", "u32", {-1, 2.5, 1e10}), {0, 2, 4294967295.0});
  expectValues(to("f32", "i8", {200, -200}), {127, -128});
  expectValues(to("f32", "bool", {0, 0.5, NAN}), {0, 1, 1});
  expectValues(to("f32", "bf16", {1.00390625, 1.01171875}), {1, 1.015625});
  expectValues(to("i32", "f32", {16777217}), {16777216});
  expectValues(to("i32", "i8", {257}), {1});
  expectValues(to("bool", "f32", {1, 0}), {1, 0});
  expectValues(run(unary("bitcast", "f32[1]", "u32[1]"), {{1}}), {1065353216});
  expectValues(run(unary("bitcast", "u32[1]", "f32[1]"), {{1065353216}}), {1});
}

TEST(Interpreter, Shapes) {
  std::string x = "%0: f32[2,3] = input \"x\"\n";
  std::vector<double> data = {1, 2, 3, 4, 5, 6};
  auto on = [&](const std::string& statement) { return run(x + statement + "\noutput \"y\" = %1", {data}); };
  expectValues(on("%1: f32[3,2] = reshape(%0)"), data);
  expectValues(on("%1: f32[3,2] = transpose(%0) {dims=[1,0]}"), {1, 4, 2, 5, 3, 6});
  expectValues(on("%1: f32[1,2] = slice(%0) {starts=[1,1], limits=[2,3]}"), {5, 6});
  expectValues(on("%1: f32[0,2] = slice(%0) {starts=[1,1], limits=[1,3]}"), {});
  expectValues(on("%1: f32[2,2,3] = broadcast(%0) {dims=[1,2]}"), {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  expectValues(on("%1: f32[2,3,2] = broadcast(%0) {dims=[0,1]}"), {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  expectValues(on("%1: f32[2,6] = concatenate(%0, %0) {axis=1}"), {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expectValues(on("%1: f32[4,3] = concatenate(%0, %0) {axis=0}"), {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  expectValues(on("%1: i32[2,3] = iota {axis=0}"), {0, 0, 0, 1, 1, 1});
  expectValues(on("%1: u32[2,3] = iota {axis=1}"), {0, 1, 2, 0, 1, 2});
  expectValues(run("%0: f32[1,2] = input \"x\"\n%1: f32[3,2] = broadcast(%0) {dims=[0,1]}\noutput \"y\" = %1",
                   {{1, 2}}),
               {1, 2, 1, 2, 1, 2});
  expectValues(run("%0: f32[] = constant {value=7}\n%1: f32[2] = broadcast(%0)\noutput \"y\" = %1"), {7, 7});
  expectValues(run("%0: f32[3,2] = input \"t\"\n%1: i32[2,2] = input \"ids\"\n%2: f32[2,2,2] = take_rows(%0, "
                   "%1)\noutput \"y\" = %2",
                   {{1, 2, 3, 4, 5, 6}, {2, -5, 1, 99}}),
               {5, 6, 1, 2, 3, 4, 5, 6});
}

TEST(Interpreter, Reductions) {
  auto on = [](const std::string& type, const std::string& statement, std::vector<double> data) {
    return run("%0: " + type + " = input \"x\"\n%1: " + statement + "\noutput \"y\" = %1", {data});
  };
  std::vector<double> data = {1, 2, 3, 4, 5, 6, 7, 8};
  expectValues(on("f32[2,2,2]", "f32[2] = reduce_sum(%0) {dims=[0,2]}", data), {14, 22});
  expectValues(on("f32[2,2,2]", "f32[2] = reduce_sum(%0) {dims=[2,0]}", data), {14, 22});
  expectValues(on("f32[2,2,2]", "f32[] = reduce_max(%0) {dims=[0,1,2]}", data), {8});
  expectValues(on("f32[2,2]", "f32[2] = reduce_max(%0) {dims=[1]}", {1, NAN, -3, -2}), {NAN, -2});
  expectValues(on("i32[2,2]", "i32[2] = reduce_max(%0) {dims=[0]}", {-4, 2, -3, 1}), {-3, 2});
  expectValues(on("f32[0,2]", "f32[2] = reduce_max(%0) {dims=[0]}", {}), {-kInf, -kInf});
  expectValues(on("bf16[3]", "bf16[] = reduce_sum(%0) {dims=[0]}", {256, 1, 1}), {258});  // rounded once
  expectValues(on("f32[4,3]", "i32[4] = arg_max(%0) {axis=1}",
                  {1, 3, 3, NAN, -kInf, 2, NAN, NAN, NAN, NAN, -kInf, -kInf}),
               {1, 2, -1, 1});
  expectValues(on("i32[2,2]", "i32[2] = arg_max(%0) {axis=0}", {1, 5, 2, 4}), {1, 0});
}

TEST(Interpreter, Dots) {
  expectValues(run("%0: f32[2,3] = input \"a\"\n%1: f32[2,3] = input \"b\"\n"
                   "%2: f32[2,2] = dot(%0, %1) {lhs_contract=[1], rhs_contract=[1]}\noutput \"y\" = %2",
                   {{1, 2, 3, 4, 5, 6}, {1, 0, 1, 0, 1, 0}}),
               {4, 2, 10, 5});
  // batch last on the left, contraction over two axes given in unlike orders
  expectValues(run("%0: f32[2,2,2] = input \"a\"\n%1: f32[2,2,2] = input \"b\"\n"
                   "%2: f32[2] = dot(%0, %1) {lhs_batch=[2], rhs_batch=[0], lhs_contract=[0,1], "
                   "rhs_contract=[2,1]}\noutput \"y\" = %2",
                   {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}}),
               {1 * 1 + 3 * 3 + 5 * 2 + 7 * 4, 2 * 5 + 4 * 7 + 6 * 6 + 8 * 8});
  // bf16 operands, f32 result: nothing is lost; bf16 result: rounded once at the end
  std::string bf16 = "%0: bf16[3] = input \"a\"\n%1: bf16[3] = input \"b\"\n%2: ";
  std::string dot = "[] = dot(%0, %1) {lhs_contract=[0], rhs_contract=[0]}\noutput \"y\" = %2";
  expectValues(run(bf16 + "f32" + dot, {{256, 1, 1}, {1, 1, 1}}), {258});
  expectValues(run(bf16 + "bf16" + dot, {{256, 1, 0}, {1, 1, 1}}), {256});
  expectValues(run("%0: i8[5] = input \"a\"\n%1: i8[5] = input \"b\"\n%2: i32" + dot,
                   {{127, 127, 127, 1, 2}, {127, 127, -128, 1, 2}}),
               {127 * 127 * 2 - 127 * 128 + 5});
}

TEST(Interpreter, Loops) {
  std::string text = R"(
    %0: f32[2] = input "x"
    %1: f32[2] = input "bias"
    %2: f32[3,2] = input "scales"
    %3: f32[2], %4: i32[] = loop(%0, %5, %1, %2) {count=3, carried=2, invariants=1, stacked=1}
      graph body {
        %0: i32[] = input "index"
        %1: f32[2] = input "x"
        %2: i32[] = input "sum"
        %3: f32[2] = input "bias"
        %4: f32[2] = input "scale"
        %5: f32[2] = multiply(%1, %4)
        %6: f32[2] = add(%5, %3)
        %7: i32[] = add(%2, %0)
        output "x" = %6
        output "sum" = %7
      }
    output ")";
  std::string zero = "%5: i32[] = constant {value=10}";
  expectValues(run(zero + text + "x\" = %3", {{1, 2}, {1, 0}, {2, 2, 3, 3, 4, 4}}),
               {(((1 * 2 + 1) * 3 + 1) * 4) + 1, 48});
  expectValues(run(zero + text + "sum\" = %4", {{1, 2}, {1, 0}, {2, 2, 3, 3, 4, 4}}), {13});
  expectValues(run("%0: f32[2] = input \"x\"\n%1: f32[2] = loop(%0) {count=0, carried=1}\ngraph body {\n%0: "
                   "i32[] = input \"i\"\n"
                   "%1: f32[2] = input \"x\"\noutput \"x\" = %1 }\noutput \"y\" = %1",
                   {{1, 2}}),
               {1, 2});
}

TEST(Interpreter, CacheWritesDropWhatIsOutside) {
  std::string text = R"(
    %0: f32[2,2,1,2] = state "cache"
    %1: f32[4,1,2] = input "rows"
    %2: i32[4] = input "slots"
    %3: f32[2,2,1,2] = cache_write(%0, %1, %2)
    output "before" = %0
    output "cache" = %3 aliases %0)";
  Graph graph = parsed("graph test {" + text + "}");
  std::vector<Array> arguments = {
      arrayOf({DType::kF32, {2, 2, 1, 2}}, std::vector<double>(8, 0)),
      arrayOf({DType::kF32, {4, 1, 2}}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}),
      arrayOf({DType::kI32, {4}}, std::vector<double>{2, -1, 4, 0})};
  Result<std::vector<Array>> results = interpret(graph, arguments);
  ASSERT_TRUE(results.ok()) << results.error().message();
  expectValues(values((*results)[0]), std::vector<double>(8, 0));
  expectValues(values((*results)[1]), {7, 8, 0, 0, 1, 2, 0, 0});
  expectValues(values(arguments[0]), std::vector<double>(8, 0));  // the caller's array is never written
}

TEST(Interpreter, CacheWritesInALoopNeverTouchTheArgument) {
  // Each iteration writes its slice at its index; the carried cache is updated in place after the first.
  Graph graph = parsed(R"(graph test {
    %0: f32[1,3,1,1] = state "cache"
    %1: f32[3,1,1,1] = input "rows"
    %2: f32[1,3,1,1] = loop(%0, %1) {count=3, carried=1, stacked=1}
      graph body {
        %0: i32[] = input "index"
        %1: f32[1,3,1,1] = input "cache"
        %2: f32[1,1,1] = input "row"
        %3: i32[1] = reshape(%0)
        %4: f32[1,3,1,1] = cache_write(%1, %2, %3)
        output "cache" = %4
      }
    output "cache" = %2 aliases %0
    output "before" = %0 })");
  std::vector<Array> arguments = {zeros({DType::kF32, {1, 3, 1, 1}}),
                                  arrayOf({DType::kF32, {3, 1, 1, 1}}, std::vector<double>{5, 6, 7})};
  Result<std::vector<Array>> results = interpret(graph, arguments);
  ASSERT_TRUE(results.ok()) << results.error().message();
  expectValues(values((*results)[0]), {5, 6, 7});
  expectValues(values((*results)[1]), {0, 0, 0});
}

TEST(Interpreter, RefusesWrongArguments) {
  Graph graph = parsed("graph test { %0: f32[2] = input \"x\" %1: i32[] = input \"n\" output \"y\" = %0 }");
  auto errorOf = [&](const std::vector<Array>& arguments) {
    return interpret(graph, arguments).error().message();
  };
  EXPECT_EQ(errorOf({}), "interpret test: 0 arguments, 2 parameters");
  Array shorter = zeros({DType::kF32, {2}});
  shorter.data.pop_back();
  EXPECT_EQ(errorOf({shorter, zeros({DType::kF32, {}})}),
            "interpret test: argument 0 \"x\" has 7 bytes, f32[2] has 8\n  argument 1 \"n\" is f32[], must "
            "be i32[]");
  Graph broken = parsed("graph test { %0: f32[2] = input \"x\" %1: f32[3] = tanh(%0) }");
  EXPECT_EQ(interpret(broken, std::vector{zeros({DType::kF32, {2}})}).error().message(),
            "graph test: 1 fault\n  node 0 tanh @ (no place): result is f32[3], must be f32[2]");
  Graph huge =
      parsed("graph test { %0: f32[] = constant {value=1} %1: f32[281474976710656] = broadcast(%0) }");
  EXPECT_EQ(interpret(huge, {}).error().fault(), Fault::kMachine);
  EXPECT_EQ(interpret(huge, {}).error().message(),
            "interpret test: a value f32[281474976710656] has 1125899906842624 bytes, more than 64 GiB");
}

}  // namespace
}  // namespace sublane::graph
