// Feeds any bytes, cut anywhere, to the machine that turns bytes into characters and ends at a stop text;
// what it gives must be what a naive look at the whole text gives. Input: how many stop texts, where to cut,
// then the stop texts and the bytes, with 0xFF between.
#include "text/stop_matcher.h"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace sublane::text;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Ended {
  std::string text, stop;
};

/// The stop text that is complete first, the longest of those that end at the same byte.
Ended naive(std::string_view bytes, const StopOptions& options) {
  Utf8Stream utf8;
  std::string text = utf8.push(bytes);
  text += utf8.finish();
  for (size_t end = 1; end <= text.size(); ++end) {
    const std::string_view so_far = std::string_view(text).substr(0, end);
    std::string best;
    for (const std::string& stop : options.stops)
      if (so_far.ends_with(stop) && stop.size() > best.size()) best = stop;
    if (!best.empty())
      return {std::string(so_far.substr(0, options.include_stop ? end : end - best.size())), best};
  }
  return {text, ""};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 2048) return 0;
  const size_t count = data[0] % 4;
  const uint8_t step = data[1];
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  StopOptions options;
  options.include_stop = (data[0] & 0x80) != 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t end = std::min(rest.find('\xff'), rest.size());
    options.stops.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  auto matcher = StopMatcher::create(options);
  if (!matcher.ok()) return require(!matcher.error().message().empty()), 0;
  StoppableText stream{Utf8Stream{}, std::move(matcher).value()};
  std::string text;
  for (size_t at = 0, length; at < rest.size(); at += length) {
    length = std::min<size_t>(1 + (step >> (at % 8) & 7), rest.size() - at);
    const std::string piece = stream.push(rest.substr(at, length));
    require(isUtf8(piece));
    text += piece;
  }
  text += stream.finish();
  const Ended expected = naive(rest, options);
  require(text == expected.text);
  require(stream.matcher.stoppedBy().value_or("") == expected.stop);
  return 0;
}
