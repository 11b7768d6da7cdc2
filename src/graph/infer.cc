#include "graph/infer.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace sublane::graph {

bool isFloat(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16; }
bool isInteger(DType dtype) { return !isFloat(dtype) && dtype != DType::kBool; }

namespace {

using Operands = std::span<const Type>;

std::string list(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ",")); }
int64_t rank(const Type& type) { return static_cast<int64_t>(type.shape.size()); }
int64_t extent(const Type& type, int64_t axis) { return type.shape[static_cast<size_t>(axis)]; }

Status needRank(const char* what, const Type& type, int64_t wanted) {
  if (rank(type) == wanted) return Ok{};
  return inputError("{} {} has rank {}, must have rank {}", what, toString(type), rank(type), wanted);
}
Status needType(const char* what, const Type& type, const Type& wanted) {
  if (type == wanted) return Ok{};
  return inputError("{} is {}, must be {}", what, toString(type), toString(wanted));
}
Status needAxis(const Type& type, int64_t axis) {
  if (axis >= 0 && axis < rank(type)) return Ok{};
  return inputError("axis {} is outside the {} axes of {}", axis, rank(type), toString(type));
}
/// Axes in range, none twice.
Status needAxes(const char* what, const Type& type, const std::vector<int64_t>& axes) {
  std::vector<bool> seen(type.shape.size(), false);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank(type))
      return inputError("{} {}: axis {} is outside the {} axes of {}", what, list(axes), axis, rank(type),
                        toString(type));
    if (seen[static_cast<size_t>(axis)])
      return inputError("{} {}: axis {} appears twice", what, list(axes), axis);
    seen[static_cast<size_t>(axis)] = true;
  }
  return Ok{};
}

Result<Type> inferUnary(Op op, const Type& x) {
  bool allowed = isFloat(x.dtype);
  if (op == Op::kNegate)
    allowed = allowed || x.dtype == DType::kI32 || x.dtype == DType::kI64 || x.dtype == DType::kI8;
  if (op == Op::kNot) allowed = !isFloat(x.dtype);
  if (!allowed) return inputError("operand is {}: not defined for {}", toString(x), formats::name(x.dtype));
  if (op == Op::kIsFinite) return Type{DType::kBool, x.shape};
  return x;
}

Result<Type> inferBinary(Op op, Operands x) {
  if (x[0] != x[1])
    return inputError("operands {} and {} must be of one type", toString(x[0]), toString(x[1]));
  DType dtype = x[0].dtype;
  bool allowed = dtype != DType::kBool;
  if (op == Op::kAnd || op == Op::kOr || op == Op::kXor) allowed = !isFloat(dtype);
  if (op == Op::kShiftLeft || op == Op::kShiftRight) allowed = dtype == DType::kU32;
  if (op == Op::kCompare) return Type{DType::kBool, x[0].shape};
  if (!allowed)
    return inputError("operands are {}: not defined for {}", toString(x[0]), formats::name(dtype));
  return x[0];
}

Result<Type> inferSelect(Operands x) {
  SUBLANE_CHECK_OK(needType("predicate", x[0], {DType::kBool, x[1].shape}));
  if (x[1] != x[2])
    return inputError("branches {} and {} must be of one type", toString(x[1]), toString(x[2]));
  return x[1];
}

Result<Type> inferBroadcast(const Type& x, const std::vector<int64_t>& dims, const Type& wanted) {
  Type result{x.dtype, wanted.shape};
  if (static_cast<int64_t>(dims.size()) != rank(x))
    return inputError("dims {} name {} axes, {} has {}", list(dims), dims.size(), toString(x), rank(x));
  SUBLANE_CHECK_OK(needAxes("dims", result, dims));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0 && dims[i] < dims[i - 1]) return inputError("dims {} must rise", list(dims));
    if (x.shape[i] != 1 && x.shape[i] != extent(result, dims[i]))
      return inputError("axis {} of {} has {} elements, axis {} of {} has {}", i, toString(x), x.shape[i],
                        dims[i], toString(result), extent(result, dims[i]));
  }
  return result;
}

