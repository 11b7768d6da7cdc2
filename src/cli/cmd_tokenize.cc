// `sublane tokenize MODEL`: text to token ids and back, as the model would see them.
#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
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
  bool jsonl = false, decode = false, time = false;
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

/// Also of a tokenizer.json by itself, and of a folder that has one but no weights.
Result<text::Tokenizer> openTokenizer(const std::string& model) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path path = model;
  if (path.filename() == "tokenizer.json" && fs::is_regular_file(path, ignored)) {
    return text::Tokenizer::fromFolder(path.has_parent_path() ? path.parent_path().string() : ".");
  }
  if (fs::is_regular_file(path / "tokenizer.json", ignored)) {
    bool weights = std::ranges::any_of(fs::directory_iterator(path, ignored), [](const auto& entry) {
      return entry.path().extension() == ".safetensors" || entry.path().extension() == ".gguf";
    });
    if (!weights) return text::Tokenizer::fromFolder(model);
  }
  SUBLANE_TRY(io::Checkpoint checkpoint, io::openCheckpoint(model));
  return text::Tokenizer::fromCheckpoint(checkpoint);
}

/// One line of --jsonl, answered.
Result<std::string> answer(const Options& o, const text::Tokenizer& tokenizer, const ordered_json& line) {
  if (!o.decode) {
    if (!line.is_string()) return inputError("not a JSON string");
    SUBLANE_TRY(std::vector<int32_t> ids,
                tokenizer.encode(line.get_ref<const std::string&>(),
                                 {.add_bos = !o.no_bos, .parse_special = o.special}));
    return ordered_json(ids).dump();
  }
  if (!line.is_array()) return inputError("not a JSON array of token ids");
  std::vector<int32_t> ids;
  for (const ordered_json& id : line) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= static_cast<uint64_t>(tokenizer.vocabularySize())) {
      return inputError("{} is not one of the {} token ids", inQuotes(id.dump(), 20),
                        tokenizer.vocabularySize());
    }
    ids.push_back(id.get<int32_t>());
  }
  return ordered_json(tokenizer.decode(ids)).dump();
}

Status runLines(const Options& o, const text::Tokenizer& tokenizer) {
  std::string line;
  std::clock_t spent = 0;  // of the processor, so that it holds on a busy machine
  size_t bytes = 0;
  for (size_t number = 1; std::getline(std::cin, line); ++number) {
    ordered_json read = ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (read.is_string()) bytes += read.get_ref<const std::string&>().size();
    std::clock_t start = std::clock();
    auto text = answer(o, tokenizer, read);
    spent += std::clock() - start;
    if (!text.ok()) return std::move(text).error().at(fmt::format("line {} of standard input", number));
    fmt::print("{}\n", *text);
  }
  if (o.time)
    fmt::print(stderr, "{:.6f} seconds for {} bytes of text\n", double(spent) / CLOCKS_PER_SEC, bytes);
  return Ok{};
}

Status run(const Options& o) {
  if (o.has_text && o.has_ids) return inputError("--text and --ids exclude each other");
  if (o.jsonl && (o.has_text || o.has_ids || o.json)) {
    return inputError("--jsonl reads standard input, so --text, --ids and --json don't go with it");
  }
  if (!o.jsonl && (o.decode || o.time)) return inputError("--decode and --time go with --jsonl");
  SUBLANE_TRY(text::Tokenizer tokenizer, openTokenizer(o.model));
  if (o.jsonl) return runLines(o, tokenizer);
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
      verb.add_option("model", o->model, "Name, .gguf file, directory or tokenizer.json")->required();
      auto* text = verb.add_option("--text", o->text, "The text (default: standard input, every byte of it)");
      auto* ids = verb.add_option("--ids", o->ids, "Decode these ids instead: \"1 2 3\"");
      verb.add_flag("--special", o->special,
                    "Let special tokens in the text, as <|im_start|>, become their ids");
      verb.add_flag("--no-bos", o->no_bos, "Do not prepend the beginning-of-sequence token");
      verb.add_flag("--json", o->json, "Print JSON (sublane.tokenize/1)");
      verb.add_flag("--jsonl", o->jsonl, "Read a JSON string a line, print its ids as a JSON array a line");
      verb.add_flag("--decode", o->decode, "With --jsonl: read arrays of ids, print strings");
      verb.add_flag("--time", o->time,
                    "With --jsonl: say on standard error how long the processor tokenized");
      return [o, text, ids] {
        o->has_text = text->count() > 0;
        o->has_ids = ids->count() > 0;
        return run(*o);
      };
    }};

}  // namespace sublane::cli
