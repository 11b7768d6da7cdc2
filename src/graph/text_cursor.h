// A cursor over the text form that reads characters and words, and remembers faults by line and column.
// Private to graph/.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace sublane::graph {

inline bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool atEnd() { return skipBlanks(), position_ >= text_.size(); }
  char peek() { return skipBlanks(), position_ < text_.size() ? text_[position_] : '\0'; }
  bool take(char c) {
    if (peek() != c || position_ >= text_.size()) return false;
    ++position_;
    return true;
  }
  std::string_view word(bool (*accepts)(char) = isWordChar) {
    skipBlanks();
    size_t start = position_;
    while (position_ < text_.size() && accepts(text_[position_])) ++position_;
    return text_.substr(start, position_ - start);
  }
  bool takeWord(std::string_view wanted) {
    size_t start = (skipBlanks(), position_);
    if (word() == wanted) return true;
    position_ = start;
    return false;
  }
  void skipSpaces() {  // within the line
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }
  void skipLine() {
    while (position_ < text_.size() && text_[position_] != '\n') ++position_;
  }

  size_t position() const { return position_; }
  std::string_view rest() const { return text_.substr(position_); }
  void advance(size_t bytes) { position_ += bytes; }

  bool fault(size_t at, const std::string& message) {
    if (faults_.size() >= kMostFaults) return false;
    std::string_view before = text_.substr(0, std::min(at, text_.size()));
    size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
    size_t column = before.size() - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1) + 1;
    faults_.push_back(fmt::format("{}:{}: {}", line, column, message));
    return false;
  }
  /// "expected X, found Y" here. Always false, so that `return expected(...)` gives up on a statement.
  bool expected(const std::string& what) {
    skipBlanks();
    if (position_ >= text_.size())
      return fault(position_, "expected " + what + ", found the end of the text");
    char c = text_[position_];
    if (c < ' ' || c > '~')
      return fault(position_,
                   fmt::format("expected {}, found byte 0x{:02x}", what, static_cast<unsigned char>(c)));
    return fault(position_, fmt::format("expected {}, found '{}'", what, c));
  }
  const std::vector<std::string>& faults() const { return faults_; }
  bool full() const { return faults_.size() >= kMostFaults; }

 private:
  static constexpr size_t kMostFaults = 20;
  void skipBlanks() {
    while (position_ < text_.size()) {
      char c = text_[position_];
      if (c == '#')
        skipLine();
      else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        ++position_;
      else
        return;
    }
  }
  std::string_view text_;
  size_t position_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace sublane::graph
