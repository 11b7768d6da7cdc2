#include "graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>

namespace sublane::graph {

int64_t elementCount(const Shape& shape) {
  // An empty axis wins over the others; a product that doesn't fit saturates.
  for (int64_t extent : shape)
    if (extent <= 0) return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<int64_t>::max();
  return count;
}

int64_t byteCount(const Type& type) {
  return elementCount(type.shape) * formats::bytesPerElement(type.dtype);
}

std::string toString(const Type& type) {
  return fmt::format("{}[{}]", formats::name(type.dtype), fmt::join(type.shape, ","));
}

std::string toString(const Place& place) {
  if (place.layer == Place::kNoLayer) return place.part;
  if (place.layer == Place::kEveryLayer) return "layer.*/" + place.part;
  return fmt::format("layer.{}/{}", place.layer, place.part);
}

std::string_view name(Op op) {
  // In the order of the enum.
  static constexpr std::array<std::string_view, kOpCount> kNames = {
      "constant",    "iota",        "negate",
      "exp",         "log",         "tanh",
      "rsqrt",       "sqrt",        "logistic",
      "not",         "is_finite",   "convert",
      "bitcast",     "add",         "subtract",
      "multiply",    "divide",      "maximum",
      "minimum",     "remainder",   "and",
      "or",          "xor",         "shift_left",
      "shift_right", "compare",     "select",
      "broadcast",   "reshape",     "transpose",
      "slice",       "concatenate", "reduce_sum",
      "reduce_max",  "arg_max",     "dot",
      "take_rows",   "cache_write", "paged_attention",
      "loop"};
  size_t index = static_cast<size_t>(op);
  return index < kNames.size() ? kNames[index] : "unknown_op";
}

}  // namespace sublane::graph
