#include "text/token_texts.h"

namespace sublane::text {

TokenTexts::TokenTexts(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), strip_left_(vocabulary_->decoding.strip_count) {}

std::string TokenTexts::push(int32_t id) {
  if (vocabulary_->isSilent(id)) return "";
  const Decoding& decoding = vocabulary_->decoding;
  std::string text = vocabulary_->bytesAt(id, first_);
  if (!first_) text.insert(0, decoding.joint);
  first_ = false;
  size_t cut = 0;
  for (; strip_left_ > 0 && cut < text.size(); --strip_left_) {
    if (text.compare(cut, decoding.strip.size(), decoding.strip) != 0) {
      strip_left_ = 0;
      break;
    }
    cut += decoding.strip.size();
  }
  return text.substr(cut);
}

}  // namespace sublane::text
