#include "text/rust_library.h"

namespace sublane::text::rust {
namespace {

abi::Bytes view(std::string_view text) { return {text.data(), text.size()}; }

std::vector<abi::Bytes> views(const std::vector<std::string>& texts) {
  std::vector<abi::Bytes> out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.push_back(view(text));
  return out;
}

std::string take(abi::Bytes bytes) {
  std::string text(bytes.data, bytes.size);
  abi::sublane_bytes_free(bytes);
  return text;
}

Error failure(int32_t code, abi::Bytes message) {
  std::string text = take(message);
  if (code == abi::kInput) return inputError("{}", text);
  return machineError("internal fault of the text library: {}", text)
      .hint("please report this with the input");
}

std::vector<std::string> cut(abi::Bytes arena, abi::Ids ends) {
  std::vector<std::string> out;
  out.reserve(ends.size);
  for (size_t i = 0, start = 0; i < ends.size; start = static_cast<size_t>(ends.data[i++])) {
    out.emplace_back(arena.data + start, static_cast<size_t>(ends.data[i]) - start);
  }
  abi::sublane_bytes_free(arena);
  abi::sublane_ids_free(ends);
  return out;
}

}  // namespace

Result<Encoder> Encoder::byteLevelBpe(const Vocabulary& vocabulary) {
  std::vector<abi::Bytes> tokens = views(vocabulary.tokens);
  std::vector<abi::Bytes> merges = views(vocabulary.merges);
  std::vector<abi::Step> steps;
  for (const Step& step : vocabulary.pre_tokenizer->steps) {
    steps.push_back({static_cast<int32_t>(step.kind), view(step.pattern)});
  }
  abi::Vocabulary words{tokens.data(), vocabulary.kinds.data(), tokens.size()};
  abi::BpeOptions options{merges.data(), merges.size(), steps.data(), steps.size(),
                          vocabulary.pre_tokenizer->ignore_merges};
  abi::Encoder* handle = nullptr;
  abi::Bytes error{};
  int32_t code = abi::sublane_bpe_new(&words, &options, &handle, &error);
  if (code != abi::kOk) return failure(code, error);
  return Encoder(handle);
}

Result<Encoder> Encoder::sentencePiece(const Vocabulary& vocabulary) {
  std::vector<abi::Bytes> tokens = views(vocabulary.tokens);
  abi::Vocabulary words{tokens.data(), vocabulary.kinds.data(), tokens.size()};
  abi::SentencePieceOptions options{vocabulary.scores.data(), vocabulary.unknown_id.value_or(-1),
                                    vocabulary.add_space_prefix};
  abi::Encoder* handle = nullptr;
  abi::Bytes error{};
  int32_t code = abi::sublane_sentence_piece_new(&words, &options, &handle, &error);
  if (code != abi::kOk) return failure(code, error);
  return Encoder(handle);
}

Result<Encoder> Encoder::unigram(const Vocabulary& vocabulary) {
  std::vector<abi::Bytes> tokens = views(vocabulary.tokens);
  abi::Vocabulary words{tokens.data(), vocabulary.kinds.data(), tokens.size()};
  abi::UnigramOptions options{vocabulary.scores.data(), vocabulary.unknown_id.value_or(-1),
                              view(vocabulary.charsmap), vocabulary.add_space_prefix,
                              vocabulary.remove_extra_whitespaces};
  abi::Encoder* handle = nullptr;
  abi::Bytes error{};
  int32_t code = abi::sublane_unigram_new(&words, &options, &handle, &error);
  if (code != abi::kOk) return failure(code, error);
  return Encoder(handle);
}

Result<Encoder> Encoder::huggingFace(std::string_view tokenizer_json, std::string_view more_tokens) {
  abi::Encoder* handle = nullptr;
  abi::Bytes error{};
  int32_t code = abi::sublane_hugging_face_new(view(tokenizer_json), view(more_tokens), &handle, &error);
  if (code != abi::kOk) return failure(code, error);
  return Encoder(handle);
}

Result<TokenTable> Encoder::tokens() const {
  abi::TokenTable table{};
  abi::Bytes error{};
  int32_t code = abi::sublane_token_table(handle_.get(), &table, &error);
  if (code != abi::kOk) return failure(code, error);
  std::string kinds = take(table.kinds);
  return TokenTable{cut(table.names, table.name_ends), cut(table.texts, table.text_ends),
                    std::vector<uint8_t>(kinds.begin(), kinds.end()), take(table.facts)};
}

Result<std::vector<int32_t>> Encoder::encode(std::string_view text, bool parse_special) const {
  abi::Ids ids{};
  abi::Bytes error{};
  int32_t code = abi::sublane_encode(handle_.get(), view(text), parse_special, &ids, &error);
  if (code != abi::kOk) return failure(code, error);
  std::vector<int32_t> out(ids.data, ids.data + ids.size);
  abi::sublane_ids_free(ids);
  return out;
}

Result<Template> Template::parse(std::string_view source) {
  abi::Template* handle = nullptr;
  abi::Bytes error{};
  int32_t code = abi::sublane_template_new(view(source), &handle, &error);
  if (code != abi::kOk) return failure(code, error);
  return Template(handle);
}

Result<std::string> Template::render(std::string_view context_json, std::string_view now) const {
  abi::Bytes text{}, error{};
  int32_t code = abi::sublane_template_render(handle_.get(), view(context_json), view(now), &text, &error);
  if (code != abi::kOk) return failure(code, error);
  return take(text);
}

Result<std::string> provokePanic() {
  abi::Bytes text{}, error{};
  int32_t code = abi::sublane_panic(&text, &error);
  if (code != abi::kOk) return failure(code, error);
  return take(text);
}

}  // namespace sublane::text::rust
