#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/units.h"
#include "engine/batch.h"
#include "engine/page_pool.h"
#include "engine/programs.h"
#include "engine/weights.h"
#include "pjrt/worker.h"

namespace sublane::engine {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A sequence in the engine: all its tokens, how many of them are in the cache, its pages and its slot.
struct Sequence {
  int32_t id;
  Request request;
  std::vector<int32_t> tokens;
  int64_t cached = 0;
  std::vector<int32_t> pages;
  int32_t state_slot = -1;

  int64_t uncached() const { return static_cast<int64_t>(tokens.size()) - cached; }
  int64_t answered() const { return static_cast<int64_t>(tokens.size() - request.prompt.size()); }
};

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

struct Engine::State {
  EngineOptions options;
  models::DecoderConfig config;
  models::StepOptions step_options;
  io::Container container = io::Container::kGguf;
  std::optional<pjrt::Plugin> plugin;
  std::optional<pjrt::Client> client;
  Weights weights;
  int64_t weight_bytes = 0;
  std::map<std::string, pjrt::Buffer> caches;
  std::map<std::pair<int64_t, int64_t>, Program> programs;  // by (tokens, queries)
  PagePool pool{0}, state_slots{0};
  std::vector<Sequence> sequences;
  int32_t next_id = 0;
  std::vector<float> logits;
  Times times;

  models::StepShape shape(int64_t tokens, int64_t queries) const {
    int64_t per_sequence = ceilDivide(options.context, options.page_size);
    return {.tokens = tokens,
            .sequences = options.sequences,
            .queries = queries,
            .pages_per_sequence = per_sequence,
            .page_size = options.page_size,
            .pages = per_sequence * options.sequences,
            .state_slots = options.sequences};
  }
  models::StepShape decodeShape() const { return shape(options.sequences, 1); }
  models::StepShape mixedShape() const {
    return shape(options.prefill_chunk + options.sequences - 1, options.prefill_chunk);
  }

