// The tokenizer of a Hugging Face folder: tokenizer.json, and what the files beside it add.
//
//   tokenizer.json              tokens, steps and model (text/rust/src/hugging_face.rs)
//   tokenizer_config.json       bos, eos, ... by name; tokens that tokenizer.json lacks; whether bos is added
//   special_tokens_map.json     the names that tokenizer_config.json leaves out
//   generation_config.json, config.json   ids that end a text
//   chat_template.jinja, else chat_template of tokenizer_config.json, else chat_template.json
//   additional_chat_templates/NAME.jinja   templates for other uses ("tool_use")
//
//   SUBLANE_TRY(ReadTokenizer read, readHuggingFace(checkpoint));
#pragma once

#include "io/checkpoint.h"
#include "text/rust_library.h"
#include "text/vocabulary.h"

namespace sublane::text {

struct ReadTokenizer {
  Vocabulary vocabulary;
  rust::Encoder encoder;
};

/// The texts of the files; nullopt for one that is not there.
struct HuggingFaceFiles {
  std::optional<std::string> tokenizer, config, special_map, generation, chat_template, older_chat_template;
  std::map<std::string, std::string> more_templates;  // by name
};

/// Errors name the file, and the place in it.
Result<ReadTokenizer> readHuggingFace(const io::Checkpoint& checkpoint);
/// The same from texts; `config` is config.json, flattened.
Result<ReadTokenizer> readHuggingFace(const HuggingFaceFiles& files, const io::Metadata& config);

}  // namespace sublane::text
