// A place in HLO text, and the small steps over it; private to the folder.
//
// Blanks and comments before a step are skipped. The first fault stays, with its line and column; after it
// the text is at its end, so that every loop over it stops and no step needs a check.
//
//   HloCursor cursor("{1, 0}", "f.txt");
//   cursor.each('{', '}', [&] { order.push_back(cursor.integer("a dimension")); });
//   if (cursor.fault()) return *cursor.fault();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane::llo {

class HloCursor {
 public:
  HloCursor(std::string_view text, std::string where)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), where_(std::move(where)) {}

  /// The next character that is neither blank nor comment; '\0' at the end.
  char peek() {
    skipBlanks();
    return at_ < end_ ? *at_ : '\0';
  }
  bool atEnd() { return peek() == '\0' && at_ == end_; }
  /// The character right here, blank or not.
  char here() const { return at_ < end_ ? *at_ : '\0'; }
  bool take(char c) { return peek() == c && at_ < end_ && (++at_, true); }
  bool take(std::string_view word);
  bool expect(char c);

  /// A run of [A-Za-z0-9_.-]; may be empty.
  std::string_view word();
  std::string_view word(const char* what);  // an empty one is a fault
  /// A name, with or without its '%'.
  std::string_view name(const char* what);
  int64_t integer(const char* what);
  /// Everything up to a blank, a comma, or a closing bracket.
  std::string_view bare();
  /// In double quotes, with C's escapes.
  std::string quoted(const char* what);
  /// A bracket and all up to the one that closes it, strings within it respected.
  std::string_view bracketed();
  /// The value of an attribute that is not ours: up to a comma or the line's end outside of brackets.
  void skipValue();

  /// Calls `visit` for each item of a list in brackets.
  template <class Visit>
  void each(char open, char close, Visit&& visit) {
    if (!expect(open)) return;
    while (!fault_ && !take(close)) {
      visit();
      if (!take(',') && peek() != close) expectOneOf(',', close);
    }
  }
  std::vector<int64_t> integers(char open, char close, const char* what);

  /// Records a fault at this place ("expected ..."), or at one remembered.
  void expected(const std::string& what);
  void fail(const std::string& what) { failAt(at_, what); }
  void failAt(const char* place, const std::string& what);
  const char* place() const { return at_; }
  /// To a place that was passed without a fault.
  void backTo(const char* place) { at_ = fault_ ? at_ : place; }
  const std::optional<Error>& fault() const { return fault_; }

 private:
  void skipBlanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    if (at_ < end_ && *at_ == '/') skipComments();
  }
  void skipComments();
  void skipString();
  void expectOneOf(char a, char b);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::string where_;
  std::optional<Error> fault_;
};

}  // namespace sublane::llo
