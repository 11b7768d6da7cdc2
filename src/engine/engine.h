// The engine: sequences in, tokens out, by running the ragged step program on a PJRT device.
//
// A step takes some tokens of some sequences: chunks of prompts, single tokens of running ones, or both.
// It is packed into the smallest bucket (tokens T, sequences S, tokens of one sequence Q) that holds it and
// run by that bucket's program, which is compiled once, on first use. Weights are widened once at load.
// The paged cache is donated and updated in place; all buckets share it.
//
//   SUBLANE_TRY(Engine engine, Engine::load(checkpoint, {.context = 1024}));
//   SUBLANE_TRY(int32_t id, engine.add({.prompt = ids}));
//   while (!engine.idle()) {
//     SUBLANE_TRY(std::vector<Token> tokens, engine.step());
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/formats.h"
#include "io/checkpoint.h"

namespace sublane::engine {

struct EngineOptions {
  formats::DType dtype = formats::DType::kF32;  // of weights, activations and cache: f32 or bf16
  int64_t context = 512;        // most tokens of one sequence, prompt and answer; rounded up to pages
  int64_t sequences = 1;        // most at once
  int64_t prefill_chunk = 128;  // most prompt tokens of one sequence in a step
  int64_t page_size = 16;
  bool layers_in_loop = false;
  bool sampling = false;       // false: the greedy program, without the random draw
  bool return_logits = false;  // keep the logits of the last step (tests)
  std::string plugin;          // path of a PJRT plugin; empty: the pinned CPU plugin
};

/// How the next token of a sequence is drawn. Temperature 0 takes the best token.
struct Draw {
  float temperature = 0;
  int32_t top_k = 0;  // <= 0: no limit
  float top_p = 1;    // >= 1: no limit
  uint32_t seed = 0;  // with the position, the whole key of the draw
};

struct Request {
  std::vector<int32_t> prompt;
  int64_t max_tokens = 64;
  std::vector<int32_t> stop_ids;  // end the sequence; they are not emitted
  Draw draw;
};

enum class Finish : uint8_t { kRunning, kStop, kLength };
struct Token {
  int32_t sequence = 0;  // as returned by add()
  int32_t id = -1;       // -1: the sequence ended on a stop id
  Finish finish = Finish::kRunning;
};

/// Seconds, measured on the host.
struct Times {
  double load = 0;     // reading, widening and placing the weights
  double compile = 0;  // all buckets so far
  double prefill = 0;  // steps that read prompt tokens
  int64_t prefill_tokens = 0;
  std::vector<double> decode;  // each step that read no prompt token
};

/// Room for one token of the answer beside the prompt? `limit` is the longest context of the model.
Status checkPromptLength(int64_t prompt, int64_t context, int64_t limit);

class Engine {
 public:
  static Result<Engine> load(const io::Checkpoint& checkpoint, const EngineOptions& options);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// Admits a sequence. Errors: empty prompt, an id outside the vocabulary, a prompt with no room for one
  /// token in the context, no free place.
  Result<int32_t> add(Request request);
  /// One step over all sequences. Finished ones are gone afterwards and their pages free. Errors: logits that
  /// are all NaN.
  Result<std::vector<Token>> step();
  bool idle() const;

  /// Compiles the buckets that one step of `tokens` prompt tokens and the following decode steps need.
  Status prepare(int64_t prompt_tokens);
  const Times& times() const;
  /// Of the last step, f32 [sequences in the bucket, vocabulary], in order of sequence (return_logits).
  const std::vector<float>& logits() const;
  int64_t vocabulary() const;
  /// Address of the first cache buffer, to show that steps update it in place.
  Result<uintptr_t> cacheAddress() const;
  /// One line: "XLA CPU plugin (PJRT API 0.115), float32 weights widened at load, 540 MB".
  std::string describe() const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sublane::engine
