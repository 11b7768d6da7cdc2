#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "engine/engine.h"
#include "models/models.h"
#include "text/text.h"

namespace sublane::cli {
namespace {

struct RunOptions {
  std::string model, prompt, prompt_file, system, dtype = "f32", layers = "unrolled", plugin;
  std::vector<std::string> stops;
  bool chat = false, json = false, prompt_given = false;
  int64_t max_tokens = 64, context = 0, chunk = 256;
  engine::Draw draw;
};

Result<std::string> readPrompt(const RunOptions& o) {
  if (o.prompt_file.empty()) return o.prompt;
  SUBLANE_TRY(std::string text, readFile(o.prompt_file));
  if (text.empty()) {
    return inputError("{}: the prompt file is empty", o.prompt_file).hint("give at least one character");
  }
  return text;
}

Result<std::vector<int32_t>> promptIds(const RunOptions& o, const text::Tokenizer& tokenizer) {
  SUBLANE_TRY(std::string prompt, readPrompt(o));
  if (!o.chat) return tokenizer.encode(prompt, {.add_bos = true, .parse_special = false});
  std::vector<text::Message> messages;
  if (!o.system.empty()) messages.push_back({"system", o.system});
  messages.push_back({"user", prompt});
  SUBLANE_TRY(std::string rendered, tokenizer.renderChat(messages, true));
  return tokenizer.encode(rendered, {.add_bos = false, .parse_special = true});
}

/// Smallest power of two >= n, at least 16: so that unlike prompts share their buckets.
int64_t roundUp(int64_t n) {
  int64_t size = 16;
  while (size < n) size *= 2;
  return size;
}

double total(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}
double rate(int64_t count, double seconds) { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }

struct Answer {
  std::vector<int32_t> ids;
  std::string text;
  std::string finish = "length";  // or "stop", or "context": the context was full before --max-tokens
};

Result<Answer> generate(engine::Engine& engine, text::TextStream& text, bool stream) {
  Answer answer;
  auto emit = [&](const std::string& piece) -> Status {
    answer.text += piece;
    if (!stream) return Ok{};
    return writeOutput(piece);
  };
  while (!engine.idle() && !text.stoppedBy()) {
    SUBLANE_TRY(std::vector<engine::Token> tokens, engine.step());
    for (const engine::Token& token : tokens) {
      if (token.finish == engine::Finish::kStop) answer.finish = "stop";
      if (token.id < 0) continue;
      answer.ids.push_back(token.id);
      SUBLANE_CHECK_OK(emit(text.push(token.id)));
    }
  }
  SUBLANE_CHECK_OK(emit(text.finish()));
  if (text.stoppedBy()) answer.finish = "stop";
  if (stream) SUBLANE_CHECK_OK(writeOutput("\n"));
  return answer;
}

void printSummary(const engine::Engine& engine, const Answer& answer) {
  const engine::Times& t = engine.times();
  std::fprintf(stderr,
               "\n%s\nload %.2f s, compile %.2f s, prefill %lld tokens in %.2f s (%.1f tokens/s), "
               "decode %.1f tokens/s; %zu tokens, finish: %s [measured]\n",
               engine.describe().c_str(), t.load, t.compile, static_cast<long long>(t.prefill_tokens),
               t.prefill, rate(t.prefill_tokens, t.prefill),
               rate(static_cast<int64_t>(t.decode.size()), total(t.decode)), answer.ids.size(),
               answer.finish.c_str());
}

void printRunJson(const RunOptions& o, const engine::Engine& engine, const std::vector<int32_t>& prompt,
                  const Answer& answer) {
  const engine::Times& t = engine.times();
  nlohmann::ordered_json document = jsonDocument("sublane.run/1");
  document["model"] = o.model;
  document["runtime"] = engine.describe();
  document["prompt_kind"] = o.chat ? "chat" : "raw";
  document["prompt_ids"] = prompt;
  document["token_ids"] = answer.ids;
  document["text"] = answer.text;
  document["finish"] = answer.finish;
  document["origin"] = "measured";
  document["times"] = {{"load_s", t.load},
                       {"compile_s", t.compile},
                       {"prefill_s", t.prefill},
                       {"prefill_tokens", t.prefill_tokens},
                       {"per_token_s", t.decode}};
  document["tokens_per_second"] = {{"prefill", rate(t.prefill_tokens, t.prefill)},
                                   {"decode", rate(static_cast<int64_t>(t.decode.size()), total(t.decode))}};
  printJson(document);
}

Status checkOptions(const RunOptions& o) {
  if (o.prompt_given && !o.prompt_file.empty())
    return inputError("--prompt and --prompt-file are both given: give one");
  if (!o.prompt_given && o.prompt_file.empty())
    return inputError("no prompt: give --prompt TEXT or --prompt-file FILE");
  if (o.prompt_given && o.prompt.empty())
    return inputError("--prompt is empty").hint("give at least one character");
  if (!o.system.empty() && !o.chat) return inputError("--system needs --chat: a raw prompt has no turns");
  if (!std::isfinite(o.draw.temperature) || !std::isfinite(o.draw.top_p)) {
    return inputError("--temperature {} and --top-p {} must be numbers", o.draw.temperature, o.draw.top_p);
  }
  return Ok{};
}

/// A token is at most some hundred bytes, so that a huge file need not be tokenized to be refused.
Status checkPromptBytes(const RunOptions& o, const models::DecoderConfig& config) {
  constexpr uint64_t kMostBytesOfAToken = 1024;
  std::error_code ignored;
  if (o.prompt_file.empty()) return Ok{};
  const uint64_t bytes = std::filesystem::file_size(o.prompt_file, ignored);
  const uint64_t most = static_cast<uint64_t>(config.context) * kMostBytesOfAToken;
  if (ignored || bytes <= most) return Ok{};
  return inputError("{}: {} bytes; the context of {} tokens holds {} at most", o.prompt_file, bytes,
                    config.context, most)
      .hint("shorten the prompt");
}

/// Long work says what it does, so that nobody takes it for hung.
void say(const RunOptions& o, const std::string& what) {
  if (!o.json) std::fprintf(stderr, "%s\n", what.c_str());
}

Status run(const RunOptions& o) {
  SUBLANE_CHECK_OK(checkOptions(o));
  SUBLANE_TRY(io::Checkpoint checkpoint, io::openCheckpoint(o.model));
  SUBLANE_TRY(models::DecoderConfig config, models::readConfig(checkpoint));
  SUBLANE_CHECK_OK(checkPromptBytes(o, config));
  SUBLANE_TRY(text::Tokenizer tokenizer, text::Tokenizer::fromCheckpoint(checkpoint));
  SUBLANE_TRY(text::TextStream text, tokenizer.textStream({.stops = o.stops}));
  SUBLANE_TRY(std::vector<int32_t> prompt, promptIds(o, tokenizer));
  if (!o.chat && !tokenizer.hasChatTemplate())
    say(o, o.model + " has no chat template: the prompt is raw text");

  auto length = static_cast<int64_t>(prompt.size());
  engine::EngineOptions options{.dtype = o.dtype == "bf16" ? formats::DType::kBF16 : formats::DType::kF32,
                                .context = o.context,
                                .prefill_chunk = std::min(o.chunk, roundUp(length)),
                                .layers_in_loop = o.layers == "loop",
                                .sampling = o.draw.temperature > 0,
                                .plugin = o.plugin};
  if (options.context == 0) options.context = std::min(config.context, roundUp(length + o.max_tokens));
  SUBLANE_CHECK_OK(engine::checkPromptLength(length, options.context, config.context));
  say(o, fmt::format("reading {} and widening its weights to {}", o.model, o.dtype));
  SUBLANE_TRY(engine::Engine engine, engine::Engine::load(checkpoint, options));
  SUBLANE_TRY(int32_t id, engine.add({prompt, o.max_tokens, tokenizer.stopIds(), o.draw}));
  (void)id;
  say(o, "compiling the steps for this CPU (some seconds)\n");
  SUBLANE_CHECK_OK(engine.prepare(length));
  SUBLANE_TRY(Answer answer, generate(engine, text, !o.json));
  if (answer.finish == "length" && static_cast<int64_t>(answer.ids.size()) < o.max_tokens)
    answer.finish = "context";
  if (o.json) {
    printRunJson(o, engine, prompt, answer);
  } else {
    printSummary(engine, answer);
  }
  return Ok{};
}

}  // namespace

extern const Command cmd_run;
const Command cmd_run{
    "run", "Generate text on this machine's CPU", [](CLI::App& verb) -> Action {
      auto o = std::make_shared<RunOptions>();
      verb.add_option("model", o->model, kModelHelp)->required();
      verb.add_option("--prompt", o->prompt, "The prompt");
      verb.add_option("--prompt-file", o->prompt_file, "A file that holds the prompt");
      verb.add_flag("--chat", o->chat, "Render the prompt as a user's turn by the model's chat template");
      verb.add_option("--system", o->system, "A system turn before the user's (with --chat)");
      verb.add_option("--max-tokens", o->max_tokens, "Most tokens to generate (64)")
          ->check(CLI::Range(1, 1 << 20));
      verb.add_option("--stop", o->stops, "End the answer before this text; may be given again")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      verb.add_option("--temperature", o->draw.temperature, "0 takes the best token (0)")
          ->check(CLI::Range(0.0, 100.0));
      verb.add_option("--top-k", o->draw.top_k, "Draw from the k best tokens; 0: all (0)")
          ->check(CLI::Range(0, 1 << 30));
      verb.add_option("--top-p", o->draw.top_p, "Then from the smallest set with this probability (1)")
          ->check(CLI::Range(0.0, 1.0));
      verb.add_option("--seed", o->draw.seed, "Seed of the draw (0)");
      verb.add_option("--context", o->context, "Most tokens of prompt and answer; 0: what they need (0)")
          ->check(CLI::Range(0, 1 << 20));
      verb.add_option("--chunk", o->chunk, "Most prompt tokens in a step (256)")
          ->check(CLI::Range(1, 1 << 16));
      verb.add_option("--dtype", o->dtype, "Weights are widened at load to this type (f32)")
          ->check(CLI::IsMember({"f32", "bf16"}));
      verb.add_option("--layers", o->layers, "unrolled, or one loop: slower here, compiles faster (unrolled)")
          ->check(CLI::IsMember({"unrolled", "loop"}));
      verb.add_option("--plugin", o->plugin, "Another PJRT plugin");
      verb.add_flag("--json", o->json, "Print one JSON document instead of streaming");
      return [o, &verb] {
        o->prompt_given = verb.count("--prompt") > 0;
        return run(*o);
      };
    }};

}  // namespace sublane::cli
