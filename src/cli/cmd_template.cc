// `sublane template MODEL`: a conversation as the model's own chat template writes it.
//
// A request is one JSON object, as servers take it: {"messages": [...], "tools": [...], ...}. The options
// build one;
// --chat reads one, and --jsonl many.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/cli.h"
#include "io/checkpoint.h"
#include "text/text.h"
#include "text/utf8_stream.h"

namespace sublane::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, user, system, chat, tools, jsonl, chat_template, now;
  std::vector<std::string> set;
  bool has_user = false, has_system = false, no_generation_prompt = false, json = false, show = false;
};

/// A model's tokenizer, or a template's file on its own.
struct Source {
  std::optional<text::Tokenizer> tokenizer;
  std::string bare;
};

Result<Source> openSource(const Options& o) {
  Source source;
  if (o.model.ends_with(".jinja")) {
    SUBLANE_TRY(source.bare, readFile(o.model));
    return source;
  }
  std::error_code ignored;
  if (std::filesystem::exists(o.model + "/tokenizer.json", ignored)) {
    SUBLANE_TRY(source.tokenizer, text::Tokenizer::fromFolder(o.model));
    return source;
  }
  SUBLANE_TRY(io::Checkpoint checkpoint, io::openCheckpoint(o.model));
  SUBLANE_TRY(source.tokenizer, text::Tokenizer::fromCheckpoint(checkpoint));
  return source;
}

