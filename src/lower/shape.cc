// Operations that move or pick elements without computing.
#include "lower/emitter.h"

namespace sublane::lower {

Value Emitter::broadcast(const Value& x, Shape shape, const std::vector<int64_t>& dims) {
  Type result{x.type.dtype, std::move(shape)};
  return line(result, "stablehlo.broadcast_in_dim {}, dims = [{}] : ({}) -> {}", x, listText(dims),
              tensorText(x.type), tensorText(result));
}

Value Emitter::reshape(const Value& x, Shape shape) {
  if (x.type.shape == shape) return x;
  Type result{x.type.dtype, std::move(shape)};
  return line(result, "stablehlo.reshape {} : ({}) -> {}", x, tensorText(x.type), tensorText(result));
}

Value Emitter::transpose(const Value& x, const std::vector<int64_t>& dims) {
  Type result{x.type.dtype, {}};
  for (int64_t dim : dims) result.shape.push_back(x.type.shape[static_cast<size_t>(dim)]);
  return line(result, "stablehlo.transpose {}, dims = [{}] : ({}) -> {}", x, listText(dims),
              tensorText(x.type), tensorText(result));
}

Value Emitter::slice(const Value& x, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits) {
  Type result{x.type.dtype, {}};
  std::string ranges;
  for (size_t i = 0; i < starts.size(); ++i) {
    result.shape.push_back(limits[i] - starts[i]);
    fmt::format_to(std::back_inserter(ranges), "{}{}:{}", i ? ", " : "", starts[i], limits[i]);
  }
  return line(result, "stablehlo.slice {} [{}] : ({}) -> {}", x, ranges, tensorText(x.type),
              tensorText(result));
}

Value Emitter::concatenate(const std::vector<Value>& parts, int64_t axis) {
  Type result = parts.front().type;
  int64_t& extent = result.shape[static_cast<size_t>(axis)];
  extent = 0;
  std::string names, types;
  for (const Value& part : parts) {
    extent += part.type.shape[static_cast<size_t>(axis)];
    fmt::format_to(std::back_inserter(names), "{}, ", part);
    fmt::format_to(std::back_inserter(types), "{}{}", types.empty() ? "" : ", ", tensorText(part.type));
  }
  std::string tensor = tensorText(result);
  return line(std::move(result), "stablehlo.concatenate {}dim = {} : ({}) -> {}", names, axis, types, tensor);
}

Value Emitter::sliceLeading(const Value& x, const Value& index) {
  size_t rank = x.type.shape.size();
  std::string starts = fmt::format("{}", index), types = tensorText(index.type);
  if (rank > 1) {
    Value zero = scalar(DType::kI32, 0);
    for (size_t i = 1; i < rank; ++i) {
      fmt::format_to(std::back_inserter(starts), ", {}", zero);
      types += ", " + tensorText(zero.type);
    }
  }
  Type result = x.type;
  result.shape[0] = 1;
  Value sliced = line(result, "stablehlo.dynamic_slice {}, {}, sizes = [{}] : ({}, {}) -> {}", x, starts,
                      listText(result.shape), tensorText(x.type), types, tensorText(result));
  return reshape(sliced, Shape(x.type.shape.begin() + 1, x.type.shape.end()));
}

// A gather whose indices name rows of the leading axis.
Value Emitter::takeRows(const Value& table, const Value& ids) {
  size_t ids_rank = ids.type.shape.size();
  Type result{table.type.dtype, ids.type.shape};
  std::vector<int64_t> offsets, sizes{1};
  for (size_t i = 1; i < table.type.shape.size(); ++i) {
    offsets.push_back(static_cast<int64_t>(ids_rank + i) - 1);
    sizes.push_back(table.type.shape[i]);
    result.shape.push_back(table.type.shape[i]);
  }
  std::string offset_text = offsets.empty() ? "" : fmt::format("offset_dims = [{}], ", listText(offsets));
  return line(
      result,
      "\"stablehlo.gather\"({}, {}) {{dimension_numbers = #stablehlo.gather<{}collapsed_slice_dims = [0], "
      "start_index_map = [0], index_vector_dim = {}>, indices_are_sorted = false, "
      "slice_sizes = array<i64: {}>}} : ({}, {}) -> {}",
      table, ids, offset_text, ids_rank, listText(sizes), tensorText(table.type), tensorText(ids.type),
      tensorText(result));
}

}  // namespace sublane::lower
