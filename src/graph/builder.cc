#include "graph/builder.h"

#include "base/check.h"
#include "graph/infer.h"

namespace sublane::graph {

namespace {
std::string where(Op op, const Place& place) {
  std::string at = toString(place);
  return fmt::format("{} @ {}", name(op), at.empty() ? "(no place)" : at);
}
}  // namespace

ValueId Builder::append(Op op, std::vector<ValueId> operands, const Type& wanted, Attrs attrs) {
  std::vector<Type> types;
  for (ValueId operand : operands) {
    SUBLANE_CHECK(operand >= 0 && static_cast<size_t>(operand) < graph_.types.size(),
                  "{}: value {} is not in this graph", where(op, place_), operand);
    types.push_back(type(operand));
  }
  Result<Type> result = inferType(op, types, attrs, wanted);
  SUBLANE_CHECK(result.ok(), "{}: {}", where(op, place_), result.error().message());
  ValueId value = graph_.addValue(std::move(*result));
  graph_.nodes.push_back({op, std::move(operands), {value}, std::move(attrs), place_, nullptr});
  return value;
}

ValueId Builder::parameter(std::string name, Type type, Role role) {
  ValueId value = graph_.addValue(std::move(type));
  graph_.parameters.push_back({std::move(name), role, value});
  return value;
}

void Builder::output(std::string name, ValueId value) {
  graph_.outputs.push_back({std::move(name), value, -1});
}

void Builder::outputInPlace(std::string name, ValueId value, ValueId state_parameter) {
  int32_t found = -1;
  for (size_t i = 0; i < graph_.parameters.size(); ++i)
    if (graph_.parameters[i].value == state_parameter) found = static_cast<int32_t>(i);
  SUBLANE_CHECK(found >= 0 && graph_.parameters[static_cast<size_t>(found)].role == Role::kState,
                "output {}: value {} is not a state parameter", name, state_parameter);
  SUBLANE_CHECK(type(value) == type(state_parameter), "output {}: {} can't replace the state's {}", name,
                toString(type(value)), toString(type(state_parameter)));
  graph_.outputs.push_back({std::move(name), value, found});
}

ValueId Builder::constant(DType dtype, double value) {
  return append(Op::kConstant, {}, {dtype, {}}, ScalarAttrs{value});
}
ValueId Builder::splat(Type type, double value) {
  ValueId scalar = constant(type.dtype, value);
  return type.shape.empty() ? scalar : broadcast(scalar, std::move(type.shape), {});
}
ValueId Builder::iota(const Type& type, int64_t axis) { return append(Op::kIota, {}, type, AxisAttrs{axis}); }

ValueId Builder::unary(Op op, ValueId x) { return append(op, {x}, {}); }
ValueId Builder::negate(ValueId x) { return unary(Op::kNegate, x); }
ValueId Builder::exp(ValueId x) { return unary(Op::kExp, x); }
ValueId Builder::log(ValueId x) { return unary(Op::kLog, x); }
ValueId Builder::tanh(ValueId x) { return unary(Op::kTanh, x); }
ValueId Builder::rsqrt(ValueId x) { return unary(Op::kRsqrt, x); }
ValueId Builder::sqrt(ValueId x) { return unary(Op::kSqrt, x); }
ValueId Builder::logistic(ValueId x) { return unary(Op::kLogistic, x); }
ValueId Builder::logicalNot(ValueId x) { return unary(Op::kNot, x); }
ValueId Builder::isFinite(ValueId x) { return unary(Op::kIsFinite, x); }
ValueId Builder::convert(ValueId x, DType to) {
  return type(x).dtype == to ? x : append(Op::kConvert, {x}, {to, {}});
}
ValueId Builder::bitcast(ValueId x, DType to) { return append(Op::kBitcast, {x}, {to, {}}); }

void Builder::matchRanks(ValueId& a, ValueId& b) {
  if (type(a).shape.empty() && !type(b).shape.empty()) a = broadcast(a, type(b).shape, {});
  if (type(b).shape.empty() && !type(a).shape.empty()) b = broadcast(b, type(a).shape, {});
}
ValueId Builder::binary(Op op, ValueId a, ValueId b) {
  matchRanks(a, b);
  return append(op, {a, b}, {});
}
ValueId Builder::add(ValueId a, ValueId b) { return binary(Op::kAdd, a, b); }
ValueId Builder::subtract(ValueId a, ValueId b) { return binary(Op::kSubtract, a, b); }
ValueId Builder::multiply(ValueId a, ValueId b) { return binary(Op::kMultiply, a, b); }
ValueId Builder::divide(ValueId a, ValueId b) { return binary(Op::kDivide, a, b); }
ValueId Builder::maximum(ValueId a, ValueId b) { return binary(Op::kMaximum, a, b); }
ValueId Builder::minimum(ValueId a, ValueId b) { return binary(Op::kMinimum, a, b); }
ValueId Builder::remainder(ValueId a, ValueId b) { return binary(Op::kRemainder, a, b); }
ValueId Builder::bitAnd(ValueId a, ValueId b) { return binary(Op::kAnd, a, b); }
ValueId Builder::bitOr(ValueId a, ValueId b) { return binary(Op::kOr, a, b); }
ValueId Builder::bitXor(ValueId a, ValueId b) { return binary(Op::kXor, a, b); }
ValueId Builder::shiftLeft(ValueId a, ValueId b) { return binary(Op::kShiftLeft, a, b); }
ValueId Builder::shiftRight(ValueId a, ValueId b) { return binary(Op::kShiftRight, a, b); }
ValueId Builder::compare(Comparison direction, ValueId a, ValueId b) {
  matchRanks(a, b);
  return append(Op::kCompare, {a, b}, {}, CompareAttrs{direction});
}
ValueId Builder::select(ValueId predicate, ValueId on_true, ValueId on_false) {
  matchRanks(on_true, on_false);
  matchRanks(predicate, on_true);
  matchRanks(predicate, on_false);
  return append(Op::kSelect, {predicate, on_true, on_false}, {});
}

ValueId Builder::broadcast(ValueId x, Shape shape, std::vector<int64_t> dims) {
  return append(Op::kBroadcast, {x}, {DType::kF32, std::move(shape)}, DimsAttrs{std::move(dims)});
}
ValueId Builder::reshape(ValueId x, Shape shape) {
  return append(Op::kReshape, {x}, {DType::kF32, std::move(shape)});
}
ValueId Builder::transpose(ValueId x, std::vector<int64_t> permutation) {
  return append(Op::kTranspose, {x}, {}, DimsAttrs{std::move(permutation)});
}
ValueId Builder::slice(ValueId x, std::vector<int64_t> starts, std::vector<int64_t> limits) {
  return append(Op::kSlice, {x}, {}, SliceAttrs{std::move(starts), std::move(limits)});
}
ValueId Builder::concatenate(const std::vector<ValueId>& parts, int64_t axis) {
  return append(Op::kConcatenate, parts, {}, AxisAttrs{axis});
}

ValueId Builder::reduceSum(ValueId x, std::vector<int64_t> axes) {
  return append(Op::kReduceSum, {x}, {}, DimsAttrs{std::move(axes)});
}
ValueId Builder::reduceMax(ValueId x, std::vector<int64_t> axes) {
  return append(Op::kReduceMax, {x}, {}, DimsAttrs{std::move(axes)});
}
ValueId Builder::argMax(ValueId x, int64_t axis) { return append(Op::kArgMax, {x}, {}, AxisAttrs{axis}); }
ValueId Builder::dot(ValueId lhs, ValueId rhs, DotAttrs attrs, DType result) {
  return append(Op::kDot, {lhs, rhs}, {result, {}}, std::move(attrs));
}
ValueId Builder::linear(ValueId x, ValueId weight, DType result) {
  SUBLANE_CHECK(!type(x).shape.empty(), "linear @ {}: x {} has no axis to contract", toString(place_),
                toString(type(x)));
  DotAttrs attrs;
  attrs.lhs_contract = {static_cast<int64_t>(type(x).shape.size()) - 1};
  attrs.rhs_contract = {1};
  attrs.highest_precision = type(x).dtype == DType::kF32;
  return dot(x, weight, std::move(attrs), result);
}

ValueId Builder::takeRows(ValueId table, ValueId ids) { return append(Op::kTakeRows, {table, ids}, {}); }
ValueId Builder::cacheWrite(ValueId cache, ValueId rows, ValueId slots) {
  return append(Op::kCacheWrite, {cache, rows, slots}, {});
}
ValueId Builder::pagedAttention(const std::vector<ValueId>& operands, AttentionAttrs attrs) {
  return append(Op::kPagedAttention, operands, {}, attrs);
}

std::vector<ValueId> Builder::loop(int64_t count, const std::vector<ValueId>& carried,
                                   const std::vector<ValueId>& invariants,
                                   const std::vector<ValueId>& stacked, const LoopBody& body) {
  auto graph = std::make_shared<Graph>();
  graph->name = "body";
  Builder inner(*graph);
  inner.place_ = place_;
  auto declare = [&](const char* what, const std::vector<ValueId>& values, bool sliced) {
    std::vector<ValueId> parameters;
    for (ValueId value : values) {
      Type inside = type(value);
      if (sliced) {
        SUBLANE_CHECK(!inside.shape.empty() && inside.shape[0] == count,
                      "loop @ {}: stacked operand {} must have {} slices", toString(place_), toString(inside),
                      count);
        inside.shape.erase(inside.shape.begin());
      }
      parameters.push_back(
          inner.parameter(fmt::format("{}.{}", what, parameters.size()), std::move(inside), Role::kInput));
    }
    return parameters;
  };
  ValueId index = inner.parameter("index", {DType::kI32, {}}, Role::kInput);
  std::vector<ValueId> inner_carried = declare("carried", carried, false);
  std::vector<ValueId> inner_invariants = declare("invariant", invariants, false);
  std::vector<ValueId> slices = declare("slice", stacked, true);
  std::vector<ValueId> next = body(inner, index, inner_carried, inner_invariants, slices);
  SUBLANE_CHECK(next.size() == carried.size(), "loop @ {}: the body gives {} values, {} are carried",
                toString(place_), next.size(), carried.size());
  std::vector<ValueId> results;
  for (size_t i = 0; i < next.size(); ++i) {
    SUBLANE_CHECK(inner.type(next[i]) == type(carried[i]),
                  "loop @ {}: carried value {} enters as {} and leaves as {}", toString(place_), i,
                  toString(type(carried[i])), toString(inner.type(next[i])));
    inner.output(fmt::format("carried.{}", i), next[i]);
    results.push_back(graph_.addValue(type(carried[i])));
  }
  LoopAttrs attrs{count, static_cast<int64_t>(carried.size()), static_cast<int64_t>(invariants.size()),
                  static_cast<int64_t>(stacked.size())};
  std::vector<ValueId> operands = carried;
  operands.insert(operands.end(), invariants.begin(), invariants.end());
  operands.insert(operands.end(), stacked.begin(), stacked.end());
  graph_.nodes.push_back({Op::kLoop, std::move(operands), results, attrs, place_, std::move(graph)});
  return results;
}

}  // namespace sublane::graph
