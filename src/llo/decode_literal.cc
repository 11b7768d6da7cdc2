#include <cstring>

#include "llo/decode.h"

namespace sublane::llo {
namespace {

/// Larger ones are weights; nothing that a scalar depends on.
constexpr int64_t kMostBytes = 1 << 20;

template <class T>
void append(const std::vector<int64_t>& values, std::string& out) {
  for (const int64_t value : values) {
    const T narrow = static_cast<T>(value);
    out.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  }
}

/// Field of a LiteralProto that holds elements of this type as bytes, or 0.
uint32_t bytesField(ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return 3;
    case ElementType::kF32:
      return 8;
    case ElementType::kF16:
      return 11;
    case ElementType::kBF16:
      return 13;
    case ElementType::kS8:
      return 15;
    case ElementType::kU16:
      return 16;
    case ElementType::kS16:
      return 17;
    default:
      return 0;
  }
}

/// Elements in the literal's own order of dimensions become row-major.
std::string rowMajor(const Shape& shape, std::string data, size_t size) {
  const std::vector<int64_t>& order = shape.layout.minor_to_major;
  const size_t rank = shape.dims.size();
  bool is_row_major = order.empty() || order.size() != rank;
  if (!is_row_major) {
    is_row_major = true;
    for (size_t i = 0; i < rank; ++i) is_row_major &= order[i] == static_cast<int64_t>(rank - 1 - i);
  }
  if (is_row_major) return data;
  std::vector<size_t> stride(rank, 0);
  size_t step = 1;
  for (const int64_t dimension : order) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(rank)) return "";
    stride[static_cast<size_t>(dimension)] = step;
    step *= static_cast<size_t>(shape.dims[static_cast<size_t>(dimension)]);
  }
  std::string result(data.size(), '\0');
  std::vector<int64_t> index(rank, 0);
  for (size_t to = 0; to + size <= result.size(); to += size) {
    size_t from = 0;
    for (size_t d = 0; d < rank; ++d) from += static_cast<size_t>(index[d]) * stride[d];
    if ((from + 1) * size > data.size()) return "";
    std::memcpy(result.data() + to, data.data() + from * size, size);
    for (size_t d = rank; d > 0; --d) {
      ++index[d - 1];
      if (index[d - 1] < shape.dims[d - 1]) break;
      index[d - 1] = 0;
    }
  }
  return result;
}

}  // namespace

std::string decodeLiteral(Wire& wire, std::string_view bytes) {
  Shape shape;
  wire.each("LiteralProto", bytes, [&](const Field& field) {
    if (field.number == 1) shape = decodeShape(wire, wire.text(field));
  });
  const int64_t size = bitsOf(shape.type) / 8, expected = logicalBytes(shape);
  if (size <= 0 || expected <= 0 || expected > kMostBytes) return "";
  std::string data;
  std::vector<int64_t> values;
  wire.each("LiteralProto", bytes, [&](const Field& field) {
    if (field.number == bytesField(shape.type) && field.is_bytes) data.append(field.bytes);
    const bool integers = field.number == 2 || (field.number >= 4 && field.number <= 7);
    if (integers && bytesField(shape.type) == 0) wire.integers(field, values);
  });
  if (size == 1) append<int8_t>(values, data);
  if (size == 4) append<int32_t>(values, data);
  if (size == 8) append<int64_t>(values, data);
  if (static_cast<int64_t>(data.size()) != expected) return "";
  return rowMajor(shape, std::move(data), static_cast<size_t>(size));
}

}  // namespace sublane::llo
