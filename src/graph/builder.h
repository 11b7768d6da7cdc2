// Builder: appends typed nodes to a Graph, inferring result types. It reads like the mathematics.
//
// A wrong shape is a bug in the model's code, not bad input: the builder CHECKs and names the place.
// Set the place once for a stretch of nodes with `at`.
//
//   Builder b(graph);
//   auto scope = b.at({3, "mlp.up"});
//   ValueId h = b.multiply(b.silu(b.matmul(x, gate)), b.matmul(x, up));
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sublane::graph {

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}
  Graph& graph() { return graph_; }
  const Type& type(ValueId v) const { return graph_.type(v); }

  /// Restores the former place when it goes out of scope.
  class PlaceScope {
   public:
    PlaceScope(Builder& b, Place place) : b_(b), saved_(b.place_) { b.place_ = std::move(place); }
    ~PlaceScope() { b_.place_ = std::move(saved_); }
    PlaceScope(const PlaceScope&) = delete;
    PlaceScope& operator=(const PlaceScope&) = delete;

   private:
    Builder& b_;
    Place saved_;
  };
  [[nodiscard]] PlaceScope at(Place place) { return PlaceScope(*this, std::move(place)); }
  const Place& place() const { return place_; }

  ValueId parameter(std::string name, Type type, Role role);
  void output(std::string name, ValueId value);
  /// An output that reuses the buffer of a kState parameter of the same type.
  void outputInPlace(std::string name, ValueId value, ValueId state_parameter);

  ValueId constant(DType dtype, double value);  // rank 0
  ValueId splat(Type type, double value);       // constant, broadcast
  ValueId iota(const Type& type, int64_t axis);

  // clang-format off: kinds of operations stand side by side
  ValueId negate(ValueId x);   ValueId exp(ValueId x);      ValueId log(ValueId x);   ValueId tanh(ValueId x);
  ValueId rsqrt(ValueId x);    ValueId sqrt(ValueId x);     ValueId logistic(ValueId x);
  ValueId logicalNot(ValueId x); ValueId isFinite(ValueId x);
  ValueId convert(ValueId x, DType to);                              // no node if already `to`
  ValueId bitcast(ValueId x, DType to);

  // Binary operations broadcast a rank-0 operand to the other's shape; otherwise types must be equal.
  ValueId add(ValueId a, ValueId b);       ValueId subtract(ValueId a, ValueId b);
  ValueId multiply(ValueId a, ValueId b);  ValueId divide(ValueId a, ValueId b);
  ValueId maximum(ValueId a, ValueId b);   ValueId minimum(ValueId a, ValueId b);
  ValueId remainder(ValueId a, ValueId b);
  ValueId bitAnd(ValueId a, ValueId b);    ValueId bitOr(ValueId a, ValueId b);  ValueId bitXor(ValueId a, ValueId b);
  ValueId shiftLeft(ValueId a, ValueId b); ValueId shiftRight(ValueId a, ValueId b);
  ValueId compare(Comparison direction, ValueId a, ValueId b);
  ValueId select(ValueId predicate, ValueId on_true, ValueId on_false);
  // clang-format on

  ValueId broadcast(ValueId x, Shape shape, std::vector<int64_t> dims);
  ValueId reshape(ValueId x, Shape shape);
  ValueId transpose(ValueId x, std::vector<int64_t> permutation);
  ValueId slice(ValueId x, std::vector<int64_t> starts, std::vector<int64_t> limits);
  ValueId concatenate(const std::vector<ValueId>& parts, int64_t axis);

  ValueId reduceSum(ValueId x, std::vector<int64_t> axes);
  ValueId reduceMax(ValueId x, std::vector<int64_t> axes);
  ValueId argMax(ValueId x, int64_t axis);
  ValueId dot(ValueId lhs, ValueId rhs, DotAttrs attrs, DType result);
  /// x [.., K] times weight [N, K] (a checkpoint's own order, rows are outputs) -> [.., N]. In float32 it
  /// asks for the highest precision.
  ValueId linear(ValueId x, ValueId weight, DType result);

  ValueId takeRows(ValueId table, ValueId ids);
  ValueId cacheWrite(ValueId cache, ValueId rows, ValueId slots);
  ValueId pagedAttention(const std::vector<ValueId>& operands, AttentionAttrs attrs);

  /// Loop of `count` iterations; `body` gets a Builder of the body graph, the index, the carried values, the
  /// invariants and the slices, and returns the next carried values.
  using LoopBody = std::function<std::vector<ValueId>(
      Builder& body, ValueId index, const std::vector<ValueId>& carried,
      const std::vector<ValueId>& invariants, const std::vector<ValueId>& slices)>;
  std::vector<ValueId> loop(int64_t count, const std::vector<ValueId>& carried,
                            const std::vector<ValueId>& invariants, const std::vector<ValueId>& stacked,
                            const LoopBody& body);

 private:
  friend class PlaceScope;
  ValueId append(Op op, std::vector<ValueId> operands, const Type& wanted, Attrs attrs = {});
  ValueId binary(Op op, ValueId a, ValueId b);
  ValueId unary(Op op, ValueId x);
  void matchRanks(ValueId& a, ValueId& b);  // broadcasts the one of rank 0
  Graph& graph_;
  Place place_;
};

}  // namespace sublane::graph
