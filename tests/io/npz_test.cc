#include "io/npz.h"

#include <gtest/gtest.h>

#include "base/deflate.h"
#include "base/paths.h"

namespace sublane::io {
namespace {

std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

std::string npy(const std::string& head, const std::string& values) {
  return std::string("\x93NUMPY\x01\x00", 8) + little(head.size(), 2) + head + values;
}
std::string npyOf(const std::string& descr, const std::string& shape, const std::string& values) {
  return npy(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", descr, shape), values);
}

struct EntryOptions {
  bool deflate = false, zip64 = false;
  uint16_t flags = 0, method = 0;
  uint32_t crc_change = 0;
};

/// Composes archives as numpy does: every local head with a zip64 field.
class ZipWriter {
 public:
  void add(const std::string& name, const std::string& content, const EntryOptions& options = {}) {
    std::string packed = content;
    if (options.deflate) {
      packed = deflated(content);
      packed = packed.substr(2, packed.size() - 6);
    }
    const int method = options.method != 0 ? options.method : options.deflate ? 8 : 0;
    const std::string crc = little(crc32Of(content) ^ options.crc_change, 4);
    const std::string common = little(options.flags, 2) + little(method, 2) + little(0, 4) + crc;
    const std::string sizes64 = little(content.size(), 8) + little(packed.size(), 8);
    const uint64_t offset = bytes.size();
    bytes += "PK\x03\x04" + little(45, 2) + common + little(~0u, 4) + little(~0u, 4) +
             little(name.size(), 2) + little(20, 2) + name + little(1, 2) + little(16, 2) + sizes64 + packed;
    list_ += "PK\x01\x02" + little(45, 2) + little(45, 2) + common;
    const std::string extra = little(1, 2) + little(24, 2) + sizes64 + little(offset, 8);
    list_ += options.zip64 ? little(~0u, 4) + little(~0u, 4)
                           : little(packed.size(), 4) + little(content.size(), 4);
    list_ += little(name.size(), 2) + little(options.zip64 ? extra.size() : 0, 2) + little(0, 10);
    list_ += options.zip64 ? little(~0u, 4) + name + extra : little(offset, 4) + name;
    ++entries_;
  }
  std::string finish(bool zip64 = false, const std::string& comment = "") {
    const uint64_t offset = bytes.size();
    bytes += list_;
    if (zip64) {
      const uint64_t end = bytes.size();
      bytes += "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
               little(entries_, 8) + little(entries_, 8) + little(list_.size(), 8) + little(offset, 8);
      bytes += "PK\x06\x07" + little(0, 4) + little(end, 8) + little(1, 4);
    }
    bytes += "PK\x05\x06" + little(0, 4) + little(entries_, 2) + little(entries_, 2) +
             little(list_.size(), 4) + little(zip64 ? ~0u : offset, 4) + little(comment.size(), 2) + comment;
    return bytes;
  }
  std::string bytes;

 private:
  std::string list_;
  uint64_t entries_ = 0;
};

std::span<const std::byte> spanOf(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string textOf(const NpyArray& array) {
  return {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()};
}
std::string npyError(const std::string& bytes) { return parseNpy(spanOf(bytes), "f").error().text(); }
std::string npzError(const std::string& bytes) { return parseNpz(spanOf(bytes), "f.npz").error().text(); }

TEST(Npy, HoldsShapeTypeAndValues) {
  Result<NpyArray> array = parseNpy(spanOf(npyOf("<f4", "(2, 1)", "12345678")), "f");
  ASSERT_TRUE(array.ok()) << array.error().text();
  EXPECT_EQ(array->dtype, "<f4");
  EXPECT_EQ(array->element_bytes, 4);
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(textOf(*array), "12345678");
  EXPECT_EQ(describe(*array), "f32[2,1]");
}

TEST(Npy, ScalarsVectorsAndRawTypes) {
  EXPECT_EQ(describe(*parseNpy(spanOf(npyOf("<i4", "()", "abcd")), "f")), "s32[]");
  EXPECT_EQ(describe(*parseNpy(spanOf(npyOf("|V2", "(3,)", "abcdef")), "f")), "V2[3]");
  EXPECT_EQ(describe(*parseNpy(spanOf(npyOf("|b1", "(0, 4)", "")), "f")), "pred[0,4]");
  const std::string head = "{'descr': '<u2', 'fortran_order': True, 'shape': (1,), }";
  EXPECT_TRUE(parseNpy(spanOf(npy(head, "ab")), "f").ok()) << "one dimension lies the same either way";
}

TEST(Npy, WhatIsWrongIsSaid) {
  EXPECT_EQ(npyError("GIF89a"), "f: header: does not begin as a .npy file does");
  EXPECT_EQ(npyError(std::string("\x93NUMPY\x04\x00", 8)),
            "f: header: version 4.0, versions 1 to 3 are known");
  EXPECT_EQ(npyError(npyOf("<f4", "(2,)", "1234567")),
            "f: header: holds 7 bytes of values, its shape and type need 8");
  EXPECT_EQ(npyError(npyOf(">f4", "(1,)", "1234")),
            "f: header: big-endian values (dtype >f4)\n  hint: x.astype(x.dtype.newbyteorder('<'))");
  EXPECT_EQ(
      npyError(npyOf("|O", "(1,)", "1234")),
      "f: header: holds Python objects (dtype |O)\n  hint: save plain arrays: np.asarray(x, dtype=...)");
  EXPECT_EQ(npyError(npyOf("<q", "(1,)", "1234")), "f: header: dtype \"<q\" is not known");
  EXPECT_EQ(npyError(npyOf("<f4", "(2, x)", "")), "f: header: the shape \"(2, x)\" is not understood");
  EXPECT_EQ(npyError(npyOf("<f4", "(4611686018427387904, 4)", "")), "f: header: its shape is too large");
  EXPECT_EQ(npyError(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "")),
            "f: header: its values lie columns first (fortran_order)\n  hint: save np.ascontiguousarray(x)");
  EXPECT_EQ(npyError(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }", "")),
            "f: header: a value has several fields (a structured dtype)\n  hint: save each field as an array "
            "of its own");
  EXPECT_EQ(npyError(npy("{}", "")), "f: header: the head has no \"descr\"");
}

TEST(Npz, StoredAndDeflatedEntriesInTheirOrder) {
  for (const bool zip64 : {false, true}) {
    ZipWriter writer;
    const std::string many(40000, 'a');
    writer.add("b.npy", npyOf("<i4", "(2,)", "12345678"), {.zip64 = zip64});
    writer.add("a.npy", npyOf("|u1", "(40000,)", many), {.deflate = true, .zip64 = zip64});
    const std::string file = writer.finish(zip64, "PK\x05\x06 in a comment");
    Result<std::vector<NpyArray>> arrays = parseNpz(spanOf(file), "f.npz");
    ASSERT_TRUE(arrays.ok()) << arrays.error().text();
    ASSERT_EQ(arrays->size(), 2u);
    EXPECT_EQ((*arrays)[0].name, "b");
    EXPECT_EQ(textOf((*arrays)[0]), "12345678");
    EXPECT_EQ((*arrays)[1].name, "a");
    EXPECT_EQ(textOf((*arrays)[1]), many);
  }
  EXPECT_TRUE(parseNpz(spanOf(ZipWriter().finish()), "f")->empty());
}

TEST(Npz, WhatIsWrongIsSaid) {
  EXPECT_EQ(npzError("not a zip file at all, but long enough"),
            "f.npz: not an .npz file: it has no list of entries at its end (38 bytes)\n"
            "  hint: np.savez(file, arg0=x, arg1=y) writes one");
  const std::string array = npyOf("<i4", "(1,)", "1234");
  const auto one = [&](const EntryOptions& options) {
    ZipWriter writer;
    writer.add("x.npy", array, options);
    return writer.finish();
  };
  EXPECT_EQ(npzError(one({.flags = 1})), "f.npz: x.npy: it is encrypted");
  EXPECT_EQ(npzError(one({.method = 14})),
            "f.npz: x.npy: packed by method 14; stored (0) and deflated (8) are read\n"
            "  hint: np.savez or np.savez_compressed writes such");
  EXPECT_NE(npzError(one({.method = 8})).find("f.npz: x.npy: packed bytes: "), std::string::npos);
  const uint32_t crc = crc32Of(array);
  EXPECT_EQ(
      npzError(one({.crc_change = 1})),
      fmt::format("f.npz: x.npy: checksum {:08x}, the list says {:08x}: the file is damaged", crc, crc ^ 1));
  ZipWriter twice;
  twice.add("x.npy", array);
  twice.add("x", array);
  EXPECT_EQ(npzError(twice.finish()), "f.npz: two entries are called \"x\"");
  ZipWriter inner;
  inner.add("x.npy", "GIF89a");
  EXPECT_EQ(npzError(inner.finish()), "f.npz: x.npy: header: does not begin as a .npy file does");
}

TEST(Npz, CutFilesAreErrorsNeverCrashes) {
  ZipWriter writer;
  writer.add("x.npy", npyOf("<i4", "(2,)", "12345678"), {.deflate = true, .zip64 = true});
  const std::string file = writer.finish(true);
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(parseNpz(spanOf(file.substr(0, size)), "f").ok()) << size;
    EXPECT_FALSE(parseNpz(spanOf(file.substr(size + 1)), "f").ok()) << size;
  }
}

TEST(Npz, WhatIsWrittenIsReadBack) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/x.npz";
  std::vector<NpyArray> arrays(3);
  arrays[0] = {"a", "<f4", 4, {2, 3}, std::vector<std::byte>(24, std::byte{7})};
  arrays[1] = {"b", "|V2", 2, {5}, std::vector<std::byte>(10, std::byte{9})};
  arrays[2] = {"c", "<i4", 4, {}, std::vector<std::byte>(4, std::byte{1})};
  ASSERT_TRUE(writeNpz(path, arrays).ok());
  Result<std::vector<NpyArray>> back = readNpz(path);
  ASSERT_TRUE(back.ok()) << back.error().text();
  ASSERT_EQ(back->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*back)[i].name, arrays[i].name);
    EXPECT_EQ((*back)[i].dtype, arrays[i].dtype);
    EXPECT_EQ((*back)[i].shape, arrays[i].shape);
    EXPECT_EQ((*back)[i].bytes, arrays[i].bytes);
  }
}

TEST(Npz, MissingFileIsNamed) {
  EXPECT_NE(readNpz("/no/such/inputs.npz").error().message().find("/no/such/inputs.npz"), std::string::npos);
}

}  // namespace
}  // namespace sublane::io
