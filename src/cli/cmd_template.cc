// `sublane template MODEL`: a conversation as the model's own chat template writes it.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/cli.h"
#include "io/checkpoint.h"
#include "text/text.h"

namespace sublane::cli {
namespace {

struct Options {
  std::string model, user, system;
  bool has_system = false, no_generation_prompt = false, json = false;
};

Status run(const Options& o) {
  SUBLANE_TRY(io::Checkpoint checkpoint, io::openCheckpoint(o.model));
  SUBLANE_TRY(text::Tokenizer tokenizer, text::Tokenizer::fromCheckpoint(checkpoint));
  std::vector<text::Message> messages;
  if (o.has_system) messages.push_back({"system", o.system});
  messages.push_back({"user", o.user});
  SUBLANE_TRY(std::string text, tokenizer.renderChat(messages, !o.no_generation_prompt));
  if (!o.json) {
    fmt::print("{}", text);
    return Ok{};
  }
  SUBLANE_TRY(std::vector<int32_t> ids, tokenizer.encode(text, {.add_bos = false, .parse_special = true}));
  nlohmann::ordered_json document = jsonDocument("sublane.template/1");
  document["model"] = o.model;
  document["text"] = text;
  document["ids"] = ids;
  document["stop_ids"] = tokenizer.stopIds();
  printJson(document);
  return Ok{};
}

}  // namespace

extern const Command cmd_template;
const Command cmd_template{
    "template", "Show a conversation as the model's chat template writes it", [](CLI::App& verb) -> Action {
      auto o = std::make_shared<Options>();
      verb.add_option("model", o->model, "Name, .gguf file or directory")->required();
      verb.add_option("--user", o->user, "What the user says")->required();
      auto* system =
          verb.add_option("--system", o->system, "The system message (default: the template's own)");
      verb.add_flag("--no-generation-prompt", o->no_generation_prompt, "End after the user's turn");
      verb.add_flag("--json", o->json, "Print JSON (sublane.template/1), with the token ids");
      return [o, system] {
        o->has_system = system->count() > 0;
        return run(*o);
      };
    }};

}  // namespace sublane::cli
