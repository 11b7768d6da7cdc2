// What the interpreter's files share: one call of one operation, and arrays as doubles or integers.
// Private to graph/.
#pragma once

#include <span>
#include <vector>

#include "graph/interpreter.h"

namespace sublane::graph {

/// One node with its operands in memory. Types have been verified.
struct Call {
  const Node& node;
  std::vector<const Array*> in;
  const Type& result;

  template <class T>
  const T& attrs() const {
    return std::get<T>(node.attrs);
  }
};

std::vector<double> unpackFloats(const Array& array);                   // float dtypes; exact
std::vector<int64_t> unpackIntegers(const Array& array);                // integer dtypes and bool; exact
Array packFloats(const Type& type, std::span<const double> values);     // rounds
Array packIntegers(const Type& type, std::span<const int64_t> values);  // wraps; bool: not 0

/// Strides in elements of a dense array of this shape.
Shape denseStrides(const Shape& shape);
/// A new array of type `result`, whose element at i comes from element `offset` + i . strides of `in`.
Array gatherStrided(const Array& in, Type result, const Shape& strides, int64_t offset = 0);
/// Axes moved into the given order.
Array permuted(const Array& in, const std::vector<int64_t>& order);

Array runElementwise(const Call& call);  // constant to select
Array runShape(const Call& call);        // iota, broadcast to concatenate, take_rows
Array runReduce(const Call& call);       // reductions and arg_max
Array runDot(const Call& call);
Array runCacheWrite(Array cache, const Array& rows, const Array& slots);
Array runPagedAttention(const Call& call);

}  // namespace sublane::graph
