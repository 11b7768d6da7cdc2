// The bytes that each token of a stream adds to a text.
//
// They depend on the token's place: the space that encoding put before the first word is dropped again, and
// some decoders stand something between tokens.
//
//   TokenTexts texts(vocabulary);
//   texts.push(261);                  // "Hello" of "▁Hello"
//   texts.push(261);                  // " Hello"
#pragma once

#include <memory>
#include <string>

#include "text/vocabulary.h"

namespace sublane::text {

class TokenTexts {
 public:
  explicit TokenTexts(std::shared_ptr<const Vocabulary> vocabulary);
  /// Perhaps half a character, perhaps nothing.
  std::string push(int32_t id);

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  uint64_t strip_left_;
  bool first_ = true;
};

}  // namespace sublane::text
