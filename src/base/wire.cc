#include "base/wire.h"

#include <bit>
#include <cstring>

namespace sublane {

namespace {
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };
}

void WireWriter::varint(uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void WireWriter::number(uint32_t field, int64_t value) {
  varint(uint64_t{field} << 3 | kVarint);
  varint(static_cast<uint64_t>(value));
}

void WireWriter::real(uint32_t field, double value) { fixed(field, std::bit_cast<uint64_t>(value)); }

void WireWriter::fixed(uint32_t field, uint64_t value) {
  varint(uint64_t{field} << 3 | kFixed64);
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift));
}

void WireWriter::text(uint32_t field, std::string_view value) {
  varint(uint64_t{field} << 3 | kLength);
  varint(value.size());
  bytes_.append(value);
}

bool WireReader::fail() {
  well_formed_ = false;
  rest_ = {};
  return false;
}

bool WireReader::varint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return fail();
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) return fail();  // more than 64 bits
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return fail();
}

bool WireReader::take(size_t size, std::string_view& out) {
  if (size > rest_.size()) return fail();
  out = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::next() {
  const std::string_view before = rest_;
  value_ = 0;
  text_ = raw_ = {};
  if (rest_.empty() || !value()) return false;
  raw_ = before.substr(0, before.size() - rest_.size());
  return true;
}

bool WireReader::value() {
  uint64_t tag = 0;
  if (!varint(tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX) return fail();
  field_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<uint32_t>(tag & 7);
  std::string_view fixed;
  switch (type_) {
    case kVarint:
      return varint(value_);
    case kLength: {
      uint64_t size = 0;
      return varint(size) && take(size, text_);
    }
    case kFixed64:
    case kFixed32:
      if (!take(type_ == kFixed64 ? 8 : 4, fixed)) return false;
      for (size_t i = 0; i < fixed.size(); ++i) value_ |= uint64_t{static_cast<uint8_t>(fixed[i])} << (8 * i);
      return true;
    default:
      return fail();
  }
}

double WireReader::real() const { return type_ == kFixed64 ? std::bit_cast<double>(value_) : 0; }

}  // namespace sublane
