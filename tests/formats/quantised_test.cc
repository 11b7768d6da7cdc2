// Matrices in parts: where codes lie, which scale a value has, and what happens at the edges of blocks. The
// public reports' cases 32, 34, 35 and 37.
#include "formats/quantised.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace sublane::formats {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytesOfValues(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<uint32_t> words(const Bytes& bytes) {
  std::vector<uint32_t> result(bytes.size() / 4);
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

Bytes pack(CodeType type, CodeOrder order, int64_t rows, int64_t columns, const std::vector<uint8_t>& codes) {
  auto packed = packCodes({type, order, rows, columns, {}}, codes);
  EXPECT_TRUE(packed.ok()) << (packed.ok() ? "" : packed.error().text());
  return packed.ok() ? *packed : Bytes{};
}

// A matrix with bytes of its own.
struct Stored {
  Bytes codes, scales, zeros, groups;
  QuantisedMatrix matrix;

  Stored(CodeType type, CodeOrder order, int64_t rows, int64_t columns, Bytes code_bytes)
      : codes(std::move(code_bytes)) {
    matrix.method = "test";
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.codes = {type, order, rows, columns, codes};
  }
  Stored& blocks(int64_t rows, int64_t columns, const std::vector<float>& values, bool transposed = false) {
    scales = bytesOfValues(values);
    matrix.block_rows = rows;
    matrix.block_columns = columns;
    matrix.scales = {Packing::kF32, transposed, (matrix.rows + rows - 1) / rows,
                     (matrix.columns + columns - 1) / columns, scales};
    return *this;
  }
};

std::vector<float> valuesOf(const QuantisedMatrix& matrix) {
  EXPECT_TRUE(verify(matrix).ok()) << verify(matrix).error().text();
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.columns));
  const Status status = dequantize(matrix, {0, matrix.rows}, values);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return values;
}

std::vector<uint8_t> someCodes(int64_t count, uint32_t below, uint32_t seed = 7) {
  std::mt19937 random(seed);
  std::vector<uint8_t> codes(static_cast<size_t>(count));
  for (uint8_t& code : codes) code = static_cast<uint8_t>(random() % below);
  return codes;
}

// Case 35: eight columns that hold 0..7 in one word.
TEST(Case35, WordsByTheirOrder) {
  const std::vector<uint8_t> counting = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kWordsAlongColumns, 1, 8, counting))[0], 0x76543210u);
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kGptqWeights, 1, 8, counting))[0], 0x76543210u);
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kGptqZeros, 8, 1, counting))[0], 0x76543210u);
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kWordsAlongRows, 8, 1, counting))[0], 0x76543210u);
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kAwq, 8, 1, counting))[0], 0x75316420u);
}

// GPTQ packs along inputs, AWQ along outputs: a matrix of 8 by 8 whose code is its row, then its column.
TEST(Case35, DirectionOfPacking) {
  std::vector<uint8_t> by_row(64), by_column(64);
  for (size_t i = 0; i < 64; ++i)
    by_row[i] = static_cast<uint8_t>(i / 8), by_column[i] = static_cast<uint8_t>(i % 8);
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kGptqWeights, 8, 8, by_column)),
            std::vector<uint32_t>(8, 0x76543210u));
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kGptqWeights, 8, 8, by_row))[3], 0x33333333u);
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kAwq, 8, 8, by_row)), std::vector<uint32_t>(8, 0x75316420u));
  EXPECT_EQ(words(pack(CodeType::kU4, CodeOrder::kAwq, 8, 8, by_column))[3], 0x33333333u);
}

