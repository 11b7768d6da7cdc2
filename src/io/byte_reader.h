// Reads little-endian values one after another from bytes that nobody has checked.
//
// Every read asks first whether the bytes are there; a read that is too long becomes an Error that names the
// file, the place, what was being read, and both sizes. Nothing is ever allocated from a size in the file
// before that size has been compared with what is left.
//
//   ByteReader reader(bytes, "model.gguf");
//   reader.setPlace("header");
//   SUBLANE_TRY(uint32_t version, reader.read<uint32_t>("the version"));
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace sublane::io {

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string source)
      : bytes_(bytes), source_(std::move(source)) {}

  size_t offset() const { return offset_; }
  size_t left() const { return bytes_.size() - offset_; }
  /// What is being read, for messages: "metadata key \"general.name\"".
  void setPlace(std::string place) { place_ = std::move(place); }

  template <class T>
  Result<T> read(std::string_view what) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    if (left() < sizeof(T)) return tooShort(what, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof value);
    offset_ += sizeof value;
    return value;
  }

  /// The next `count` bytes, in place.
  Result<std::span<const std::byte>> take(uint64_t count, std::string_view what) {
    if (left() < count) return tooShort(what, count);
    std::span<const std::byte> taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return taken;
  }

  /// A 64-bit length and that many bytes, in place.
  Result<std::string_view> readString(std::string_view what) {
    SUBLANE_TRY(uint64_t length, read<uint64_t>(what));
    SUBLANE_TRY(std::span<const std::byte> taken, take(length, what));
    return std::string_view(reinterpret_cast<const char*>(taken.data()), taken.size());
  }

  /// Fails unless `count` entries of at least `least_bytes` each can still follow.
  Status expect(uint64_t count, uint64_t least_bytes, std::string_view what) const;

  /// "source: place: message"
  template <class... Args>
  Error error(fmt::format_string<Args...> format, Args&&... args) const {
    return Error(Fault::kInput, fmt::format(format, std::forward<Args>(args)...)).at(place_).at(source_);
  }

 private:
  Error tooShort(std::string_view what, uint64_t needed) const;

  std::span<const std::byte> bytes_;
  std::string source_;
  std::string place_ = "header";
  size_t offset_ = 0;
};

}  // namespace sublane::io
