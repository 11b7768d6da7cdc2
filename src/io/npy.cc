// The array inside: a head in Python's syntax, then the values.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/text.h"
#include "io/byte_reader.h"
#include "io/npz.h"

static_assert(std::endian::native == std::endian::little);

namespace sublane::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostDimensions = 32;

/// The value of a key in "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 128), }", up to where it
/// ends.
Result<std::string_view> valueOf(std::string_view head, std::string_view key, const ByteReader& reader) {
  const std::string quoted = fmt::format("'{}':", key);
  size_t at = head.find(quoted);
  if (at == std::string_view::npos) return reader.error("the head has no \"{}\"", key);
  at = head.find_first_not_of(' ', at + quoted.size());
  if (at == std::string_view::npos) return reader.error("the head ends after \"{}\"", key);
  const char end = head[at] == '(' ? ')' : head[at] == '\'' ? '\'' : ',';
  const size_t last = head.find(end, at + 1);
  if (last == std::string_view::npos) return reader.error("the value of \"{}\" does not end", key);
  return head.substr(at, last - at + (end == ',' ? 0 : 1));
}

Result<std::vector<int64_t>> shapeOf(std::string_view text, const ByteReader& reader) {
  if (text.size() < 2 || text.front() != '(')
    return reader.error("the shape \"{}\" is no tuple", escaped(text));
  const std::string whole(text);
  std::vector<int64_t> shape;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t first = word.find_first_not_of(' ');
    if (first == std::string_view::npos) continue;
    word.remove_prefix(first);
    int64_t size = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc() || end != word.data() + word.size() || size < 0 ||
        shape.size() == kMostDimensions) {
      return reader.error("the shape \"{}\" is not understood", escaped(whole));
    }
    shape.push_back(size);
  }
  return shape;
}

/// Bytes of a value of "<f4", "|V2", ...
Result<int64_t> elementBytes(std::string_view dtype, const ByteReader& reader) {
  int64_t size = 0;
  const bool plain = dtype.size() >= 2 && std::string_view("<|>=").find(dtype[0]) != std::string_view::npos;
  if (plain && dtype[1] == 'O') {
    return Error(reader.error("holds Python objects (dtype {})", escaped(dtype)))
        .hint("save plain arrays: np.asarray(x, dtype=...)");
  }
  if (plain && dtype[0] == '>') {
    return Error(reader.error("big-endian values (dtype {})", escaped(dtype)))
        .hint("x.astype(x.dtype.newbyteorder('<'))");
  }
  if (plain) {
    const auto [end, error] = std::from_chars(dtype.data() + 2, dtype.data() + dtype.size(), size);
    if (error == std::errc() && end == dtype.data() + dtype.size() && size >= 1 && size <= 16 &&
        std::string_view("fiubcV").find(dtype[1]) != std::string_view::npos) {
      return size;
    }
  }
  return reader.error("dtype \"{}\" is not known", escaped(dtype));
}

Result<std::string_view> headOf(ByteReader& reader) {
  SUBLANE_TRY(auto magic, reader.take(kMagic.size(), "the magic bytes"));
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    return reader.error("does not begin as a .npy file does");
  }
  SUBLANE_TRY(const uint8_t major, reader.read<uint8_t>("the version"));
  SUBLANE_TRY(const uint8_t minor, reader.read<uint8_t>("the version"));
  if (major < 1 || major > 3) {
    return reader.error("version {}.{}, versions 1 to 3 are known", int{major}, int{minor});
  }
  uint32_t size = 0;
  if (major == 1) {
    SUBLANE_TRY(size, reader.read<uint16_t>("the head's size"));
  } else {
    SUBLANE_TRY(size, reader.read<uint32_t>("the head's size"));
  }
  SUBLANE_TRY(auto head, reader.take(size, "the head"));
  return std::string_view(reinterpret_cast<const char*>(head.data()), head.size());
}

}  // namespace

Result<NpyArray> parseNpy(std::span<const std::byte> bytes, const std::string& source) {
  ByteReader reader(bytes, source);
  SUBLANE_TRY(const std::string_view head, headOf(reader));
  NpyArray array;
  SUBLANE_TRY(const std::string_view descr, valueOf(head, "descr", reader));
  if (descr.size() < 3 || descr[0] != '\'') {
    return Error(reader.error("a value has several fields (a structured dtype)"))
        .hint("save each field as an array of its own");
  }
  array.dtype = descr.substr(1, descr.size() - 2);
  SUBLANE_TRY(array.element_bytes, elementBytes(array.dtype, reader));
  SUBLANE_TRY(const std::string_view order, valueOf(head, "fortran_order", reader));
  SUBLANE_TRY(const std::string_view shape, valueOf(head, "shape", reader));
  SUBLANE_TRY(array.shape, shapeOf(shape, reader));
  const size_t rank = array.shape.size();
  if (!order.starts_with("False") && rank > 1) {
    return Error(reader.error("its values lie columns first (fortran_order)"))
        .hint("save np.ascontiguousarray(x)");
  }
  int64_t expected = array.element_bytes;
  for (const int64_t size : array.shape) {
    if (__builtin_mul_overflow(expected, size, &expected)) return reader.error("its shape is too large");
  }
  if (static_cast<uint64_t>(expected) != reader.left()) {
    return reader.error("holds {} bytes of values, its shape and type need {}", reader.left(), expected);
  }
  SUBLANE_TRY(auto values, reader.take(reader.left(), "the values"));
  array.bytes.assign(values.begin(), values.end());
  return array;
}

std::string describe(const NpyArray& array) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"f4", "f32"}, {"f2", "f16"}, {"f8", "f64"}, {"i1", "s8"},  {"i2", "s16"}, {"i4", "s32"},
      {"i8", "s64"}, {"u1", "u8"},  {"u2", "u16"}, {"u4", "u32"}, {"u8", "u64"}, {"b1", "pred"}};
  std::string type = array.dtype.substr(std::min<size_t>(1, array.dtype.size()));
  for (const auto& [numpy, ours] : kNames) {
    if (type == numpy) type = ours;
  }
  std::string sizes;
  for (const int64_t size : array.shape) sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", size);
  return fmt::format("{}[{}]", type, sizes);
}

}  // namespace sublane::io