// All 256 bytes, and an odd number of columns, whose last word is not full.
TEST(Case35, NibblesOfEveryByte) {
  Bytes bytes(256);
  for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::byte>(i);
  const CodeArray codes{CodeType::kF4E2M1, CodeOrder::kNibbles, 1, 512, bytes};
  for (int64_t i = 0; i < 256; ++i) {
    EXPECT_EQ(codeAt(codes, 0, 2 * i), i & 15);
    EXPECT_EQ(codeAt(codes, 0, 2 * i + 1), i >> 4);
  }
  const std::vector<uint8_t> odd = someCodes(3 * 13, 16);
  const Bytes packed = pack(CodeType::kU4, CodeOrder::kWordsAlongColumns, 3, 13, odd);
  ASSERT_EQ(packed.size(), 3u * 2 * 4);
  const CodeArray back{CodeType::kU4, CodeOrder::kWordsAlongColumns, 3, 13, packed};
  for (int64_t i = 0; i < 39; ++i) EXPECT_EQ(codeAt(back, i / 13, i % 13), odd[static_cast<size_t>(i)]);
}

// The reader of rows equals the reader of one code, from every column on.
TEST(Codes, RowsEqualSingleCodes) {
  const std::pair<CodeType, CodeOrder> kOrders[] = {{CodeType::kU8, CodeOrder::kBytes},
                                                    {CodeType::kF4E2M1, CodeOrder::kNibbles},
                                                    {CodeType::kU4, CodeOrder::kWordsAlongColumns},
                                                    {CodeType::kU8, CodeOrder::kWordsAlongColumns},
                                                    {CodeType::kU4, CodeOrder::kWordsAlongRows},
                                                    {CodeType::kU4, CodeOrder::kGptqWeights},
                                                    {CodeType::kU8, CodeOrder::kGptqWeights},
                                                    {CodeType::kU4, CodeOrder::kGptqZeros},
                                                    {CodeType::kU8, CodeOrder::kGptqZeros},
                                                    {CodeType::kU4, CodeOrder::kAwq}};
  for (const auto& [type, order] : kOrders) {
    const std::vector<uint8_t> codes = someCodes(16 * 24, 1u << bitsOf(type));
    const Bytes packed = pack(type, order, 16, 24, codes);
    const CodeArray array{type, order, 16, 24, packed};
    for (int64_t row = 0; row < 16; ++row) {
      for (int64_t from = 0; from < 24; ++from) {
        for (const size_t count : {size_t{0}, size_t{1}, static_cast<size_t>(24 - from)}) {
          std::vector<uint8_t> read(count);
          readCodes(array, row, from, read);
          for (size_t i = 0; i < count; ++i)
            ASSERT_EQ(read[i], codes[static_cast<size_t>(row * 24 + from) + i]) << static_cast<int>(order);
        }
      }
    }
  }
}

TEST(Codes, RefusesWhatDoesNotFit) {
  EXPECT_EQ(bytesOf({CodeType::kU4, CodeOrder::kAwq, 12, 8, {}}).error().text(),
            "12 rows do not fill whole words or bytes of 8 codes");
  EXPECT_EQ(bytesOf({CodeType::kU4, CodeOrder::kBytes, 8, 8, {}}).error().text(),
            "codes of type u4 cannot lie in that order");
  EXPECT_EQ(
      bytesOf({CodeType::kU8, CodeOrder::kBytes, int64_t{1} << 40, int64_t{1} << 40, {}}).error().text(),
      "codes: the shape 1099511627776x1099511627776 is out of range");
  EXPECT_EQ(packCodes({CodeType::kU4, CodeOrder::kAwq, 8, 1, {}}, std::vector<uint8_t>(8, 16)).error().text(),
            "pack: the code 16 has more than 4 bits");
}

Stored f8Blocks(int64_t rows, int64_t columns, int64_t block) {
  Stored stored(CodeType::kF8E4M3, CodeOrder::kBytes, rows, columns,
                Bytes(static_cast<size_t>(rows * columns), std::byte{0x38}));  // 1.0
  std::vector<float> scales(
      static_cast<size_t>(((rows + block - 1) / block) * ((columns + block - 1) / block)));
  std::iota(scales.begin(), scales.end(), 0.0f);
  stored.blocks(block, block, scales);
  return stored;
}

