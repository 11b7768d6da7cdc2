// `sublane tokenize MODEL`: text to token ids and back, as the model would see them.
#include <charconv>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "io/checkpoint.h"
#include "text/text.h"
#include "text/utf8_stream.h"

namespace sublane::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, text, ids;
  bool has_text = false, has_ids = false, special = false, no_bos = false, json = false;
};

Result<std::vector<int32_t>> parseIds(const std::string& text, int32_t vocabulary_size) {
  std::vector<int32_t> ids;
  size_t at = 0;
  while ((at = text.find_first_not_of(" ,\t\n[]", at)) != std::string::npos) {
    size_t end = std::min(text.find_first_of(" ,\t\n[]", at), text.size());
    int32_t id = 0;
    auto [stop, fault] = std::from_chars(text.data() + at, text.data() + end, id);
    if (fault != std::errc() || stop != text.data() + end) {
      return inputError("--ids: {} is not a token id", inQuotes(text.substr(at, end - at), 20))
          .hint("give whole numbers with spaces between: --ids \"1 2 3\"");
    }
    if (id < 0 || id >= vocabulary_size) {
      return inputError("--ids: {} is outside the vocabulary of {} tokens", id, vocabulary_size);
    }
    ids.push_back(id);
    at = end;
  }
  return ids;
}

/// Whole characters as they are; bytes of a cut character as <0xE2>.
std::string pieceText(const std::string& bytes) {
  if (text::isUtf8(bytes)) return bytes;
  std::string shown;
  for (unsigned char byte : bytes)
    shown += byte < 0x80 ? std::string(1, byte) : fmt::format("<0x{:02X}>", byte);
  return shown;
}

/// For a terminal: control characters visible, everything in quotes.
std::string quoted(const std::string& piece) {
  std::string shown = "\"";
  for (char c : piece) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '"' || c == '\\')
      shown += escaped({&c, 1});
    else
      shown += c;
  }
  return shown + '"';
}

void print(const Options& o, const text::Tokenizer& tokenizer, const std::string& text,
           const std::vector<int32_t>& ids) {
  if (o.json) {
    ordered_json document = jsonDocument("sublane.tokenize/1");
    document["model"] = o.model;
    document["tokenizer"] = tokenizer.describe();
    document["text"] = text;
    document["ids"] = ids;
    document["pieces"] = ordered_json::array();
    for (int32_t id : ids) document["pieces"].push_back(pieceText(tokenizer.tokenBytes(id)));
    document["stop_ids"] = tokenizer.stopIds();
    return printJson(document);
  }
  if (o.has_ids) {
    fmt::print("{}\n", text);
    return;
  }
  for (int32_t id : ids) fmt::print("{:>8}  {}\n", id, quoted(pieceText(tokenizer.tokenBytes(id))));
  fmt::print("{} tokens for {} bytes; {}\n", ids.size(), text.size(), tokenizer.describe());
}

Status run(const Options& o) {
  if (o.has_text && o.has_ids) return inputError("--text and --ids exclude each other");
  SUBLANE_TRY(io::Checkpoint checkpoint, io::openCheckpoint(o.model));
  SUBLANE_TRY(text::Tokenizer tokenizer, text::Tokenizer::fromCheckpoint(checkpoint));
  if (o.has_ids) {
    SUBLANE_TRY(std::vector<int32_t> ids, parseIds(o.ids, tokenizer.vocabularySize()));
    print(o, tokenizer, tokenizer.decode(ids), ids);
    return Ok{};
  }
  std::string text = o.text;
  if (!o.has_text) text.assign(std::istreambuf_iterator<char>(std::cin), {});
  SUBLANE_TRY(std::vector<int32_t> ids,
              tokenizer.encode(text, {.add_bos = !o.no_bos, .parse_special = o.special}));
  print(o, tokenizer, text, ids);
  return Ok{};
}

}  // namespace

extern const Command cmd_tokenize;
const Command cmd_tokenize{
    "tokenize", "Turn text into token ids, or ids into text", [](CLI::App& verb) -> Action {
      auto o = std::make_shared<Options>();
      verb.add_option("model", o->model, "Name, .gguf file or directory")->required();
      auto* text = verb.add_option("--text", o->text, "The text (default: standard input, every byte of it)");
      auto* ids = verb.add_option("--ids", o->ids, "Decode these ids instead: \"1 2 3\"");
      verb.add_flag("--special", o->special,
                    "Let special tokens in the text, as <|im_start|>, become their ids");
      verb.add_flag("--no-bos", o->no_bos, "Do not prepend the beginning-of-sequence token");
      verb.add_flag("--json", o->json, "Print JSON (sublane.tokenize/1)");
      return [o, text, ids] {
        o->has_text = text->count() > 0;
        o->has_ids = ids->count() > 0;
        return run(*o);
      };
    }};

}  // namespace sublane::cli
