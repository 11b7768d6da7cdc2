#include "text/vocabulary.h"

#include <array>
#include <charconv>
#include <limits>

#include "base/text.h"

namespace sublane::text {
namespace {

/// Takes typed values out of the metadata and collects what is wrong with them.
class Reader {
 public:
  explicit Reader(const io::Metadata& metadata) : metadata_(metadata) {}

  template <class T>
  const T* get(const std::string& key, const char* type) {
    auto found = metadata_.find(key);
    if (found == metadata_.end()) return nullptr;
    if (const T* value = std::get_if<T>(&found->second.value)) return value;
    fault("{} is not {}", key, type);
    return nullptr;
  }
  bool has(const std::string& key) const { return metadata_.contains(key); }
  std::vector<std::string> keysFrom(const std::string& prefix) const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : metadata_) {
      if (key.starts_with(prefix)) keys.push_back(key);
    }
    return keys;
  }
  std::string text(const std::string& key) {
    const std::string* value = get<std::string>(key, "a text");
    return value ? *value : "";
  }
  bool flag(const std::string& key, bool otherwise) {
    const bool* value = get<bool>(key, "true or false");
    return value ? *value : otherwise;
  }
  std::optional<int32_t> id(const std::string& key, size_t vocabulary_size) {
    const int64_t* value = get<int64_t>(key, "a whole number");
    if (!value) return std::nullopt;
    if (*value >= 0 && static_cast<size_t>(*value) < vocabulary_size) return static_cast<int32_t>(*value);
    constexpr int64_t kNoToken = std::numeric_limits<uint32_t>::max();  // written by converters for "none"
    if (*value != -1 && *value != kNoToken) {
      fault("{} is {}, but there are {} tokens", key, *value, vocabulary_size);
    }
    return std::nullopt;
  }
  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  bool good() const { return faults_.empty(); }
  Error error() const {
    std::string all;
    for (const std::string& fault : faults_) all += (all.empty() ? "" : "\n  ") + fault;
    return inputError("{}", all);
  }

 private:
  const io::Metadata& metadata_;
  std::vector<std::string> faults_;
};

void readTokens(Reader& reader, Vocabulary& out) {
  if (!reader.has("tokenizer.ggml.tokens")) return reader.fault("tokenizer.ggml.tokens is missing");
  if (auto* tokens = reader.get<std::vector<std::string>>("tokenizer.ggml.tokens", "a list of texts")) {
    out.tokens = *tokens;
    if (tokens->empty()) reader.fault("tokenizer.ggml.tokens is empty");
    if (tokens->size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
      reader.fault("tokenizer.ggml.tokens has {} entries, at most 2^31-1 can be numbered", tokens->size());
    }
  }
}

void readKinds(Reader& reader, Vocabulary& out) {
  out.kinds.assign(out.tokens.size(), kNormal);
  auto* kinds = reader.get<std::vector<int64_t>>("tokenizer.ggml.token_type", "a list of whole numbers");
  if (!kinds) return;
  if (kinds->size() != out.tokens.size()) {
    return reader.fault("tokenizer.ggml.token_type has {} entries, tokens has {}", kinds->size(),
                        out.tokens.size());
  }
  for (size_t i = 0; i < kinds->size(); ++i) {
    if ((*kinds)[i] < kNormal || (*kinds)[i] > kByte) {
      return reader.fault("tokenizer.ggml.token_type[{}] is {}, known are 1 to 6", i, (*kinds)[i]);
    }
    out.kinds[i] = static_cast<uint8_t>((*kinds)[i]);
  }
}

void readByteLevel(Reader& reader, Vocabulary& out) {
  out.algorithm = Algorithm::kByteLevelBpe;
  std::string name = reader.text("tokenizer.ggml.pre");
  out.pre_tokenizer = findPreTokenizer(name);
  if (!reader.has("tokenizer.ggml.pre")) {
    reader.fault("tokenizer.ggml.pre is missing: how to cut words is unknown (known: {})",
                 preTokenizerNames());
  } else if (!out.pre_tokenizer && !name.empty()) {
    reader.fault("tokenizer.ggml.pre \"{}\" is not supported (known: {})", name, preTokenizerNames());
  }
  if (!reader.has("tokenizer.ggml.merges")) reader.fault("tokenizer.ggml.merges is missing");
  if (auto* merges = reader.get<std::vector<std::string>>("tokenizer.ggml.merges", "a list of texts")) {
    out.merges = *merges;
  }
}

