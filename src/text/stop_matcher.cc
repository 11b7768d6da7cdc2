#include "text/stop_matcher.h"

#include <algorithm>

#include "base/text.h"

namespace sublane::text {
namespace {

constexpr size_t kMostStops = 64;
constexpr size_t kMostBytes = 1024;

std::vector<size_t> bordersOf(std::string_view text) {
  std::vector<size_t> border(text.size() + 1, 0);
  for (size_t at = 1, length = 0; at < text.size(); ++at) {
    while (length > 0 && text[at] != text[length]) length = border[length];
    if (text[at] == text[length]) ++length;
    border[at + 1] = length;
  }
  return border;
}

}  // namespace

Result<StopMatcher> StopMatcher::create(StopOptions options) {
  if (options.stops.size() > kMostStops)
    return inputError("{} stop texts, at most {} are allowed", options.stops.size(), kMostStops);
  StopMatcher matcher;
  matcher.include_stop_ = options.include_stop;
  for (std::string& text : options.stops) {
    if (text.empty()) return inputError("a stop text is empty").hint("give at least one character");
    if (text.size() > kMostBytes)
      return inputError("the stop text {} has {} bytes, at most {} are allowed", inQuotes(text, 20),
                        text.size(), kMostBytes);
    if (!isUtf8(text)) return inputError("the stop text {} is not UTF-8", inQuotes(text, 40));
    std::vector<size_t> border = bordersOf(text);
    matcher.stops_.push_back({std::move(text), std::move(border)});
  }
  return matcher;
}

/// Whether `stop` is complete with this byte.
bool StopMatcher::advance(Stop& stop, char byte) {
  while (stop.matched > 0 && stop.text[stop.matched] != byte) stop.matched = stop.border[stop.matched];
  if (stop.text[stop.matched] == byte) ++stop.matched;
  return stop.matched == stop.text.size();
}

std::string StopMatcher::push(std::string_view text) {
  if (found_) return "";
  if (stops_.empty()) return std::string(text);
  size_t open = 0;  // bytes at the end that may begin a stop text
  for (char byte : text) {
    held_ += byte;
    open = 0;
    for (size_t i = 0; i < stops_.size(); ++i) {
      Stop& stop = stops_[i];
      if (advance(stop, byte) && (!found_ || stop.text.size() > stops_[*found_].text.size())) found_ = i;
      open = std::max(open, stop.matched);
    }
    if (!found_) continue;
    if (!include_stop_) held_.resize(held_.size() - stops_[*found_].text.size());
    return std::exchange(held_, "");
  }
  if (text.empty()) return "";
  std::string certain = held_.substr(0, held_.size() - open);
  held_.erase(0, certain.size());
  return certain;
}

std::string StopMatcher::finish() { return std::exchange(held_, ""); }

std::optional<std::string> StopMatcher::stoppedBy() const {
  if (!found_) return std::nullopt;
  return stops_[*found_].text;
}

}  // namespace sublane::text
