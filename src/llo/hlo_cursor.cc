#include "llo/hlo_cursor.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace sublane::llo {
namespace {

constexpr std::array<bool, 256> wordChars() {
  std::array<bool, 256> is{};
  for (int c = '0'; c <= '9'; ++c) is[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) is[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) is[static_cast<size_t>(c)] = true;
  is['_'] = is['.'] = is['-'] = true;
  return is;
}
constexpr std::array<bool, 256> kWordChars = wordChars();

bool isOpen(char c) { return c == '{' || c == '(' || c == '['; }
bool isClose(char c) { return c == '}' || c == ')' || c == ']'; }

int digit(char c, int base) {
  int value = 99;
  if (c >= '0' && c <= '9') value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return value < base ? value : -1;
}

/// The character that an escape means; `at` stands behind the backslash and moves past the escape.
char unescaped(const char*& at, const char* end) {
  const char kind = *at++;
  static constexpr std::string_view kFrom = "nrtabfv", kTo = "\n\r\t\a\b\f\v";
  if (const size_t known = kFrom.find(kind); known != std::string_view::npos) return kTo[known];
  const bool hex = kind == 'x' || kind == 'X';
  if (!hex && digit(kind, 8) < 0) return kind;
  int value = hex ? 0 : digit(kind, 8);
  for (int i = 0; i < 2 && at < end && digit(*at, hex ? 16 : 8) >= 0; ++i)
    value = value * (hex ? 16 : 8) + digit(*at++, hex ? 16 : 8);
  return static_cast<char>(value);
}

}  // namespace

void HloCursor::skipComments() {
  while (end_ - at_ > 1 && at_[0] == '/' && (at_[1] == '*' || at_[1] == '/')) {
    const std::string_view rest(at_ + 2, static_cast<size_t>(end_ - at_ - 2)),
        stop = at_[1] == '*' ? "*/" : "\n";
    const size_t length = rest.find(stop);
    if (length == std::string_view::npos && at_[1] == '*')
      return fail("a comment begins here and does not end");
    at_ = length == std::string_view::npos ? end_ : at_ + 2 + length + stop.size();
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
}

bool HloCursor::take(std::string_view word) {
  peek();
  if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool HloCursor::expect(char c) {
  if (take(c)) return true;
  expected(std::string("'") + c + "'");
  return false;
}

void HloCursor::expectOneOf(char a, char b) { expected(fmt::format("'{}' or '{}'", a, b)); }

std::string_view HloCursor::word() {
  peek();
  const char* start = at_;
  while (at_ < end_ && kWordChars[static_cast<unsigned char>(*at_)]) ++at_;
  return {start, static_cast<size_t>(at_ - start)};
}

std::string_view HloCursor::word(const char* what) {
  const std::string_view found = word();
  if (found.empty()) expected(what);
  return found;
}

std::string_view HloCursor::name(const char* what) {
  take('%');
  return word(what);
}

int64_t HloCursor::integer(const char* what) {
  peek();
  int64_t value = 0;
  const auto [rest, error] = std::from_chars(at_, end_, value);
  if (error != std::errc{}) return expected(what), 0;
  at_ = rest;
  return value;
}

std::vector<int64_t> HloCursor::integers(char open, char close, const char* what) {
  std::vector<int64_t> values;
  each(open, close, [&] { values.push_back(integer(what)); });
  return values;
}

std::string_view HloCursor::bare() {
  peek();
  const char* start = at_;
  while (at_ < end_ && *at_ != ',' && static_cast<unsigned char>(*at_) > ' ' && !isClose(*at_)) ++at_;
  return {start, static_cast<size_t>(at_ - start)};
}

std::string HloCursor::quoted(const char* what) {
  std::string text;
  if (peek() != '"') return expected(what), text;
  const char* start = at_++;
  while (at_ < end_ && *at_ != '"') {
    const char* run = std::find_if(at_, end_, [](char c) { return c == '"' || c == '\\'; });
    text.append(at_, run);
    at_ = run;
    if (at_ < end_ && *at_ == '\\' && ++at_ < end_) text += unescaped(at_, end_);
  }
  if (at_ == end_) return failAt(start, "a string begins here and does not end"), "";
  ++at_;
  return text;
}

/// At a quote: over the whole string.
void HloCursor::skipString() {
  const char* start = at_++;
  while (at_ < end_ && *at_ != '"') at_ += *at_ == '\\' && end_ - at_ > 1 ? 2 : 1;
  if (at_ == end_) return failAt(start, "a string begins here and does not end");
  ++at_;
}

std::string_view HloCursor::bracketed() {
  if (!isOpen(peek())) return expected("a bracket"), "";
  const char* start = at_;
  int64_t depth = 0;
  while (at_ < end_) {
    if (*at_ == '"') {
      skipString();
      continue;
    }
    depth += isOpen(*at_) ? 1 : isClose(*at_) ? -1 : 0;
    ++at_;
    if (depth == 0) return {start, static_cast<size_t>(at_ - start)};
  }
  failAt(start, "a bracket opens here and does not close");
  return "";
}

void HloCursor::skipValue() {
  peek();
  while (at_ < end_ && *at_ != ',' && *at_ != '\n' && !isClose(*at_)) {
    if (*at_ == '"') {
      skipString();
    } else if (isOpen(*at_)) {
      bracketed();
    } else {
      ++at_;
    }
  }
}

void HloCursor::expected(const std::string& what) {
  if (fault_) return;
  if (atEnd()) return fail("the text ends where " + what + " should follow");
  const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
  fail(fmt::format("expected {}, found {}", what, inQuotes(rest.substr(0, rest.find('\n')), 40)));
}

void HloCursor::failAt(const char* place, const std::string& what) {
  if (fault_) return;
  const auto line = std::count(begin_, place, '\n') + 1;
  const char* start = place;
  while (start > begin_ && start[-1] != '\n') --start;
  fault_ = inputError("{}:{}:{}: {}", where_, line, place - start + 1, what);
  if (place == end_) fault_ = std::move(*fault_).hint("the text was cut: dump or copy the whole module");
  at_ = end_;
}

}  // namespace sublane::llo
