#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/infer.h"
#include "graph/interpreter_ops.h"

namespace sublane::graph {

namespace {

double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : a < b ? a : b; }

double floatUnary(Op op, double x) {
  switch (op) {
    case Op::kNegate:
      return -x;
    case Op::kExp:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kTanh:
      return std::tanh(x);
    case Op::kRsqrt:
      return 1.0 / std::sqrt(x);
    case Op::kSqrt:
      return std::sqrt(x);
    default:
      return 1.0 / (1.0 + std::exp(-x));  // kLogistic
  }
}

double floatBinary(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSubtract:
      return a - b;
    case Op::kMultiply:
      return a * b;
    case Op::kDivide:
      return a / b;
    case Op::kMaximum:
      return maximum(a, b);
    case Op::kMinimum:
      return minimum(a, b);
    default:
      return std::fmod(a, b);  // kRemainder: the dividend's sign
  }
}

/// In 64 bits, wrapping; packing then wraps to the dtype. u32 values are never negative here.
int64_t integerBinary(Op op, int64_t a, int64_t b) {
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case Op::kAdd:
      return static_cast<int64_t>(x + y);
    case Op::kSubtract:
      return static_cast<int64_t>(x - y);
    case Op::kMultiply:
      return static_cast<int64_t>(x * y);
    case Op::kDivide:
      return b == 0 ? -1 : b == -1 ? static_cast<int64_t>(0 - x) : a / b;
    case Op::kRemainder:
      return b == 0 ? a : b == -1 ? 0 : a % b;
    case Op::kMaximum:
      return std::max(a, b);
    case Op::kMinimum:
      return std::min(a, b);
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    case Op::kShiftLeft:
      return y >= 32 ? 0 : static_cast<int64_t>(x << y);
    default:
      return y >= 32 ? 0 : static_cast<int64_t>(x >> y);  // kShiftRight, on u32
  }
}

template <class T>
bool holds(Comparison direction, T a, T b) {
  switch (direction) {
    case Comparison::kEqual:
      return a == b;
    case Comparison::kNotEqual:
      return a != b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

Array runUnary(const Call& call) {
  const Array& x = *call.in[0];
  if (call.node.op == Op::kIsFinite) {
    std::vector<int64_t> out;
    for (double value : unpackFloats(x)) out.push_back(std::isfinite(value));
    return packIntegers(call.result, out);
  }
  if (isFloat(x.type.dtype)) {
    std::vector<double> data = unpackFloats(x);
    for (double& value : data) value = floatUnary(call.node.op, value);
    return packFloats(call.result, data);
  }
  std::vector<int64_t> data = unpackIntegers(x);
  for (int64_t& value : data) {
    if (call.node.op == Op::kNegate)
      value = static_cast<int64_t>(0 - static_cast<uint64_t>(value));
    else
      value = x.type.dtype == DType::kBool ? value == 0 : ~value;
  }
  return packIntegers(call.result, data);
}

Array runBinary(const Call& call) {
  if (isFloat(call.result.dtype)) {
    std::vector<double> a = unpackFloats(*call.in[0]), b = unpackFloats(*call.in[1]);
    for (size_t i = 0; i < a.size(); ++i) a[i] = floatBinary(call.node.op, a[i], b[i]);
    return packFloats(call.result, a);
  }
  std::vector<int64_t> a = unpackIntegers(*call.in[0]), b = unpackIntegers(*call.in[1]);
  for (size_t i = 0; i < a.size(); ++i) a[i] = integerBinary(call.node.op, a[i], b[i]);
  return packIntegers(call.result, a);
}

Array runCompare(const Call& call) {
  Comparison direction = call.attrs<CompareAttrs>().direction;
  std::vector<int64_t> out;
  if (isFloat(call.in[0]->type.dtype)) {
    std::vector<double> a = unpackFloats(*call.in[0]), b = unpackFloats(*call.in[1]);
    for (size_t i = 0; i < a.size(); ++i) out.push_back(holds(direction, a[i], b[i]));
  } else {
    std::vector<int64_t> a = unpackIntegers(*call.in[0]), b = unpackIntegers(*call.in[1]);
    for (size_t i = 0; i < a.size(); ++i) out.push_back(holds(direction, a[i], b[i]));
  }
  return packIntegers(call.result, out);
}

Array runSelect(const Call& call) {
  Array out = *call.in[2];
  size_t width = static_cast<size_t>(formats::bytesPerElement(out.type.dtype));
  std::vector<int64_t> predicate = unpackIntegers(*call.in[0]);
  for (size_t i = 0; i < predicate.size(); ++i)
    if (predicate[i] != 0)
      std::memcpy(out.data.data() + i * width, call.in[1]->data.data() + i * width, width);
  return out;
}

struct Range {
  double low, high;  // both exact in double; `high` may be one above the largest
  int64_t lowest, highest;
};
Range range(DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return {-128, 127, -128, 127};
    case DType::kU8:
      return {0, 255, 0, 255};
    case DType::kI32:
      return {-2147483648.0, 2147483647.0, INT32_MIN, INT32_MAX};
    case DType::kU32:
      return {0, 4294967295.0, 0, UINT32_MAX};
    default:
      return {-9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX};
  }
}

/// Truncates towards 0; what doesn't fit saturates, NaN gives 0.
int64_t truncated(double value, DType to) {
  if (std::isnan(value)) return 0;
  if (to == DType::kBool) return value != 0;
  Range limits = range(to);
  if (value <= limits.low) return limits.lowest;
  if (value >= limits.high) return limits.highest;
  return static_cast<int64_t>(value);
}

Array runConvert(const Call& call) {
  DType from = call.in[0]->type.dtype, to = call.result.dtype;
  if (isFloat(from) && isFloat(to)) return packFloats(call.result, unpackFloats(*call.in[0]));
  if (isFloat(from)) {
    std::vector<int64_t> out;
    for (double value : unpackFloats(*call.in[0]))
      out.push_back(to == DType::kBool ? value != 0 : truncated(value, to));
    return packIntegers(call.result, out);
  }
  std::vector<int64_t> data = unpackIntegers(*call.in[0]);
  if (!isFloat(to)) return packIntegers(call.result, data);
  std::vector<double> out(data.size());
  for (size_t i = 0; i < data.size(); ++i)
    out[i] = static_cast<float>(data[i]);  // one rounding, also from i64
  return packFloats(call.result, out);
}

}  // namespace

Array runElementwise(const Call& call) {
  switch (call.node.op) {
    case Op::kConstant:
      return arrayOf(call.result, std::span(&call.attrs<ScalarAttrs>().value, 1));
    case Op::kConvert:
      return runConvert(call);
    case Op::kBitcast:
      return {call.result, call.in[0]->data};
    case Op::kCompare:
      return runCompare(call);
    case Op::kSelect:
      return runSelect(call);
    default:
      return call.in.size() == 2 ? runBinary(call) : runUnary(call);
  }
}

}  // namespace sublane::graph