// Case 32: the last block is partial; the scale of row r is that of floor(r / 128), not of 1000 / 8 rows.
TEST(Case32, PartialLastBlock) {
  const Stored stored = f8Blocks(1000, 640, 128);
  const std::vector<float> values = valuesOf(stored.matrix);
  const std::pair<int64_t, float> kBlockOfRow[] = {{0, 0}, {125, 0}, {127, 0}, {128, 1}, {999, 7}};
  for (const auto& [row, block] : kBlockOfRow) {
    for (const int64_t column : {0, 127, 128, 639})
      EXPECT_EQ(values[static_cast<size_t>(row * 640 + column)], block * 5 + static_cast<float>(column / 128))
          << row;
  }
}

TEST(Case32, BlockLargerThanTheMatrix) {
  const Stored stored = f8Blocks(96, 96, 128);
  EXPECT_EQ(stored.matrix.scales.rows, 1);
  EXPECT_EQ(valuesOf(stored.matrix), std::vector<float>(96 * 96, 0.0f));
}

TEST(Case32, ScalesForTensorAndForRows) {
  const Bytes ones(12, std::byte{0x38});
  Stored one(CodeType::kF8E4M3, CodeOrder::kBytes, 3, 4, ones);
  one.blocks(3, 4, {0.5f});
  EXPECT_EQ(valuesOf(one.matrix), std::vector<float>(12, 0.5f));
  Stored rows(CodeType::kF8E4M3, CodeOrder::kBytes, 3, 4, ones);
  rows.blocks(1, 4, {1, 2, 3});
  EXPECT_EQ(valuesOf(rows.matrix), (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
}

// Case 32: products in float32 of float32 scales, whatever type the rest of the model has.
TEST(Case32, ScalesAreNotRounded) {
  Stored stored(CodeType::kF8E4M3, CodeOrder::kBytes, 1, 1, Bytes(1, std::byte{0x39}));  // 1.125
  stored.blocks(1, 1, {0.1f});
  EXPECT_EQ(valuesOf(stored.matrix)[0], 1.125f * 0.1f);
}

QuantisedMatrix withZeros(Stored& stored, const std::vector<uint8_t>& zeros, int offset) {
  const CodeArray shape{
      CodeType::kU4, CodeOrder::kGptqZeros, stored.matrix.rows, stored.matrix.scales.columns, {}};
  auto packed = packCodes(shape, zeros);
  EXPECT_TRUE(packed.ok());
  stored.zeros = *packed;
  stored.matrix.zeros = shape;
  stored.matrix.zeros->bytes = stored.zeros;
  stored.matrix.zero_offset = offset;
  return stored.matrix;
}

// Case 34: codes all 8, scale 1. The first version stores 7 and the second 8 for the zero point 8.
TEST(Case34, BothVersionsOfGptq) {
  Stored stored(CodeType::kU4, CodeOrder::kGptqWeights, 8, 8, Bytes(32, std::byte{0x88}));
  stored.blocks(1, 8, std::vector<float>(8, 1.0f), true);
  EXPECT_EQ(valuesOf(withZeros(stored, std::vector<uint8_t>(8, 7), 1)), std::vector<float>(64, 0.0f));
  EXPECT_EQ(valuesOf(withZeros(stored, std::vector<uint8_t>(8, 8), 0)), std::vector<float>(64, 0.0f));
  EXPECT_EQ(valuesOf(withZeros(stored, std::vector<uint8_t>(8, 0), 0)), std::vector<float>(64, 8.0f));
}

// Case 34: a zero point of 0 cannot be stored as one less, and must not become 15.
TEST(Case34, ZeroMinusOneIsNotFifteen) {
  Stored stored(CodeType::kU4, CodeOrder::kGptqWeights, 8, 8, Bytes(32, std::byte{0x88}));
  stored.blocks(1, 8, std::vector<float>(8, 1.0f), true);
  const QuantisedMatrix first = withZeros(stored, std::vector<uint8_t>(8, 7), 1);
  EXPECT_EQ(packZeros(first, std::vector<int>(8, 8)).value(), stored.zeros);
  EXPECT_EQ(packZeros(first, std::vector<int>(8, 0)).error().text(),
            "zero points: 0 is stored as -1, which is not from 0 to 15\n"
            "  hint: a form that stores zero points as they are holds it (gptq_v2)");
  const QuantisedMatrix second = withZeros(stored, std::vector<uint8_t>(8, 0), 0);
  EXPECT_EQ(packZeros(second, std::vector<int>(8, 0)).value(), Bytes(4));
}

// Case 34: groups out of order: column c has the scale of the group that it names.
TEST(Case34, GroupsOutOfOrder) {
  std::vector<uint8_t> codes(8 * 8, 9);
  Stored stored(CodeType::kU4, CodeOrder::kGptqWeights, 8, 8,
                pack(CodeType::kU4, CodeOrder::kGptqWeights, 8, 8, codes));
  std::vector<float> scales(16);
  for (size_t group = 0; group < 2; ++group)
    for (size_t row = 0; row < 8; ++row) scales[group * 8 + row] = static_cast<float>(10 * group + row);
  stored.blocks(1, 4, scales, true);
  stored.groups = bytesOfValues<int32_t>({1, 0, 0, 1, 1, 0, 1, 0});
  stored.matrix.group_of_column = stored.groups;
  stored.matrix.zero_offset = 8;
  const std::vector<float> values = valuesOf(stored.matrix);
  for (size_t row = 0; row < 8; ++row) {
    const float low = static_cast<float>(row), high = 10.0f + low;
    const std::vector<float> expected = {high, low, low, high, high, low, high, low};
    EXPECT_EQ(std::vector<float>(values.begin() + static_cast<long>(8 * row),
                                 values.begin() + static_cast<long>(8 * row + 8)),
              expected);
  }
}

// Every slice has the values that the whole has there.
void expectSlices(const QuantisedMatrix& matrix, const std::vector<Range>& rows,
                  const std::vector<Range>& columns) {
  const std::vector<float> whole = valuesOf(matrix);
  for (const Range& r : rows) {
    for (const Range& c : columns) {
      auto part = slice(matrix, r, c);
      ASSERT_TRUE(part.ok()) << part.error().text();
      const std::vector<float> values = valuesOf(*part);
      for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
        const int64_t row = r.begin + i / part->columns, column = c.begin + i % part->columns;
        ASSERT_EQ(values[static_cast<size_t>(i)], whole[static_cast<size_t>(row * matrix.columns + column)])
            << row << "," << column;
      }
    }
  }
}

std::vector<Range> cut(int64_t size, int64_t parts) {
  std::vector<Range> ranges;
  for (int64_t i = 0; i < parts; ++i) ranges.push_back({size * i / parts, size * (i + 1) / parts});
  return ranges;
}

// Case 37: W4A16, 256 columns in groups of 64 cut in 2 and 4; 192 columns in 4, which cuts groups in half.
TEST(Case37, SplitThenDequantiseIsDequantiseThenSplit) {
  for (const int64_t columns : {256, 192}) {
    Stored stored(CodeType::kU4, CodeOrder::kWordsAlongColumns, 8, columns,
                  pack(CodeType::kU4, CodeOrder::kWordsAlongColumns, 8, columns, someCodes(8 * columns, 16)));
    std::vector<float> scales(static_cast<size_t>(8 * columns / 64));
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = 0.125f + static_cast<float>(i);
    stored.blocks(1, 64, scales);
    stored.matrix.zero_offset = 8;
    for (const int64_t parts : {1, 2, 4, 3, 7}) expectSlices(stored.matrix, cut(8, 2), cut(columns, parts));
  }
}

// Case 37: eight groups of 1856 rows, blocks of 128: odd groups begin in the middle of a block (1856 = 14.5 *
// 128).
TEST(Case37, RowsThatBeginInABlock) {
  const Stored stored = f8Blocks(8 * 1856, 16, 128);
  EXPECT_EQ(stored.matrix.scales.rows, 116);
  const auto group = slice(stored.matrix, {1856, 2 * 1856}, {0, 16});
  ASSERT_TRUE(group.ok());
  const std::vector<float> values = valuesOf(*group);
  EXPECT_EQ(values[0], 14.0f);
  EXPECT_EQ(values[63 * 16], 14.0f);
  EXPECT_EQ(values[64 * 16], 15.0f);
  expectSlices(stored.matrix, cut(8 * 1856, 8), {{0, 16}, {5, 9}});
}

// Case 37: merged parts keep their scales.
TEST(Case37, MergedPartsKeepTheirScales) {
  const Bytes ones(8, std::byte{0x38});
  Stored gate(CodeType::kF8E4M3, CodeOrder::kBytes, 2, 4, ones),
      up(CodeType::kF8E4M3, CodeOrder::kBytes, 2, 4, ones);
  gate.blocks(2, 4, {3.0f});
  up.blocks(2, 4, {5.0f});
  const std::vector<QuantisedMatrix> merged = {gate.matrix, up.matrix};
  std::vector<float> values(16), middle(8);
  ASSERT_TRUE(dequantize(merged, {0, 4}, values).ok());
  EXPECT_EQ(values, (std::vector<float>{3, 3, 3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 5}));
  ASSERT_TRUE(dequantize(merged, {1, 3}, middle).ok());
  EXPECT_EQ(middle, (std::vector<float>{3, 3, 3, 3, 5, 5, 5, 5}));
  EXPECT_EQ(dequantize(merged, {1, 5}, values).error().text(), "rows 1 to 5 of a matrix that has 4");
}

// Squares of codes are gathered at once: more rows and columns than one of them, from any place.
TEST(Slice, AcrossSquares) {
  for (const auto& [type, order] : {std::pair{CodeType::kU4, CodeOrder::kAwq},
                                    {CodeType::kU4, CodeOrder::kGptqWeights},
                                    {CodeType::kU8, CodeOrder::kGptqWeights}}) {
    const std::vector<uint8_t> codes = someCodes(136 * 152, 1u << bitsOf(type));
    Stored stored(type, order, 136, 152, pack(type, order, 136, 152, codes));
    stored.blocks(136, 152, {1.0f});
    const std::vector<float> values = valuesOf(stored.matrix);
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(codes[i])) << i;
    expectSlices(stored.matrix, {{0, 136}, {1, 66}, {63, 64}, {70, 136}},
                 {{0, 152}, {3, 70}, {65, 152}, {151, 152}});
  }
}

