// Whole characters in, certain text out, up to a stop text.
//
// One state machine over bytes: of each stop text it knows how much of it the text so far ends with, and
// holds back the longest of those. The first stop text to be complete is the match, the longest of those that
// end at the same byte, so that nothing depends on how the text was cut.
//
//   SUBLANE_TRY(auto matcher, StopMatcher::create({.stops = {"END", "DONE"}}));
//   matcher.push("so E");             // "so ": "E" may begin "END"
//   matcher.push("ND");               // ""; matcher.stoppedBy() is "END"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/text.h"
#include "text/utf8_stream.h"

namespace sublane::text {

class StopMatcher {
 public:
  /// Errors as of Tokenizer::textStream.
  static Result<StopMatcher> create(StopOptions options);
  std::string push(std::string_view text);
  std::string finish();
  std::optional<std::string> stoppedBy() const;

 private:
  struct Stop {
    std::string text;
    std::vector<size_t> border;  // of each beginning: its longest proper end that is a beginning too
    size_t matched = 0;          // the text so far ends with so many bytes of `text`
  };
  bool advance(Stop& stop, char byte);

  std::vector<Stop> stops_;
  bool include_stop_ = false;
  std::string held_;
  std::optional<size_t> found_;  // in stops_
};

/// Both machines behind a stream of tokens: bytes to whole characters, and those to certain text.
struct StoppableText {
  Utf8Stream utf8;
  StopMatcher matcher;

  std::string push(std::string_view bytes) {
    if (matcher.stoppedBy()) return "";
    return matcher.push(utf8.push(bytes));
  }
  std::string finish() {
    std::string rest = matcher.push(utf8.finish());
    return rest + matcher.finish();
  }
};

}  // namespace sublane::text
