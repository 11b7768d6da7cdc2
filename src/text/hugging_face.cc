#include "text/hugging_face.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace sublane::text {
namespace {

using nlohmann::ordered_json;

constexpr int kDeepestNesting = 64;
constexpr std::array<const char*, 7> kNamedTokens = {"bos_token", "eos_token", "unk_token", "pad_token",
                                                     "sep_token", "cls_token", "mask_token"};

Result<ordered_json> parseObject(std::string_view text) {
  if (int deepest = jsonNesting(text); deepest > kDeepestNesting) {
    return inputError("{} brackets within each other, at most {} are read", deepest, kDeepestNesting);
  }
  try {
    ordered_json json = ordered_json::parse(text);
    if (!json.is_object()) return inputError("not a JSON object");
    return json;
  } catch (const nlohmann::json::exception& error) {  // "[json.exception...] parse error at line 3, ..."
    std::string_view what = error.what();
    size_t place = what.find("line ");
    return inputError("not valid JSON: {}", escaped(what.substr(place == what.npos ? 0 : place), 160));
  }
}

/// An empty object for a file that is not there.
Result<ordered_json> readObject(const std::optional<std::string>& text, const char* name) {
  if (!text) return ordered_json::object();
  auto json = parseObject(*text);
  if (!json.ok()) return std::move(json).error().at(name);
  return json;
}

/// "<s>" of "<s>" or {"content": "<s>", ...}.
std::optional<std::string> contentOf(const ordered_json& token) {
  if (token.is_string()) return token.get<std::string>();
  if (!token.is_object()) return std::nullopt;
  auto content = token.find("content");
  if (content == token.end() || !content->is_string()) return std::nullopt;
  return content->get<std::string>();
}

ordered_json tokenOf(const ordered_json& from, const std::string& content, bool special) {
  auto flag = [&](const char* name, bool otherwise) {
    auto found = from.is_object() ? from.find(name) : from.end();
    return from.is_object() && found != from.end() && found->is_boolean() ? found->get<bool>() : otherwise;
  };
  bool is_special = flag("special", special);
  return {{"id", nullptr},
          {"content", content},
          {"single_word", flag("single_word", false)},
          {"lstrip", flag("lstrip", false)},
          {"rstrip", flag("rstrip", false)},
          {"normalized", flag("normalized", !is_special)},
          {"special", is_special}};
}

/// Everything that the files beside tokenizer.json say.
struct Beside {
  ordered_json config = ordered_json::object();
  ordered_json special_map = ordered_json::object();
  ordered_json generation = ordered_json::object();

  /// The named token ("bos_token"); null when no file has it.
  ordered_json named(const char* name) const {
    for (const ordered_json* file : {&config, &special_map}) {
      if (auto found = file->find(name); found != file->end() && !found->is_null()) return *found;
    }
    return nullptr;
  }
};

/// Tokens with a stated id in the order of ids, then those known by name only, as transformers adds them.
Result<ordered_json> moreTokens(const Beside& beside) {
  ordered_json list = ordered_json::array();
  std::map<int64_t, ordered_json> by_id;
  if (auto decoder = beside.config.find("added_tokens_decoder"); decoder != beside.config.end()) {
    if (!decoder->is_object())
      return inputError("tokenizer_config.json: added_tokens_decoder is not an object");
    for (const auto& [key, value] : decoder->items()) {
      auto content = contentOf(value);
      bool number =
          !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
      if (!number || !content) {
        return inputError(
            "tokenizer_config.json: added_tokens_decoder[{}] is not an id with a token's content",
            inQuotes(key, 20));
      }
      int64_t id = std::stoll(key);
      by_id[id] = tokenOf(value, *content, false);
      by_id[id]["id"] = id;
    }
  }
  std::set<std::string> listed;
  for (auto& [id, token] : by_id) {
    listed.insert(token["content"]);
    list.push_back(std::move(token));
  }
  std::vector<ordered_json> names;
  for (const char* name : kNamedTokens) names.push_back(beside.named(name));
  for (const char* name : {"additional_special_tokens", "extra_special_tokens"}) {
    ordered_json more = beside.named(name);
    if (more.is_structured()) names.insert(names.end(), more.begin(), more.end());
  }
  for (const ordered_json& name : names) {
    auto content = contentOf(name);
    if (content && !content->empty() && listed.insert(*content).second) {
      list.push_back(tokenOf(name, *content, true));
    }
  }
  return list;
}

/// eos_token_id as a number or a list.
Status addEnds(const ordered_json& value, const char* file, std::vector<int32_t>& out) {
  if (value.is_null()) return Ok{};
  ordered_json list = value.is_array() ? value : ordered_json::array({value});
  for (const ordered_json& id : list) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 ||
        id.get<int64_t>() > std::numeric_limits<int32_t>::max()) {
      return inputError("{}: eos_token_id holds {}, which is no token id", file,
                        escaped(id.dump(-1, ' ', true, ordered_json::error_handler_t::replace), 40));
    }
    out.push_back(id.get<int32_t>());
  }
  return Ok{};
}

