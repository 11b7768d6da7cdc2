#include "text/pre_tokenizers.h"

namespace sublane::text {
namespace {

// Contractions in either case, a word with one leading sign, digits, signs with their line ends, spaces.
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// The same, with digits one by one.
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

const std::vector<PreTokenizer>& table() {
  static const std::vector<PreTokenizer> rows = {
      // What the format's own readers mean by "default": signs, then GPT-2's cuts, then digits by threes.
      {.name = "default",
       .steps = {{Step::kPattern, R"([\p{P}\$\+<=>\^~\|]+)"},
                 {Step::kPattern, kGpt2},
                 {Step::kPattern, R"(\p{N}+)"},
                 {Step::kPattern, "[0-9][0-9][0-9]"}}},
      {.name = "gpt-2", .steps = {{Step::kGpt2}}},
      {.name = "llama-bpe", .steps = {{Step::kPattern, kLlama3}}, .ignore_merges = true, .add_bos = true},
      {.name = "qwen2", .steps = {{Step::kPattern, kQwen2}}},
      {.name = "smollm", .steps = {{Step::kDigits}, {Step::kGpt2}}},
  };
  return rows;
}

}  // namespace

const PreTokenizer* findPreTokenizer(std::string_view name) {
  if (name == "llama3" || name == "llama-v3") name = "llama-bpe";
  for (const PreTokenizer& row : table()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string preTokenizerNames() {
  std::string names;
  for (const PreTokenizer& row : table()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace sublane::text
