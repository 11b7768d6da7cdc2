#include "text/stop_matcher.h"
#include "text/token_texts.h"
#include "text/tokenizer_state.h"

namespace sublane::text {

struct TextStream::State {
  TokenTexts texts;
  StoppableText text;
};

TextStream::TextStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextStream::TextStream(TextStream&&) noexcept = default;
TextStream& TextStream::operator=(TextStream&&) noexcept = default;
TextStream::~TextStream() = default;

std::string TextStream::push(int32_t id) { return state_->text.push(state_->texts.push(id)); }

std::string TextStream::finish() { return state_->text.finish(); }

std::optional<std::string> TextStream::stoppedBy() const { return state_->text.matcher.stoppedBy(); }

Result<TextStream> Tokenizer::textStream(StopOptions options) const {
  SUBLANE_TRY(StopMatcher matcher, StopMatcher::create(std::move(options)));
  StoppableText text{Utf8Stream{}, std::move(matcher)};
  return TextStream(std::make_unique<TextStream::State>(TokenTexts(state_->vocabulary), std::move(text)));
}

}  // namespace sublane::text
