// The tokenizer's part of GGUF metadata (tokenizer.ggml.*), read and checked.
//
// Everything that the file leaves unsaid is filled in here by the rule of its tokenizer model, and nowhere
// else. All faults of the metadata are reported in one error.
//
//   SUBLANE_TRY(Vocabulary vocabulary, readVocabulary(checkpoint));
//   std::string bytes = vocabulary.bytes(42);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/checkpoint.h"
#include "text/pre_tokenizers.h"

namespace sublane::text {

enum class Algorithm { kByteLevelBpe, kSentencePiece, kUnigram, kHuggingFace };

/// Values of tokenizer.ggml.token_type.
enum TokenKind : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

/// What depends on a token's place in a text when it is decoded.
struct Decoding {
  std::string space;               // in a token's text this stands for a space; empty: nothing does
  bool drops_first_space = false;  // and for nothing at all in the first token
  std::string strip;               // one character, taken off the front of a text ...
  uint64_t strip_count = 0;        // ... so many times
  std::string joint;               // stands between tokens
};

struct Vocabulary {
  Algorithm algorithm = Algorithm::kByteLevelBpe;
  const PreTokenizer* pre_tokenizer = nullptr;  // byte-level BPE only
  std::vector<std::string> tokens;              // as in the file
  std::vector<uint8_t> kinds;                   // TokenKind
  std::vector<std::string> merges;              // byte-level BPE: "left right", best first
  std::vector<float> scores;  // SentencePiece: higher merges first; unigram: log probabilities
  std::optional<int32_t> bos_id, eos_id, eot_id, eom_id, unknown_id, padding_id;
  bool add_bos = false;
  bool add_space_prefix = false;
  bool remove_extra_whitespaces = false;  // kUnigram
  std::string charsmap;                   // kUnigram: SentencePiece's map of characters; empty: none
  std::string chat_template;              // empty: none
  std::map<std::string, std::string> named_templates;  // further ones: "tool_use", "rag"
  std::vector<int32_t> prefix, suffix;                 // what the file puts around a text
  std::vector<int32_t> end_ids;    // ends of generation that files beside the vocabulary state
  std::vector<std::string> texts;  // kHuggingFace: the bytes of each token, as Decoding explains them
  Decoding decoding;
  std::string summary;  // "byte-level BPE (smollm)"

  int32_t size() const { return static_cast<int32_t>(tokens.size()); }
  /// No text of their own when generated: control and unknown tokens, and ids outside the vocabulary.
  bool isSilent(int32_t id) const;
  /// The bytes of text that a token stands for; of a silent token, its name.
  std::string bytes(int32_t id) const;
  /// The same at the start of a text, if `first`.
  std::string bytesAt(int32_t id, bool first) const;
};

Result<Vocabulary> readVocabulary(const io::Checkpoint& checkpoint);

}  // namespace sublane::text
