#include "formats/quantised.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/tiny_float.h"
#include "formats/unpack.h"

namespace sublane::formats {
namespace {

int64_t blocksOf(int64_t size, int64_t block) { return size / block + (size % block != 0 ? 1 : 0); }

float scaleAt(const ScaleGrid& grid, int64_t row, int64_t column) {
  const int64_t index = grid.transposed ? column * grid.rows + row : row * grid.columns + column;
  const std::byte* from = grid.bytes.data() + index * info(grid.packing).block_bytes;
  switch (grid.packing) {
    case Packing::kF32:
      return load<float>(from);
    case Packing::kF16:
      return widenF16(load<uint16_t>(from));
    case Packing::kBF16:
      return widenBf16(load<uint16_t>(from));
    case Packing::kF8_E4M3:
      return widenF8E4M3(load<uint8_t>(from));
    default:
      return widenF8E8M0(load<uint8_t>(from));
  }
}

bool isScaleType(Packing packing) {
  return packing == Packing::kF32 || packing == Packing::kF16 || packing == Packing::kBF16 ||
         packing == Packing::kF8_E4M3 || packing == Packing::kF8_E8M0;
}

int64_t groupOf(const QuantisedMatrix& matrix, int64_t column) {
  if (matrix.group_of_column.empty()) return column / matrix.block_columns;
  return load<int32_t>(matrix.group_of_column.data() + 4 * column);
}

// Scales and zero points of one stored row: one for each column of the grid.
struct RowScales {
  std::vector<float> scale, zero;

