#include <iterator>
#include <limits>

#include "base/text.h"
#include "io/gguf_parts.h"

namespace sublane::io {
namespace {

// Value types by their number in the file.
enum class Type : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};
struct TypeInfo {
  std::string_view name;
  uint64_t least_bytes;  // of one value in the file
};
constexpr TypeInfo kTypes[] = {{"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
                               {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 8}, {"array", 12},
                               {"u64", 8}, {"i64", 8}, {"f64", 8}};

std::string_view nameOf(Type type) { return kTypes[static_cast<size_t>(type)].name; }

Result<Type> readType(ByteReader& reader, std::string_view what) {
  SUBLANE_TRY(uint32_t id, reader.read<uint32_t>(what));
  if (id < std::size(kTypes)) return static_cast<Type>(id);
  return reader.error("{} is {}, but types go from 0 to {}", what, id, std::size(kTypes) - 1);
}

template <class Stored>
Result<int64_t> readInteger(ByteReader& reader) {
  SUBLANE_TRY(Stored value, reader.read<Stored>("its value"));
  if (std::is_same_v<Stored, uint64_t> && value > static_cast<Stored>(std::numeric_limits<int64_t>::max())) {
    return reader.error("its value {} is above 2^63 - 1", value);
  }
  return static_cast<int64_t>(value);
}

Result<int64_t> readBool(ByteReader& reader) {
  SUBLANE_TRY(uint8_t value, reader.read<uint8_t>("its value"));
  if (value > 1) return reader.error("its bool is {}, not 0 or 1", value);
  return static_cast<int64_t>(value);
}

Result<int64_t> readAnyInteger(ByteReader& reader, Type type) {
  switch (type) {
    case Type::kU8:
      return readInteger<uint8_t>(reader);
    case Type::kI8:
      return readInteger<int8_t>(reader);
    case Type::kU16:
      return readInteger<uint16_t>(reader);
    case Type::kI16:
      return readInteger<int16_t>(reader);
    case Type::kU32:
      return readInteger<uint32_t>(reader);
    case Type::kI32:
      return readInteger<int32_t>(reader);
    case Type::kU64:
      return readInteger<uint64_t>(reader);
    case Type::kI64:
      return readInteger<int64_t>(reader);
    default:
      return readBool(reader);
  }
}

Result<double> readAnyFloat(ByteReader& reader, Type type) {
  if (type == Type::kF64) return reader.read<double>("its value");
  SUBLANE_TRY(float value, reader.read<float>("its value"));
  return static_cast<double>(value);
}

Result<std::string> readOwnedString(ByteReader& reader) {
  SUBLANE_TRY(std::string_view text, reader.readString("its string"));
  return std::string(text);
}

// `count` has been checked against the bytes that are left.
template <class T, class Read>
Result<MetadataValue> readVector(uint64_t count, Read read) {
  std::vector<T> values;
  values.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    SUBLANE_TRY(T value, read());
    values.push_back(std::move(value));
  }
  return MetadataValue{std::move(values)};
}

Result<MetadataValue> readArray(ByteReader& reader) {
  SUBLANE_TRY(Type type, readType(reader, "the type of its elements"));
  SUBLANE_TRY(uint64_t count, reader.read<uint64_t>("the length of its array"));
  if (type == Type::kArray) return reader.error("an array of arrays is not supported");
  SUBLANE_CHECK_OK(reader.expect(count, kTypes[static_cast<size_t>(type)].least_bytes, "array elements"));
  switch (type) {
    case Type::kString:
      return readVector<std::string>(count, [&] { return readOwnedString(reader); });
    case Type::kF32:
    case Type::kF64:
      return readVector<double>(count, [&] { return readAnyFloat(reader, type); });
    default:
      return readVector<int64_t>(count, [&] { return readAnyInteger(reader, type); });
  }
}

Result<MetadataValue> readValue(ByteReader& reader, Type type) {
  switch (type) {
    case Type::kString: {
      SUBLANE_TRY(std::string text, readOwnedString(reader));
      return MetadataValue{std::move(text)};
    }
    case Type::kArray:
      return readArray(reader);
    case Type::kF32:
    case Type::kF64: {
      SUBLANE_TRY(double value, readAnyFloat(reader, type));
      return MetadataValue{value};
    }
    case Type::kBool: {
      SUBLANE_TRY(int64_t value, readBool(reader));
      return MetadataValue{value != 0};
    }
    default: {
      SUBLANE_TRY(int64_t value, readAnyInteger(reader, type));
      return MetadataValue{value};
    }
  }
}

constexpr std::string_view kAlignmentKey = "general.alignment";

}  // namespace

Result<Metadata> readGgufMetadata(ByteReader& reader, uint64_t count) {
  SUBLANE_CHECK_OK(reader.expect(count, 8 + 4 + 1, "metadata keys"));
  Metadata metadata;
  for (uint64_t i = 0; i < count; ++i) {
    reader.setPlace(fmt::format("metadata key {} of {}", i + 1, count));
    SUBLANE_TRY(std::string_view key, reader.readString("its name"));
    reader.setPlace("metadata key " + inQuotes(key));
    SUBLANE_TRY(Type type, readType(reader, "its type"));
    // Types narrow the meaning of no other key; this one moves every tensor, so llama.cpp's rule is kept.
    if (key == kAlignmentKey && type != Type::kU32)
      return reader.error("its type is {}, not u32", nameOf(type));
    SUBLANE_TRY(MetadataValue value, readValue(reader, type));
    if (!metadata.emplace(key, std::move(value)).second) return reader.error("the key occurs twice");
  }
  return metadata;
}

Result<uint64_t> ggufAlignment(const Metadata& metadata, const std::string& source) {
  constexpr int64_t kDefault = 32, kLeast = 8, kMost = 1 << 24;
  auto found = metadata.find(std::string(kAlignmentKey));
  if (found == metadata.end()) return static_cast<uint64_t>(kDefault);
  const int64_t* value = std::get_if<int64_t>(&found->second.value);
  const int64_t alignment = value ? *value : 0;
  if (alignment < kLeast || alignment > kMost || (alignment & (alignment - 1)) != 0) {
    return inputError("{}: metadata key \"{}\": {} is not a power of two from {} to {}", source,
                      kAlignmentKey, alignment, kLeast, kMost);
  }
  return static_cast<uint64_t>(alignment);
}

}  // namespace sublane::io
