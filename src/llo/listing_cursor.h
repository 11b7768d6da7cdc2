// A place in a listing's text, and the small steps over it. Nothing reads past the end: there, peek() is
// '\0'.
//
//   Cursor cursor(text);
//   cursor.skipBlanks();
//   if (cursor.take('{')) ...
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace sublane::llo {

/// Whether all of `text` is one number of T's kind.
template <class T>
bool readNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

class Cursor {
 public:
  explicit Cursor(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  bool atEnd() const { return at_ == end_; }
  char peek() const { return at_ < end_ ? *at_ : '\0'; }
  char peekNext() const { return end_ - at_ > 1 ? at_[1] : '\0'; }
  void skip() { at_ += at_ < end_; }
  bool take(char c) { return peek() == c && (skip(), true); }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skipBlanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  void skipSpaces() {
    while (at_ < end_ && *at_ == ' ') ++at_;
  }
  /// Everything up to `stop`, which is not taken; up to the end if there is none.
  std::string_view upTo(char stop) {
    const char* start = at_;
    while (at_ < end_ && *at_ != stop) ++at_;
    return {start, static_cast<size_t>(at_ - start)};
  }
  /// A run of [A-Za-z0-9_].
  std::string_view wordChars() {
    const char* start = at_;
    while (at_ < end_ && (isLetterOrDigit(*at_) || *at_ == '_')) ++at_;
    return {start, static_cast<size_t>(at_ - start)};
  }
  /// Decimal or "0x" hex, of at most 64 bits.
  bool integer(uint64_t& value) {
    const int base = take("0x") ? 16 : 10;
    const auto [rest, error] = std::from_chars(at_, end_, value, base);
    if (error != std::errc{}) return false;
    at_ = rest;
    return true;
  }
  /// A comment that starts here; they nest and may span lines. False: it does not end.
  bool comment(std::string_view& text) {
    const char* start = at_ + 2;
    at_ += 2;
    for (int depth = 1; at_ < end_; ++at_) {
      if (*at_ == '*' && peekNext() == '/') {
        ++at_;
        if (--depth == 0) {
          text = {start, static_cast<size_t>(at_ - 1 - start)};
          ++at_;
          return true;
        }
      } else if (*at_ == '/' && peekNext() == '*') {
        ++at_;
        ++depth;
      }
    }
    return false;
  }
  bool atComment() const { return peek() == '/' && peekNext() == '*'; }

  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  /// What stands here, cut for an error: to the end of the line, at most 60 characters.
  std::string_view excerpt() const {
    std::string_view line = rest().substr(0, rest().find('\n'));
    return line.substr(0, 60);
  }

 private:
  static bool isLetterOrDigit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace sublane::llo
