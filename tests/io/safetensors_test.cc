// The safetensors reader: what the format's own library takes is taken, and nothing else (case 14).
#include "io/safetensors.h"

#include <gtest/gtest.h>

#include "safetensors_writer.h"

namespace sublane::io {
namespace {

std::span<const std::byte> bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string errorOf(const std::string& file) {
  Result<Safetensors> parsed = parseSafetensors(bytesOf(file), "m.safetensors");
  return parsed.ok() ? "no error" : parsed.error().text();
}

TEST(Safetensors, TensorsPointIntoTheFile) {
  const std::string file = SafetensorsWriter{.metadata = R"({"format":"pt"})"}
                               .tensor("b", "F32", "[2,3]", 24)
                               .tensor("a", "BF16", "[4]", 8)
                               .tensor("scalar", "I64", "[]", 8)
                               .tensor("nothing", "F16", "[0,5]", 0)
                               .bytes();
  Result<Safetensors> parsed = parseSafetensors(bytesOf(file), "m");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ(parsed->metadata.at("format"), "pt");
  ASSERT_EQ(parsed->tensors.size(), 4u);
  const Tensor& b = parsed->tensors[0];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(b.packing, formats::Packing::kF32);
  EXPECT_EQ(b.bytes.data(), bytesOf(file).data() + b.file_offset);
  EXPECT_EQ(static_cast<int>(parsed->tensors[1].bytes[0]), 24);
  EXPECT_EQ(parsed->tensors[2].shape, std::vector<int64_t>{});
  EXPECT_EQ(parsed->tensors[3].bytes.size(), 0u);
}

TEST(Safetensors, EveryDtypeHasItsSize) {
  for (auto [dtype, bytes] : std::initializer_list<std::pair<const char*, size_t>>{{"F64", 64},
                                                                                   {"F32", 32},
                                                                                   {"F16", 16},
                                                                                   {"BF16", 16},
                                                                                   {"F8_E4M3", 8},
                                                                                   {"F8_E5M2", 8},
                                                                                   {"F8_E8M0", 8},
                                                                                   {"F4", 4},
                                                                                   {"I64", 64},
                                                                                   {"I32", 32},
                                                                                   {"I16", 16},
                                                                                   {"I8", 8},
                                                                                   {"U64", 64},
                                                                                   {"U32", 32},
                                                                                   {"U16", 16},
                                                                                   {"U8", 8},
                                                                                   {"BOOL", 8}}) {
    const std::string right = SafetensorsWriter{}.tensor("t", dtype, "[2,4]", bytes).bytes();
    EXPECT_EQ(errorOf(right), "no error") << dtype;
    const std::string wrong = SafetensorsWriter{}.tensor("t", dtype, "[2,4]", bytes + 4).bytes();
    EXPECT_NE(errorOf(wrong).find(fmt::format("is {} bytes, but its data_offsets", bytes)), std::string::npos)
        << dtype;
  }
}

// The fault was a prefetch of 100,000 bytes that forgot the 8 bytes before the header.
TEST(Safetensors, HeadersAroundAPrefetchParse) {
  for (size_t bytes : {99'993, 99'994, 100'000, 100'001}) {
    const std::string file = SafetensorsWriter{}.tensor("t", "F32", "[1]", 4).bytes(bytes);
    EXPECT_EQ(errorOf(file), "no error") << bytes;
    EXPECT_EQ(file.size(), 8 + bytes + 4);
  }
}

TEST(Safetensors, HeaderLengths) {
  const std::string tail(64, ' ');
  EXPECT_EQ(
      errorOf(SafetensorsWriter::withLength(tail, uint64_t{1} << 63)),
      "m.safetensors: header: a header of 9223372036854775808 bytes, but at most 100000000 are allowed\n"
      "  hint: this is no safetensors file, or its first bytes are damaged");
  EXPECT_NE(errorOf(SafetensorsWriter::withLength(tail, 100'000'001))
                .find("of 100000001 bytes, but at most 100000000"),
            std::string::npos);
  EXPECT_NE(errorOf(SafetensorsWriter::withLength(tail, 65)).find("65 bytes"), std::string::npos);
  EXPECT_NE(errorOf(SafetensorsWriter::withLength("{}", 2)).find("no error"),
            std::string::npos);  // no tensor at all
  EXPECT_NE(errorOf("1234567").find("header"), std::string::npos);
  EXPECT_NE(errorOf(SafetensorsWriter::withLength("[]", 2)).find("doesn't start with"), std::string::npos);
  EXPECT_NE(errorOf(SafetensorsWriter::withLength("{\"a\":", 5)).find("not valid JSON: line 1"),
            std::string::npos);
  EXPECT_NE(errorOf(SafetensorsWriter::withLength("{\"\xff\":1}", 7)).find("not valid JSON"),
            std::string::npos);
}

TEST(Safetensors, DeepJsonIsRefused) {
  const std::string open = "{\"a\":" + std::string(100'000, '[');
  const std::string deep = open + std::string(100'000, ']') + "}";
  EXPECT_NE(errorOf(SafetensorsWriter::withLength(deep, deep.size())).find("nested more than 64 deep"),
            std::string::npos);
  EXPECT_NE(errorOf(SafetensorsWriter::withLength(open, open.size())).find("not valid JSON"),
            std::string::npos);
}

TEST(Safetensors, OverlapHoleAndTail) {
  SafetensorsWriter overlap;
  overlap.tensor("a", "F32", "[2]", 8).entry("b", "F32", "[1]", 4, 8);
  EXPECT_EQ(errorOf(overlap.bytes()).substr(0, 110).find("m.safetensors: tensor \"b\": starts at byte"), 0u);
  SafetensorsWriter hole;
  hole.tensor("a", "F32", "[1]", 4);
  hole.data += "1234";
  hole.tensor("b", "F32", "[1]", 4);
  EXPECT_NE(errorOf(hole.bytes()).find("but the tensor before it ends at"), std::string::npos);
  SafetensorsWriter tail;
  tail.tensor("a", "F32", "[1]", 4);
  tail.data += "x";
  EXPECT_NE(errorOf(tail.bytes()).find("1 belong to no tensor"), std::string::npos);
  SafetensorsWriter missing_tail;
  missing_tail.tensor("a", "F32", "[2]", 8);
  missing_tail.data.pop_back();
  EXPECT_EQ(errorOf(missing_tail.bytes()),
            "m.safetensors: tensor \"a\": its data_offsets [0, 8] are not within the 7 bytes of data\n"
            "  hint: the file is cut short or damaged: fetch or copy it again");
}

TEST(Safetensors, ShapesAndDtypes) {
  auto error = [](const char* dtype, const char* shape, size_t bytes) {
    return errorOf(SafetensorsWriter{}.tensor("t", dtype, shape, bytes).bytes());
  };
  EXPECT_NE(error("F32", "[4294967296,4294967296]", 8).find("more than 2^59 elements"), std::string::npos);
  EXPECT_NE(error("F32", "[4294967296,4294967296,0]", 0).find("more than 2^59 elements"), std::string::npos);
  EXPECT_NE(error("F32", "[-1]", 4).find("its shape is not an array of whole numbers"), std::string::npos);
  EXPECT_NE(error("F32", "[1.5]", 4).find("its shape is not an array of whole numbers"), std::string::npos);
  EXPECT_NE(error("F4", "[3]", 2).find("3 values of F4 are not whole bytes (2 values a byte)"),
            std::string::npos);
  EXPECT_NE(error("F3", "[1]", 4).find("dtype \"F3\" is not supported\n  hint: supported: F64 F32"),
            std::string::npos);
  EXPECT_NE(error("C64", "[1]", 8).find("dtype \"C64\" is not supported"), std::string::npos);
  EXPECT_NE(error("F32", "[3]", 8).find("F32 [3] is 12 bytes, but its data_offsets [0, 8] are 8"),
            std::string::npos);
}

TEST(Safetensors, Descriptions) {
  auto error = [](const std::string& entries) {
    return errorOf(SafetensorsWriter::withLength("{" + entries + "}", entries.size() + 2));
  };
  EXPECT_NE(error(R"("t":{"dtype":"F32","shape":[0]})").find("has no data_offsets"), std::string::npos);
  EXPECT_NE(error(R"("t":{"dtype":"F32","shape":[0],"data_offsets":[0,0,0]})").find("are 3 numbers, not 2"),
            std::string::npos);
  EXPECT_NE(
      error(R"("t":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"scale":2})").find("a key \"scale\""),
      std::string::npos);
  EXPECT_NE(
      error(R"("t":{"dtype":"F32","dtype":"F32","shape":[0],"data_offsets":[0,0]})").find("has dtype twice"),
      std::string::npos);
  EXPECT_NE(error(R"("t":7)").find("its description is not an object"), std::string::npos);
  const std::string twice = R"("t":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_NE(error(twice + "," + twice).find("the name occurs twice"), std::string::npos);
  EXPECT_NE(error(R"("__metadata__":{"a":1})").find("the value of \"a\" is not a string"), std::string::npos);
  EXPECT_NE(error(R"("__metadata__":[])").find("is not an object of strings"), std::string::npos);
  EXPECT_EQ(error(R"("__metadata__":{"a":"1"})"), "no error");
}

TEST(SafetensorsIndex, SaysWhichFile) {
  auto parsed =
      parseSafetensorsIndex(R"({"metadata":{"total_size":12.0},"weight_map":{"a":"x.safetensors"}})", "i");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ(parsed->file_of.at("a"), "x.safetensors");
  EXPECT_EQ(parsed->total_size, 12);
  EXPECT_EQ(parseSafetensorsIndex("{}", "i").error().text(), "i: \"weight_map\" is not an object");
  EXPECT_EQ(parseSafetensorsIndex(R"({"weight_map":{"a":1}})", "i").error().text(),
            "i: tensor \"a\": its file is not a string");
  EXPECT_EQ(parseSafetensorsIndex(R"({"weight_map":{"a":"x","a":"y"}})", "i").error().text(),
            "i: tensor \"a\" occurs twice");
}

}  // namespace
}  // namespace sublane::io
