#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/infer.h"
#include "graph/interpreter_ops.h"

namespace sublane::graph {

namespace {

/// The axes of `shape` that `axes` leaves out, in order.
std::vector<int64_t> otherAxes(const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<int64_t> others;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  return others;
}
std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
int64_t product(const Shape& shape, const std::vector<int64_t>& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

double reduceFloats(Op op, std::span<const double> row) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (double value : row) {
    sum += value;
    most = std::isnan(most) || std::isnan(value) ? NAN : std::max(most, value);
  }
  return op == Op::kReduceSum ? sum : most;
}

int64_t lowest(DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return INT8_MIN;
    case DType::kI32:
      return INT32_MIN;
    case DType::kI64:
      return INT64_MIN;
    default:
      return 0;
  }
}
int64_t reduceIntegers(Op op, std::span<const int64_t> row, DType dtype) {
  uint64_t sum = 0;
  int64_t most = lowest(dtype);
  for (int64_t value : row) {
    sum += static_cast<uint64_t>(value);
    most = std::max(most, value);
  }
  return op == Op::kReduceSum ? static_cast<int64_t>(sum) : most;
}

/// Index of the largest, the lowest on ties; NaN is below all, and -1 stands for nothing but NaN.
template <class T>
int64_t argMax(std::span<const T> row) {
  auto isNan = [](T value) { return value != value; };
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    if (row[i] > row[best] || (isNan(row[best]) && !isNan(row[i]))) best = i;
  }
  return isNan(row[best]) ? -1 : static_cast<int64_t>(best);
}

template <class T>
std::span<const T> rowOf(const std::vector<T>& data, size_t row, size_t length) {
  return std::span(data).subspan(row * length, length);
}

/// Four sums side by side: quicker, and the same bits for the same operands.
double innerProduct(const double* a, const double* b, int64_t length) {
  double sums[4] = {0, 0, 0, 0};
  int64_t k = 0;
  for (; k + 4 <= length; k += 4)
    for (int64_t j = 0; j < 4; ++j) sums[j] += a[k + j] * b[k + j];
  for (; k < length; ++k) sums[0] += a[k] * b[k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
int64_t innerProduct(const int64_t* a, const int64_t* b, int64_t length) {
  uint64_t sum = 0;
  for (int64_t k = 0; k < length; ++k) sum += static_cast<uint64_t>(a[k]) * static_cast<uint64_t>(b[k]);
  return static_cast<int64_t>(sum);
}

struct DotSizes {
  int64_t batch, rows, columns, contract;
};
/// lhs [batch, rows, contract] times rhs [batch, columns, contract].
template <class T>
std::vector<T> product(const std::vector<T>& lhs, const std::vector<T>& rhs, const DotSizes& size) {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(size.batch * size.rows * size.columns));
  for (int64_t b = 0; b < size.batch; ++b)
    for (int64_t i = 0; i < size.rows; ++i)
      for (int64_t j = 0; j < size.columns; ++j)
        out.push_back(innerProduct(lhs.data() + (b * size.rows + i) * size.contract,
                                   rhs.data() + (b * size.columns + j) * size.contract, size.contract));
  return out;
}

}  // namespace

Array runReduce(const Call& call) {
  const Op op = call.node.op;
  const Array& x = *call.in[0];
  std::vector<int64_t> axes =
      op == Op::kArgMax ? std::vector{call.attrs<AxisAttrs>().axis} : call.attrs<DimsAttrs>().dims;
  // Sorted, so that the order in which axes are named can't change the order of a sum.
  std::sort(axes.begin(), axes.end());
  Array rows = permuted(x, joined(otherAxes(x.type.shape, axes), axes));
  size_t count = static_cast<size_t>(elementCount(call.result.shape));
  size_t length = static_cast<size_t>(product(x.type.shape, axes));
  std::vector<double> floats;
  std::vector<int64_t> integers;
  if (isFloat(x.type.dtype)) {
    std::vector<double> data = unpackFloats(rows);
    for (size_t i = 0; i < count; ++i) {
      if (op == Op::kArgMax)
        integers.push_back(argMax(rowOf(data, i, length)));
      else
        floats.push_back(reduceFloats(op, rowOf(data, i, length)));
    }
  } else {
    std::vector<int64_t> data = unpackIntegers(rows);
    for (size_t i = 0; i < count; ++i)
      integers.push_back(op == Op::kArgMax ? argMax(rowOf(data, i, length))
                                           : reduceIntegers(op, rowOf(data, i, length), x.type.dtype));
  }
  return isFloat(call.result.dtype) ? packFloats(call.result, floats) : packIntegers(call.result, integers);
}

Array runDot(const Call& call) {
  const DotAttrs& attrs = call.attrs<DotAttrs>();
  const Shape& lhs = call.in[0]->type.shape;
  const Shape& rhs = call.in[1]->type.shape;
  std::vector<int64_t> lhs_free = otherAxes(lhs, joined(attrs.lhs_batch, attrs.lhs_contract));
  std::vector<int64_t> rhs_free = otherAxes(rhs, joined(attrs.rhs_batch, attrs.rhs_contract));
  DotSizes size{product(lhs, attrs.lhs_batch), product(lhs, lhs_free), product(rhs, rhs_free),
                product(lhs, attrs.lhs_contract)};
  Array a = permuted(*call.in[0], joined(joined(attrs.lhs_batch, lhs_free), attrs.lhs_contract));
  Array b = permuted(*call.in[1], joined(joined(attrs.rhs_batch, rhs_free), attrs.rhs_contract));
  if (isFloat(a.type.dtype)) return packFloats(call.result, product(unpackFloats(a), unpackFloats(b), size));
  return packIntegers(call.result, product(unpackIntegers(a), unpackIntegers(b), size));
}

}  // namespace sublane::graph
