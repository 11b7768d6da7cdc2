// What a template is told, and which of a file's templates is meant.
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "text/tokenizer_state.h"
#include "text/utf8_stream.h"

namespace sublane::text {
namespace {

using nlohmann::ordered_json;

constexpr int kMostNested = 100;  // the reader behind the template allows 128

Status checkNesting(std::string_view text) {
  const int deepest = jsonNesting(text);
  if (deepest <= kMostNested) return Ok{};
  return inputError("request: JSON nested {} deep, at most {} are allowed", deepest, kMostNested);
}

Result<ordered_json> readObject(std::string_view text) {
  SUBLANE_TRY(ordered_json read, parseForeignJson(text, "request"));
  if (read.is_object()) return read;
  return inputError("request: a JSON object is wanted, not a JSON {}", read.type_name());
}

std::string textOf(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string localTime() {
  std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local)};
}

ordered_json specialTokens(const Vocabulary& vocabulary) {
  ordered_json context = ordered_json::object();
  auto add = [&](const char* name, std::optional<int32_t> id) {
    if (id) context[name] = vocabulary.tokens[*id];
  };
  add("bos_token", vocabulary.bos_id);
  add("eos_token", vocabulary.eos_id);
  add("unk_token", vocabulary.unknown_id);
  add("pad_token", vocabulary.padding_id);
  return context;
}

/// The request's fields over the special tokens; what every template may name is there, perhaps as none.
Result<ordered_json> contextOf(const Vocabulary& vocabulary, ordered_json request) {
  auto messages = request.find("messages");
  if (messages == request.end() || !messages->is_array())
    return inputError("request: messages is {}, not a list",
                      messages == request.end() ? "missing" : std::string("a JSON ") + messages->type_name());
  for (size_t i = 0; i < messages->size(); ++i) {
    if (!(*messages)[i].is_object())
      return inputError("request: message {} is a JSON {}, not an object", i, (*messages)[i].type_name());
  }
  if (auto more = request.find("chat_template_kwargs"); more != request.end()) {
    if (!more->is_object() && !more->is_null())
      return inputError("request: chat_template_kwargs is a JSON {}, not an object", more->type_name());
    ordered_json spread = *more;
    request.erase("chat_template_kwargs");
    if (spread.is_object()) request.update(spread);
  }
  ordered_json context = specialTokens(vocabulary);
  context["tools"] = nullptr;
  context["documents"] = nullptr;
  context["add_generation_prompt"] = true;
  context.update(request);
  return context;
}

std::string namesOf(const Vocabulary& vocabulary) {
  std::string names = vocabulary.chat_template.empty() ? "" : "default";
  for (const auto& [name, source] : vocabulary.named_templates) {
    if (name != "default") names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

std::string templateContext(const Vocabulary& vocabulary, const std::vector<Message>& messages,
                            bool add_generation_prompt) {
  ordered_json context = specialTokens(vocabulary);
  context["messages"] = ordered_json::array();
  for (const Message& message : messages) {
    context["messages"].push_back({{"role", message.role}, {"content", message.content}});
  }
  context["tools"] = nullptr;
  context["documents"] = nullptr;
  context["add_generation_prompt"] = add_generation_prompt;
  return textOf(context);
}

Result<std::string> renderTemplate(std::string_view source, std::string_view context_json,
                                   const std::string& now) {
  SUBLANE_CHECK_OK(checkNesting(context_json));
  SUBLANE_TRY(rust::Template parsed, rust::Template::parse(source));
  return parsed.render(context_json, now.empty() ? localTime() : now);
}

bool Tokenizer::hasChatTemplate() const {
  return !state_->vocabulary->chat_template.empty() || !state_->vocabulary->named_templates.empty();
}

Result<std::string> Tokenizer::chatTemplate(std::string_view name, bool has_tools) const {
  const Vocabulary& vocabulary = *state_->vocabulary;
  auto named = [&](std::string_view wanted) -> const std::string* {
    auto found = vocabulary.named_templates.find(std::string(wanted));
    if (found != vocabulary.named_templates.end()) return &found->second;
    if (wanted == "default" && !vocabulary.chat_template.empty()) return &vocabulary.chat_template;
    return nullptr;
  };
  if (!name.empty()) {
    if (auto* found = named(name)) return *found;
    return inputError("{}: the file has no chat template {}; it has: {}", state_->source,
                      inQuotes(std::string(name), 40), namesOf(vocabulary));
  }
  if (!hasChatTemplate()) {
    return inputError("{}: no chat template", state_->source)
        .hint(
            "a GGUF holds it as tokenizer.chat_template, a folder in chat_template.jinja or "
            "tokenizer_config.json; run --prompt needs none");
  }
  if (auto* found = has_tools ? named("tool_use") : nullptr) return *found;
  if (auto* found = named("default")) return *found;
  return inputError("{}: the file has several chat templates and none is the default: {}", state_->source,
                    namesOf(vocabulary))
      .hint("name one with --template");
}

Result<std::string> Tokenizer::renderChat(std::string_view request_json, const ChatOptions& options) const {
  SUBLANE_TRY(ordered_json request, readObject(request_json));
  ChatOptions chosen = options;
  if (auto found = request.find("chat_template"); found != request.end()) {
    if (!found->is_string() && !found->is_null())
      return inputError("request: chat_template is a JSON {}, not a string", found->type_name());
    if (chosen.chat_template.empty() && found->is_string()) chosen.chat_template = *found;
    request.erase("chat_template");
  }
  const Vocabulary& vocabulary = *state_->vocabulary;
  SUBLANE_TRY(ordered_json context, contextOf(vocabulary, std::move(request)));
  const std::string& given = chosen.chat_template;
  // A name is one of the file's; text with a tag, or of several lines, is a template itself.
  const bool is_text = given.find_first_of("{\n") != std::string::npos;
  std::string source = given;
  if (!is_text) {
    SUBLANE_TRY(source, chatTemplate(given, !context["tools"].is_null()));
  }
  auto text = renderTemplate(source, textOf(context), chosen.now);
  if (!text.ok()) return std::move(text).error().at(state_->source + ": chat template");
  return text;
}

Result<std::string> Tokenizer::renderChat(const std::vector<Message>& messages,
                                          bool add_generation_prompt) const {
  std::string place = state_->source + ": chat template";
  if (state_->template_fault)
    return Error(*state_->template_fault).at(place).hint("use --prompt for raw text");
  for (const Message& message : messages) {
    if (isUtf8(message.role) && isUtf8(message.content)) continue;
    return inputError("the {} message {} is not UTF-8", inQuotes(message.role, 20),
                      inQuotes(message.content, 40));
  }
  std::string context = templateContext(*state_->vocabulary, messages, add_generation_prompt);
  if (!state_->chat_template) {
    SUBLANE_TRY(std::string source, chatTemplate("", false));
    auto text = renderTemplate(source, context, "");
    if (!text.ok()) return std::move(text).error().at(place);
    return text;
  }
  auto text = state_->chat_template->render(context, localTime());
  if (!text.ok()) return std::move(text).error().at(place);
  return text;
}

}  // namespace sublane::text
