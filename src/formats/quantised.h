// Weight matrices that a quantiser stored in parts: codes, scales, zero points, an order of columns.
//
// A QuantisedMatrix says what each part means, so that nothing about it is guessed later: how codes are
// packed, which block a scale is for, what a zero point is added to. It points into the map of a checkpoint
// and copies nothing. The value of row r (output) and column c (input) is
//
//   (value of its code - zero point of its group) * scale of its group
//
// and a group belongs to a place in the whole stored matrix: a slice keeps the scales that its values had.
//
//   SUBLANE_TRY(QuantisedMatrix left, slice(matrix, {0, matrix.rows}, {0, 64}));
//   std::vector<float> row(64);
//   SUBLANE_CHECK_OK(dequantize(left, {3, 4}, row));     // row 3
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/formats.h"

namespace sublane::formats {

/// A range of rows or columns, the end not included.
struct Range {
  int64_t begin = 0, end = 0;
};

/// What the bits of one code mean, before zero point and scale.
enum class CodeType : uint8_t { kU4, kU8, kI8, kF8E4M3, kF4E2M1 };
int bitsOf(CodeType type);
std::string_view name(CodeType type);  // "u4", "f8e4m3"

/// Where the code of (row, column) lies. A word is 32 bits, little endian, and holds n = 32 / bits codes,
/// from its lowest bits up unless the order says otherwise.
enum class CodeOrder : uint8_t {
  kBytes,              // [rows, columns], a byte each
  kNibbles,            // [rows, columns / 2] bytes, the lower nibble first (NVFP4, MXFP4)
  kWordsAlongColumns,  // words [rows, ceil(columns / n)]: compressed-tensors' weights
  kWordsAlongRows,     // words [ceil(rows / n), columns]: compressed-tensors' zero points
  kGptqWeights,        // words [columns / n, rows], n columns in a word
  kGptqZeros,          // words [columns, rows / n], n rows in a word
  kAwq                 // words [columns, rows / 8], rows 0 2 4 6 1 3 5 7 in a word; weights and zero points
};

/// A matrix of codes as it is stored.
struct CodeArray {
  CodeType type = CodeType::kU8;
  CodeOrder order = CodeOrder::kBytes;
  int64_t rows = 0, columns = 0;
  std::span<const std::byte> bytes = {};
};

/// Bytes that rows and columns need. Errors: they don't fill whole words or bytes; the type can't lie in that
/// order; more than 2^62 bytes.
Result<int64_t> bytesOf(const CodeArray& codes);
/// The bits of one code. `codes` has been verified.
uint8_t codeAt(const CodeArray& codes, int64_t row, int64_t column);
/// The codes of `out.size()` columns of one row, from `column` on.
void readCodes(const CodeArray& codes, int64_t row, int64_t column, std::span<uint8_t> out);
/// The same for several rows, one after the other in `out`: `rowsAtOnce` of them are read fastest.
void readCodes(const CodeArray& codes, Range rows, int64_t column, std::span<uint8_t> out);
int64_t rowsAtOnce(CodeOrder order);
float valueOf(CodeType type, uint8_t code);
/// The inverse of codeAt: `codes` row by row into the bytes of an array shaped like `like`. Bits between the
/// codes are zero. Packing is done in unsigned words.
Result<std::vector<std::byte>> packCodes(const CodeArray& like, std::span<const uint8_t> codes);

/// One scale for each block of a matrix.
struct ScaleGrid {
  Packing packing = Packing::kF32;  // kF32, kF16, kBF16, kF8_E4M3 or kF8_E8M0
  bool transposed = false;          // stored [columns, rows] of the grid
  int64_t rows = 1, columns = 1;
  std::span<const std::byte> bytes = {};
};

/// What the checkpoint wants done to the inputs of the matrix. Reading weights does not depend on it.
enum class InputScheme : uint8_t { kFull, kDynamic, kStatic };

struct QuantisedMatrix {
  std::string method;                       // "gptq", for people
  int64_t rows = 0, columns = 0;            // outputs and inputs of this matrix, which may be a slice:
  int64_t first_row = 0, first_column = 0;  // its place in the stored one

  CodeArray codes;
  ScaleGrid scales;
  int64_t block_rows = 1, block_columns = 1;  // of one scale; the last blocks may be partial
  float global_scale = 1.0f;                  // each scale is multiplied with it,
  bool divide_by_global = false;              // or divided by it (compressed-tensors' NVFP4)

  /// Zero points: one for each scale, or the same for all. `zero_offset` is added to what is stored (GPTQ's
  /// first version stores one less), and is the zero point itself where nothing is stored.
  std::optional<CodeArray> zeros;
  int zero_offset = 0;

  /// Little-endian int32, the group (column of the grid) of each stored column; empty: column /
  /// block_columns.
  std::span<const std::byte> group_of_column = {};

  InputScheme input_scheme = InputScheme::kFull;
  std::optional<float> input_scale;         // a static scale of the inputs
  std::optional<float> input_global_scale;  // NVFP4's, of the inputs
};

/// Checks every size against every other, and that groups exist. A matrix that passes can be read without
/// another look. Errors: the part, both numbers.
Status verify(const QuantisedMatrix& matrix);

/// Rows of the matrix as float32, row-major; scales and products in float32. Error: the range leaves the
/// matrix, or `out` has another size.
Status dequantize(const QuantisedMatrix& matrix, Range rows, std::span<float> out);
/// The same for matrices one above the other, each with its own scales (merged query, key and value).
Status dequantize(std::span<const QuantisedMatrix> stacked, Range rows, std::span<float> out);

/// A part of the matrix, which may cut blocks: each value keeps its scale. Error: the range leaves the
/// matrix.
Result<QuantisedMatrix> slice(const QuantisedMatrix& matrix, Range rows, Range columns);

/// The bytes of codes that stand for `values` (all of the stored matrix, row by row) under the scales and
/// zero points of `like`: each the nearest, saturating. The inverse of dequantize where no scale is zero.
Result<std::vector<std::byte>> packValues(const QuantisedMatrix& like, std::span<const float> values);
/// The bytes of zero points as `like` stores them. Error: one that its type can't hold, such as 0 in GPTQ's
/// first version, which would wrap around to the largest.
Result<std::vector<std::byte>> packZeros(const QuantisedMatrix& like, std::span<const int> zeros);

/// "u4, a bf16 scale for 1x128, zero points stored, columns in groups of their own"
std::string describe(const QuantisedMatrix& matrix);

}  // namespace sublane::formats
