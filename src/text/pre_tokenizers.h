// Pre-tokenizers by their GGUF name (tokenizer.ggml.pre): how a text is cut before byte-level BPE merges.
//
// Each family of models was trained with its own cuts, so an unknown name is refused: a near guess gives
// fluent nonsense. To add one: a row in pre_tokenizers.cc and a row in tests/text/pre_tokenizers_test.cc.
//
//   const PreTokenizer* qwen = findPreTokenizer("qwen2");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sublane::text {

/// One step; steps apply in order, each to the pieces left by the one before.
struct Step {
  /// Each digit alone; GPT-2's cuts, after which steps see letters for bytes; `pattern`; each run of signs;
  /// each run of digits.
  enum Kind : int32_t { kDigits = 0, kGpt2 = 1, kPattern = 2, kSigns = 3, kNumbers = 4 } kind;
  std::string_view pattern = {};  // Oniguruma syntax; every match becomes a piece of its own
};

struct PreTokenizer {
  std::vector<std::string_view> names;  // the first one is the one to show
  std::vector<Step> steps;
  bool ignore_merges = false;  // a whole piece in the vocabulary wins over merges
  bool add_bos = false;        // when the file has no tokenizer.ggml.add_bos_token
};

/// Null for a name that is not known.
const PreTokenizer* findPreTokenizer(std::string_view name);
/// "default, gpt-2, ..." for messages.
std::string preTokenizerNames();

}  // namespace sublane::text
