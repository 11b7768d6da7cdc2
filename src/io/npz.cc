// The archive around the arrays: the list at its end says where each lies and how large it is.
#include "io/npz.h"

#include <algorithm>
#include <cstring>

#include "base/deflate.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "io/byte_reader.h"

namespace sublane::io {
namespace {

constexpr uint32_t kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50;
constexpr uint32_t kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr size_t kEndBytes = 22, kLocatorBytes = 20, kMostComment = 65535;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint32_t kIn64 = 0xffffffff;  // the number stands in the zip64 field

struct Entry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, offset = 0;
};

struct Directory {
  uint64_t entries = 0, offset = 0;
};

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A reader that stands at `offset`; past the end it can only say that too little is left.
ByteReader readerAt(std::span<const std::byte> bytes, uint64_t offset, const std::string& source,
                    std::string place) {
  ByteReader reader(bytes.subspan(std::min<uint64_t>(offset, bytes.size())), source);
  reader.setPlace(std::move(place));
  return reader;
}

/// Steps over fields that nobody needs.
Status skip(ByteReader& reader, uint64_t count) {
  SUBLANE_TRY(auto ignored, reader.take(count, "the fields"));
  (void)ignored;
  return Ok{};
}

Result<Directory> directory64(std::span<const std::byte> bytes, size_t end, const std::string& source) {
  if (end < kLocatorBytes) return inputError("{}: the zip64 locator is missing", source);
  ByteReader locator = readerAt(bytes, end - kLocatorBytes, source, "zip64 locator");
  SUBLANE_TRY(uint32_t mark, locator.read<uint32_t>("the mark"));
  if (mark != kLocatorMark) return locator.error("it is missing");
  SUBLANE_CHECK_OK(skip(locator, 4));
  SUBLANE_TRY(const uint64_t at, locator.read<uint64_t>("the place"));
  ByteReader reader = readerAt(bytes, at, source, "zip64 end");
  SUBLANE_TRY(mark, reader.read<uint32_t>("the mark"));
  if (mark != kEnd64Mark) return reader.error("it is not where the locator says");
  SUBLANE_CHECK_OK(skip(reader, 8 + 2 + 2 + 4 + 4 + 8));
  Directory directory;
  SUBLANE_TRY(directory.entries, reader.read<uint64_t>("the number of entries"));
  SUBLANE_CHECK_OK(skip(reader, 8));
  SUBLANE_TRY(directory.offset, reader.read<uint64_t>("the list's place"));
  return directory;
}

/// The list's place stands at the end of the file, before a comment of unknown length.
Result<Directory> findDirectory(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view text = textOf(bytes);
  const std::string_view mark("PK\x05\x06", 4);
  const size_t lowest = bytes.size() > kEndBytes + kMostComment ? bytes.size() - kEndBytes - kMostComment : 0;
  const size_t end =
      bytes.size() < kEndBytes ? std::string_view::npos : text.rfind(mark, bytes.size() - kEndBytes);
  if (end == std::string_view::npos || end < lowest) {
    return inputError("{}: not an .npz file: it has no list of entries at its end ({} bytes)", source,
                      bytes.size())
        .hint("np.savez(file, arg0=x, arg1=y) writes one");
  }
  ByteReader reader = readerAt(bytes, end + 10, source, "end of the archive");
  SUBLANE_TRY(const uint16_t entries, reader.read<uint16_t>("the number of entries"));
  SUBLANE_CHECK_OK(skip(reader, 4));
  SUBLANE_TRY(const uint32_t offset, reader.read<uint32_t>("the list's place"));
  if (entries == 0xffff || offset == kIn64) return directory64(bytes, end, source);
  return Directory{entries, offset};
}

/// Numbers that do not fit 32 bits, in this order, only those that are marked so.
Status readExtra(std::span<const std::byte> extra, Entry& entry, const std::string& source) {
  ByteReader reader(extra, source);
  reader.setPlace(escaped(entry.name));
  while (reader.left() >= 4) {
    SUBLANE_TRY(const uint16_t id, reader.read<uint16_t>("an extra field"));
    SUBLANE_TRY(const uint16_t size, reader.read<uint16_t>("an extra field"));
    SUBLANE_TRY(auto field, reader.take(size, "an extra field"));
    if (id != 1) continue;
    ByteReader numbers(field, source);
    numbers.setPlace(escaped(entry.name));
    for (uint64_t* number : {&entry.size, &entry.packed, &entry.offset}) {
      if (*number != kIn64) continue;
      SUBLANE_TRY(*number, numbers.read<uint64_t>("a zip64 number"));
    }
  }
  return Ok{};
}

Result<Entry> readEntry(ByteReader& reader, const std::string& source) {
  SUBLANE_TRY(const uint32_t mark, reader.read<uint32_t>("an entry"));
  if (mark != kEntryMark) return reader.error("an entry does not begin as one");
  Entry entry;
  SUBLANE_CHECK_OK(skip(reader, 4));
  SUBLANE_TRY(entry.flags, reader.read<uint16_t>("an entry"));
  SUBLANE_TRY(entry.method, reader.read<uint16_t>("an entry"));
  SUBLANE_CHECK_OK(skip(reader, 4));
  SUBLANE_TRY(entry.crc, reader.read<uint32_t>("an entry"));
  SUBLANE_TRY(entry.packed, reader.read<uint32_t>("an entry"));
  SUBLANE_TRY(entry.size, reader.read<uint32_t>("an entry"));
  SUBLANE_TRY(const uint16_t name, reader.read<uint16_t>("an entry"));
  SUBLANE_TRY(const uint16_t extra, reader.read<uint16_t>("an entry"));
  SUBLANE_TRY(const uint16_t comment, reader.read<uint16_t>("an entry"));
  SUBLANE_CHECK_OK(skip(reader, 2 + 2 + 4));
  SUBLANE_TRY(entry.offset, reader.read<uint32_t>("an entry"));
  SUBLANE_TRY(auto text, reader.take(name, "an entry's name"));
  entry.name = textOf(text);
  SUBLANE_TRY(auto fields, reader.take(extra, "an entry's extra fields"));
  SUBLANE_CHECK_OK(skip(reader, comment));
  SUBLANE_CHECK_OK(readExtra(fields, entry, source));
  return entry;
}

/// The entry's packed bytes: behind a head of its own, whose name and extra fields may be longer.
Result<std::string_view> packedBytes(std::span<const std::byte> bytes, const Entry& entry,
                                     const std::string& source) {
  ByteReader reader = readerAt(bytes, entry.offset, source, escaped(entry.name));
  SUBLANE_TRY(const uint32_t mark, reader.read<uint32_t>("the entry's head"));
  if (mark != kLocalMark) return reader.error("it is not at byte {}, where the list says", entry.offset);
  SUBLANE_CHECK_OK(skip(reader, 22));
  SUBLANE_TRY(const uint16_t name, reader.read<uint16_t>("the entry's head"));
  SUBLANE_TRY(const uint16_t extra, reader.read<uint16_t>("the entry's head"));
  SUBLANE_CHECK_OK(skip(reader, uint64_t{name} + extra));
  SUBLANE_TRY(auto packed, reader.take(entry.packed, "the entry"));
  return textOf(packed);
}

Result<NpyArray> readArray(std::span<const std::byte> bytes, const Entry& entry, const std::string& source) {
  const std::string where = source + ": " + escaped(entry.name);
  if (entry.flags & 1) return inputError("{}: it is encrypted", where);
  if (entry.method != kStored && entry.method != kDeflated) {
    return inputError("{}: packed by method {}; stored (0) and deflated (8) are read", where, entry.method)
        .hint("np.savez or np.savez_compressed writes such");
  }
  SUBLANE_TRY(std::string_view content, packedBytes(bytes, entry, source));
  std::string unpacked;
  if (entry.method == kDeflated) {
    Result<std::string> inflated_bytes = inflated(content, entry.size, DeflateForm::kRaw);
    if (!inflated_bytes.ok()) return std::move(inflated_bytes).error().at(where);
    unpacked = std::move(*inflated_bytes);
    content = unpacked;
  }
  if (content.size() != entry.size) {
    return inputError("{}: {} bytes, the list says {}", where, content.size(), entry.size);
  }
  if (const uint32_t crc = crc32Of(content); crc != entry.crc) {
    return inputError("{}: checksum {:08x}, the list says {:08x}: the file is damaged", where, crc,
                      entry.crc);
  }
  SUBLANE_TRY(NpyArray array, parseNpy(std::as_bytes(std::span(content)), where));
  array.name = entry.name;
  if (array.name.ends_with(".npy")) array.name.resize(array.name.size() - 4);
  return array;
}

}  // namespace

Result<std::vector<NpyArray>> parseNpz(std::span<const std::byte> bytes, const std::string& source) {
  SUBLANE_TRY(const Directory directory, findDirectory(bytes, source));
  ByteReader reader = readerAt(bytes, directory.offset, source, "list of entries");
  SUBLANE_CHECK_OK(reader.expect(directory.entries, 46, "entries"));
  std::vector<NpyArray> arrays;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    SUBLANE_TRY(const Entry entry, readEntry(reader, source));
    SUBLANE_TRY(NpyArray array, readArray(bytes, entry, source));
    const auto same = [&](const NpyArray& other) { return other.name == array.name; };
    if (std::any_of(arrays.begin(), arrays.end(), same)) {
      return inputError("{}: two entries are called \"{}\"", source, escaped(array.name));
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Result<std::vector<NpyArray>> readNpz(const std::string& path) {
  SUBLANE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  return parseNpz(file->bytes(), path);
}

}  // namespace sublane::io