Result<Type> inferTranspose(const Type& x, const std::vector<int64_t>& dims) {
  if (static_cast<int64_t>(dims.size()) != rank(x))
    return inputError("dims {} name {} axes, {} has {}", list(dims), dims.size(), toString(x), rank(x));
  SUBLANE_CHECK_OK(needAxes("dims", x, dims));
  Type result{x.dtype, {}};
  for (int64_t axis : dims) result.shape.push_back(extent(x, axis));
  return result;
}

Result<Type> inferSlice(const Type& x, const SliceAttrs& attrs) {
  if (attrs.starts.size() != x.shape.size() || attrs.limits.size() != x.shape.size())
    return inputError("starts {} and limits {} must each name the {} axes of {}", list(attrs.starts),
                      list(attrs.limits), rank(x), toString(x));
  Type result{x.dtype, {}};
  for (size_t i = 0; i < x.shape.size(); ++i) {
    int64_t start = attrs.starts[i], limit = attrs.limits[i];
    if (start < 0 || limit < start || limit > x.shape[i])
      return inputError("axis {}: [{}, {}) is not inside the {} elements of {}", i, start, limit, x.shape[i],
                        toString(x));
    result.shape.push_back(limit - start);
  }
  return result;
}

Result<Type> inferConcatenate(Operands x, int64_t axis) {
  SUBLANE_CHECK_OK(needAxis(x[0], axis));
  Type result = x[0];
  size_t at = static_cast<size_t>(axis);
  for (size_t i = 1; i < x.size(); ++i) {
    Type like = x[i];
    if (like.shape.size() == result.shape.size()) like.shape[at] = x[0].shape[at];
    if (like != x[0])
      return inputError("operands 0 {} and {} {} may differ only along axis {}", toString(x[0]), i,
                        toString(x[i]), axis);
    result.shape[at] += x[i].shape[at];
  }
  return result;
}

Result<Type> inferReduce(Op op, const Type& x, const std::vector<int64_t>& axes) {
  if (x.dtype == DType::kBool) return inputError("operand is {}: not defined for bool", toString(x));
  SUBLANE_CHECK_OK(needAxes("dims", x, axes));
  Type result{op == Op::kArgMax ? DType::kI32 : x.dtype, {}};
  for (int64_t axis = 0; axis < rank(x); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) result.shape.push_back(extent(x, axis));
  return result;
}

/// Pairs of axes must have equal extents.
Status needPairs(const char* what, Operands x, const std::vector<int64_t>& lhs,
                 const std::vector<int64_t>& rhs) {
  if (lhs.size() != rhs.size())
    return inputError("lhs_{0} {1} and rhs_{0} {2} differ in length", what, list(lhs), list(rhs));
  for (size_t i = 0; i < lhs.size(); ++i)
    if (extent(x[0], lhs[i]) != extent(x[1], rhs[i]))
      return inputError("{}: axis {} of {} has {} elements, axis {} of {} has {}", what, lhs[i],
                        toString(x[0]), extent(x[0], lhs[i]), rhs[i], toString(x[1]), extent(x[1], rhs[i]));
  return Ok{};
}

std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Result<Type> inferDot(Operands x, const DotAttrs& attrs, const Type& wanted) {
  DType dtype = x[0].dtype;
  if (dtype == DType::kBool || x[1].dtype != dtype)
    return inputError("operands {} and {} must be of one number type", toString(x[0]), toString(x[1]));
  DType wide = isFloat(dtype) ? DType::kF32 : DType::kI32;
  if (wanted.dtype != dtype && wanted.dtype != wide)
    return inputError("operands {} give {} or {}, not {}", formats::name(dtype), formats::name(dtype),
                      formats::name(wide), formats::name(wanted.dtype));
  std::vector<int64_t> lhs = joined(attrs.lhs_batch, attrs.lhs_contract);
  std::vector<int64_t> rhs = joined(attrs.rhs_batch, attrs.rhs_contract);
  SUBLANE_CHECK_OK(needAxes("lhs_batch and lhs_contract", x[0], lhs));
  SUBLANE_CHECK_OK(needAxes("rhs_batch and rhs_contract", x[1], rhs));
  SUBLANE_CHECK_OK(needPairs("batch", x, attrs.lhs_batch, attrs.rhs_batch));
  SUBLANE_CHECK_OK(needPairs("contract", x, attrs.lhs_contract, attrs.rhs_contract));
  Type result{wanted.dtype, {}};
  for (int64_t axis : attrs.lhs_batch) result.shape.push_back(extent(x[0], axis));
  for (int64_t axis = 0; axis < rank(x[0]); ++axis)
    if (std::find(lhs.begin(), lhs.end(), axis) == lhs.end()) result.shape.push_back(extent(x[0], axis));
  for (int64_t axis = 0; axis < rank(x[1]); ++axis)
    if (std::find(rhs.begin(), rhs.end(), axis) == rhs.end()) result.shape.push_back(extent(x[1], axis));
  return result;
}

