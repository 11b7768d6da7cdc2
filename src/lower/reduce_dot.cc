// Reductions and dots.
#include <algorithm>
#include <limits>

#include "lower/emitter.h"

namespace sublane::lower {
namespace {

bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

double lowest(DType dtype) {
  switch (dtype) {
    case DType::kI32:
      return std::numeric_limits<int32_t>::min();
    case DType::kI8:
      return std::numeric_limits<int8_t>::min();
    case DType::kI64:
      return static_cast<double>(std::numeric_limits<int64_t>::min());
    case DType::kU32:
    case DType::kU8:
    case DType::kBool:
      return 0;
    default:
      return -std::numeric_limits<double>::infinity();
  }
}

double neutral(std::string_view op, DType dtype) {
  if (op == "maximum") return lowest(dtype);
  if (op == "minimum") return std::numeric_limits<int32_t>::max();  // used on i32 indices only
  return 0;
}

Shape without(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape kept;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!contains(axes, static_cast<int64_t>(i))) kept.push_back(shape[i]);
  }
  return kept;
}

// Axes of `shape` that are neither batch nor contracted, in order.
void appendFree(Shape& out, const Shape& shape, const std::vector<int64_t>& batch,
                const std::vector<int64_t>& contract) {
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t axis = static_cast<int64_t>(i);
    if (!contains(batch, axis) && !contains(contract, axis)) out.push_back(shape[i]);
  }
}

}  // namespace

Value Emitter::reduce(std::string_view op, const Value& x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x;
  Value init = scalar(x.type.dtype, neutral(op, x.type.dtype));
  Type result{x.type.dtype, without(x.type.shape, axes)};
  return line(result,
              "stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = [{}] : ({}, {}) -> {}",
              x, init, op, listText(axes), tensorText(x.type), tensorText(init.type), tensorText(result));
}

// The largest first, then the lowest index that holds it: two plain reductions, which every backend
// vectorises, where a reduction of (value, index) pairs is scalar code on the CPU. NaN equals nothing, so it
// is never chosen; a row with nothing but NaN finds no index and gets -1.
Value Emitter::argMax(const Value& x, int64_t axis) {
  const Shape& shape = x.type.shape;
  Value ordered = x;
  if (isFloat(x.type.dtype)) {
    Value is_number = compare(graph::Comparison::kEqual, x, x);
    ordered = select(is_number, x, splat(x.type, lowest(x.type.dtype)));
  }
  Value largest = reduce("maximum", ordered, {axis});
  std::vector<int64_t> kept;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int64_t>(i) != axis) kept.push_back(static_cast<int64_t>(i));
  }
  Value is_largest = compare(graph::Comparison::kEqual, x, broadcast(largest, shape, kept));
  Value candidate = iota(Type{DType::kI32, shape}, axis);
  double none = static_cast<double>(shape[static_cast<size_t>(axis)]);
  Value index = reduce("minimum", select(is_largest, candidate, splat(candidate.type, none)), {axis});
  Value found = compare(graph::Comparison::kLess, index, none);
  return select(found, index, splat(index.type, -1));
}

Value Emitter::dot(const Value& lhs, const Value& rhs, const graph::DotAttrs& attrs, DType result_dtype) {
  Type result{result_dtype, {}};
  for (int64_t axis : attrs.lhs_batch) result.shape.push_back(lhs.type.shape[static_cast<size_t>(axis)]);
  appendFree(result.shape, lhs.type.shape, attrs.lhs_batch, attrs.lhs_contract);
  appendFree(result.shape, rhs.type.shape, attrs.rhs_batch, attrs.rhs_contract);
  std::string batch;
  if (!attrs.lhs_batch.empty()) {
    batch =
        fmt::format("batching_dims = [{}] x [{}], ", listText(attrs.lhs_batch), listText(attrs.rhs_batch));
  }
  std::string_view precision = attrs.highest_precision ? "HIGHEST" : "DEFAULT";
  return line(
      result,
      "stablehlo.dot_general {}, {}, {}contracting_dims = [{}] x [{}], precision = [{}, {}] : ({}, {}) -> {}",
      lhs, rhs, batch, listText(attrs.lhs_contract), listText(attrs.rhs_contract), precision, precision,
      tensorText(lhs.type), tensorText(rhs.type), tensorText(result));
}

}  // namespace sublane::lower
