// The tokenizer's part of GGUF metadata (tokenizer.ggml.*), read and checked.
//
// Everything that the file leaves unsaid is filled in here by the rule of its tokenizer model, and nowhere
// else. All faults of the metadata are reported in one error.
//
//   SUBLANE_TRY(Vocabulary vocabulary, readVocabulary(checkpoint));
//   std::string bytes = vocabulary.bytes(42);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/checkpoint.h"
#include "text/pre_tokenizers.h"

namespace sublane::text {

enum class Algorithm { kByteLevelBpe, kSentencePiece };

/// Values of tokenizer.ggml.token_type.
enum TokenKind : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

struct Vocabulary {
  Algorithm algorithm = Algorithm::kByteLevelBpe;
  const PreTokenizer* pre_tokenizer = nullptr;  // byte-level BPE only
  std::vector<std::string> tokens;              // as in the file
  std::vector<uint8_t> kinds;                   // TokenKind
  std::vector<std::string> merges;              // byte-level BPE: "left right", best first
  std::vector<float> scores;                    // SentencePiece: higher merges first
  std::optional<int32_t> bos_id, eos_id, eot_id, eom_id, unknown_id, padding_id;
  bool add_bos = false;
  bool add_space_prefix = false;
  std::string chat_template;  // empty: none

  int32_t size() const { return static_cast<int32_t>(tokens.size()); }
  /// No text of their own when generated: control and unknown tokens, and ids outside the vocabulary.
  bool isSilent(int32_t id) const;
  /// The bytes of text that a token stands for; of a silent token, its name.
  std::string bytes(int32_t id) const;
};

Result<Vocabulary> readVocabulary(const io::Checkpoint& checkpoint);

}  // namespace sublane::text