/// config.json's, which the checkpoint has read.
ordered_json endsOfConfig(const io::Metadata& metadata) {
  for (const char* key : {"eos_token_id", "text_config.eos_token_id"}) {
    auto found = metadata.find(key);
    if (found == metadata.end()) continue;
    if (auto* id = std::get_if<int64_t>(&found->second.value)) return *id;
    if (auto* ids = std::get_if<std::vector<int64_t>>(&found->second.value)) return *ids;
    if (!std::holds_alternative<std::monostate>(found->second.value))
      return "neither a number nor a list of them";
  }
  return nullptr;
}

/// What generation_config.json asks of a decoder and ours doesn't do; said, not dropped.
std::string notApplied(const ordered_json& generation) {
  std::string names;
  for (const char* key :
       {"repetition_penalty", "encoder_repetition_penalty", "no_repeat_ngram_size", "suppress_tokens",
        "begin_suppress_tokens", "bad_words_ids", "forced_bos_token_id", "forced_eos_token_id",
        "sequence_bias", "exponential_decay_length_penalty", "min_length", "min_new_tokens", "min_p",
        "typical_p", "epsilon_cutoff", "eta_cutoff", "num_beams", "guidance_scale"}) {
    auto found = generation.find(key);
    if (found == generation.end() || found->is_null() || *found == 1 || *found == 0) continue;
    names += (names.empty() ? "" : " ") + std::string(key);
  }
  return names.empty() ? "" : ", generation_config.json's " + names + " not applied";
}

Status readTemplates(const HuggingFaceFiles& files, const Beside& beside, Vocabulary& out) {
  ordered_json stated = nullptr;
  if (auto found = beside.config.find("chat_template"); found != beside.config.end()) stated = *found;
  if (stated.is_array()) {
    for (const ordered_json& entry : stated) {
      auto name = entry.is_object() ? entry.find("name") : entry.end();
      auto body = entry.is_object() ? entry.find("template") : entry.end();
      if (!entry.is_object() || name == entry.end() || body == entry.end() || !name->is_string() ||
          !body->is_string()) {
        return inputError("tokenizer_config.json: chat_template holds what is not a name with a template");
      }
      out.named_templates[*name] = *body;
    }
    if (auto found = out.named_templates.find("default"); found != out.named_templates.end()) {
      out.chat_template = found->second;
    }
  } else if (stated.is_string()) {
    out.chat_template = stated;
  } else if (!stated.is_null()) {
    return inputError("tokenizer_config.json: chat_template is neither a text nor a list");
  }
  for (const auto& [name, source] : files.more_templates) out.named_templates[name] = source;
  if (files.chat_template) {
    out.chat_template = *files.chat_template;
  } else if (stated.is_null()) {
    SUBLANE_TRY(ordered_json older, readObject(files.older_chat_template, "chat_template.json"));
    if (auto found = older.find("chat_template"); found != older.end() && found->is_string())
      out.chat_template = *found;
  }
  return Ok{};
}

void readFacts(rust::TokenTable table, Vocabulary& out) {
  ordered_json facts = ordered_json::parse(table.facts);  // our own text
  out.algorithm = Algorithm::kHuggingFace;
  out.tokens = std::move(table.names);
  out.texts = std::move(table.texts);
  out.kinds = std::move(table.kinds);
  out.prefix = facts["prefix"].get<std::vector<int32_t>>();
  out.suffix = facts["suffix"].get<std::vector<int32_t>>();
  out.decoding = {facts["space"], facts["drops_first_space"], facts["strip"], facts["strip_count"],
                  facts["joint"]};
  if (facts["unknown"].is_number()) out.unknown_id = facts["unknown"].get<int32_t>();
  out.summary = "tokenizer.json: " + facts["model"].get<std::string>();
  for (const char* step : {"normalizer", "pre_tokenizer"}) {
    if (std::string name = facts[step]; !name.empty()) out.summary += ", " + name;
  }
}