Result<Type> inferTakeRows(Operands x) {
  if (rank(x[0]) < 1 || extent(x[0], 0) < 1)
    return inputError("table {} must have at least one row", toString(x[0]));
  if (x[1].dtype != DType::kI32) return inputError("ids are {}, must be i32", toString(x[1]));
  Type result{x[0].dtype, x[1].shape};
  result.shape.insert(result.shape.end(), x[0].shape.begin() + 1, x[0].shape.end());
  return result;
}

Result<Type> inferCacheWrite(Operands x) {
  SUBLANE_CHECK_OK(needRank("cache", x[0], 4));
  SUBLANE_CHECK_OK(needRank("slots", x[2], 1));
  SUBLANE_CHECK_OK(needType("rows", x[1], {x[0].dtype, {extent(x[2], 0), extent(x[0], 2), extent(x[0], 3)}}));
  SUBLANE_CHECK_OK(needType("slots", x[2], {DType::kI32, x[2].shape}));
  return x[0];
}

Result<Type> inferPagedAttention(Operands x) {
  SUBLANE_CHECK_OK(needRank("q", x[0], 3));
  SUBLANE_CHECK_OK(needRank("k_cache", x[1], 4));
  SUBLANE_CHECK_OK(needType("v_cache", x[2], x[1]));
  SUBLANE_CHECK_OK(needRank("page_table", x[3], 2));
  SUBLANE_CHECK_OK(needRank("query_token", x[8], 2));
  if (!isFloat(x[0].dtype) || !isFloat(x[1].dtype))
    return inputError("q {} and k_cache {} must be floats", toString(x[0]), toString(x[1]));
  if (extent(x[0], 2) != extent(x[1], 3))
    return inputError("q {} and k_cache {} differ in dim", toString(x[0]), toString(x[1]));
  if (extent(x[1], 2) < 1 || extent(x[0], 1) % extent(x[1], 2) != 0)
    return inputError("{} heads of q are not a multiple of {} kv heads", extent(x[0], 1), extent(x[1], 2));
  if (extent(x[1], 0) < 1 || extent(x[1], 1) < 1)
    return inputError("k_cache {} must have at least one slot", toString(x[1]));
  int64_t tokens = extent(x[0], 0), rows = extent(x[3], 0);
  auto i32 = [](Shape shape) { return Type{DType::kI32, std::move(shape)}; };
  SUBLANE_CHECK_OK(needType("page_table", x[3], i32(x[3].shape)));
  SUBLANE_CHECK_OK(needType("lengths", x[4], i32({rows})));
  SUBLANE_CHECK_OK(needType("positions", x[5], i32({tokens})));
  SUBLANE_CHECK_OK(needType("token_sequence", x[6], i32({tokens})));
  SUBLANE_CHECK_OK(needType("token_column", x[7], i32({tokens})));
  SUBLANE_CHECK_OK(needType("query_token", x[8], i32({rows, extent(x[8], 1)})));
  SUBLANE_CHECK_OK(needType("window", x[9], i32({})));
  if (x.size() > 10) SUBLANE_CHECK_OK(needType("sinks", x[10], {DType::kF32, {extent(x[0], 1)}}));
  return x[0];
}

Result<Type> inferSource(Op op, const Attrs& attrs, const Type& wanted) {
  if (op == Op::kConstant) return Type{wanted.dtype, {}};
  if (wanted.dtype != DType::kI32 && wanted.dtype != DType::kU32)
    return inputError("result is {}, must be i32 or u32", toString(wanted));
  SUBLANE_CHECK_OK(needAxis(wanted, std::get<AxisAttrs>(attrs).axis));
  return wanted;
}

