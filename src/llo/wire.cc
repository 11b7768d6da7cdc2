#include "llo/wire.h"

#include <cstring>

#include <fmt/format.h>

namespace sublane::llo {

void Wire::fail(const char* message, std::string_view at, const std::string& what) {
  if (!fault_) fault_ = fmt::format("{} at byte {}: {}", message, at.data() - start_, what);
}

bool Wire::varint(const char* message, std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const uint64_t byte = static_cast<unsigned char>(bytes[i]);
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  fail(message, bytes,
       bytes.size() < 10 ? "the message ends inside a number" : "a number longer than 10 bytes");
  return false;
}

bool Wire::next(const char* message, std::string_view& bytes, Field& field) {
  const std::string_view at = bytes;
  uint64_t key = 0;
  if (!varint(message, bytes, key)) return false;
  field = Field{};
  if (key >> 3 == 0 || key >> 3 > 0x1fffffff) {
    fail(message, at, fmt::format("field number {} is out of range", key >> 3));
    return false;
  }
  field.number = static_cast<uint32_t>(key >> 3);
  uint64_t length = 0;
  switch (key & 7) {
    case 0:
      return varint(message, bytes, field.number_value);
    case 1:
      length = 8;
      break;
    case 5:
      length = 4;
      break;
    case 2:
      if (!varint(message, bytes, length)) return false;
      field.is_bytes = true;
      break;
    default:
      fail(message, at, fmt::format("field {} has wire type {}, which is unknown", field.number, key & 7));
      return false;
  }
  if (length > bytes.size()) {
    fail(message, at,
         fmt::format("field {} is {} bytes long, and {} are left", field.number, length, bytes.size()));
    return false;
  }
  if (field.is_bytes) {
    field.bytes = bytes.substr(0, length);
  } else {
    std::memcpy(&field.number_value, bytes.data(), length);
  }
  bytes.remove_prefix(length);
  return true;
}

int64_t Wire::integer(const Field& field) {
  if (field.is_bytes) fail("number", field.bytes, fmt::format("field {} is not a number", field.number));
  return static_cast<int64_t>(field.number_value);
}

std::string_view Wire::text(const Field& field) {
  if (!field.is_bytes && !fault_)
    fault_ = fmt::format("field {} is a number, not text or a message", field.number);
  return field.bytes;
}

void Wire::integers(const Field& field, std::vector<int64_t>& out) {
  if (!field.is_bytes) {
    out.push_back(static_cast<int64_t>(field.number_value));
    return;
  }
  std::string_view bytes = field.bytes;
  uint64_t value = 0;
  while (!bytes.empty() && varint("packed numbers", bytes, value)) out.push_back(static_cast<int64_t>(value));
}

}  // namespace sublane::llo
