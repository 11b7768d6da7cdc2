#include "base/mapped_file.h"
#include "base/text.h"
#include "io/gguf.h"
#include "io/gguf_parts.h"

namespace sublane::io {
namespace {

struct Counts {
  uint64_t tensors = 0, keys = 0;
};

Error notGguf(const ByteReader& reader, std::string_view magic) {
  Error error = reader.error("not a GGUF file: it starts with {}, not \"GGUF\"", inQuotes(magic));
  if (magic == "vers")
    return std::move(error).hint("this may be a Git LFS pointer: fetch the file that it names");
  if (magic == "FUGG") return std::move(error).hint("big-endian GGUF is not supported: convert the file");
  if (magic.substr(0, 2) == "PK") return std::move(error).hint("this is a zip archive: unpack it");
  return std::move(error).hint("give a .gguf file, or a folder that holds one");
}

Result<Counts> readHeader(ByteReader& reader) {
  SUBLANE_TRY(std::span<const std::byte> magic_bytes, reader.take(4, "the magic"));
  std::string_view magic(reinterpret_cast<const char*>(magic_bytes.data()), 4);
  if (magic != "GGUF") return notGguf(reader, magic);
  SUBLANE_TRY(uint32_t version, reader.read<uint32_t>("the version"));
  if (version != 0 && (version & 0xffff) == 0) {
    return reader
        .error("big-endian GGUF is not supported (version {} with its bytes swapped)",
               __builtin_bswap32(version))
        .hint("convert the file to little-endian");
  }
  if (version != 2 && version != 3) {
    return reader.error("GGUF version {} is not supported (2 and 3 are)", version);
  }
  Counts counts;
  SUBLANE_TRY(counts.tensors, reader.read<uint64_t>("the number of tensors"));
  SUBLANE_TRY(counts.keys, reader.read<uint64_t>("the number of metadata keys"));
  // Before any key is read, so that a wild count is named as such.
  SUBLANE_CHECK_OK(reader.expect(counts.tensors, 8 + 4 + 4 + 8, "tensor descriptions"));
  return counts;
}

Result<std::string> architectureOf(const Metadata& metadata, const std::string& source) {
  auto found = metadata.find("general.architecture");
  if (found == metadata.end())
    return inputError("{}: metadata key \"general.architecture\" is missing", source);
  const std::string* name = std::get_if<std::string>(&found->second.value);
  if (!name || name->empty()) {
    return inputError("{}: metadata key \"general.architecture\" is not a name", source);
  }
  return *name;
}

}  // namespace

Result<Checkpoint> parseGguf(std::span<const std::byte> bytes, const std::string& source) {
  ByteReader reader(bytes, source);
  SUBLANE_TRY(Counts counts, readHeader(reader));
  Checkpoint checkpoint;
  checkpoint.source = source;
  checkpoint.container = Container::kGguf;
  SUBLANE_TRY(checkpoint.metadata, readGgufMetadata(reader, counts.keys));
  SUBLANE_CHECK_OK(refuseSplitGguf(checkpoint.metadata, source));
  SUBLANE_TRY(uint64_t alignment, ggufAlignment(checkpoint.metadata, source));
  SUBLANE_TRY(checkpoint.tensors, readGgufTensors(reader, counts.tensors, alignment, bytes, source));
  SUBLANE_TRY(checkpoint.architecture, architectureOf(checkpoint.metadata, source));
  return checkpoint;
}

Result<Checkpoint> openGguf(const std::string& path) {
  SUBLANE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  SUBLANE_TRY(Checkpoint checkpoint, parseGguf(file->bytes(), path));
  checkpoint.files = {std::move(file)};
  return checkpoint;
}

}  // namespace sublane::io
