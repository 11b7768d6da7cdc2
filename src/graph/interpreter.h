// The interpreter: the slow oracle for passes, lowering and kernels.
//
// Plain loops, one thread, no rewriting. Every result is rounded to its node's dtype: float operations are
// done in double, rounded to float32, and for bf16 and f16 rounded once more to nearest even, as XLA does.
// Dots and sums accumulate in double and are rounded once, so a compiled program is compared with it within
// a tolerance, and a pass bit by bit. Integers wrap; division by 0 gives -1 (all bits set), remainder by 0
// the dividend. Paged attention is one loop a token in double, sharing nothing with its lowering.
//
//   std::vector<Array> arguments = {arrayOf({DType::kF32, {3}}, std::array{1.0, 2.0, 3.0})};
//   SUBLANE_TRY(std::vector<Array> results, interpret(graph, arguments));   // in the order of graph.outputs
//   std::vector<double> first = values(results[0]);
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace sublane::graph {

/// A dense array in host memory, last axis fastest, in the dtype's own bytes (bool: one byte).
struct Array {
  Type type;
  std::vector<std::byte> data;
  bool operator==(const Array&) const = default;  // bit by bit
};

Array zeros(Type type);
/// Rounds (or, for integers, truncates) each value to the dtype. As many values as elements.
Array arrayOf(const Type& type, std::span<const double> values);
std::vector<double> values(const Array& array);

/// Runs the graph on one argument a parameter. Errors: the graph doesn't verify (places are not looked at);
/// arguments of another number, type or size, all named at once; no memory.
Result<std::vector<Array>> interpret(const Graph& graph, std::span<const Array> arguments);

}  // namespace sublane::graph
