#include "llo/shape.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace sublane::llo {
namespace {

struct TypeFacts {
  std::string_view name;
  int64_t bits;
};
constexpr TypeFacts kTypes[] = {
    {"invalid", 0},    {"pred", 8},  {"s8", 8},       {"s16", 16},          {"s32", 32},
    {"s64", 64},       {"u8", 8},    {"u16", 16},     {"u32", 32},          {"u64", 64},
    {"f16", 16},       {"f32", 32},  {"f64", 64},     {"tuple", 0},         {"opaque", 0},
    {"c64", 64},       {"bf16", 16}, {"token", 0},    {"c128", 128},        {"f8e5m2", 8},
    {"f8e4m3fn", 8},   {"s4", 4},    {"u4", 4},       {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
    {"f8e4m3fnuz", 8}, {"s2", 2},    {"u2", 2},       {"f8e4m3", 8},        {"f8e3m4", 8},
    {"s1", 1},         {"u1", 1},    {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},     {"buffer", 0},
};
static_assert(std::size(kTypes) == kElementTypes);

const TypeFacts& facts(ElementType type) { return kTypes[static_cast<size_t>(type)]; }

constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 64;  // so that bits still fit

int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kMost ? kMost : product;
}

int64_t roundUp(int64_t value, int64_t multiple) {
  return value > kMost - multiple ? kMost : (value + multiple - 1) / multiple * multiple;
}

int64_t bitsToBytes(int64_t elements, int64_t bits) {
  return elements >= kMost ? kMost : (elements * bits + 7) / 8;
}

/// Dimensions from the outermost in memory to the innermost.
std::vector<int64_t> physicalDims(const Shape& shape, const std::vector<int64_t>& sizes) {
  if (shape.layout.minor_to_major.size() != sizes.size()) return sizes;
  std::vector<int64_t> dims;
  for (auto it = shape.layout.minor_to_major.rbegin(); it != shape.layout.minor_to_major.rend(); ++it) {
    dims.push_back(sizes[static_cast<size_t>(*it)]);
  }
  return dims;
}

/// One tile over the innermost dimensions: each becomes a count of tiles and a size within the tile.
std::vector<int64_t> applyTile(std::vector<int64_t> dims, const std::vector<int64_t>& tile) {
  while (dims.size() < tile.size()) dims.insert(dims.begin(), 1);
  const size_t outer = dims.size() - tile.size();
  std::vector<int64_t> counts(dims.begin(), dims.begin() + static_cast<int64_t>(outer)), within;
  int64_t combined = 1;
  for (size_t i = 0; i < tile.size(); ++i) {
    const int64_t size = times(combined, dims[outer + i]);
    combined = 1;
    if (tile[i] == kCombineDimension) {
      combined = size;
      continue;
    }
    counts.push_back(roundUp(size, tile[i]) / tile[i]);
    within.push_back(tile[i]);
  }
  if (combined > 1) counts.push_back(combined);  // a trailing merged dimension
  counts.insert(counts.end(), within.begin(), within.end());
  return counts;
}

}  // namespace

std::string_view name(ElementType type) { return facts(type).name; }
int64_t bitsOf(ElementType type) { return facts(type).bits; }

bool isFloat(ElementType type) {
  const std::string_view text = name(type);
  return text.front() == 'f' || text == "bf16" || text.front() == 'c';
}

std::string_view name(Memory memory) {
  constexpr std::string_view kNames[] = {"HBM", "VMEM", "CMEM", "SMEM", "host", "other"};
  return kNames[static_cast<size_t>(memory)];
}

Memory Shape::memory() const {
  switch (layout.memory_space) {
    case 0:
      return Memory::kHbm;
    case 1:
      return Memory::kVmem;
    case 3:
      return Memory::kCmem;
    case 5:
      return Memory::kHost;
    case 6:
      return Memory::kSmem;
    default:
      return Memory::kOther;
  }
}

int64_t elementCount(const Shape& shape) {
  if (shape.isTuple()) return 0;
  int64_t count = 1;
  for (int64_t dim : shape.dims) count = times(count, dim);
  return count;
}

int64_t elementBits(const Shape& shape) {
  return shape.layout.element_bits > 0 ? shape.layout.element_bits : bitsOf(shape.type);
}

int64_t logicalBytes(const Shape& shape) {
  int64_t bytes = 0;
  forEachArray(shape, [&](const Shape& array) {
    bytes = std::min(kMost, bytes + bitsToBytes(elementCount(array), elementBits(array)));
  });
  return bytes;
}

static int64_t paddedArrayBytes(const Shape& shape) {
  if (bitsOf(shape.type) == 0) return 0;
  std::vector<int64_t> dims = physicalDims(shape, shape.dims);
  for (const auto& tile : shape.layout.tiles) dims = applyTile(std::move(dims), tile);
  int64_t elements = 1;
  for (int64_t dim : dims) elements = times(elements, dim);
  return bitsToBytes(roundUp(elements, std::max<int64_t>(1, shape.layout.tail_alignment)),
                     elementBits(shape));
}

int64_t paddedBytes(const Shape& shape) {
  int64_t bytes = 0;
  forEachArray(shape, [&](const Shape& array) { bytes = std::min(kMost, bytes + paddedArrayBytes(array)); });
  return bytes;
}

int64_t boxBytes(const Shape& shape, const std::vector<int64_t>& sizes) {
  if (sizes.size() != shape.dims.size()) return paddedArrayBytes(shape);
  std::vector<int64_t> dims = physicalDims(shape, sizes);
  if (dims.empty() || shape.layout.tiles.empty() || shape.layout.tiles[0].empty()) {
    int64_t count = 1;
    for (int64_t dim : dims) count = times(count, dim);
    return bitsToBytes(count, elementBits(shape));
  }
  const std::vector<int64_t>& tile = shape.layout.tiles[0];
  if (tile.back() > 0)
    dims.back() = roundUp(dims.back(), tile.size() == 1 ? std::min<int64_t>(tile[0], 128) : tile.back());
  if (tile.size() >= 2 && dims.size() >= 2) {
    const int64_t packed = std::max<int64_t>(1, 32 / std::max<int64_t>(1, elementBits(shape)));
    dims[dims.size() - 2] = roundUp(dims[dims.size() - 2], packed);
  }
  int64_t count = 1;
  for (int64_t dim : dims) count = times(count, dim);
  return std::min(bitsToBytes(count, elementBits(shape)), paddedArrayBytes(shape));
}

int64_t hbmBytes(const Shape& shape) {
  int64_t bytes = 0;
  forEachArray(shape, [&](const Shape& array) {
    if (array.memory() == Memory::kHbm) bytes = std::min(kMost, bytes + paddedArrayBytes(array));
  });
  return bytes;
}

std::string toString(const Shape& shape) {
  if (shape.isTuple()) {
    std::string text = "(";
    for (const Shape& element : shape.elements) text += (text.size() > 1 ? ", " : "") + toString(element);
    return text + ")";
  }
  std::string text = fmt::format("{}[{}]", name(shape.type), fmt::join(shape.dims, ","));
  if (shape.memory() == Memory::kOther) return text + fmt::format(" S({})", shape.layout.memory_space);
  if (shape.memory() != Memory::kHbm) text += fmt::format(" {}", name(shape.memory()));
  return text;
}

}  // namespace sublane::llo
