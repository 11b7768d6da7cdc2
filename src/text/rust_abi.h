// The C ABI of text/rust (src/lib.rs), kept by hand: change both together.
//
// Calls return kOk, kInput (the input is at fault) or kInternal (a panic, caught); in the last two cases
// `error` holds a message to free. Everything given out is freed by the function of its type. Handles may be
// used from several threads at once. C++ code uses text/rust_library.h, not this.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sublane::text::abi {

enum Code : int32_t { kOk = 0, kInput = 1, kInternal = 2 };

struct Encoder;
struct Template;

struct Bytes {
  const char* data;
  size_t size;
};
struct Ids {
  const int32_t* data;
  size_t size;
};

struct Vocabulary {
  const Bytes* tokens;
  const uint8_t* kinds;  // tokenizer.ggml.token_type
  size_t size;
};
struct Step {
  int32_t kind;  // Step::Kind of pre_tokenizers.h
  Bytes pattern;
};
struct BpeOptions {
  const Bytes* merges;
  size_t merge_count;
  const Step* steps;
  size_t step_count;
  bool ignore_merges;  // a whole pre-token in the vocabulary wins over merges
};
struct SentencePieceOptions {
  const float* scores;  // one a token
  int32_t unknown;      // -1: none
  bool add_space_prefix;
};

struct UnigramOptions {
  const float* scores;  // one a token
  int32_t unknown;      // -1: none
  Bytes charsmap;       // empty: none
  bool add_space_prefix;
  bool remove_extra_whitespaces;
};
/// Tokens of a tokenizer.json by id: names and texts lie one after the other and end where the lists say.
struct TokenTable {
  Bytes names, texts, kinds;
  Ids name_ends, text_ends;
  Bytes facts;  // a JSON object, see hugging_face.rs
};

extern "C" {
int32_t sublane_bpe_new(const Vocabulary*, const BpeOptions*, Encoder** out, Bytes* error);
int32_t sublane_sentence_piece_new(const Vocabulary*, const SentencePieceOptions*, Encoder** out,
                                   Bytes* error);
int32_t sublane_unigram_new(const Vocabulary*, const UnigramOptions*, Encoder** out, Bytes* error);
/// `more_tokens`: a JSON list of the tokens that files beside tokenizer.json add (hugging_face.rs).
int32_t sublane_hugging_face_new(Bytes tokenizer_json, Bytes more_tokens, Encoder** out, Bytes* error);
int32_t sublane_token_table(const Encoder*, TokenTable* out, Bytes* error);
int32_t sublane_encode(const Encoder*, Bytes text, bool parse_special, Ids* out, Bytes* error);
void sublane_encoder_free(Encoder*);
int32_t sublane_template_new(Bytes source, Template** out, Bytes* error);
int32_t sublane_template_render(const Template*, Bytes context_json, Bytes now, Bytes* out, Bytes* error);
void sublane_template_free(Template*);
void sublane_bytes_free(Bytes);
void sublane_ids_free(Ids);
void sublane_limit_pattern_retries(uint32_t most);  // of all regular expressions; for fuzzing
int32_t sublane_panic(Bytes* out, Bytes* error);    // for the test of the boundary
}

}  // namespace sublane::text::abi