  Status start(const io::Checkpoint& checkpoint);
  Status makeCaches(const graph::Graph& graph);
  Result<Program*> program(const models::StepShape& shape);
  std::vector<int64_t> plan() const;
  Status reservePages(Sequence& sequence, int64_t length);
  Result<std::vector<int32_t>> run(Program& program, const Batch& batch);
  Result<std::vector<Token>> advance(const std::vector<int64_t>& counts, const std::vector<int32_t>& sampled);
};

Status Engine::State::start(const io::Checkpoint& checkpoint) {
  Stopwatch watch;
  container = checkpoint.container;
  SUBLANE_TRY(config, models::readConfig(checkpoint));
  SUBLANE_CHECK_OK(models::checkTensors(checkpoint, config));
  if (options.context > config.context) {
    return inputError("context of {} tokens: {} was made for {}", options.context, config.model,
                      config.context)
        .hint("pass a smaller --context");
  }
  options.prefill_chunk = std::min(options.prefill_chunk, options.context);
  step_options = {.weights = options.dtype,
                  .activations = options.dtype,
                  .cache = options.dtype,
                  .layers_in_loop = options.layers_in_loop,
                  .sampling = options.sampling ? models::Sampling::kFull : models::Sampling::kGreedy,
                  .return_logits = options.return_logits};
  std::string path = options.plugin;
  if (path.empty()) {
    SUBLANE_TRY(path, pjrt::pluginPath("cpu"));
  }
  if (path.find("libtpu") != std::string::npos) {
    return machineError(
               "plugin {}: libtpu only compiles here, in a child process; this step needs a CPU plugin", path)
        .hint("leave --plugin and SUBLANE_CPU_PLUGIN unset");
  }
  SUBLANE_TRY(plugin, pjrt::Plugin::load(path));
  SUBLANE_TRY(client, pjrt::Client::create(*plugin, {{"cpu_device_count", int64_t{1}}}));

  SUBLANE_TRY(models::StepProgram step, models::buildStep(config, decodeShape(), step_options, container));
  SUBLANE_TRY(weights, loadWeights(checkpoint, step, *client));
  for (const models::ParameterSource& weight : step.weights) weight_bytes += graph::byteCount(weight.type);
  SUBLANE_CHECK_OK(makeCaches(step.graph));
  pool = PagePool(decodeShape().pages);
  state_slots = PagePool(decodeShape().state_slots);
  times.load = watch.seconds();
  return Ok{};
}

Status Engine::State::makeCaches(const graph::Graph& graph) {
  for (const graph::Parameter& parameter : graph.parameters) {
    if (parameter.role != graph::Role::kState) continue;
    const graph::Type& type = graph.type(parameter.value);
    std::vector<std::byte> zeros(static_cast<size_t>(graph::byteCount(type)));
    SUBLANE_TRY(pjrt::Buffer buffer, client->toDevice(type, zeros));
    caches.insert_or_assign(parameter.name, std::move(buffer));
  }
  return Ok{};
}

Result<Program*> Engine::State::program(const models::StepShape& shape) {
  auto key = std::pair(shape.tokens, shape.queries);
  auto found = programs.find(key);
  if (found == programs.end()) {
    Stopwatch watch;
    SUBLANE_TRY(Program made, compileProgram(config, shape, step_options, container, *client));
    found = programs.emplace(key, std::move(made)).first;
    times.compile += watch.seconds();
  }
  return &found->second;
}

/// Tokens that each sequence reads in the next step: one each first, then chunks of prompts while there is
/// room.
std::vector<int64_t> Engine::State::plan() const {
  std::vector<int64_t> counts(sequences.size(), 1);
  int64_t room = options.prefill_chunk - 1;
  for (size_t i = 0; i < sequences.size(); ++i) {
    int64_t more = std::min(sequences[i].uncached() - 1, room);
    counts[i] += more;
    room -= more;
  }
  return counts;
}

Status Engine::State::reservePages(Sequence& sequence, int64_t length) {
  while (static_cast<int64_t>(sequence.pages.size()) * options.page_size < length) {
    std::optional<int32_t> page = pool.take();
    if (!page) return machineError("cache: no free page for token {} of sequence {}", length, sequence.id);
    sequence.pages.push_back(*page);
  }
  return Ok{};
}

Result<std::vector<int32_t>> Engine::State::run(Program& program, const Batch& batch) {
  std::vector<pjrt::Buffer> inputs;
  inputs.reserve(program.parameters.size());
  std::vector<pjrt::Buffer*> arguments;
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const graph::Parameter& parameter = program.parameters[i];
    if (parameter.role == graph::Role::kInput) {
      auto bytes = std::as_bytes(std::span(batch.at(parameter.name)));
      SUBLANE_TRY(pjrt::Buffer input, client->toDevice(program.parameter_types[i], bytes));
      inputs.push_back(std::move(input));
      arguments.push_back(&inputs.back());
    } else {
      auto& table = parameter.role == graph::Role::kState ? caches : weights;
      arguments.push_back(&table.at(parameter.name));
    }
  }
  SUBLANE_TRY(std::vector<pjrt::Buffer> results, program.executable.execute(arguments));
  std::vector<int32_t> sampled(static_cast<size_t>(program.shape.sequences));
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& name = program.outputs[i];
    if (name == "sampled") {
      SUBLANE_CHECK_OK(results[i].toHost(std::as_writable_bytes(std::span(sampled))));
    } else if (name == "logits") {
      logits.resize(sampled.size() * static_cast<size_t>(config.vocabulary));
      SUBLANE_CHECK_OK(results[i].toHost(std::as_writable_bytes(std::span(logits))));
    } else {
      caches.insert_or_assign(name, std::move(results[i]));
    }
  }
  return sampled;
}

/// Books the step: sequences whose known tokens are all cached gained a token, which may end them.
Result<std::vector<Token>> Engine::State::advance(const std::vector<int64_t>& counts,
                                                  const std::vector<int32_t>& sampled) {
  std::vector<Token> tokens;
  std::vector<Sequence> running;
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence& sequence = sequences[i];
    sequence.cached += counts[i];
    Finish finish = Finish::kRunning;
    if (sequence.uncached() == 0) {
      int32_t id = sampled[i];
      if (id < 0) {
        return inputError("{}: all logits of sequence {} after {} tokens are NaN", config.model, sequence.id,
                          sequence.tokens.size())
            .hint(options.dtype == formats::DType::kBF16
                      ? "a sum may overflow: try float32; else the weights don't fit their architecture"
                      : "the weights, though finite, don't fit their architecture or their settings");
      }
      const std::vector<int32_t>& stops = sequence.request.stop_ids;
      bool stopped = std::find(stops.begin(), stops.end(), id) != stops.end();
      if (!stopped) sequence.tokens.push_back(id);
      bool full = sequence.answered() >= sequence.request.max_tokens ||
                  static_cast<int64_t>(sequence.tokens.size()) >= options.context;
      finish = stopped ? Finish::kStop : full ? Finish::kLength : Finish::kRunning;
      tokens.push_back({sequence.id, stopped ? -1 : id, finish});
    }
    if (finish == Finish::kRunning) {
      running.push_back(std::move(sequence));
    } else {
      for (int32_t page : sequence.pages) pool.give(page);
      state_slots.give(sequence.state_slot);
    }
  }
  sequences = std::move(running);
  return tokens;
}