// A slice of a slice, and of a matrix whose columns have groups of their own.
TEST(Slice, OfASlice) {
  Stored stored(CodeType::kU4, CodeOrder::kGptqWeights, 16, 32,
                pack(CodeType::kU4, CodeOrder::kGptqWeights, 16, 32, someCodes(16 * 32, 16)));
  std::vector<float> scales(16 * 4);
  std::iota(scales.begin(), scales.end(), 1.0f);
  stored.blocks(1, 8, scales, true);
  std::vector<int32_t> groups(32);
  for (size_t i = 0; i < 32; ++i) groups[i] = static_cast<int32_t>((i * 5) % 4);
  stored.groups = bytesOfValues(groups);
  stored.matrix.group_of_column = stored.groups;
  expectSlices(stored.matrix, cut(16, 3), cut(32, 5));
  const auto outer = slice(stored.matrix, {4, 12}, {3, 30});
  ASSERT_TRUE(outer.ok());
  expectSlices(*outer, cut(8, 3), cut(27, 4));
  EXPECT_EQ(slice(*outer, {0, 9}, {0, 1}).error().text(), "rows 0 to 9 of a matrix that has 8");
}

// What was unpacked packs into the same bytes, in every order and type.
TEST(RoundTrip, ValuesBackToBytes) {
  const std::pair<CodeType, CodeOrder> kForms[] = {{CodeType::kU4, CodeOrder::kGptqWeights},
                                                   {CodeType::kU8, CodeOrder::kGptqWeights},
                                                   {CodeType::kU4, CodeOrder::kAwq},
                                                   {CodeType::kU4, CodeOrder::kWordsAlongColumns},
                                                   {CodeType::kU8, CodeOrder::kWordsAlongColumns},
                                                   {CodeType::kF4E2M1, CodeOrder::kNibbles},
                                                   {CodeType::kI8, CodeOrder::kBytes},
                                                   {CodeType::kF8E4M3, CodeOrder::kBytes}};
  for (const auto& [type, order] : kForms) {
    std::vector<uint8_t> codes = someCodes(16 * 64, 1u << bitsOf(type));
    if (type == CodeType::kF8E4M3)
      for (uint8_t& code : codes) code = (code & 0x7f) == 0x7f ? 0 : code;  // NaN has many codes
    Stored stored(type, order, 16, 64, pack(type, order, 16, 64, codes));
    std::vector<float> scales(16 * 4);
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = 0.001f * static_cast<float>(i + 1);
    stored.blocks(1, 16, scales);
    if (type == CodeType::kU4 || type == CodeType::kU8) stored.matrix.zero_offset = 1 << (bitsOf(type) - 1);
    const auto packed = packValues(stored.matrix, valuesOf(stored.matrix));
    ASSERT_TRUE(packed.ok()) << packed.error().text();
    EXPECT_EQ(*packed, stored.codes) << name(type) << " in order " << static_cast<int>(order);
  }
}

