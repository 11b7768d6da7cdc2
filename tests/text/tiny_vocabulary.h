// Vocabularies small enough to check by hand, as the checkpoints that would hold them.
#pragma once

#include <string>
#include <vector>

#include "io/checkpoint.h"

namespace sublane::text {

using Texts = std::vector<std::string>;

inline io::Checkpoint checkpointOf(io::Metadata metadata) {
  io::Checkpoint checkpoint;
  checkpoint.source = "tiny.gguf";
  checkpoint.metadata = std::move(metadata);
  return checkpoint;
}

/// The letters of all 256 bytes as tokens 0 to 255, then `more`; kinds of `more` from `kinds`.
inline io::Metadata byteLevel(const Texts& more, const Texts& merges, const std::vector<int64_t>& kinds = {},
                              const std::string& pre = "gpt-2") {
  Texts tokens;
  int extra = 0x100;
  for (int b = 0; b < 256; ++b) {
    bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    int letter = printable ? b : extra++;
    if (letter < 0x80)
      tokens.emplace_back(1, static_cast<char>(letter));
    else
      tokens.push_back({static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 0x3F))});
  }
  std::vector<int64_t> all_kinds(256, 1);
  for (size_t i = 0; i < more.size(); ++i) all_kinds.push_back(i < kinds.size() ? kinds[i] : 1);
  tokens.insert(tokens.end(), more.begin(), more.end());
  return {{"tokenizer.ggml.model", {std::string("gpt2")}},
          {"tokenizer.ggml.pre", {pre}},
          {"tokenizer.ggml.tokens", {tokens}},
          {"tokenizer.ggml.token_type", {all_kinds}},
          {"tokenizer.ggml.merges", {merges}}};
}

struct Piece {
  std::string text;
  double score;
  int64_t kind = 1;
};

/// <unk>, <s>, </s>, then the 256 byte tokens (3 to 258), then `pieces`.
inline io::Metadata sentencePiece(const std::vector<Piece>& pieces, bool space_prefix = false) {
  Texts tokens = {"<unk>", "<s>", "</s>"};
  std::vector<double> scores(259, 0.0);
  std::vector<int64_t> kinds = {2, 3, 3};
  for (int b = 0; b < 256; ++b) {
    tokens.push_back(fmt::format("<0x{:02X}>", b));
    kinds.push_back(6);
  }
  for (const Piece& piece : pieces) {
    tokens.push_back(piece.text);
    scores.push_back(piece.score);
    kinds.push_back(piece.kind);
  }
  return {{"tokenizer.ggml.model", {std::string("llama")}},
          {"tokenizer.ggml.tokens", {tokens}},
          {"tokenizer.ggml.scores", {scores}},
          {"tokenizer.ggml.token_type", {kinds}},
          {"tokenizer.ggml.bos_token_id", {int64_t{1}}},
          {"tokenizer.ggml.eos_token_id", {int64_t{2}}},
          {"tokenizer.ggml.unknown_token_id", {int64_t{0}}},
          {"tokenizer.ggml.add_space_prefix", {space_prefix}}};
}

}  // namespace sublane::text
