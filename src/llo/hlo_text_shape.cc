// Shapes and layouts in HLO text.
#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "llo/hlo_text_reader.h"

namespace sublane::llo {
namespace {

constexpr int64_t kLargestDim = int64_t{1} << 40;
constexpr int kDeepestTuple = 64;

ElementType typeNamed(HloCursor& cursor) {
  static const auto* const kTypes = [] {
    auto* types = new std::unordered_map<std::string_view, ElementType>;
    for (uint64_t i = 1; i < kElementTypes; ++i) {
      const auto type = static_cast<ElementType>(i);
      if (type != ElementType::kTuple && type != ElementType::kBuffer) types->emplace(name(type), type);
    }
    return types;
  }();
  cursor.peek();
  const char* place = cursor.place();
  const std::string_view word = cursor.word("a shape");
  const auto found = kTypes->find(word);
  if (found != kTypes->end()) return found->second;
  cursor.failAt(place, fmt::format("element type {} is unknown", escaped(word)));
  return ElementType::kInvalid;
}

void readDims(HloCursor& cursor, Shape& shape) {
  cursor.each('[', ']', [&] {
    cursor.take("<=");  // of a dimension that varies: its bound
    const char* place = cursor.place();
    const int64_t dim = cursor.integer("a dimension");
    if (dim < 0 || dim > kLargestDim) cursor.failAt(place, fmt::format("a dimension of {}", dim));
    shape.dims.push_back(dim);
  });
}

void readTiles(HloCursor& cursor, Layout& layout) {
  const char* place = cursor.place();
  while (cursor.here() == '(') {
    std::vector<int64_t>& tile = layout.tiles.emplace_back();
    cursor.each('(', ')', [&] {
      if (cursor.take('*')) return tile.push_back(kCombineDimension);
      const char* at = cursor.place();
      tile.push_back(cursor.integer("a tile's size or '*'"));
      if (tile.back() < 1 || tile.back() > kLargestDim)
        cursor.failAt(at, fmt::format("a tile of size {}", tile.back()));
    });
  }
  if (layout.tiles.empty()) cursor.expected("'('");
  if (layout.tiles.size() > 8) cursor.failAt(place, fmt::format("{} levels of tiles", layout.tiles.size()));
}

int64_t inParentheses(HloCursor& cursor, int64_t most, const char* what) {
  cursor.expect('(');
  const char* place = cursor.place();
  const int64_t value = cursor.integer(what);
  if (value < 0 || value > most) cursor.failAt(place, fmt::format("{} of {}", what, value));
  cursor.expect(')');
  return value;
}

/// What follows the colon: "T(8,128)(2,1)S(1)E(4)". Others are skipped.
void readLayoutMarks(HloCursor& cursor, Layout& layout) {
  while (!cursor.fault() && cursor.peek() != '}') {
    if (cursor.take('T')) {
      readTiles(cursor, layout);
    } else if (cursor.take("SC")) {
      cursor.bracketed();
    } else if (cursor.take('S')) {
      layout.memory_space = inParentheses(cursor, kLargestDim, "a memory space");
    } else if (cursor.take('E')) {
      layout.element_bits = inParentheses(cursor, 128, "an element's bits");
    } else if (cursor.take('L')) {
      layout.tail_alignment = inParentheses(cursor, kLargestDim, "a tail alignment");
    } else if (cursor.take('D') || cursor.take('#') || cursor.take('*') || cursor.take('P') ||
               cursor.take('M')) {
      cursor.bracketed();
    } else {
      cursor.expected("a part of a layout (T, S, E, L, D, M, P, SC, '#' or '*') or '}'");
    }
  }
}

void readLayout(HloCursor& cursor, Shape& shape) {
  const char* place = cursor.place();
  std::vector<int64_t>& order = shape.layout.minor_to_major;
  if (!cursor.expect('{')) return;
  order.reserve(shape.dims.size());
  while (!cursor.fault() && cursor.peek() != '}' && cursor.peek() != ':') {
    order.push_back(cursor.integer("a dimension, ':' or '}'"));
    if (!cursor.take(',') && cursor.peek() != ':' && cursor.peek() != '}') cursor.expected("',', ':' or '}'");
  }
  if (cursor.take(':')) readLayoutMarks(cursor, shape.layout);
  cursor.expect('}');
  uint64_t seen = 0;
  bool sound = order.size() == shape.dims.size() || order.empty();
  for (const int64_t dim : order) {
    const bool inside = dim >= 0 && dim < static_cast<int64_t>(std::min<size_t>(order.size(), 64));
    sound = sound && inside && (seen >> dim & 1) == 0;
    if (inside) seen |= uint64_t{1} << dim;
  }
  if (!sound)
    cursor.failAt(place, fmt::format("the layout's {} numbers do not order the {} dimensions", order.size(),
                                     shape.dims.size()));
}

Shape readShape(HloCursor& cursor, int64_t& budget, int depth) {
  Shape shape;
  if (depth > kDeepestTuple || --budget < 0) {
    cursor.fail(depth > kDeepestTuple ? fmt::format("a tuple nested deeper than {}", kDeepestTuple)
                                      : "more parts of tuples than a module may have");
    return shape;
  }
  const bool is_buffer = cursor.peek() == 'b' && cursor.take("b(");
  if (is_buffer || cursor.take('(')) {
    shape.type = is_buffer ? ElementType::kBuffer : ElementType::kTuple;
    while (!cursor.fault() && !cursor.take(')')) {
      shape.elements.push_back(readShape(cursor, budget, depth + 1));
      if (!cursor.take(',') && cursor.peek() != ')') cursor.expected("',' or ')'");
    }
    return shape;
  }
  shape.type = typeNamed(cursor);
  readDims(cursor, shape);
  if (cursor.here() == '{') readLayout(cursor, shape);
  return shape;
}

}  // namespace

Shape readShapeText(HloCursor& cursor, int64_t& budget) { return readShape(cursor, budget, 0); }

}  // namespace sublane::llo
