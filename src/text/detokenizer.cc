#include "text/tokenizer_state.h"
#include "text/utf8_stream.h"

namespace sublane::text {

struct Detokenizer::State {
  std::shared_ptr<const Vocabulary> vocabulary;
  Utf8Stream utf8;
  bool drop_space;  // the space that encoding put before the first word
};

Detokenizer::Detokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Detokenizer::Detokenizer(Detokenizer&&) noexcept = default;
Detokenizer& Detokenizer::operator=(Detokenizer&&) noexcept = default;
Detokenizer::~Detokenizer() = default;

std::string Detokenizer::push(int32_t id) {
  const Vocabulary& vocabulary = *state_->vocabulary;
  if (vocabulary.isSilent(id)) return "";
  std::string bytes = vocabulary.bytes(id);
  if (state_->drop_space && !bytes.empty()) {
    if (bytes.front() == ' ') bytes.erase(0, 1);
    state_->drop_space = false;
  }
  return state_->utf8.push(bytes);
}

std::string Detokenizer::finish() { return state_->utf8.finish(); }

Detokenizer Tokenizer::detokenizer() const {
  return Detokenizer(std::make_unique<Detokenizer::State>(state_->vocabulary, Utf8Stream{},
                                                          state_->vocabulary->add_space_prefix));
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const {
  Detokenizer stream = detokenizer();
  std::string text;
  for (int32_t id : ids) text += stream.push(id);
  return text + stream.finish();
}

}  // namespace sublane::text
