// Writes small GGUF files for tests: right ones, and wrong ones on purpose.
//
//   GgufWriter writer;
//   writer.key("general.architecture", "llama").tensor("t", {32, 2}, kTypeF32);
//   std::vector<std::byte> file = writer.bytes();
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sublane::io {

enum GgufValueType : uint32_t {
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
enum GgufTensorType : uint32_t {
  kTypeF32 = 0,
  kTypeF16 = 1,
  kTypeQ4_0 = 2,
  kTypeQ8_0 = 8,
  kTypeQ4_K = 12,
  kTypeBF16 = 30
};

class ByteWriter {
 public:
  template <class T>
  ByteWriter& put(T value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
    return *this;
  }
  ByteWriter& raw(std::string_view text) {
    const auto* from = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), from, from + text.size());
    return *this;
  }
  ByteWriter& text(std::string_view text) { return put<uint64_t>(text.size()).raw(text); }
  ByteWriter& append(const ByteWriter& other) {
    bytes.insert(bytes.end(), other.bytes.begin(), other.bytes.end());
    return *this;
  }
  std::vector<std::byte> bytes;
};

class GgufWriter {
 public:
  std::string magic = "GGUF";
  uint32_t version = 3;
  uint64_t alignment = 32;                          // of the data; the key is not written for it
  std::optional<uint64_t> tensor_count, key_count;  // to lie about them

  /// A key with a scalar of any type.
  template <class T>
  GgufWriter& key(std::string_view name, GgufValueType type, T value) {
    return rawKey(name, type, ByteWriter().put(value));
  }
  GgufWriter& key(std::string_view name, std::string_view value) {
    return rawKey(name, kString, ByteWriter().text(value));
  }
  GgufWriter& rawKey(std::string_view name, uint32_t type, const ByteWriter& value) {
    keys_.text(name).put(type).append(value);
    ++keys_written_;
    return *this;
  }

  /// A tensor laid after those before it. Dimensions as stored: innermost first. `bytes` of zeros follow.
  GgufWriter& tensor(std::string_view name, std::vector<uint64_t> dimensions, uint32_t type, uint64_t bytes) {
    return tensorAt(name, std::move(dimensions), type, data_.size(), std::vector<std::byte>(bytes));
  }
  GgufWriter& tensor(std::string_view name, std::vector<uint64_t> dimensions, uint32_t type,
                     std::span<const std::byte> content) {
    return tensorAt(name, std::move(dimensions), type, data_.size(), {content.begin(), content.end()});
  }
  /// A tensor whose description says `offset`, with `content` at the end of the data.
  GgufWriter& tensorAt(std::string_view name, std::vector<uint64_t> dimensions, uint32_t type,
                       uint64_t offset, std::vector<std::byte> content = {}) {
    tensors_.text(name).put<uint32_t>(static_cast<uint32_t>(dimensions.size()));
    for (uint64_t size : dimensions) tensors_.put(size);
    tensors_.put(type).put(offset);
    data_.insert(data_.end(), content.begin(), content.end());
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    ++tensors_written_;
    return *this;
  }

  std::vector<std::byte> bytes() const {
    ByteWriter file;
    file.raw(magic)
        .put(version)
        .put(tensor_count.value_or(tensors_written_))
        .put(key_count.value_or(keys_written_));
    file.append(keys_).append(tensors_);
    if (!data_.empty()) file.bytes.resize((file.bytes.size() + alignment - 1) / alignment * alignment);
    file.bytes.insert(file.bytes.end(), data_.begin(), data_.end());
    return file.bytes;
  }

 private:
  ByteWriter keys_, tensors_;
  std::vector<std::byte> data_;
  uint64_t keys_written_ = 0, tensors_written_ = 0;
};

/// A writer that already names an architecture.
inline GgufWriter llamaWriter() {
  GgufWriter writer;
  writer.key("general.architecture", "llama");
  return writer;
}

}  // namespace sublane::io
