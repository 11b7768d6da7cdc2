// Protobuf's wire format, read without generated code: a message is a list of numbered fields.
//
// A Wire remembers the first fault (a length past the end, a varint too long, nesting too deep) and then
// yields nothing more, so that decoders need no check at each step; the caller looks at it once at the end.
//
//   Wire wire(bytes);
//   wire.each("Tile", bytes, [&](const Field& field) {
//     if (field.number == 1) wire.integers(field, tile.dimensions);
//   });
//   if (wire.fault()) return inputError("{}", *wire.fault());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sublane::llo {

struct Field {
  uint32_t number = 0;
  bool is_bytes = false;      // a string, a message or packed numbers; else a number
  uint64_t number_value = 0;  // varint, or fixed 32 or 64 bits
  std::string_view bytes;
};

class Wire {
 public:
  explicit Wire(std::string_view whole) : start_(whole.data()) {}

  /// Calls `visit(field)` for each field of one message. `message` names it in faults.
  template <class Visit>
  void each(const char* message, std::string_view bytes, Visit&& visit) {
    if (++depth_ > kMostNesting) fail(message, bytes, "nested deeper than 64 messages");
    Field field;
    while (!fault_ && !bytes.empty() && next(message, bytes, field)) visit(field);
    --depth_;
  }

  int64_t integer(const Field& field);
  std::string_view text(const Field& field);
  /// Repeated numbers: packed, or one at a time.
  void integers(const Field& field, std::vector<int64_t>& out);
  /// Records a fault of content; the first one stays.
  void fail(const char* message, std::string_view at, const std::string& what);
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  static constexpr int kMostNesting = 64;
  bool next(const char* message, std::string_view& bytes, Field& field);
  bool varint(const char* message, std::string_view& bytes, uint64_t& value);
  const char* start_;
  int depth_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace sublane::llo