void readScores(Reader& reader, Vocabulary& out) {
  if (!reader.has("tokenizer.ggml.scores")) reader.fault("tokenizer.ggml.scores is missing");
  if (auto* scores = reader.get<std::vector<double>>("tokenizer.ggml.scores", "a list of numbers")) {
    if (scores->size() != out.tokens.size()) {
      reader.fault("tokenizer.ggml.scores has {} entries, tokens has {}", scores->size(), out.tokens.size());
    }
    out.scores.assign(scores->begin(), scores->end());
  }
}

void readSentencePiece(Reader& reader, Vocabulary& out) {
  out.algorithm = Algorithm::kSentencePiece;
  readScores(reader, out);
  if (reader.flag("tokenizer.ggml.remove_extra_whitespaces", false)) {
    reader.fault("tokenizer.ggml.remove_extra_whitespaces = true is not supported");
  }
  if (reader.has("tokenizer.ggml.precompiled_charsmap")) {
    reader.fault("tokenizer.ggml.precompiled_charsmap (a normaliser) is not supported");
  }
}

void readUnigram(Reader& reader, Vocabulary& out) {
  out.algorithm = Algorithm::kUnigram;
  readScores(reader, out);
  out.remove_extra_whitespaces = reader.flag("tokenizer.ggml.remove_extra_whitespaces", false);
  auto* map = reader.get<std::vector<int64_t>>("tokenizer.ggml.precompiled_charsmap", "a list of bytes");
  if (map) out.charsmap.assign(map->begin(), map->end());
}

void readSpecial(Reader& reader, Vocabulary& out) {
  auto id = [&](const char* name) {
    return reader.id(std::string("tokenizer.ggml.") + name, out.tokens.size());
  };
  out.bos_id = id("bos_token_id");
  out.eos_id = id("eos_token_id");
  out.eot_id = id("eot_token_id");
  out.eom_id = id("eom_token_id");
  out.unknown_id = id("unknown_token_id");
  out.padding_id = id("padding_token_id");
  bool byte_level = out.algorithm == Algorithm::kByteLevelBpe;
  bool family_adds_bos =
      out.algorithm == Algorithm::kSentencePiece || (out.pre_tokenizer && out.pre_tokenizer->add_bos);
  out.add_bos = reader.flag("tokenizer.ggml.add_bos_token", family_adds_bos);
  out.add_space_prefix = reader.flag("tokenizer.ggml.add_space_prefix", !byte_level);
  if (byte_level && out.add_space_prefix) {
    reader.fault("tokenizer.ggml.add_space_prefix = true is not supported for byte-level BPE");
  }
  // A unigram model's family puts its end after what an encoder reads; others would end a prompt before the
  // answer.
  bool unigram = out.algorithm == Algorithm::kUnigram;
  bool adds_eos = reader.flag("tokenizer.ggml.add_eos_token", unigram);
  if (adds_eos && !unigram) {
    reader.fault(
        "tokenizer.ggml.add_eos_token = true is not supported: a prompt would end before the answer");
  }
  if (adds_eos && unigram && out.eos_id) out.suffix = {*out.eos_id};
  out.chat_template = reader.text("tokenizer.chat_template");
  const std::string further = "tokenizer.chat_template.";  // "tokenizer.chat_template.tool_use"
  for (const std::string& key : reader.keysFrom(further)) {
    out.named_templates[key.substr(further.size())] = reader.text(key);
  }
}

