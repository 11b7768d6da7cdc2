// Each operation on the CPU plugin against the interpreter. One graph holds many: a compile costs a second.
#include "graph/builder.h"
#include "on_cpu.h"

namespace sublane::lower {
namespace {

using graph::Builder;
using graph::Comparison;
using graph::DotAttrs;
using graph::DType;
using graph::Role;
using graph::Shape;
using graph::ValueId;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Bench {
  Graph graph;
  Builder b{graph};
  int outputs = 0;
  ValueId input(DType dtype, Shape shape) {
    return b.parameter("x." + std::to_string(graph.parameters.size()), {dtype, std::move(shape)},
                       Role::kInput);
  }
  void out(const std::string& name, ValueId value) {
    b.output(name + "." + std::to_string(outputs++), value);
  }
};

const std::vector<double> kFloats = {1.5, -2.25, 0.0, 3.0, -0.5, 100.0, 1e-3, -7.0};
const std::vector<double> kMore = {0.5, 2.0, -1.0, 3.0, -0.5, 0.25, 2.0, -3.0};

TEST(Operations, ExactElementwise) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    Bench t;
    ValueId x = t.input(dtype, {8}), y = t.input(dtype, {8});
    t.out("add", t.b.add(x, y));
    t.out("subtract", t.b.subtract(x, y));
    t.out("multiply", t.b.multiply(x, y));
    t.out("divide", t.b.divide(x, y));
    t.out("maximum", t.b.maximum(x, y));
    t.out("minimum", t.b.minimum(x, y));
    t.out("remainder", t.b.remainder(x, y));
    t.out("negate", t.b.negate(x));
    t.out("is_finite", t.b.isFinite(t.b.divide(x, t.b.splat({dtype, {8}}, 0))));
    for (int i = 0; i < 6; ++i) t.out("compare", t.b.compare(static_cast<Comparison>(i), x, y));
    t.out("select", t.b.select(t.b.compare(Comparison::kLess, x, y), x, y));
    t.out("constant", t.b.constant(dtype, 0.1));
    t.out("infinity", t.b.constant(dtype, -kInf));
    t.out("nan", t.b.constant(dtype, kNan));
    t.out("large", t.b.constant(dtype, 1e20));
    for (DType to : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI8, DType::kBool})
      t.out("convert", t.b.convert(x, to));
    expectAsInterpreted(t.graph, argumentsOf(t.graph, {kFloats, kMore}), 0);
  }
}

// XLA's CPU compiler gives up NaN in maximum and minimum for speed, unless told not to.
TEST(Operations, NanComparesAsOrdered) {
  Bench t;
  ValueId x = t.input(DType::kF32, {4}), y = t.input(DType::kF32, {4});
  for (int i = 0; i < 6; ++i) t.out("compare", t.b.compare(static_cast<Comparison>(i), x, y));
  t.out("maximum", t.b.maximum(x, y));
  t.out("minimum", t.b.minimum(x, y));
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {{kNan, 1, kNan, -kInf}, {1, kNan, kNan, kInf}}), 0,
                      {{"xla_cpu_enable_fast_min_max", false}});
}

TEST(Operations, Transcendental) {
  Bench t;
  ValueId x = t.input(DType::kF32, {8}), h = t.input(DType::kBF16, {8});
  for (ValueId v : {x, h}) {
    t.out("exp", t.b.exp(v));
    t.out("log", t.b.log(v));
    t.out("tanh", t.b.tanh(v));
    t.out("rsqrt", t.b.rsqrt(v));
    t.out("sqrt", t.b.sqrt(v));
    t.out("logistic", t.b.logistic(v));
  }
  std::vector<double> positive = {0.5, 1, 2, 3.25, 1e-3, 8, 0.1, 5};
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {positive, positive}), 8e-3);
}