TEST(RoundTrip, TooLargeSaturates) {
  Stored stored(CodeType::kU4, CodeOrder::kWordsAlongColumns, 1, 8, Bytes(4));
  stored.blocks(1, 8, {1.0f});
  stored.matrix.zero_offset = 8;
  const auto packed =
      packValues(stored.matrix, std::vector<float>{-100, 100, 0, 1.5f, 2.5f, NAN, INFINITY, -8});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(words(*packed)[0], 0x0f0aa8f0u);
}

TEST(Verify, NamesThePartAndBothNumbers) {
  Stored stored = f8Blocks(256, 256, 128);
  QuantisedMatrix wrong = stored.matrix;
  wrong.block_rows = 64;
  EXPECT_EQ(verify(wrong).error().text(), "scales: 2x2, but a matrix of 256x256 in blocks of 64x128 has 4x2");
  wrong = stored.matrix;
  wrong.scales.bytes = wrong.scales.bytes.first(12);
  EXPECT_EQ(verify(wrong).error().text(), "scales: 12 bytes, but 2x2 F32 are 16");
  wrong = stored.matrix;
  wrong.codes.bytes = wrong.codes.bytes.first(100);
  EXPECT_EQ(verify(wrong).error().text(), "codes: 100 bytes, but 256x256 f8e4m3 are 65536");
  wrong = stored.matrix;
  wrong.scales.packing = Packing::kI32;
  EXPECT_EQ(verify(wrong).error().text(), "scales: I32 is not a type of scales");
  wrong = stored.matrix;
  std::vector<int32_t> groups(256, 0);
  groups[17] = 2;
  const Bytes group_bytes = bytesOfValues(groups);
  wrong.group_of_column = group_bytes;
  EXPECT_EQ(verify(wrong).error().text(), "groups of columns: column 17 is in group 2, but there are 2");
  wrong.group_of_column = wrong.group_of_column.first(8);
  EXPECT_EQ(verify(wrong).error().text(), "groups of columns: 8 bytes, but 256 columns need 1024");
  wrong = stored.matrix;
  wrong.rows = 300;
  EXPECT_EQ(verify(wrong).error().text(), "a slice of 300x256 at 0,0 of a matrix of 256x256");
}

TEST(Verify, NvfpScalesHaveAGlobalOne) {
  Stored stored(CodeType::kF4E2M1, CodeOrder::kNibbles, 1, 32, Bytes(16, std::byte{0x22}));  // 1.0
  stored.blocks(1, 16, {0, 0});
  stored.scales = {std::byte{0x40}, std::byte{0x48}};  // 2, 4
  stored.matrix.scales.packing = Packing::kF8_E4M3;
  stored.matrix.scales.bytes = stored.scales;
  stored.matrix.global_scale = 8.0f;
  EXPECT_EQ(valuesOf(stored.matrix)[31], 32.0f);
  stored.matrix.divide_by_global = true;
  EXPECT_EQ(valuesOf(stored.matrix)[0], 0.25f);
  EXPECT_EQ(describe(stored.matrix), "f4e2m1, a F8_E4M3 scale for 1x16 under a global one");
}

}  // namespace
}  // namespace sublane::formats
