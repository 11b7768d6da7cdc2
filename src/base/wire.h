// Protocol buffers' wire format, as much as we need: compile options and traces out, HLO modules in, and our
// own messages between a compile and its worker. No schema: fields are numbers.
//
//   WireWriter out;
//   out.number(4, 1);
//   out.text(2, "name");
//   for (WireReader in(out.bytes()); in.next();)
//     if (in.field() == 2) name = in.text();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sublane {

class WireWriter {
 public:
  void number(uint32_t field, int64_t value);         // int32, int64, bool, enum
  void real(uint32_t field, double value);            // double
  void fixed(uint32_t field, uint64_t value);         // fixed64
  void text(uint32_t field, std::string_view value);  // string, bytes, message
  void raw(std::string_view fields) { bytes_.append(fields); }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }  // keeps the memory

 private:
  void varint(uint64_t value);
  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  /// Steps to the next field. False at the end, and at the first malformed byte.
  bool next();
  /// Whether all read so far was well formed; after next() returned false: whether everything was.
  bool wellFormed() const { return well_formed_; }

  uint32_t field() const { return field_; }
  int64_t number() const { return static_cast<int64_t>(value_); }  // 0 if the field is text
  double real() const;                                             // 0 if the field is not 64-bit
  std::string_view text() const { return text_; }                  // empty if the field has no length
  std::string_view raw() const { return raw_; }                    // the whole field, its tag included

 private:
  bool value();
  bool varint(uint64_t& value);
  bool take(size_t size, std::string_view& out);
  bool fail();

  std::string_view rest_;
  bool well_formed_ = true;
  uint32_t field_ = 0;
  uint32_t type_ = 0;
  uint64_t value_ = 0;
  std::string_view text_;
  std::string_view raw_;
};

}  // namespace sublane