Result<Type> inferReshape(const Type& x, const Type& wanted) {
  if (elementCount(x.shape) == elementCount(wanted.shape)) return Type{x.dtype, wanted.shape};
  return inputError("{} has {} elements, {} has {}", toString(x), elementCount(x.shape),
                    toString({x.dtype, wanted.shape}), elementCount(wanted.shape));
}

Result<Type> inferBitcast(const Type& x, const Type& wanted) {
  if (formats::bytesPerElement(x.dtype) == formats::bytesPerElement(wanted.dtype) &&
      x.dtype != DType::kBool && wanted.dtype != DType::kBool)
    return Type{wanted.dtype, x.shape};
  return inputError("{} and {} differ in width", formats::name(x.dtype), formats::name(wanted.dtype));
}

/// How many operands; -1: one or more.
int operandCount(Op op) {
  switch (op) {
    case Op::kConstant:
    case Op::kIota:
      return 0;
    case Op::kConcatenate:
      return -1;
    case Op::kSelect:
    case Op::kCacheWrite:
      return 3;
    case Op::kDot:
    case Op::kTakeRows:
    case Op::kCompare:
      return 2;
    case Op::kPagedAttention:
      return 10;
    default:
      return op >= Op::kAdd && op <= Op::kShiftRight ? 2 : 1;
  }
}

const char* attrsName(size_t kind) {
  static constexpr const char* kNames[] = {"no",    "scalar", "axis",      "dims", "compare",
                                           "slice", "dot",    "attention", "loop"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

}  // namespace

size_t attrsKind(Op op) {
  switch (op) {
    case Op::kConstant:
      return 1;
    case Op::kIota:
    case Op::kConcatenate:
    case Op::kArgMax:
      return 2;
    case Op::kBroadcast:
    case Op::kTranspose:
    case Op::kReduceSum:
    case Op::kReduceMax:
      return 3;
    case Op::kCompare:
      return 4;
    case Op::kSlice:
      return 5;
    case Op::kDot:
      return 6;
    case Op::kPagedAttention:
      return 7;
    default:
      return 0;
  }
}

Result<Type> inferType(Op op, Operands x, const Attrs& attrs, const Type& wanted) {
  if (op == Op::kLoop) return inputError("a loop has no single result type");
  int count = operandCount(op);
  const bool with_sinks = op == Op::kPagedAttention && x.size() == static_cast<size_t>(count) + 1;
  if (count < 0 ? x.empty() : x.size() != static_cast<size_t>(count) && !with_sinks)
    return inputError("has {} operands, must have {}", x.size(),
                      count < 0 ? std::string("1 or more") : fmt::to_string(count));
  if (attrs.index() != attrsKind(op))
    return inputError("has {} attributes, must have {}", attrsName(attrs.index()), attrsName(attrsKind(op)));
  switch (op) {
    case Op::kConstant:
    case Op::kIota:
      return inferSource(op, attrs, wanted);
    case Op::kConvert:
      return Type{wanted.dtype, x[0].shape};
    case Op::kBitcast:
      return inferBitcast(x[0], wanted);
    case Op::kSelect:
      return inferSelect(x);
    case Op::kBroadcast:
      return inferBroadcast(x[0], std::get<DimsAttrs>(attrs).dims, wanted);
    case Op::kReshape:
      return inferReshape(x[0], wanted);
    case Op::kTranspose:
      return inferTranspose(x[0], std::get<DimsAttrs>(attrs).dims);
    case Op::kSlice:
      return inferSlice(x[0], std::get<SliceAttrs>(attrs));
    case Op::kConcatenate:
      return inferConcatenate(x, std::get<AxisAttrs>(attrs).axis);
    case Op::kReduceSum:
    case Op::kReduceMax:
      return inferReduce(op, x[0], std::get<DimsAttrs>(attrs).dims);
    case Op::kArgMax:
      return inferReduce(op, x[0], {std::get<AxisAttrs>(attrs).axis});
    case Op::kDot:
      return inferDot(x, std::get<DotAttrs>(attrs), wanted);
    case Op::kTakeRows:
      return inferTakeRows(x);
    case Op::kCacheWrite:
      return inferCacheWrite(x);
    case Op::kPagedAttention:
      return inferPagedAttention(x);
    default:
      return operandCount(op) == 2 ? inferBinary(op, x) : inferUnary(op, x[0]);
  }
}

}  // namespace sublane::graph
