#include "text/token_texts.h"
#include "text/tokenizer_state.h"
#include "text/utf8_stream.h"

namespace sublane::text {

struct Detokenizer::State {
  Utf8Stream utf8;
  TokenTexts texts;
};

Detokenizer::Detokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Detokenizer::Detokenizer(Detokenizer&&) noexcept = default;
Detokenizer& Detokenizer::operator=(Detokenizer&&) noexcept = default;
Detokenizer::~Detokenizer() = default;

std::string Detokenizer::push(int32_t id) { return state_->utf8.push(state_->texts.push(id)); }

std::string Detokenizer::finish() { return state_->utf8.finish(); }

Detokenizer Tokenizer::detokenizer() const {
  return Detokenizer(std::make_unique<Detokenizer::State>(Utf8Stream{}, TokenTexts(state_->vocabulary)));
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const {
  Detokenizer stream = detokenizer();
  std::string text;
  for (int32_t id : ids) text += stream.push(id);
  return text + stream.finish();
}

}  // namespace sublane::text
