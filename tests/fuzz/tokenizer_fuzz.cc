// Feeds any bytes to the readers of tokenizers. The input is cut at each 0xFF: tokenizer.json,
// tokenizer_config.json, generation_config.json, a text. Or, after a first byte 'G', a byte that names the
// model and the pre-tokenizer, tokens cut at 0xFF, and a text as the last. What is accepted must keep its
// word: ids inside the vocabulary, and UTF-8 out.
#include <cstdlib>

#include "text/hugging_face.h"
#include "text/text.h"
#include "text/token_texts.h"
#include "text/utf8_stream.h"

namespace {

using namespace sublane;
using namespace sublane::text;

constexpr size_t kLongestText = 256;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string> parts(std::string_view input) {
  std::vector<std::string> out(1);
  for (char c : input) {
    if (static_cast<unsigned char>(c) == 0xFF)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

void requireInput(const Error& error) {
  require(!error.message().empty());
  require(error.fault() == Fault::kInput);
}

void tokenizeJson(const std::vector<std::string>& files, const std::string& text) {
  HuggingFaceFiles read;
  read.tokenizer = files[0];
  if (files.size() > 1 && !files[1].empty()) read.config = files[1];
  if (files.size() > 2 && !files[2].empty()) read.generation = files[2];
  auto tokenizer = readHuggingFace(read, {});
  if (!tokenizer.ok()) return requireInput(tokenizer.error());
  auto vocabulary = std::make_shared<const Vocabulary>(std::move(tokenizer->vocabulary));
  for (bool special : {false, true}) {
    auto ids = tokenizer->encoder.encode(text, special);
    if (!ids.ok()) {
      requireInput(ids.error());
      continue;
    }
    TokenTexts texts(vocabulary);
    Utf8Stream utf8;
    std::string out;
    for (int32_t id : *ids) {
      require(id >= 0 && id < vocabulary->size());
      out += utf8.push(texts.push(id));
    }
    require(isUtf8(out + utf8.finish()));
  }
}

void ggufVocabulary(std::vector<std::string> tokens, const std::string& text) {
  const char* models[] = {"gpt2", "llama", "t5", "bert"};
  std::string names = preTokenizerNames() + ", ";
  unsigned char choice = tokens[0].size() > 1 ? static_cast<unsigned char>(tokens[0][1]) : 0;
  size_t at = 0;
  for (int skip = choice % 64; skip > 0 && names.find(", ", at) + 2 < names.size(); --skip)
    at = names.find(", ", at) + 2;
  io::Checkpoint checkpoint;
  checkpoint.source = "fuzz";
  tokens[0].erase(0, 2);
  std::vector<double> scores;
  std::vector<int64_t> kinds, charsmap(tokens[0].begin(), tokens[0].end());
  std::vector<std::string> merges;
  for (const std::string& token : tokens) {
    scores.push_back(-static_cast<double>(token.size() % 7) - 0.5);
    kinds.push_back(token.starts_with("<0x") ? 6 : 1 + static_cast<int64_t>(token.size() % 5));
    if (token.size() > 1) merges.push_back(token.substr(0, 1) + " " + token.substr(1));
  }
  checkpoint.metadata = {{"tokenizer.ggml.model", {std::string(models[choice / 64])}},
                         {"tokenizer.ggml.pre", {names.substr(at, names.find(", ", at) - at)}},
                         {"tokenizer.ggml.tokens", {tokens}},
                         {"tokenizer.ggml.token_type", {kinds}},
                         {"tokenizer.ggml.scores", {scores}},
                         {"tokenizer.ggml.merges", {merges}},
                         {"tokenizer.ggml.unknown_token_id", {int64_t{0}}}};
  if (choice / 64 == 2 && charsmap.size() > 4)
    checkpoint.metadata["tokenizer.ggml.precompiled_charsmap"] = {charsmap};
  auto tokenizer = Tokenizer::fromCheckpoint(checkpoint);
  if (!tokenizer.ok()) return requireInput(tokenizer.error());
  for (bool special : {false, true}) {
    auto ids = tokenizer->encode(text, {.parse_special = special});
    if (!ids.ok()) {
      requireInput(ids.error());
      continue;
    }
    for (int32_t id : *ids) require(id >= 0 && id < tokenizer->vocabularySize());
    require(isUtf8(tokenizer->decode(*ids)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool limited = [] {
    (void)rust::provokePanic().ok();  // the library sets its own limits with its first call
    abi::sublane_limit_pattern_retries(100000);
    return true;
  }();
  (void)limited;
  std::vector<std::string> pieces = parts({reinterpret_cast<const char*>(data), size});
  std::string text = "a<s> b\u0308 \xE2\x96\x81 1\n";
  if (pieces.size() > 3 || (pieces.size() > 1 && pieces[0].starts_with('G'))) {
    text = pieces.back().substr(0, kLongestText);
    pieces.pop_back();
  }
  if (pieces[0].starts_with('G'))
    ggufVocabulary(std::move(pieces), text);
  else
    tokenizeJson(pieces, text);
  return 0;
}