Status checkPromptLength(int64_t prompt, int64_t context, int64_t limit) {
  if (prompt < context) return Ok{};
  return inputError("prompt of {} tokens: the context holds {}, and the answer needs at least one of them",
                    prompt, context)
      .hint(prompt >= limit
                ? fmt::format("shorten the prompt: the model was made for {} tokens", limit)
                : fmt::format("shorten the prompt, or pass --context {} (the model's limit)", limit));
}

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::load(const io::Checkpoint& checkpoint, const EngineOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  SUBLANE_CHECK_OK(state->start(checkpoint));
  return Engine(std::move(state));
}

Result<int32_t> Engine::add(Request request) {
  State& s = *state_;
  auto length = static_cast<int64_t>(request.prompt.size());
  if (length == 0) return inputError("the prompt has no tokens").hint("give at least one character");
  SUBLANE_CHECK_OK(checkPromptLength(length, s.options.context, s.config.context));
  if (request.max_tokens < 1) return inputError("max_tokens is {}: at least 1 is needed", request.max_tokens);
  for (int32_t id : request.prompt) {
    if (id < 0 || id >= s.config.vocabulary) {
      return inputError("prompt: token id {} is outside the vocabulary of {}", id, s.config.vocabulary);
    }
  }
  if (static_cast<int64_t>(s.sequences.size()) >= s.options.sequences) {
    return inputError("{} sequences are running, and {} is the most", s.sequences.size(),
                      s.options.sequences);
  }
  std::vector<int32_t> tokens = request.prompt;
  // There are as many slots as sequences, and one was free.
  const int32_t state_slot = s.state_slots.take().value();
  s.sequences.push_back({s.next_id, std::move(request), std::move(tokens), 0, {}, state_slot});
  return s.next_id++;
}

Result<std::vector<Token>> Engine::step() {
  State& s = *state_;
  std::vector<int64_t> counts = s.plan();
  std::vector<Slice> slices;
  int64_t prompt_tokens = 0;
  bool decode_only = true;
  for (size_t i = 0; i < s.sequences.size(); ++i) {
    Sequence& sequence = s.sequences[i];
    SUBLANE_CHECK_OK(s.reservePages(sequence, sequence.cached + counts[i]));
    auto first = sequence.tokens.begin() + sequence.cached;
    slices.push_back({{first, first + counts[i]},
                      sequence.cached,
                      sequence.pages,
                      sequence.state_slot,
                      sequence.request.draw});
    if (sequence.answered() == 0) prompt_tokens += counts[i];
    decode_only = decode_only && counts[i] == 1;
  }
  SUBLANE_TRY(Program * program, s.program(decode_only ? s.decodeShape() : s.mixedShape()));
  Stopwatch watch;
  SUBLANE_TRY(std::vector<int32_t> sampled, s.run(*program, packBatch(program->shape, slices)));
  if (prompt_tokens > 0) {
    s.times.prefill += watch.seconds();
    s.times.prefill_tokens += prompt_tokens;
  } else {
    s.times.decode.push_back(watch.seconds());
  }
  return s.advance(counts, sampled);
}

bool Engine::idle() const { return state_->sequences.empty(); }

Status Engine::prepare(int64_t prompt_tokens) {
  SUBLANE_TRY(Program * decode, state_->program(state_->decodeShape()));
  (void)decode;
  if (prompt_tokens > 1) {
    SUBLANE_TRY(Program * mixed, state_->program(state_->mixedShape()));
    (void)mixed;
  }
  return Ok{};
}

const Times& Engine::times() const { return state_->times; }
const std::vector<float>& Engine::logits() const { return state_->logits; }
int64_t Engine::vocabulary() const { return state_->config.vocabulary; }
Result<uintptr_t> Engine::cacheAddress() const { return state_->caches.begin()->second.address(); }

std::string Engine::describe() const {
  return fmt::format("{} (PJRT API {}.{}), {} weights widened at load: {}", state_->client->platformName(),
                     state_->plugin->major(), state_->plugin->minor(), formats::name(state_->options.dtype),
                     formatBytes(static_cast<double>(state_->weight_bytes)));
}

}  // namespace sublane::engine