/// The byte that each letter of a byte-level vocabulary stands for: letters are below U+0144.
const std::array<int16_t, 0x144>& letterBytes() {
  static const auto table = [] {
    std::array<int16_t, 0x144> bytes;
    bytes.fill(-1);
    int next = 0x100;
    for (int b = 0; b < 256; ++b) {
      bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD);
      bytes[printable ? b : next++] = static_cast<int16_t>(b);
    }
    return bytes;
  }();
  return table;
}

/// Undoes the letters; a token that is not written in them stands for its own text.
std::string byteLevelBytes(const std::string& token) {
  std::string out;
  for (size_t i = 0; i < token.size();) {
    unsigned char lead = token[i];
    bool pair = (lead & 0xE0) == 0xC0 && i + 1 < token.size();
    unsigned letter = pair ? (lead & 0x1Fu) << 6 | (static_cast<unsigned char>(token[i + 1]) & 0x3Fu) : lead;
    if ((lead >= 0x80 && !pair) || letter >= letterBytes().size() || letterBytes()[letter] < 0) return token;
    out.push_back(static_cast<char>(letterBytes()[letter]));
    i += pair ? 2 : 1;
  }
  return out;
}

/// `text` with each `from` written as `to`; an empty `from` is nowhere.
std::string replaced(const std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  std::string out;
  size_t at = 0;
  for (size_t next; (next = text.find(from, at)) != std::string::npos; at = next + from.size()) {
    out.append(text, at, next - at).append(to);
  }
  return out.append(text, at);
}

std::string sentencePieceBytes(const std::string& token, uint8_t kind) {
  if (kind == kByte && token.size() == 6) {
    unsigned value = 0;
    std::from_chars(token.data() + 3, token.data() + 5, value, 16);
    return std::string(1, static_cast<char>(value));
  }
  return replaced(token, "\xE2\x96\x81", " ");
}

}  // namespace

bool Vocabulary::isSilent(int32_t id) const {
  return id < 0 || id >= size() || kinds[id] == kControl || kinds[id] == kUnknown;
}

std::string Vocabulary::bytes(int32_t id) const { return bytesAt(id, false); }

std::string Vocabulary::bytesAt(int32_t id, bool first) const {
  if (id < 0 || id >= size()) return "";
  if (isSilent(id)) return tokens[id];
  if (algorithm == Algorithm::kHuggingFace) {
    return replaced(texts[id], decoding.space, first && decoding.drops_first_space ? "" : " ");
  }
  if (algorithm != Algorithm::kByteLevelBpe) return sentencePieceBytes(tokens[id], kinds[id]);
  return kinds[id] == kUserDefined ? tokens[id] : byteLevelBytes(tokens[id]);
}

Result<Vocabulary> readVocabulary(const io::Checkpoint& checkpoint) {
  Reader reader(checkpoint.metadata);
  Vocabulary out;
  std::string model = reader.text("tokenizer.ggml.model");
  readTokens(reader, out);
  readKinds(reader, out);
  if (!reader.has("tokenizer.ggml.model")) {
    return inputError("tokenizer.ggml.model is missing: the file carries no tokenizer")
        .hint("use a GGUF file with its tokenizer");
  } else if (model == "gpt2") {
    readByteLevel(reader, out);
  } else if (model == "llama") {
    readSentencePiece(reader, out);
  } else if (model == "t5") {
    readUnigram(reader, out);
  } else {
    reader.fault("tokenizer.ggml.model {}{} is not supported (known: gpt2, llama, t5)", inQuotes(model, 40),
                 model == "bert" ? " (WordPiece)" : "");
  }
  readSpecial(reader, out);
  if (!reader.good()) return reader.error();
  if (out.add_bos && out.bos_id) out.prefix = {*out.bos_id};
  if (out.add_space_prefix) out.decoding = {.strip = " ", .strip_count = 1};
  std::string name = reader.text("tokenizer.ggml.pre");
  out.summary = out.pre_tokenizer                      ? fmt::format("byte-level BPE ({})", name)
                : out.algorithm == Algorithm::kUnigram ? std::string("SentencePiece unigram")
                                                       : std::string("SentencePiece BPE");
  return out;
}

}  // namespace sublane::text