Result<std::string> readFileOrInput(const std::string& path) {
  if (path != "-") return readFile(path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

/// "key=value", the value as JSON where it is JSON, else as a string.
Status setKey(const std::string& text, ordered_json& request) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return inputError("--set {}: key=value is wanted", inQuotes(text, 40));
  auto value = parseForeignJson(text.substr(equals + 1), "--set");
  request[text.substr(0, equals)] = value.ok() ? *value : ordered_json(text.substr(equals + 1));
  return Ok{};
}

Result<ordered_json> buildRequest(const Options& o) {
  ordered_json request = ordered_json::object();
  if (!o.chat.empty()) {
    SUBLANE_TRY(std::string text, readFileOrInput(o.chat));
    SUBLANE_TRY(request, parseForeignJson(text, o.chat));
    if (request.is_array()) request = ordered_json{{"messages", std::move(request)}};
    if (!request.is_object())
      return inputError("{}: a list of messages or an object is wanted, not a JSON {}", o.chat,
                        request.type_name());
  }
  if (o.has_user || o.has_system) {
    if (request.contains("messages"))
      return inputError("--user and --system build a conversation, and --chat {} holds one: give one of them",
                        o.chat);
    for (const auto& [option, text] : {std::pair{"--system", &o.system}, {"--user", &o.user}})
      if (!text::isUtf8(*text)) return inputError("{} is not UTF-8: {}", option, inQuotes(*text, 40));
    ordered_json& messages = request["messages"] = ordered_json::array();
    if (o.has_system) messages.push_back({{"role", "system"}, {"content", o.system}});
    if (o.has_user) messages.push_back({{"role", "user"}, {"content", o.user}});
  }
  if (!o.tools.empty()) {
    SUBLANE_TRY(std::string text, readFileOrInput(o.tools));
    SUBLANE_TRY(ordered_json tools, parseForeignJson(text, o.tools));
    if (!tools.is_array())
      return inputError("--tools {}: a JSON list is wanted, not a JSON {}", o.tools, tools.type_name());
    request["tools"] = std::move(tools);
  }
  for (const std::string& key : o.set) SUBLANE_CHECK_OK(setKey(key, request));
  if (o.no_generation_prompt) request["add_generation_prompt"] = false;
  return request;
}

/// --template: the name of one of the file's, or a file.
Result<std::string> chosenTemplate(const Options& o) {
  if (o.chat_template.ends_with(".jinja")) return readFile(o.chat_template);
  return o.chat_template;
}

Result<std::string> render(const Source& source, ordered_json request, const text::ChatOptions& options) {
  const auto body = [&] { return request.dump(-1, ' ', false, ordered_json::error_handler_t::replace); };
  if (source.tokenizer) return source.tokenizer->renderChat(body(), options);
  // What every template may name, as with a model; its tokens are given by --set.
  for (const char* name : {"tools", "documents"})
    if (!request.contains(name)) request[name] = nullptr;
  if (!request.contains("add_generation_prompt")) request["add_generation_prompt"] = true;
  std::string chosen = options.chat_template.empty() ? source.bare : options.chat_template;
  if (auto own = request.find("chat_template"); own != request.end() && own->is_string()) chosen = *own;
  return text::renderTemplate(chosen, body(), options.now);
}

/// One request a line; of each its text as a JSON string, or {"error": ...}.
Status renderLines(const Options& o, const Source& source, const text::ChatOptions& options) {
  std::ifstream file;
  if (o.jsonl != "-") {
    file.open(o.jsonl);
    if (!file) return inputError("{}: cannot be read", o.jsonl);
  }
  std::istream& lines = o.jsonl == "-" ? std::cin : file;
  size_t count = 0, failed = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    auto request = parseForeignJson(line, fmt::format("{}:{}", o.jsonl, count + 1));
    auto text = request.ok() ? render(source, std::move(request).value(), options)
                             : Result<std::string>(std::move(request).error());
    failed += !text.ok();
    ordered_json out = text.ok() ? ordered_json(*text) : ordered_json{{"error", text.error().message()}};
    SUBLANE_CHECK_OK(writeOutput(out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"));
  }
  if (failed > 0) return inputError("{} of {} requests failed", failed, count);
  return Ok{};
}

Status show(const Source& source, const Options& o, const text::ChatOptions& options) {
  if (!source.tokenizer) return writeOutput(source.bare);
  SUBLANE_TRY(std::string text, source.tokenizer->chatTemplate(options.chat_template, !o.tools.empty()));
  return writeOutput(text);
}

Status run(const Options& o) {
  SUBLANE_TRY(Source source, openSource(o));
  text::ChatOptions options{.now = o.now};
  SUBLANE_TRY(options.chat_template, chosenTemplate(o));
  if (o.show) return show(source, o, options);
  if (!o.jsonl.empty()) return renderLines(o, source, options);
  if (!o.has_user && o.chat.empty() && source.tokenizer)
    return inputError("no conversation: give --user TEXT, --chat FILE or --jsonl FILE");
  SUBLANE_TRY(ordered_json request, buildRequest(o));
  SUBLANE_TRY(std::string text, render(source, request, options));
  if (!o.json) return writeOutput(text);
  ordered_json document = jsonDocument("sublane.template/1");
  document["model"] = o.model;
  document["text"] = text;
  if (source.tokenizer) {
    SUBLANE_TRY(document["ids"], source.tokenizer->encode(text, {.add_bos = false, .parse_special = true}));
    document["stop_ids"] = source.tokenizer->stopIds();
  }
  printJson(document);
  return Ok{};
}

void addOptions(CLI::App& verb, Options& o) {
  verb.add_option("model", o.model, "Name, .gguf file, directory, or a .jinja file on its own")->required();
  verb.add_option("--user", o.user, "What the user says");
  verb.add_option("--system", o.system, "The system message (default: the template's own)");
  verb.add_option("--chat", o.chat, "A list of messages or a whole request, as JSON; - is standard input");
  verb.add_option("--tools", o.tools, "A JSON list of tools");
  verb.add_option("--set", o.set, "key=value for the template; the value is JSON, else a string")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--template", o.chat_template,
                  "Another of the model's templates by name, or a .jinja file");
  verb.add_option("--now", o.now, "The time that strftime_now tells, 2025-01-31T23:59:58 (the local time)");
  verb.add_flag("--no-generation-prompt", o.no_generation_prompt, "End after the last turn");
  verb.add_flag("--show", o.show, "Print the template itself");
  verb.add_option("--jsonl", o.jsonl, "A request a line; prints a JSON string a line; - is standard input");
  verb.add_flag("--json", o.json, "Print JSON (sublane.template/1), with the token ids");
}

}  // namespace

extern const Command cmd_template;
const Command cmd_template{"template", "Show a conversation as the model's chat template writes it",
                           [](CLI::App& verb) -> Action {
                             auto o = std::make_shared<Options>();
                             addOptions(verb, *o);
                             return [o, &verb] {
                               o->has_user = verb.count("--user") > 0;
                               o->has_system = verb.count("--system") > 0;
                               return run(*o);
                             };
                           }};

}  // namespace sublane::cli
