// Codes in bytes and words: where each lies, and back.
#include <algorithm>

#include "formats/quantised.h"
#include "formats/tiny_float.h"
#include "formats/unpack.h"

namespace sublane::formats {
namespace {

constexpr int64_t kMost = int64_t{1} << 62;

bool inWords(CodeOrder order) { return order >= CodeOrder::kWordsAlongColumns; }

int64_t ceilDiv(int64_t value, int64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

// Where a code is: the index of its byte or word, and how far up in it.
struct Place {
  int64_t unit;
  int shift;
};

Place placeOf(const CodeArray& codes, int64_t row, int64_t column) {
  constexpr int kAwqSlot[8] = {0, 4, 1, 5, 2, 6, 3, 7};  // of rows 0..7
  const int bits = bitsOf(codes.type);
  const int64_t n = 32 / bits;
  const auto slot = [&](int64_t index) { return static_cast<int>(index % n) * bits; };
  switch (codes.order) {
    case CodeOrder::kBytes:
      return {row * codes.columns + column, 0};
    case CodeOrder::kNibbles:
      return {row * (codes.columns / 2) + column / 2, static_cast<int>(column % 2) * 4};
    case CodeOrder::kWordsAlongColumns:
      return {row * ceilDiv(codes.columns, n) + column / n, slot(column)};
    case CodeOrder::kWordsAlongRows:
      return {row / n * codes.columns + column, slot(row)};
    case CodeOrder::kGptqWeights:
      return {column / n * codes.rows + row, slot(column)};
    case CodeOrder::kGptqZeros:
      return {column * (codes.rows / n) + row / n, slot(row)};
    case CodeOrder::kAwq:
      return {column * (codes.rows / 8) + row / 8, 4 * kAwqSlot[row % 8]};
  }
  return {0, 0};
}

Status checkFills(int64_t size, int64_t n, std::string_view what) {
  if (size % n == 0) return Ok{};
  return inputError("{} {} do not fill whole words or bytes of {} codes", size, what, n);
}

}  // namespace

int bitsOf(CodeType type) { return type == CodeType::kU4 || type == CodeType::kF4E2M1 ? 4 : 8; }

std::string_view name(CodeType type) {
  static constexpr std::string_view kNames[] = {"u4", "u8", "i8", "f8e4m3", "f4e2m1"};
  return kNames[static_cast<size_t>(type)];
}

float valueOf(CodeType type, uint8_t code) {
  switch (type) {
    case CodeType::kU4:
    case CodeType::kU8:
      return static_cast<float>(code);
    case CodeType::kI8:
      return static_cast<float>(static_cast<int8_t>(code));
    case CodeType::kF8E4M3:
      return widenF8E4M3(code);
    case CodeType::kF4E2M1:
      return widenF4E2M1(code);
  }
  return 0;
}

Result<int64_t> bytesOf(const CodeArray& codes) {
  const int bits = bitsOf(codes.type);
  const int64_t n = 32 / bits;
  if (codes.rows < 0 || codes.columns < 0 || codes.rows > kMost || codes.columns > kMost)
    return inputError("codes: the shape {}x{} is out of range", codes.rows, codes.columns);
  if ((codes.order == CodeOrder::kBytes && bits != 8) || (codes.order == CodeOrder::kNibbles && bits != 4) ||
      (codes.order == CodeOrder::kAwq && bits != 4)) {
    return inputError("codes of type {} cannot lie in that order", name(codes.type));
  }
  int64_t rows = codes.rows, columns = codes.columns;
  switch (codes.order) {
    case CodeOrder::kBytes:
      break;
    case CodeOrder::kNibbles:
      SUBLANE_CHECK_OK(checkFills(columns, 2, "columns"));
      columns /= 2;
      break;
    case CodeOrder::kWordsAlongColumns:
      columns = ceilDiv(columns, n);
      break;
    case CodeOrder::kWordsAlongRows:
      rows = ceilDiv(rows, n);
      break;
    case CodeOrder::kGptqWeights:
      SUBLANE_CHECK_OK(checkFills(columns, n, "columns"));
      columns /= n;
      break;
    case CodeOrder::kGptqZeros:
    case CodeOrder::kAwq:
      SUBLANE_CHECK_OK(checkFills(rows, n, "rows"));
      rows /= n;
      break;
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &bytes) || bytes > kMost / 4)
    return inputError("codes: the shape {}x{} is out of range", codes.rows, codes.columns);
  return inWords(codes.order) ? 4 * bytes : bytes;
}

uint8_t codeAt(const CodeArray& codes, int64_t row, int64_t column) {
  const Place place = placeOf(codes, row, column);
  const uint32_t unit = inWords(codes.order) ? load<uint32_t>(codes.bytes.data() + 4 * place.unit)
                                             : load<uint8_t>(codes.bytes.data() + place.unit);
  return static_cast<uint8_t>((unit >> place.shift) & ((1u << bitsOf(codes.type)) - 1));
}

namespace {

// Nibbles one after the other from the first byte on: also what words along the columns are, in little
// endian.
void readNibbles(const uint8_t* row, int64_t column, std::span<uint8_t> out) {
  size_t i = 0;
  if (column % 2 != 0 && !out.empty()) out[i++] = row[column / 2] >> 4;
  const uint8_t* from = row + (column + static_cast<int64_t>(i)) / 2;
  for (; i + 1 < out.size(); i += 2, ++from) {
    out[i] = *from & 15;
    out[i + 1] = *from >> 4;
  }
  if (i < out.size()) out[i] = *from & 15;
}

}  // namespace

void readCodes(const CodeArray& codes, int64_t row, int64_t column, std::span<uint8_t> out) {
  const uint8_t* bytes = unsignedBytes(codes.bytes.data());
  const bool nibbles = bitsOf(codes.type) == 4;
  switch (codes.order) {
    case CodeOrder::kBytes:
      if (!out.empty()) std::memcpy(out.data(), bytes + row * codes.columns + column, out.size());
      return;
    case CodeOrder::kNibbles:
      return readNibbles(bytes + row * (codes.columns / 2), column, out);
    case CodeOrder::kWordsAlongColumns: {
      const uint8_t* words = bytes + row * 4 * ceilDiv(codes.columns, nibbles ? 8 : 4);
      if (nibbles) return readNibbles(words, column, out);
      if (!out.empty()) std::memcpy(out.data(), words + column, out.size());
      return;
    }
    case CodeOrder::kAwq: {
      if (out.empty()) return;
      const Place first = placeOf(codes, row, column);
      const uint8_t* from = bytes + 4 * first.unit + first.shift / 8;
      for (size_t i = 0; i < out.size(); ++i, from += codes.rows / 2)
        out[i] = (*from >> (first.shift % 8)) & 15;
      return;
    }
    case CodeOrder::kGptqWeights: {
      const int bits = bitsOf(codes.type);
      const int64_t n = 32 / bits;
      for (size_t i = 0; i < out.size();) {  // a word at a time
        int64_t at = (column + static_cast<int64_t>(i)) % n;
        const int64_t word = (column + static_cast<int64_t>(i)) / n * codes.rows + row;
        const uint32_t shifted = load<uint32_t>(codes.bytes.data() + 4 * word);
        for (; at < n && i < out.size(); ++at, ++i)
          out[i] = static_cast<uint8_t>((shifted >> (at * bits)) & ((1u << bits) - 1));
      }
      return;
    }
    case CodeOrder::kGptqZeros:
    case CodeOrder::kWordsAlongRows:
      for (size_t i = 0; i < out.size(); ++i) out[i] = codeAt(codes, row, column + static_cast<int64_t>(i));
  }
}

namespace {

// Orders that hold a row far apart: a square of codes is gathered column by column, so that each line of
// memory is used while it is near, and then laid out by rows.
constexpr int64_t kSquare = 64;

void readSquare(const CodeArray& codes, Range rows, Range columns, uint8_t* out, int64_t out_columns) {
  uint8_t square[kSquare][kSquare];
  const bool gptq = codes.order == CodeOrder::kGptqWeights;
  const int bits = bitsOf(codes.type);
  const uint8_t mask = static_cast<uint8_t>((1u << bits) - 1);
  const int64_t count = rows.end - rows.begin;
  int64_t byte[kSquare];
  int shift[kSquare];
  for (int64_t i = 0; i < count; ++i) {  // of AWQ's first column
    const Place place = gptq ? Place{rows.begin + i, 0} : placeOf(codes, rows.begin + i, 0);
    byte[i] = 4 * place.unit + place.shift / 8;
    shift[i] = place.shift % 8;
  }
  for (int64_t column = columns.begin; column < columns.end; ++column) {
    uint8_t* to = &square[0][column - columns.begin];
    const uint8_t* from = unsignedBytes(codes.bytes.data());
    if (gptq) {
      const int slot = static_cast<int>(column % (32 / bits)) * bits, up = slot % 8;
      from += column / (32 / bits) * codes.rows * 4 + slot / 8;
      for (int64_t i = 0; i < count; ++i) to[i * kSquare] = (from[byte[i]] >> up) & mask;
    } else {
      from += column * (codes.rows / 2);
      for (int64_t i = 0; i < count; ++i) to[i * kSquare] = (from[byte[i]] >> shift[i]) & mask;
    }
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out + i * out_columns, square[i], static_cast<size_t>(columns.end - columns.begin));
}

}  // namespace

int64_t rowsAtOnce(CodeOrder order) {
  return order == CodeOrder::kAwq || order == CodeOrder::kGptqWeights ? kSquare : 1;
}

void readCodes(const CodeArray& codes, Range rows, int64_t column, std::span<uint8_t> out) {
  if (out.empty()) return;
  const int64_t columns = static_cast<int64_t>(out.size()) / (rows.end - rows.begin);
  const int64_t step = rowsAtOnce(codes.order);
  for (int64_t row = rows.begin; row < rows.end; row += step) {
    uint8_t* to = out.data() + (row - rows.begin) * columns;
    if (step == 1) {
      readCodes(codes, row, column, {to, static_cast<size_t>(columns)});
      continue;
    }
    const Range these{row, std::min(rows.end, row + step)};
    for (int64_t at = 0; at < columns; at += kSquare)
      readSquare(codes, these, {column + at, column + std::min(columns, at + kSquare)}, to + at, columns);
  }
}

Result<std::vector<std::byte>> packCodes(const CodeArray& like, std::span<const uint8_t> codes) {
  SUBLANE_TRY(int64_t bytes, bytesOf(like));
  if (static_cast<int64_t>(codes.size()) != like.rows * like.columns)
    return inputError("pack: {} codes for a matrix of {}x{}", codes.size(), like.rows, like.columns);
  std::vector<std::byte> packed(static_cast<size_t>(bytes));
  const uint32_t mask = (1u << bitsOf(like.type)) - 1;
  const size_t unit_bytes = inWords(like.order) ? 4 : 1;
  for (int64_t row = 0; row < like.rows; ++row) {
    for (int64_t column = 0; column < like.columns; ++column) {
      const uint32_t code = codes[static_cast<size_t>(row * like.columns + column)];
      if (code > mask) return inputError("pack: the code {} has more than {} bits", code, bitsOf(like.type));
      const Place place = placeOf(like, row, column);
      std::byte* unit = packed.data() + static_cast<size_t>(place.unit) * unit_bytes;
      uint32_t word = 0;
      std::memcpy(&word, unit, unit_bytes);
      word |= code << place.shift;
      std::memcpy(unit, &word, unit_bytes);
    }
  }
  return packed;
}

}  // namespace sublane::formats
