// Models: one file an architecture, each a constant descriptor named after its file.
//
// A Model turns a checkpoint's metadata into a configuration, says which parameters it needs and where
// they come from, and builds the ragged step program. The list of models is made from the file names.
//
//   SUBLANE_TRY(const Model* model, findModel(checkpoint.architecture));
//   SUBLANE_TRY(DecoderConfig config, readConfig(checkpoint));
//   SUBLANE_TRY(StepProgram step, buildStep(config, shape, options));
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "io/checkpoint.h"

namespace sublane::models {

using formats::DType;

/// How rotary positions are made. Tables are computed in float64 on the host and stored as float32.
struct Rotary {
  double theta = 10000.0;
  int64_t dim = 0;                       // channels that rotate, pairs (i, i + dim/2)
  enum class Scaling : uint8_t { kNone, kLinear, kLlama3 } scaling = Scaling::kNone;
  double factor = 1.0, low_frequency_factor = 1.0, high_frequency_factor = 4.0;  // linear: factor only
  int64_t original_context = 0;          // llama3 scaling
  std::vector<double> frequency_divisors;  // rope_freqs.weight of a GGUF, when the file holds it
  bool operator==(const Rotary&) const = default;
};

enum class Activation : uint8_t { kSilu, kGeluTanh };

/// What a dense decoder needs to be built. Each model file fills it from its own keys.
struct DecoderConfig {
  std::string model;                     // the descriptor's name: "llama", "gemma3"
  int64_t vocabulary = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, feed_forward = 0;
  int64_t context = 0;                   // longest sequence that the model was made for
  double norm_epsilon = 1e-5;
  Activation activation = Activation::kSilu;
  bool tied_embedding = false;
  bool qk_norm = false;                  // RMS norm of each head's q and k before rotation (Gemma 3)
  bool post_norms = false;               // norms after attention and after the MLP (Gemma)
  double embedding_scale = 1.0;          // Gemma: sqrt(hidden)
  double attention_scale = 0.0;          // of q.k
  double final_soft_cap = 0.0;           // 0: none
  std::vector<Rotary> rotaries;          // distinct ones
  std::vector<int32_t> layer_rotary;     // by layer: index into rotaries
  std::vector<int64_t> layer_window;     // by layer: keys seen, 0 = all
  std::vector<std::string> assumptions;
};

/// How the bytes of a parameter come from the checkpoint. Names, never shapes, decide.
enum class Layout : uint8_t {
  kAsStored,
  kUnpermuteRotaryPairs,   // GGUF llama q and k: rows of interleaved pairs back to halves
  kTransposed,             // reserved for containers that store [in, out]
};
struct TensorSource {
  std::string tensor;      // name in the checkpoint
  Layout layout = Layout::kAsStored;
  int64_t heads = 0;       // for kUnpermuteRotaryPairs
};
/// Values that the host computes once in float64: rotary tables.
using Computed = std::function<void(std::span<float> out)>;

/// One weight of the step program. Several sources are stacked along a new leading axis (layers in a loop).
struct ParameterSource {
  std::string parameter;                  // name in the graph
  graph::Type type;
  std::variant<std::vector<TensorSource>, Computed> from;
};

/// The bucket: static sizes of one compiled step.
struct StepShape {
  int64_t tokens = 1;               // T
  int64_t sequences = 1;            // S
  int64_t queries = 1;              // Q: most tokens of one sequence in this step (decode: 1)
  int64_t pages_per_sequence = 1;   // P
  int64_t page_size = 16;
  int64_t pages = 1;                // in the cache, by layer
};
enum class Sampling : uint8_t { kGreedy, kFull };
struct StepOptions {
  DType weights = DType::kBF16;       // of matrices; norms stay float32
  DType activations = DType::kBF16;   // float32 for the oracle
  DType cache = DType::kBF16;
  bool layers_in_loop = false;
  Sampling sampling = Sampling::kGreedy;
  bool return_logits = false;         // adds an output "logits" f32[S, vocabulary]
};

/// Step inputs, in this order (all i32 unless said):
///   tokens[T] positions[T] token_sequence[T] token_column[T] query_token[S,Q] kv_slots[T] page_table[S,P]
///   lengths[S] logit_token[S]; and with Sampling::kFull: temperature f32[S] top_k[S] top_p f32[S] seed u32[S]
/// Padding tokens have token_sequence = S and kv_slots = -1; padding rows have length 0.
/// Outputs: sampled i32[S], then logits if asked, then the caches (in place).
struct StepProgram {
  graph::Graph graph;
  std::vector<ParameterSource> weights;
};

struct Model {
  std::string_view name;                                   // "llama"
  std::vector<std::string_view> gguf_architectures;        // general.architecture
  std::vector<std::string_view> hf_architectures;          // architectures[0] of config.json
  Result<DecoderConfig> (*read_config)(const io::Checkpoint& checkpoint);
  Result<StepProgram> (*build)(const DecoderConfig&, const StepShape&, const StepOptions&, io::Container);
};

/// All models, by name; the list is written by CMake from the file names.
std::span<const Model* const> allModels();
/// Error lists what exists.
Result<const Model*> findModel(const io::Checkpoint& checkpoint);
Result<DecoderConfig> readConfig(const io::Checkpoint& checkpoint);
/// Builds and verifies the step program.
Result<StepProgram> buildStep(const DecoderConfig&, const StepShape&, const StepOptions&, io::Container);
/// Checks every parameter of the model against the checkpoint: missing, extra and mis-shaped tensors, all at once.
Status checkTensors(const io::Checkpoint& checkpoint, const DecoderConfig& config);

}  // namespace sublane::models