TEST(Operations, Integers) {
  for (DType dtype : {DType::kI32, DType::kU32}) {
    Bench t;
    ValueId x = t.input(dtype, {8}), y = t.input(dtype, {8});
    t.out("add", t.b.add(x, y));
    t.out("subtract", t.b.subtract(x, y));
    t.out("multiply", t.b.multiply(x, y));
    t.out("divide", t.b.divide(x, y));
    t.out("remainder", t.b.remainder(x, y));
    t.out("maximum", t.b.maximum(x, y));
    t.out("minimum", t.b.minimum(x, y));
    t.out("and", t.b.bitAnd(x, y));
    t.out("or", t.b.bitOr(x, y));
    t.out("xor", t.b.bitXor(x, y));
    t.out("not", t.b.logicalNot(t.b.compare(Comparison::kLess, x, y)));
    for (int i = 0; i < 6; ++i) t.out("compare", t.b.compare(static_cast<Comparison>(i), x, y));
    if (dtype == DType::kU32) {
      t.out("left", t.b.shiftLeft(x, y));
      t.out("right", t.b.shiftRight(x, y));
    }
    t.out("bits", t.b.bitcast(t.b.bitcast(x, DType::kF32), dtype));
    t.out("f32", t.b.convert(x, DType::kF32));
    t.out("iota", t.b.iota({dtype, {3, 4}}, 1));
    std::vector<double> left = {7, 100, 1, 2147483647, 12, 9, 0, 5}, right = {2, 3, 31, 5, 12, 0, 4, 32};
    if (dtype == DType::kI32) left[1] = -100, left[5] = -9, right[4] = -12;
    expectAsInterpreted(t.graph, argumentsOf(t.graph, {left, right}), 0);
  }
}

TEST(Operations, Shapes) {
  Bench t;
  ValueId x = t.input(DType::kF32, {2, 3, 4});
  t.out("broadcast", t.b.broadcast(x, {2, 5, 3, 4}, {0, 2, 3}));
  t.out("reshape", t.b.reshape(x, {6, 4}));
  t.out("transpose", t.b.transpose(x, {2, 0, 1}));
  t.out("slice", t.b.slice(x, {0, 1, 2}, {2, 3, 4}));
  t.out("concatenate", t.b.concatenate({x, t.b.slice(x, {0, 0, 0}, {2, 1, 4}), x}, 1));
  t.out("sum", t.b.reduceSum(x, {0, 2}));
  t.out("max", t.b.reduceMax(x, {1}));
  t.out("integer max", t.b.reduceMax(t.b.convert(x, DType::kI32), {0, 1, 2}));
  std::vector<double> data(24);
  for (size_t i = 0; i < 24; ++i) data[i] = static_cast<double>((i * 7) % 24) - 30;
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {data}), 0);
}

TEST(Operations, ArgMaxTakesTheLowestIndexAndNeverNan) {
  Bench t;
  ValueId x = t.input(DType::kF32, {6, 4}), n = t.input(DType::kI32, {4});
  t.out("rows", t.b.argMax(x, 1));
  t.out("columns", t.b.argMax(x, 0));
  t.out("integers", t.b.argMax(n, 0));
  std::vector<double> data = {1,    5,    5,    2,    kNan, -kInf, -kInf, kNan, kNan, kNan, kNan, kNan,
                              kInf, kNan, 3e38, kInf, 0,    -0.0,  0,     0,    -1,   -2,   -1,   -3};
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {data, {-5, -2, -2, -9}}), 0);
  Result<std::vector<Array>> got = runOn(cpu(), t.graph, argumentsOf(t.graph, {data, {-5, -2, -2, -9}}));
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(graph::values(got->front()), (std::vector<double>{1, 1, -1, 0, 0, 0}));
}

TEST(Operations, Dots) {
  Bench t;
  ValueId a = t.input(DType::kF32, {3, 8}), w = t.input(DType::kF32, {5, 8});
  ValueId ba = t.b.convert(a, DType::kBF16), bw = t.b.convert(w, DType::kBF16);
  t.out("linear", t.b.linear(a, w, DType::kF32));
  t.out("bf16 to f32", t.b.linear(ba, bw, DType::kF32));
  t.out("bf16", t.b.linear(ba, bw, DType::kBF16));
  t.out("transposed", t.b.dot(a, t.b.transpose(w, {1, 0}), DotAttrs{{}, {}, {1}, {0}, true}, DType::kF32));
  ValueId g = t.b.reshape(a, {3, 2, 4}), h = t.b.reshape(t.b.slice(w, {0, 0}, {3, 8}), {3, 2, 4});
  t.out("batched", t.b.dot(g, h, DotAttrs{{1}, {1}, {2}, {2}, false}, DType::kF32));
  std::vector<double> x, y;
  for (int i = 0; i < 24; ++i) x.push_back(std::sin(i));
  for (int i = 0; i < 40; ++i) y.push_back(std::cos(3 * i));
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {x, y}), 8e-3);
}

