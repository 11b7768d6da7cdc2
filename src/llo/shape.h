// Shapes as the TPU holds them: dimensions, the order and the tiles in which they lie, and the memory that
// they lie in. A tile pads: bf16[8,576] in tiles of 8x128 takes 8x640 elements of HBM.
//
//   f32[64,2048]{1,0:T(8,128)S(1)}   minor to major 1,0; tiles of 8x128; memory space 1, which is VMEM
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sublane::llo {

/// Numbers of xla.PrimitiveType; ones that have no bits here (tuple, token, opaque) are containers or marks.
enum class ElementType : uint8_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kTuple = 13,
  kOpaque = 14,
  kC64 = 15,
  kBF16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kS4 = 21,
  kU4 = 22,
  kF8E4M3B11FNUZ = 23,
  kF8E5M2FNUZ = 24,
  kF8E4M3FNUZ = 25,
  kS2 = 26,
  kU2 = 27,
  kF8E4M3 = 28,
  kF8E3M4 = 29,
  kS1 = 30,
  kU1 = 31,
  kF4E2M1FN = 32,
  kF8E8M0FNU = 33,
  kBuffer = 34,
};
constexpr uint64_t kElementTypes = 35;
std::string_view name(ElementType type);  // "bf16"
int64_t bitsOf(ElementType type);         // 0 for tuples, tokens and opaque ones
bool isFloat(ElementType type);

/// Memory spaces of libtpu's layouts, S(n) in its text.
enum class Memory : uint8_t { kHbm, kVmem, kCmem, kSmem, kHost, kOther };  // CMEM: v4's 128 MiB
std::string_view name(Memory memory);                                      // "HBM"

/// In a tile: this dimension is merged with the next inner one before tiling.
constexpr int64_t kCombineDimension = INT64_MIN;

struct Layout {
  std::vector<int64_t> minor_to_major;      // empty: row-major
  std::vector<std::vector<int64_t>> tiles;  // applied in order, to the innermost dimensions
  int64_t element_bits = 0;                 // 0: the type's own
  int64_t memory_space = 0;
  int64_t tail_alignment = 1;  // elements
};

struct Shape {
  ElementType type = ElementType::kInvalid;
  std::vector<int64_t> dims;
  Layout layout;
  std::vector<Shape> elements;  // of a tuple

  bool isTuple() const { return type == ElementType::kTuple; }
  Memory memory() const;
};

int64_t elementCount(const Shape& shape);  // of an array; 1 for a scalar, 0 for a tuple
int64_t elementBits(const Shape& shape);
/// Bytes without padding; a tuple's is the sum of its elements'.
int64_t logicalBytes(const Shape& shape);
/// Bytes that the buffer takes, tiles' padding included.
int64_t paddedBytes(const Shape& shape);
/// Bytes that move when a box of these sizes is read from or written to a buffer of this shape: whole lanes
/// along the minor dimension and whole packed rows (two of bf16) along the next, for that is the smallest
/// piece that the memory gives.
int64_t boxBytes(const Shape& shape, const std::vector<int64_t>& sizes);
/// Calls `visit(shape)` for each array in a possibly nested tuple, in order.
template <class Visit>
void forEachArray(const Shape& shape, Visit&& visit) {
  if (!shape.isTuple()) return visit(shape);
  for (const Shape& element : shape.elements) forEachArray(element, visit);
}
/// Sum of paddedBytes of the arrays that lie in HBM.
int64_t hbmBytes(const Shape& shape);
std::string toString(const Shape& shape);  // "bf16[8,576] VMEM", "(f32[8], s32[8])"

}  // namespace sublane::llo
