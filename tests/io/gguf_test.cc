// What a right GGUF file says, and what is said about a wrong one.
#include "io/gguf.h"

#include <gtest/gtest.h>

#include "base/paths.h"
#include "gguf_writer.h"

namespace sublane::io {
namespace {

using formats::Packing;

std::string errorOf(const std::vector<std::byte>& bytes) {
  Result<Checkpoint> parsed = parseGguf(bytes, "m.gguf");
  return parsed.ok() ? "no error" : parsed.error().text();
}
std::string errorOf(const GgufWriter& writer) { return errorOf(writer.bytes()); }

constexpr const char* kDamaged = "\n  hint: the file is cut short or damaged: fetch or copy it again";

TEST(Gguf, ReadsTensorsInPlace) {
  GgufWriter writer = llamaWriter();
  writer.tensor("a", {32, 2}, kTypeF32, 256).tensor("b", {64, 3, 1}, kTypeQ8_0, 204);
  const std::vector<std::byte> file = writer.bytes();
  for (uint32_t version : {2u, 3u}) {
    writer.version = version;
    const std::vector<std::byte> bytes = writer.bytes();
    Result<Checkpoint> parsed = parseGguf(bytes, "m.gguf");
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_EQ(parsed->architecture, "llama");
    EXPECT_EQ(parsed->source, "m.gguf");
    ASSERT_EQ(parsed->tensors.size(), 2u);
    const Tensor& b = parsed->tensors[1];
    EXPECT_EQ(b.name, "b");
    EXPECT_EQ(b.shape, (std::vector<int64_t>{1, 3, 64}));  // outermost first
    EXPECT_EQ(b.packing, Packing::kQ8_0);
    EXPECT_EQ(b.bytes.size(), 204u);
    EXPECT_EQ(b.bytes.data(), bytes.data() + b.file_offset);
    EXPECT_EQ(b.file_offset % 32, 0u);
    EXPECT_EQ(parsed->find("a"), &parsed->tensors[0]);
  }
}

TEST(Gguf, ReadsEveryMetadataType) {
  GgufWriter writer = llamaWriter();
  writer.key<uint8_t>("u8", kU8, 200).key<int8_t>("i8", kI8, -5).key<uint16_t>("u16", kU16, 65535);
  writer.key<int16_t>("i16", kI16, -300)
      .key<uint32_t>("u32", kU32, 4000000000u)
      .key<int32_t>("i32", kI32, -7);
  writer.key<float>("f32", kF32, 0.5f).key<uint8_t>("bool", kBool, 1).key<uint64_t>("u64", kU64, 1ull << 62);
  writer.key<int64_t>("i64", kI64, -(1ll << 62)).key<double>("f64", kF64, 0.1);
  writer.rawKey("strings", kArray, ByteWriter().put<uint32_t>(kString).put<uint64_t>(2).text("x").text(""));
  writer.rawKey("ints", kArray,
                ByteWriter().put<uint32_t>(kI32).put<uint64_t>(2).put<int32_t>(-1).put<int32_t>(2));
  writer.rawKey("floats", kArray, ByteWriter().put<uint32_t>(kF32).put<uint64_t>(1).put(1.5f));
  writer.rawKey("bools", kArray,
                ByteWriter().put<uint32_t>(kBool).put<uint64_t>(2).put<uint8_t>(0).put<uint8_t>(1));
  writer.rawKey("none", kArray, ByteWriter().put<uint32_t>(kString).put<uint64_t>(0));
  Result<Checkpoint> parsed = parseGguf(writer.bytes(), "m.gguf");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  auto& m = parsed->metadata;
  EXPECT_EQ(std::get<int64_t>(m.at("u8").value), 200);
  EXPECT_EQ(std::get<int64_t>(m.at("i8").value), -5);
  EXPECT_EQ(std::get<int64_t>(m.at("u16").value), 65535);
  EXPECT_EQ(std::get<int64_t>(m.at("i16").value), -300);
  EXPECT_EQ(std::get<int64_t>(m.at("u32").value), 4000000000);
  EXPECT_EQ(std::get<int64_t>(m.at("i32").value), -7);
  EXPECT_EQ(std::get<double>(m.at("f32").value), 0.5);
  EXPECT_EQ(std::get<bool>(m.at("bool").value), true);
  EXPECT_EQ(std::get<int64_t>(m.at("u64").value), int64_t{1} << 62);
  EXPECT_EQ(std::get<int64_t>(m.at("i64").value), -(int64_t{1} << 62));
  EXPECT_EQ(std::get<double>(m.at("f64").value), 0.1);
  EXPECT_EQ(std::get<std::vector<std::string>>(m.at("strings").value), (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(m.at("ints").value), (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(std::get<std::vector<double>>(m.at("floats").value), (std::vector<double>{1.5}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(m.at("bools").value), (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(std::get<std::vector<std::string>>(m.at("none").value).empty());
}

TEST(Gguf, KeepsToItsOwnAlignment) {
  GgufWriter writer = llamaWriter();
  writer.alignment = 64;
  writer.key<uint32_t>("general.alignment", kU32, 64)
      .tensor("a", {1}, kTypeF32, 4)
      .tensor("b", {1}, kTypeF32, 4);
  Result<Checkpoint> parsed = parseGguf(writer.bytes(), "m.gguf");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ(parsed->tensors[0].file_offset % 64, 0u);
  EXPECT_EQ(parsed->tensors[1].file_offset, parsed->tensors[0].file_offset + 64);
}

TEST(GgufError, WrongStart) {
  EXPECT_EQ(errorOf(ByteWriter().raw("PK\x03\x04").put<uint64_t>(0).bytes),
            "m.gguf: header: not a GGUF file: it starts with \"PK\\x03\\x04\", not \"GGUF\"\n"
            "  hint: this is a zip archive: unpack it");
  EXPECT_EQ(errorOf(ByteWriter().raw("version https://git-lfs.github.com/spec/v1\n").bytes),
            "m.gguf: header: not a GGUF file: it starts with \"vers\", not \"GGUF\"\n"
            "  hint: this may be a Git LFS pointer: fetch the file that it names");
  EXPECT_EQ(
      errorOf(ByteWriter().raw("GG").bytes),
      std::string("m.gguf: header: the magic needs 4 bytes at offset 0, but 2 are left of 2") + kDamaged);
  EXPECT_EQ(
      errorOf(ByteWriter().raw("GGUF").put<uint32_t>(3).put<uint64_t>(1).bytes),
      std::string(
          "m.gguf: header: the number of metadata keys needs 8 bytes at offset 16, but 0 are left of 16") +
          kDamaged);
}

TEST(GgufError, VersionAndByteOrder) {
  GgufWriter writer = llamaWriter();
  writer.version = 1;
  EXPECT_EQ(errorOf(writer), "m.gguf: header: GGUF version 1 is not supported (2 and 3 are)");
  writer.version = 4;
  EXPECT_EQ(errorOf(writer), "m.gguf: header: GGUF version 4 is not supported (2 and 3 are)");
  writer.version = __builtin_bswap32(3);
  EXPECT_EQ(errorOf(writer),
            "m.gguf: header: big-endian GGUF is not supported (version 3 with its bytes swapped)\n"
            "  hint: convert the file to little-endian");
}

TEST(GgufError, CountsThatNoFileCouldHold) {
  GgufWriter writer = llamaWriter();
  writer.tensor_count = uint64_t{1} << 60;
  EXPECT_EQ(errorOf(writer),
            std::string("m.gguf: header: 1152921504606846976 tensor descriptions need at least 24 bytes "
                        "each, but 45 are left of 69") +
                kDamaged);
  writer.tensor_count = 0;
  writer.key_count = UINT64_MAX;
  EXPECT_EQ(errorOf(writer),
            std::string("m.gguf: header: 18446744073709551615 metadata keys need at least 13 bytes "
                        "each, but 45 are left of 69") +
                kDamaged);
}

TEST(GgufError, MetadataLengthsBeyondTheFile) {
  GgufWriter name = llamaWriter();
  name.key_count = 2;
  std::vector<std::byte> bytes = name.bytes();
  ByteWriter more;
  more.bytes = bytes;
  more.put<uint64_t>(UINT64_MAX).raw("abcdefghijklmnop");
  EXPECT_EQ(errorOf(more.bytes),
            std::string("m.gguf: metadata key 2 of 2: its name needs 18446744073709551615 bytes at "
                        "offset 77, but 16 are left of 93") +
                kDamaged);
  GgufWriter text = llamaWriter();
  text.rawKey("k", kString, ByteWriter().put<uint64_t>(1000).raw("short"));
  EXPECT_EQ(errorOf(text),
            std::string("m.gguf: metadata key \"k\": its string needs 1000 bytes at offset 90, but 5 are "
                        "left of 95") +
                kDamaged);
  GgufWriter array = llamaWriter();
  array.rawKey("k", kArray, ByteWriter().put<uint32_t>(kU8).put<uint64_t>(uint64_t{1} << 62).raw("abc"));
  EXPECT_EQ(errorOf(array),
            std::string("m.gguf: metadata key \"k\": 4611686018427387904 array elements need at least 1 "
                        "bytes each, but 3 are left of 97") +
                kDamaged);
}

TEST(GgufError, MetadataThatMeansNothing) {
  EXPECT_EQ(errorOf(llamaWriter().rawKey("k", 13, ByteWriter().put(1))),
            "m.gguf: metadata key \"k\": its type is 13, but types go from 0 to 12");
  EXPECT_EQ(errorOf(llamaWriter().rawKey("k", kArray, ByteWriter().put<uint32_t>(99).put<uint64_t>(0))),
            "m.gguf: metadata key \"k\": the type of its elements is 99, but types go from 0 to 12");
  EXPECT_EQ(errorOf(llamaWriter().rawKey("k", kArray, ByteWriter().put<uint32_t>(kArray).put<uint64_t>(1))),
            "m.gguf: metadata key \"k\": an array of arrays is not supported");
  EXPECT_EQ(errorOf(llamaWriter().key<uint8_t>("k", kBool, 2)),
            "m.gguf: metadata key \"k\": its bool is 2, not 0 or 1");
  EXPECT_EQ(errorOf(llamaWriter().key<uint64_t>("k", kU64, uint64_t{1} << 63)),
            "m.gguf: metadata key \"k\": its value 9223372036854775808 is above 2^63 - 1");
  EXPECT_EQ(errorOf(llamaWriter().key("k", "a").key("k", "b")),
            "m.gguf: metadata key \"k\": the key occurs twice");
  EXPECT_EQ(errorOf(GgufWriter()), "m.gguf: metadata key \"general.architecture\" is missing");
  EXPECT_EQ(errorOf(GgufWriter().key<uint32_t>("general.architecture", kU32, 1)),
            "m.gguf: metadata key \"general.architecture\" is not a name");
}

// Public reports, case 16.
TEST(GgufError, Alignment) {
  EXPECT_EQ(errorOf(llamaWriter().key<uint64_t>("general.alignment", kU64, 32)),
            "m.gguf: metadata key \"general.alignment\": its type is u64, not u32");
  EXPECT_EQ(errorOf(llamaWriter().key("general.alignment", "32")),
            "m.gguf: metadata key \"general.alignment\": its type is string, not u32");
  for (uint32_t wrong : {0u, 3u, 4u, 24u, 1u << 31}) {
    EXPECT_EQ(
        errorOf(llamaWriter().key("general.alignment", kU32, wrong)),
        fmt::format("m.gguf: metadata key \"general.alignment\": {} is not a power of two from 8 to 16777216",
                    wrong));
  }
}

TEST(GgufError, ZeroDimensionInA65ByteFile) {
  // Version 3, one tensor "t" of dimensions (1, 0), no metadata: a known division by zero in other readers.
  const std::vector<std::byte> file = GgufWriter().tensorAt("t", {1, 0}, kTypeF32, 0).bytes();
  ASSERT_EQ(file.size(), 65u);
  EXPECT_EQ(errorOf(file), "m.gguf: tensor \"t\": dimension 1 is 0");
}

TEST(GgufError, Dimensions) {
  EXPECT_EQ(errorOf(llamaWriter().tensorAt("t", {1, 1, 1, 1, 1}, kTypeF32, 0)),
            "m.gguf: tensor \"t\": it has 5 dimensions, but at most 4 are allowed");
  ByteWriter wild;
  wild.bytes = GgufWriter().bytes();
  wild.bytes[8] = std::byte{1};  // one tensor
  wild.text("t").put<uint32_t>(UINT32_MAX).put<uint64_t>(0).put<uint64_t>(0);
  EXPECT_EQ(errorOf(wild.bytes),
            "m.gguf: tensor \"t\": it has 4294967295 dimensions, but at most 4 are allowed");
  EXPECT_EQ(errorOf(llamaWriter().tensorAt("t", {uint64_t{1} << 32, uint64_t{1} << 32}, kTypeF32, 0)),
            "m.gguf: tensor \"t\": its shape [4294967296, 4294967296] has more than 2^59 elements");
  EXPECT_EQ(errorOf(llamaWriter().tensorAt("t", {UINT64_MAX}, kTypeF32, 0)),
            "m.gguf: tensor \"t\": its shape [18446744073709551615] has more than 2^59 elements");
  EXPECT_EQ(errorOf(llamaWriter().tensor("t", {48, 2}, kTypeQ8_0, 102)),
            "m.gguf: tensor \"t\": its rows of 48 values are not whole Q8_0 blocks of 32");
}

TEST(GgufError, Types) {
  EXPECT_EQ(errorOf(llamaWriter().tensor("t", {32}, 9999, 4)),
            "m.gguf: tensor \"t\": unknown tensor type 9999");
  EXPECT_EQ(errorOf(llamaWriter().tensor("t", {32}, 4, 4)), "m.gguf: tensor \"t\": unknown tensor type 4");
}

constexpr char kSupported[] =
    "\n  hint: supported: F32, F16, BF16, F64, integers, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, Q8_K, "
    "MXFP4: "
    "take the file in one of these, or requantise from F16";

// Every type that has a published name and is not read is refused by that name.
TEST(GgufError, TypesThatAreNotRead) {
  const std::pair<uint32_t, const char*> kTypes[] = {
      {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"},
      {21, "IQ3_S"},   {22, "IQ2_S"},  {23, "IQ4_XS"},  {29, "IQ1_M"}, {34, "TQ1_0"},
      {35, "TQ2_0"},   {9, "Q8_1"},    {40, "NVFP4"},   {41, "Q1_0"}};
  for (const auto& [type, name] : kTypes) {
    const std::string text = errorOf(llamaWriter().tensor("t", {256}, type, 74));
    EXPECT_TRUE(
        text.starts_with(fmt::format("m.gguf: tensor \"t\": tensor type {} is not supported: ", name)))
        << text;
    EXPECT_TRUE(text.ends_with(kSupported)) << text;
  }
}

TEST(GgufError, OffsetsAndOverlaps) {
  EXPECT_EQ(errorOf(llamaWriter().tensorAt("t", {1}, kTypeF32, 8, std::vector<std::byte>(32))),
            "m.gguf: tensor \"t\": its offset 8 is not a multiple of the alignment 32");
  GgufWriter overlap = llamaWriter();
  overlap.tensor("a", {16}, kTypeF32, 64).tensorAt("b", {8}, kTypeF32, 32);
  EXPECT_EQ(errorOf(overlap),
            "m.gguf: tensor \"b\": starts at byte 192 of the file, inside tensor \"a\", which ends at 224");
  GgufWriter twice = llamaWriter();
  twice.tensor("a", {8}, kTypeF32, 32).tensor("a", {8}, kTypeF32, 32);
  EXPECT_EQ(errorOf(twice), "m.gguf: tensor \"a\": the name occurs twice");
}

TEST(GgufError, CutShort) {
  GgufWriter writer = llamaWriter();
  writer.tensor("a", {32}, kTypeF32, 128).tensor("b", {32}, kTypeF32, 128);
  std::vector<std::byte> file = writer.bytes();
  file.resize(file.size() - 100);
  EXPECT_EQ(errorOf(file),
            std::string("m.gguf: tensor \"b\": needs 128 bytes at offset 128 of the data, which starts at "
                        "byte 160, but the file of 316 bytes holds 28 of them") +
                kDamaged);
  // A length that overflows when the offset is added.
  EXPECT_EQ(
      errorOf(llamaWriter().tensorAt("t", {32}, kTypeF32, UINT64_MAX - 31)),
      std::string(
          "m.gguf: tensor \"t\": needs 128 bytes at offset 18446744073709551584 of the data, which starts "
          "at byte 128, but the file of 102 bytes holds 0 of them") +
          kDamaged);
}

TEST(GgufError, AllFaultsOfTensorsTogether) {
  GgufWriter writer = llamaWriter();
  writer.tensor("good", {8}, kTypeF32, 32)
      .tensor("zero", {0}, kTypeF32, 32)
      .tensor("odd", {33}, kTypeQ4_0, 32);
  writer.tensor("new", {256}, 17, 136);
  EXPECT_EQ(
      errorOf(writer),
      "m.gguf: 3 faults in the tensors:\n"
      "  tensor \"zero\": dimension 0 is 0\n"
      "  tensor \"odd\": its rows of 33 values are not whole Q4_0 blocks of 32\n"
      "  tensor \"new\": tensor type IQ2_XS is not supported: its values come from tables that are not read" +
          std::string(kSupported));
  GgufWriter many = llamaWriter();
  for (int i = 0; i < 300; ++i) many.tensorAt(fmt::format("t{}", i), {0}, kTypeF32, 0);
  const std::string text = errorOf(many);
  EXPECT_NE(text.find("m.gguf: 300 faults in the tensors:\n  tensor \"t0\": "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  and 288 more"), std::string::npos) << text;
}

TEST(GgufError, NamesAreMadeSafeToPrint) {
  EXPECT_EQ(errorOf(llamaWriter().tensor("a\x1b[2J\n", {0}, kTypeF32, 0)),
            "m.gguf: tensor \"a\\x1b[2J\\x0a\": dimension 0 is 0");
}

GgufWriter partWriter(uint16_t part, uint16_t parts) {
  GgufWriter writer;  // parts after the first have no architecture
  writer.key<uint16_t>("split.no", kU16, part).key<uint16_t>("split.count", kU16, parts);
  writer.key<int32_t>("split.tensors.count", kI32, 9);
  return writer;
}

// Public reports, case 17.
TEST(Case17, PartsAreRefusedByTheirNumber) {
  EXPECT_EQ(errorOf(partWriter(1, 3)),
            "m.gguf: part 2 of 3; splits are refused\n"
            "  hint: join them: llama-gguf-split --merge FIRST-PART OUT.gguf");
  EXPECT_EQ(errorOf(partWriter(3, 3)),
            "m.gguf: part 4 of a GGUF that is split in 3 (split.no counts from 0)");
  GgufWriter older;
  older.key<uint16_t>("general.split_count", kU16, 2);
  EXPECT_TRUE(errorOf(older).starts_with("m.gguf: part 1 of 2; splits are refused"));
  GgufWriter text;
  text.key("split.count", "3");
  EXPECT_EQ(errorOf(text), "m.gguf: metadata key \"split.count\" is not a number");
  GgufWriter whole = llamaWriter();
  whole.key<uint16_t>("split.no", kU16, 0).key<uint16_t>("split.count", kU16, 1);
  EXPECT_EQ(errorOf(whole), "no error");
}

TEST(Case17, PartsBesideAreNamed) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.ok());
  const auto write = [&](const std::string& name, uint16_t part, uint16_t parts) {
    const std::vector<std::byte> bytes = partWriter(part, parts).bytes();
    const std::string path = folder->path() + "/" + name;
    EXPECT_TRUE(writeFileAtomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ok());
    return path;
  };
  const auto openError = [](const std::string& path) {
    Result<Checkpoint> opened = openGguf(path);
    return opened.ok() ? "no error" : opened.error().text();
  };
  const std::string first = write("m-00001-of-00003.gguf", 0, 3),
                    third = write("m-00003-of-00003.gguf", 2, 3);
  const std::string hint = "\n  hint: join them: llama-gguf-split --merge " + first + " OUT.gguf";
  EXPECT_EQ(openError(third), third +
                                  ": part 3 of 3; splits are refused; 2 of 3 parts are there, missing: "
                                  "m-00002-of-00003.gguf" +
                                  hint);
  write("m-00002-of-00003.gguf", 1, 3);
  EXPECT_EQ(openError(first), first + ": part 1 of 3; splits are refused; all 3 parts are there" + hint);
  const std::string renamed = write("m-00001-of-00002.gguf", 1, 3);
  EXPECT_EQ(openError(renamed), renamed +
                                    ": named as part 1 of 2, but its keys say part 2 of 3\n"
                                    "  hint: give the parts back the names that they were split into");
}

// Every prefix of a good file is refused, and none of them is read beyond its end (the sanitizer build sees
// it).
TEST(GgufError, EveryPrefixIsRefused) {
  GgufWriter writer = llamaWriter();
  writer.rawKey("k", kArray, ByteWriter().put<uint32_t>(kString).put<uint64_t>(2).text("x").text("y"));
  writer.tensor("a", {32}, kTypeQ8_0, 34);
  const std::vector<std::byte> whole = writer.bytes();
  ASSERT_EQ(errorOf(whole), "no error");
  const size_t end_of_data = whole.size() - 30;  // 34 bytes padded to 64
  for (size_t size = 0; size < end_of_data; ++size) {
    std::vector<std::byte> prefix(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    ASSERT_NE(errorOf(prefix), "no error") << size;
  }
}

}  // namespace
}  // namespace sublane::io