  void read(const QuantisedMatrix& matrix, int64_t stored_row) {
    const int64_t row = stored_row / matrix.block_rows, count = matrix.scales.columns;
    scale.resize(static_cast<size_t>(count));
    zero.assign(static_cast<size_t>(count), static_cast<float>(matrix.zero_offset));
    for (int64_t i = 0; i < count; ++i) {
      const float stored = scaleAt(matrix.scales, row, i);
      scale[static_cast<size_t>(i)] =
          matrix.divide_by_global ? stored / matrix.global_scale : stored * matrix.global_scale;
      if (!matrix.zeros) continue;
      zero[static_cast<size_t>(i)] += valueOf(matrix.zeros->type, codeAt(*matrix.zeros, row, i));
    }
  }
};

std::array<float, 256> valuesOf(CodeType type) {
  std::array<float, 256> values{};
  for (size_t code = 0; code < 256; ++code) values[code] = valueOf(type, static_cast<uint8_t>(code));
  return values;
}

// One row: columns of one group at a time, so that the inner loop has nothing to look up but values.
void scaleRow(const QuantisedMatrix& m, const std::array<float, 256>& values, std::span<const uint8_t> codes,
              const RowScales& scales, float* __restrict out) {
  const int64_t count = static_cast<int64_t>(codes.size());
  for (int64_t begin = 0; begin < count;) {
    const int64_t column = m.first_column + begin;
    int64_t end = begin + 1;
    if (m.group_of_column.empty()) end = std::min(count, begin + m.block_columns - column % m.block_columns);
    const size_t group = static_cast<size_t>(groupOf(m, column));
    const float zero = scales.zero[group], scale = scales.scale[group];
    for (int64_t i = begin; i < end; ++i) out[i] = (values[codes[static_cast<size_t>(i)]] - zero) * scale;
    begin = end;
  }
}

Status checkRange(Range range, int64_t size, std::string_view what) {
  if (range.begin >= 0 && range.begin <= range.end && range.end <= size) return Ok{};
  return inputError("{} {} to {} of a matrix that has {}", what, range.begin, range.end, size);
}

Status verifyScales(const QuantisedMatrix& m) {
  const ScaleGrid& grid = m.scales;
  if (!isScaleType(grid.packing))
    return inputError("scales: {} is not a type of scales", info(grid.packing).name);
  constexpr int64_t kMost = int64_t{1} << 40;
  if (m.block_rows < 1 || m.block_columns < 1 || m.block_rows > kMost || m.block_columns > kMost)
    return inputError("scales: blocks of {}x{}", m.block_rows, m.block_columns);
  const int64_t rows = blocksOf(m.codes.rows, m.block_rows);
  const int64_t columns = blocksOf(m.codes.columns, m.block_columns);
  if (grid.rows != rows || grid.columns != columns) {
    return inputError("scales: {}x{}, but a matrix of {}x{} in blocks of {}x{} has {}x{}", grid.rows,
                      grid.columns, m.codes.rows, m.codes.columns, m.block_rows, m.block_columns, rows,
                      columns);
  }
  // Both factors are at most those of the codes, whose product is in range.
  const int64_t bytes = rows * columns * info(grid.packing).block_bytes;
  if (bytes != static_cast<int64_t>(grid.bytes.size()))
    return inputError("scales: {} bytes, but {}x{} {} are {}", grid.bytes.size(), rows, columns,
                      info(grid.packing).name, bytes);
  return Ok{};
}

Status verifyCodes(const CodeArray& codes, std::string_view what) {
  auto bytes = bytesOf(codes);
  if (!bytes.ok()) return std::move(bytes).error().at(std::string(what));
  if (*bytes == static_cast<int64_t>(codes.bytes.size())) return Ok{};
  return inputError("{}: {} bytes, but {}x{} {} are {}", what, codes.bytes.size(), codes.rows, codes.columns,
                    name(codes.type), *bytes);
}

Status verifyGroups(const QuantisedMatrix& m) {
  if (m.group_of_column.empty()) return Ok{};
  if (static_cast<int64_t>(m.group_of_column.size()) != 4 * m.codes.columns) {
    return inputError("groups of columns: {} bytes, but {} columns need {}", m.group_of_column.size(),
                      m.codes.columns, 4 * m.codes.columns);
  }
  for (int64_t column = 0; column < m.codes.columns; ++column) {
    const int64_t group = groupOf(m, column);
    if (group < 0 || group >= m.scales.columns) {
      return inputError("groups of columns: column {} is in group {}, but there are {}", column, group,
                        m.scales.columns);
    }
  }
  return Ok{};
}

}  // namespace

Status verify(const QuantisedMatrix& m) {
  SUBLANE_CHECK_OK(verifyCodes(m.codes, "codes"));
  SUBLANE_CHECK_OK(verifyScales(m));
  if (m.zeros) {
    SUBLANE_CHECK_OK(verifyCodes(*m.zeros, "zero points"));
    if (m.zeros->rows != m.scales.rows || m.zeros->columns != m.scales.columns) {
      return inputError("zero points: {}x{}, but there are {}x{} scales", m.zeros->rows, m.zeros->columns,
                        m.scales.rows, m.scales.columns);
    }
  }
  SUBLANE_CHECK_OK(verifyGroups(m));
  if (m.first_row < 0 || m.first_column < 0 || m.rows < 0 || m.columns < 0 ||
      m.first_row > m.codes.rows - m.rows || m.first_column > m.codes.columns - m.columns) {
    return inputError("a slice of {}x{} at {},{} of a matrix of {}x{}", m.rows, m.columns, m.first_row,
                      m.first_column, m.codes.rows, m.codes.columns);
  }
  return Ok{};
}

Status dequantize(const QuantisedMatrix& m, Range rows, std::span<float> out) {
  SUBLANE_CHECK_OK(checkRange(rows, m.rows, "rows"));
  if (static_cast<int64_t>(out.size()) != (rows.end - rows.begin) * m.columns) {
    return inputError("dequantize: {} rows of {} columns, but room for {} values", rows.end - rows.begin,
                      m.columns, out.size());
  }
  if (out.empty()) return Ok{};
  const std::array<float, 256> values = valuesOf(m.codes.type);
  const int64_t step = rowsAtOnce(m.codes.order);
  const size_t columns = static_cast<size_t>(m.columns);
  std::vector<uint8_t> codes(static_cast<size_t>(std::min(step, rows.end - rows.begin)) * columns);
  RowScales scales;
  float* to = out.data();
  for (int64_t row = rows.begin; row < rows.end; row += step) {
    const Range these{m.first_row + row, m.first_row + std::min(rows.end, row + step)};
    const std::span<uint8_t> read =
        std::span(codes).first(static_cast<size_t>(these.end - these.begin) * columns);
    readCodes(m.codes, these, m.first_column, read);
    for (int64_t i = 0; i < these.end - these.begin; ++i, to += columns) {
      scales.read(m, these.begin + i);
      scaleRow(m, values, read.subspan(static_cast<size_t>(i) * columns, columns), scales, to);
    }
  }
  return Ok{};
}

Status dequantize(std::span<const QuantisedMatrix> stacked, Range rows, std::span<float> out) {
  int64_t above = 0;
  for (const QuantisedMatrix& part : stacked) {
    const Range here{std::max(rows.begin - above, int64_t{0}), std::min(rows.end - above, part.rows)};
    above += part.rows;
    if (here.begin >= here.end) continue;
    const size_t count = static_cast<size_t>((here.end - here.begin) * part.columns);
    if (count > out.size()) return inputError("dequantize: more rows than room for {} values", out.size());
    SUBLANE_CHECK_OK(dequantize(part, here, out.first(count)));
    out = out.subspan(count);
  }
  SUBLANE_CHECK_OK(checkRange(rows, above, "rows"));
  if (!out.empty()) return inputError("dequantize: room for {} values too many", out.size());
  return Ok{};
}

Result<QuantisedMatrix> slice(const QuantisedMatrix& matrix, Range rows, Range columns) {
  SUBLANE_CHECK_OK(checkRange(rows, matrix.rows, "rows"));
  SUBLANE_CHECK_OK(checkRange(columns, matrix.columns, "columns"));
  QuantisedMatrix part = matrix;
  part.first_row += rows.begin;
  part.first_column += columns.begin;
  part.rows = rows.end - rows.begin;
  part.columns = columns.end - columns.begin;
  return part;
}

namespace {

uint8_t nearestCode(CodeType type, float value) {
  const auto whole = [value](float least, float most) {
    return std::isnan(value) ? 0.0f : std::nearbyint(std::clamp(value, least, most));
  };
  switch (type) {
    case CodeType::kU4:
      return static_cast<uint8_t>(whole(0, 15));
    case CodeType::kU8:
      return static_cast<uint8_t>(whole(0, 255));
    case CodeType::kI8:
      return static_cast<uint8_t>(static_cast<int8_t>(whole(-128, 127)));
    case CodeType::kF8E4M3:
      return f8E4M3FromFloatSaturating(value);
    case CodeType::kF4E2M1:
      return f4E2M1FromFloat(value);
  }
  return 0;
}

}  // namespace

Result<std::vector<std::byte>> packValues(const QuantisedMatrix& like, std::span<const float> values) {
  if (static_cast<int64_t>(values.size()) != like.codes.rows * like.codes.columns) {
    return inputError("pack: {} values for a matrix of {}x{}", values.size(), like.codes.rows,
                      like.codes.columns);
  }
  std::vector<uint8_t> codes(values.size());
  RowScales scales;
  for (int64_t row = 0; row < like.codes.rows; ++row) {
    scales.read(like, row);
    for (int64_t column = 0; column < like.codes.columns; ++column) {
      const size_t at = static_cast<size_t>(row * like.codes.columns + column);
      const size_t group = static_cast<size_t>(groupOf(like, column));
      const float scale = scales.scale[group];
      const float units = scale == 0.0f ? 0.0f : values[at] / scale;
      // A float's -0 has a code of its own, which adding a zero point of 0 would lose.
      const float zero = scales.zero[group];
      codes[at] = nearestCode(like.codes.type, zero == 0.0f ? units : units + zero);
    }
  }
  return packCodes(like.codes, codes);
}

Result<std::vector<std::byte>> packZeros(const QuantisedMatrix& like, std::span<const int> zeros) {
  if (!like.zeros) return inputError("zero points: {} stores none", like.method);
  const bool is_signed = like.zeros->type == CodeType::kI8;
  const int bits = bitsOf(like.zeros->type);
  const int least = is_signed ? -128 : 0, most = is_signed ? 127 : (1 << bits) - 1;
  std::vector<uint8_t> codes;
  for (const int zero : zeros) {
    const int64_t stored = int64_t{zero} - like.zero_offset;
    if (stored < least || stored > most) {
      return inputError("zero points: {} is stored as {}, which is not from {} to {}", zero, stored, least,
                        most)
          .hint("a form that stores zero points as they are holds it (gptq_v2)");
    }
    codes.push_back(static_cast<uint8_t>(stored));
  }
  return packCodes(*like.zeros, codes);
}

std::string describe(const QuantisedMatrix& m) {
  std::string text = fmt::format("{}, a {} scale for {}x{}", name(m.codes.type), info(m.scales.packing).name,
                                 m.block_rows, m.block_columns);
  if (m.global_scale != 1.0f || m.divide_by_global) text += " under a global one";
  if (m.zeros) text += ", zero points stored";
  if (!m.group_of_column.empty()) text += ", columns in groups of their own";
  if (m.input_scheme == InputScheme::kDynamic) text += ", inputs quantised as they come";
  if (m.input_scheme == InputScheme::kStatic) text += ", inputs quantised by a stored scale";
  return text;
}

}  // namespace sublane::formats
