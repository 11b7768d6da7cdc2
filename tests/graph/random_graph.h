// Random small graphs that verify, for property tests: most operations, equal nodes, nodes that change
// nothing, dead nodes, loops, and a cache updated in place.
#pragma once

#include <random>

#include "graph/builder.h"
#include "graph/interpreter.h"

namespace sublane::graph {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed), builder_(graph) {
    auto scope = builder_.at({0, "random"});
    for (int i = 0; i < 4; ++i)
      add(builder_.parameter("x." + std::to_string(i), {pick(0.5) ? DType::kF32 : DType::kBF16, shape()},
                             Role::kInput));
    ids_ = builder_.parameter("ids", {DType::kI32, {2}}, Role::kInput);
    ValueId cache = builder_.parameter("cache", {DType::kF32, {3, 2, 1, 2}}, Role::kState);
    int nodes = 4 + number(30);
    for (int i = 0; i < nodes; ++i) {
      auto place = builder_.at({number(3), "part." + std::to_string(number(2))});
      step(builder_, pool_, true);
    }
    for (int i = 0; i < 3; ++i) builder_.output("y." + std::to_string(i), any(pool_));
    ValueId rows = builder_.splat({DType::kF32, {2, 1, 2}}, 2.5);
    builder_.outputInPlace("cache", builder_.cacheWrite(cache, rows, ids_), cache);
  }

  std::vector<Array> arguments() {
    std::vector<Array> out;
    for (const Parameter& parameter : graph.parameters) {
      const Type& type = graph.type(parameter.value);
      std::vector<double> data(static_cast<size_t>(elementCount(type.shape)));
      for (double& value : data)
        value = type.dtype == DType::kI32 ? number(7) - 1 : std::normal_distribution<>()(random_);
      out.push_back(arrayOf(type, data));
    }
    return out;
  }

  Graph graph;

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<uint32_t>(below)); }
  bool pick(double chance) { return number(1000) < chance * 1000; }
  Shape shape() { return {1 + number(3), 1 + number(3)}; }
  void add(ValueId value) { pool_.push_back(value); }
  ValueId any(const std::vector<ValueId>& pool) {
    return pool[static_cast<size_t>(number(static_cast<int>(pool.size())))];
  }
  /// A value of this type: one of the pool, or a constant.
  ValueId like(Builder& b, const std::vector<ValueId>& pool, const Type& type) {
    for (int tries = 0; tries < 6; ++tries)
      if (ValueId value = any(pool); b.type(value) == type) return value;
    return b.splat(type, number(3) - 0.5);
  }

  void step(Builder& b, std::vector<ValueId>& pool, bool loops) {
    ValueId x = any(pool);
    Type type = b.type(x);  // always a float matrix
    int64_t rows = type.shape[0], columns = type.shape[1];
    switch (number(loops ? 16 : 15)) {
      case 0:
        return pool.push_back(b.tanh(x));
      case 1:
        return pool.push_back(b.logistic(x));
      case 2:
        return pool.push_back(b.exp(x));
      case 3:
        return pool.push_back(b.add(x, like(b, pool, type)));
      case 4:
        return pool.push_back(b.multiply(like(b, pool, type), x));
      case 5:
        return pool.push_back(b.reshape(x, pick(0.5) ? type.shape : Shape{columns, rows}));
      case 6:
        return pool.push_back(
            b.transpose(x, pick(0.5) ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{1, 0}));
      case 7:
        return pool.push_back(b.convert(x, pick(0.5) ? DType::kF32 : DType::kBF16));
      case 8:
        return pool.push_back(b.slice(x, {0, 0}, {pick(0.6) ? rows : 1, columns}));
      case 9:
        return pool.push_back(b.concatenate({x}, 0));
      case 10:
        return pool.push_back(b.broadcast(x, type.shape, {0, 1}));
      case 11: {
        ValueId sum = pick(0.5) ? b.reduceSum(x, {1}) : b.reduceMax(x, {1});
        return pool.push_back(b.subtract(x, b.broadcast(sum, type.shape, {0})));
      }
      case 12: {
        DotAttrs dot;
        dot.lhs_contract = {0}, dot.rhs_contract = {0};
        return pool.push_back(b.dot(x, x, dot, type.dtype));
      }
      case 13: {
        ValueId y = like(b, pool, type);
        return pool.push_back(b.select(b.compare(static_cast<Comparison>(number(6)), x, y), x, y));
      }
      case 14:
        return pool.push_back(b.takeRows(x, loops ? ids_ : b.iota({DType::kI32, {2}}, 0)));
      default:
        return loop(b, pool, x);
    }
  }

  void loop(Builder& b, std::vector<ValueId>& pool, ValueId x) {
    Type type = b.type(x);
    ValueId other = any(pool);
    Type stacked = type;
    stacked.shape.insert(stacked.shape.begin(), 2);
    ValueId slices = b.splat(stacked, 0.75);
    auto results = b.loop(2, {x}, {other}, {slices},
                          [&](Builder& body, ValueId, const std::vector<ValueId>& carried,
                              const std::vector<ValueId>& invariants, const std::vector<ValueId>& slice) {
                            std::vector<ValueId> inner = {carried[0], invariants[0], slice[0]};
                            int nodes = 1 + number(8);
                            for (int i = 0; i < nodes; ++i) step(body, inner, false);
                            return std::vector{body.add(like(body, inner, type), carried[0])};
                          });
    pool.push_back(results[0]);
  }

  std::mt19937 random_;
  Builder builder_;
  std::vector<ValueId> pool_;
  ValueId ids_ = -1;
};

}  // namespace sublane::graph