TEST(Operations, TakeRowsClampsIds) {
  Bench t;
  ValueId table = t.input(DType::kF32, {4, 2, 3}), ids = t.input(DType::kI32, {2, 3});
  t.out("rows", t.b.takeRows(table, ids));
  t.out("vector", t.b.takeRows(t.b.reshape(table, {24}), ids));
  std::vector<double> data(24);
  for (size_t i = 0; i < 24; ++i) data[i] = static_cast<double>(i);
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {data, {0, 3, -1, 4, -2147483648.0, 2147483647}}), 0);
}

TEST(Operations, CacheWriteDropsSlotsOutside) {
  Bench t;
  ValueId cache = t.b.parameter("cache", {DType::kF32, {3, 4, 1, 2}}, Role::kState);
  ValueId rows = t.input(DType::kF32, {9, 1, 2}), slots = t.input(DType::kI32, {9});
  t.b.outputInPlace("cache", t.b.cacheWrite(cache, rows, slots), cache);
  std::vector<double> old(24), fresh(18);
  for (size_t i = 0; i < old.size(); ++i) old[i] = -static_cast<double>(i);
  for (size_t i = 0; i < fresh.size(); ++i) fresh[i] = 100.0 + static_cast<double>(i);
  // -1 to -5: a page, an offset or both are negative; 12 is the first slot past the end.
  expectAsInterpreted(
      t.graph, argumentsOf(t.graph, {old, fresh, {11, -1, -4, -5, 0, 12, 6, -2147483648.0, 2147483647}}), 0);
}

TEST(Operations, CacheWriteOfOneToken) {
  for (double slot : {5.0, -1.0, -4.0, 8.0}) {
    Bench t;
    ValueId cache = t.b.parameter("cache", {DType::kBF16, {2, 4, 2, 2}}, Role::kState);
    ValueId rows = t.input(DType::kBF16, {1, 2, 2}), slots = t.input(DType::kI32, {1});
    t.b.outputInPlace("cache", t.b.cacheWrite(cache, rows, slots), cache);
    expectAsInterpreted(t.graph, argumentsOf(t.graph, {std::vector<double>(32, 0.5), {1, 2, 3, 4}, {slot}}),
                        0);
  }
}

TEST(Operations, Loop) {
  Bench t;
  ValueId x = t.input(DType::kF32, {2, 3}), scale = t.input(DType::kF32, {}),
          stack = t.input(DType::kF32, {4, 2, 3}), flags = t.input(DType::kF32, {4});
  auto results = t.b.loop(
      4, {x, t.b.constant(DType::kI32, 0)}, {scale}, {stack, flags},
      [](Builder& body, ValueId index, const auto& carried, const auto& invariants, const auto& slices) {
        ValueId step = body.multiply(slices[0], invariants[0]);
        ValueId next = body.add(carried[0], body.multiply(step, slices[1]));
        return std::vector{next, body.add(carried[1], index)};
      });
  t.out("x", results[0]);
  t.out("index sum", results[1]);
  std::vector<double> data(24);
  for (size_t i = 0; i < 24; ++i) data[i] = static_cast<double>(i) / 4;
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {{1, 2, 3, 4, 5, 6}, {0.5}, data, {1, 0, -2, 4}}), 0);
}

TEST(Operations, LoopOfNoIterations) {
  Bench t;
  ValueId x = t.input(DType::kF32, {2});
  auto results =
      t.b.loop(0, {x}, {}, {}, [](Builder& body, ValueId, const auto& carried, const auto&, const auto&) {
        return std::vector{body.negate(carried[0])};
      });
  t.out("x", results[0]);
  expectAsInterpreted(t.graph, argumentsOf(t.graph, {{1, 2}}), 0);
}

}  // namespace
}  // namespace sublane::lower
