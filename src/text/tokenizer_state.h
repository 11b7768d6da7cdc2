// What a Tokenizer holds; private to the folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/rust_library.h"
#include "text/text.h"
#include "text/vocabulary.h"

namespace sublane::text {

struct Tokenizer::State {
  std::string source;                            // the file, for messages
  std::shared_ptr<const Vocabulary> vocabulary;  // shared with detokenizers, which may outlive us
  rust::Encoder encoder;
  std::optional<rust::Template> chat_template;
  std::optional<Error> template_fault;  // the file has a template that cannot be parsed
  std::vector<int32_t> stop_ids;
};

/// What templates are told of these messages; special tokens by their texts.
std::string templateContext(const Vocabulary& vocabulary, const std::vector<Message>& messages,
                            bool add_generation_prompt);

/// End of sequence, end of turn and end of message by the file's ids; the control token that its template
/// puts after an assistant's message; and control tokens with a known name of that meaning. Ascending.
std::vector<int32_t> stopIdsOf(const Vocabulary& vocabulary,
                               const std::optional<rust::Template>& chat_template);

}  // namespace sublane::text
