// The Rust library as C++ sees it: owned handles and Result<T> over text/rust_abi.h.
//
//   SUBLANE_TRY(auto encoder, rust::Encoder::sentencePiece(vocabulary));
//   SUBLANE_TRY(std::vector<int32_t> ids, encoder.encode("Hello", /*parse_special=*/false));
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/rust_abi.h"
#include "text/vocabulary.h"

namespace sublane::text::rust {

/// Tokens of a tokenizer.json by id.
struct TokenTable {
  std::vector<std::string> names;  // "" for an id that is not used
  std::vector<std::string> texts;  // bytes in a text, as `facts` explain them
  std::vector<uint8_t> kinds;      // TokenKind
  std::string facts;               // a JSON object
};

class Encoder {
 public:
  /// Byte-level BPE with the vocabulary's pre-tokenizer.
  static Result<Encoder> byteLevelBpe(const Vocabulary& vocabulary);
  static Result<Encoder> sentencePiece(const Vocabulary& vocabulary);
  static Result<Encoder> unigram(const Vocabulary& vocabulary);
  /// A tokenizer.json, and a JSON list of the tokens that the files beside it add.
  static Result<Encoder> huggingFace(std::string_view tokenizer_json, std::string_view more_tokens);
  /// Of an encoder made by huggingFace.
  Result<TokenTable> tokens() const;
  Result<std::vector<int32_t>> encode(std::string_view text, bool parse_special) const;

 private:
  struct Free {
    void operator()(abi::Encoder* handle) const { abi::sublane_encoder_free(handle); }
  };
  explicit Encoder(abi::Encoder* handle) : handle_(handle) {}
  std::unique_ptr<abi::Encoder, Free> handle_;
};

/// A chat template, parsed. Prints what jinja2 prints with trim_blocks and lstrip_blocks, as the reference
/// sets them.
class Template {
 public:
  static Result<Template> parse(std::string_view source);
  /// `context_json` is an object: {"messages": [...], "add_generation_prompt": true, ...}; `now` is what
  /// strftime_now tells ("2025-01-31T23:59:58").
  Result<std::string> render(std::string_view context_json, std::string_view now) const;

 private:
  struct Free {
    void operator()(abi::Template* handle) const { abi::sublane_template_free(handle); }
  };
  explicit Template(abi::Template* handle) : handle_(handle) {}
  std::unique_ptr<abi::Template, Free> handle_;
};

/// Panics on the Rust side, to show that it arrives as an error.
Result<std::string> provokePanic();

}  // namespace sublane::text::rust
