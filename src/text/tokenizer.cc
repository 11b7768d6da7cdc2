#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "text/hugging_face.h"
#include "text/tokenizer_state.h"
#include "text/utf8_stream.h"

namespace sublane::text {

using nlohmann::ordered_json;

namespace {

Result<ReadTokenizer> readGguf(const io::Checkpoint& checkpoint) {
  SUBLANE_TRY(Vocabulary vocabulary, readVocabulary(checkpoint));
  auto encoder = vocabulary.algorithm == Algorithm::kByteLevelBpe ? rust::Encoder::byteLevelBpe(vocabulary)
                 : vocabulary.algorithm == Algorithm::kUnigram    ? rust::Encoder::unigram(vocabulary)
                                                                  : rust::Encoder::sentencePiece(vocabulary);
  if (!encoder.ok()) return std::move(encoder).error();
  vocabulary.merges = {};  // the encoder has its own form of them
  return ReadTokenizer{std::move(vocabulary), std::move(encoder).value()};
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::fromCheckpoint(const io::Checkpoint& checkpoint) {
  bool hugging_face = checkpoint.container == io::Container::kHuggingFace;
  auto read = hugging_face ? readHuggingFace(checkpoint) : readGguf(checkpoint);
  if (!read.ok()) return std::move(read).error().at(checkpoint.source + ": tokenizer");
  auto vocabulary = std::make_shared<const Vocabulary>(std::move(read->vocabulary));
  auto state = std::make_unique<State>(checkpoint.source, vocabulary, std::move(read->encoder));
  if (!vocabulary->chat_template.empty()) {
    auto parsed = rust::Template::parse(vocabulary->chat_template);
    // A file with a bad template still serves raw prompts: the fault is told when the template is asked for.
    if (parsed.ok())
      state->chat_template = std::move(parsed).value();
    else
      state->template_fault = std::move(parsed).error();
  }
  state->stop_ids = stopIdsOf(*vocabulary, state->chat_template);
  return Tokenizer(std::move(state));
}

Result<Tokenizer> Tokenizer::fromFolder(const std::string& folder) {
  io::Checkpoint checkpoint;
  std::error_code ignored;
  if (std::filesystem::exists(folder + "/config.json", ignored)) {
    SUBLANE_TRY(checkpoint, io::openConfig(folder + "/config.json"));
  }
  checkpoint.source = checkpoint.folder = folder;
  checkpoint.container = io::Container::kHuggingFace;
  return fromCheckpoint(checkpoint);
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const Vocabulary& vocabulary = *state_->vocabulary;
  SUBLANE_TRY(std::vector<int32_t> ids, state_->encoder.encode(text, options.parse_special));
  if (!options.add_bos) return ids;
  bool has_bos = options.parse_special && !ids.empty() && ids.front() == vocabulary.bos_id;
  bool adds_bos = !vocabulary.prefix.empty() && vocabulary.prefix.front() == vocabulary.bos_id;
  ids.insert(ids.begin(), vocabulary.prefix.begin() + (has_bos && adds_bos), vocabulary.prefix.end());
  ids.insert(ids.end(), vocabulary.suffix.begin(), vocabulary.suffix.end());
  return ids;
}

const std::vector<int32_t>& Tokenizer::stopIds() const { return state_->stop_ids; }
std::optional<int32_t> Tokenizer::bosId() const { return state_->vocabulary->bos_id; }
int32_t Tokenizer::vocabularySize() const { return state_->vocabulary->size(); }
std::string Tokenizer::tokenBytes(int32_t id) const { return state_->vocabulary->bytes(id); }

/// Does a file say that this token ends a text or a turn?
static bool statesEnd(const Vocabulary& vocabulary, int32_t id) {
  return id == vocabulary.eos_id || id == vocabulary.eot_id || id == vocabulary.eom_id ||
         std::ranges::count(vocabulary.end_ids, id) > 0;
}

std::string Tokenizer::describe() const {
  const Vocabulary& vocabulary = *state_->vocabulary;
  std::string text = fmt::format("{}, {} tokens", vocabulary.summary, vocabulary.size());
  if (vocabulary.bos_id) {
    bool added = std::ranges::count(vocabulary.prefix, *vocabulary.bos_id) > 0;
    text += fmt::format(", bos {}{}", *vocabulary.bos_id, added ? "" : " (not added)");
  }
  if (state_->stop_ids.empty()) return text;
  text += ", stops";
  for (int32_t id : state_->stop_ids)
    text += fmt::format(" {}{}", id, statesEnd(vocabulary, id) ? "" : " (by its use or name)");
  return text;
}

}  // namespace sublane::text
