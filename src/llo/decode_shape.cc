#include <algorithm>

#include <fmt/format.h>

#include "llo/decode.h"

namespace sublane::llo {
namespace {

constexpr int64_t kLargestDim = int64_t{1} << 40;

Layout decodeLayout(Wire& wire, std::string_view bytes) {
  Layout layout;
  wire.each("LayoutProto", bytes, [&](const Field& field) {
    switch (field.number) {
      case 1:
        wire.integers(field, layout.minor_to_major);
        break;
      case 6: {
        std::vector<int64_t> tile;
        wire.each("TileProto", wire.text(field), [&](const Field& inner) {
          if (inner.number == 1) wire.integers(inner, tile);
        });
        for (int64_t size : tile) {
          if (size != kCombineDimension && (size < 1 || size > kLargestDim)) {
            wire.fail("TileProto", field.bytes, fmt::format("a tile of size {}", size));
          }
        }
        layout.tiles.push_back(std::move(tile));
        break;
      }
      case 7:
        layout.element_bits = wire.integer(field);
        break;
      case 8:
        layout.memory_space = wire.integer(field);
        break;
      case 16:
        layout.tail_alignment = wire.integer(field);
        break;
      default:
        break;
    }
  });
  if (layout.element_bits < 0 || layout.element_bits > 128) {
    wire.fail("LayoutProto", bytes, fmt::format("elements of {} bits", layout.element_bits));
  }
  if (layout.tiles.size() > 8)
    wire.fail("LayoutProto", bytes, fmt::format("{} levels of tiles", layout.tiles.size()));
  if (layout.tail_alignment > kLargestDim) wire.fail("LayoutProto", bytes, "a tail alignment past 2^40");
  return layout;
}

bool isPermutation(const std::vector<int64_t>& order, size_t rank) {
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  }
  return sorted.size() == rank;
}

void checkShape(Wire& wire, std::string_view bytes, const Shape& shape) {
  for (int64_t dim : shape.dims) {
    if (dim < 0 || dim > kLargestDim) wire.fail("ShapeProto", bytes, fmt::format("a dimension of {}", dim));
  }
  const auto& order = shape.layout.minor_to_major;
  if (!order.empty() && !isPermutation(order, shape.dims.size())) {
    wire.fail("ShapeProto", bytes,
              fmt::format("layout {{{}}} does not order the {} dimensions", fmt::join(order, ","),
                          shape.dims.size()));
  }
}

}  // namespace

Shape decodeShape(Wire& wire, std::string_view bytes) {
  Shape shape;
  wire.each("ShapeProto", bytes, [&](const Field& field) {
    switch (field.number) {
      case 2: {
        const int64_t type = wire.integer(field);
        if (type < 0 || type >= static_cast<int64_t>(kElementTypes)) {
          wire.fail("ShapeProto", bytes, fmt::format("element type {} is unknown", type));
        } else {
          shape.type = static_cast<ElementType>(type);
        }
        break;
      }
      case 3:
        wire.integers(field, shape.dims);
        break;
      case 4:
        shape.elements.push_back(decodeShape(wire, wire.text(field)));
        break;
      case 5:
        shape.layout = decodeLayout(wire, wire.text(field));
        break;
      default:
        break;
    }
  });
  checkShape(wire, bytes, shape);
  return shape;
}

}  // namespace sublane::llo
