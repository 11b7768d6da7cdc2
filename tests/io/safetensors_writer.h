// Writes safetensors byte by byte, right or wrong, for tests of the reader.
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace sublane::io {

struct SafetensorsWriter {
  std::string entries;   // JSON, without the braces
  std::string data;      // bytes after the header
  std::string metadata;  // JSON of __metadata__; empty: none

  /// A tensor of `bytes` bytes after those that are there.
  SafetensorsWriter& tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                            size_t bytes) {
    const size_t begin = data.size();
    for (size_t i = 0; i < bytes; ++i) data.push_back(static_cast<char>(i + begin));
    return entry(name, dtype, shape, begin, data.size());
  }
  /// Only its description.
  SafetensorsWriter& entry(const std::string& name, const std::string& dtype, const std::string& shape,
                           size_t begin, size_t end) {
    entries += (entries.empty() ? "" : ",") + ("\"" + name) + "\":{\"dtype\":\"" + dtype +
               "\",\"shape\":" + shape + ",\"data_offsets\":[" + std::to_string(begin) + "," +
               std::to_string(end) + "]}";
    return *this;
  }
  std::string header() const {
    std::string text = "{";
    if (!metadata.empty()) text += "\"__metadata__\":" + metadata + (entries.empty() ? "" : ",");
    return text + entries + "}";
  }
  /// With the header padded by spaces to `header_bytes`, if that is more.
  std::string bytes(size_t header_bytes = 0) const {
    std::string text = header();
    if (text.size() < header_bytes) text.append(header_bytes - text.size(), ' ');
    return withLength(text, text.size()) + data;
  }
  static std::string withLength(const std::string& header, uint64_t length) {
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, 8);
    return out + header;
  }
};

}  // namespace sublane::io