/// Ids of bos, eos, ... by the names that files give them.
Status readNames(const Beside& beside, Vocabulary& out) {
  auto id = [&](const char* name) -> std::optional<int32_t> {
    auto content = contentOf(beside.named(name));
    auto found = content && !content->empty() ? std::ranges::find(out.tokens, *content) : out.tokens.end();
    if (found == out.tokens.end()) return std::nullopt;
    return static_cast<int32_t>(found - out.tokens.begin());
  };
  out.bos_id = id("bos_token");
  out.eos_id = id("eos_token");
  out.padding_id = id("pad_token");
  if (auto unknown = id("unk_token")) out.unknown_id = unknown;
  for (const char* name : {"bos_token", "eos_token"}) {
    auto content = contentOf(beside.named(name));
    if (content && !content->empty() && !id(name)) {
      return inputError("tokenizer_config.json: {} {} is not among the {} tokens of tokenizer.json", name,
                        inQuotes(*content, 40), out.size());
    }
  }
  return Ok{};
}

/// add_bos_token and add_eos_token, where stated, win over the template of tokenizer.json, as in
/// transformers.
void readAdding(const Beside& beside, Vocabulary& out) {
  auto stated = [&](const char* name) -> std::optional<bool> {
    auto found = beside.config.find(name);
    if (found == beside.config.end() || !found->is_boolean()) return std::nullopt;
    return found->get<bool>();
  };
  if (auto add = stated("add_bos_token"); add && out.bos_id) {
    bool adds = !out.prefix.empty() && out.prefix.front() == *out.bos_id;
    if (*add && !adds) out.prefix.insert(out.prefix.begin(), *out.bos_id);
    if (!*add && adds) out.prefix.erase(out.prefix.begin());
  }
  if (auto add = stated("add_eos_token"); add && out.eos_id) {
    bool adds = !out.suffix.empty() && out.suffix.back() == *out.eos_id;
    if (*add && !adds) out.suffix.push_back(*out.eos_id);
    if (!*add && adds) out.suffix.pop_back();
  }
  out.add_bos = out.bos_id && std::ranges::count(out.prefix, *out.bos_id) > 0;
  // It takes spaces out of what the model wrote (" ." becomes "."); servers that stream don't apply it, nor
  // do we.
  if (stated("clean_up_tokenization_spaces").value_or(false)) {
    out.summary += ", clean_up_tokenization_spaces not applied";
  }
}

}  // namespace

Result<ReadTokenizer> readHuggingFace(const io::Checkpoint& checkpoint) {
  HuggingFaceFiles files;
  const std::pair<const char*, std::optional<std::string>*> names[] = {
      {"tokenizer.json", &files.tokenizer},
      {"tokenizer_config.json", &files.config},
      {"special_tokens_map.json", &files.special_map},
      {"generation_config.json", &files.generation},
      {"chat_template.jinja", &files.chat_template},
      {"chat_template.json", &files.older_chat_template},
  };
  for (const auto& [name, text] : names) {
    SUBLANE_TRY(*text, io::readCompanion(checkpoint, name));
  }
  SUBLANE_TRY(files.more_templates, io::readCompanions(checkpoint, "additional_chat_templates", ".jinja"));
  if (!files.tokenizer) {
    return inputError("tokenizer.json is missing in {}", checkpoint.folder)
        .hint("write it with transformers: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)");
  }
  return readHuggingFace(files, checkpoint.metadata);
}

Result<ReadTokenizer> readHuggingFace(const HuggingFaceFiles& files, const io::Metadata& config) {
  Beside beside;
  SUBLANE_TRY(beside.config, readObject(files.config, "tokenizer_config.json"));
  SUBLANE_TRY(beside.special_map, readObject(files.special_map, "special_tokens_map.json"));
  SUBLANE_TRY(beside.generation, readObject(files.generation, "generation_config.json"));
  SUBLANE_TRY(ordered_json more, moreTokens(beside));
  auto encoder = rust::Encoder::huggingFace(
      files.tokenizer.value_or(""), more.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  if (!encoder.ok()) return std::move(encoder).error().at("tokenizer.json");
  auto table = encoder->tokens();
  if (!table.ok()) return std::move(table).error().at("tokenizer.json");
  ReadTokenizer out{{}, std::move(encoder).value()};
  readFacts(std::move(table).value(), out.vocabulary);
  SUBLANE_CHECK_OK(readNames(beside, out.vocabulary));
  readAdding(beside, out.vocabulary);
  SUBLANE_CHECK_OK(readTemplates(files, beside, out.vocabulary));
  SUBLANE_CHECK_OK(addEnds(endsOfConfig(config), "config.json", out.vocabulary.end_ids));
  out.vocabulary.summary += notApplied(beside.generation);
  auto ends = beside.generation.find("eos_token_id");
  if (ends != beside.generation.end()) {
    SUBLANE_CHECK_OK(addEnds(*ends, "generation_config.json", out.vocabulary.end_ids));
  }
  return out;
}

}  // namespace sublane::text
