// Models: one file an architecture, each a constant descriptor named after its file.
//
// A Model turns a checkpoint's metadata into a configuration, says which parameters it needs and where
// they come from, and builds the ragged step program. The list of models is made from the file names.
//
//   SUBLANE_TRY(DecoderConfig config, readConfig(checkpoint));
//   SUBLANE_CHECK_OK(checkTensors(checkpoint, config));
//   SUBLANE_TRY(StepProgram step, buildStep(config, shape, options, checkpoint.container));
//   for (const ParameterSource& weight : step.weights) {
//     std::vector<float> values(elementCount(weight.type.shape));
//     SUBLANE_CHECK_OK(readParameter(checkpoint, weight, values));
//   }
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
  int64_t dim = 0;  // channels that rotate; the others pass through
  /// How the model was made: pairs (i, i + dim/2) or (2i, 2i + 1). The program turns halves; rows of
  /// interleaved pairs are put so when they are read.
  enum class Pairs : uint8_t { kHalves, kInterleaved } pairs = Pairs::kHalves;
  enum class Scaling : uint8_t { kNone, kLinear, kLlama3, kYarn } scaling = Scaling::kNone;
  double factor = 1.0;
  double low_frequency_factor = 1.0, high_frequency_factor = 4.0;  // llama3
  double beta_fast = 32.0, beta_slow = 1.0;                        // yarn: turns within the original context
  bool truncate = true;                                            // yarn: the ramp ends at whole channels
  int64_t original_context = 0;                                    // llama3, yarn
  double attention_factor = 1.0;                                   // yarn: of cos and sin
  double mscale_all_dim = 0.0;                                     // yarn: what DeepSeek scales its scores by
  std::vector<double> frequency_divisors;  // rope_freqs.weight of a GGUF, when the file holds it
  bool operator==(const Rotary&) const = default;
};

enum class Activation : uint8_t {
  kSilu,
  kGeluTanh,
  kClampedSwiglu  // gpt-oss: gate and up within limits, (up + 1) gate sigmoid(1.702 gate)
};

/// How a layer mixes its tokens with those before them, and what follows.
enum class Mixer : uint8_t { kAttention, kLatentAttention, kGatedDelta, kMamba2 };
enum class FeedForward : uint8_t { kDense, kExperts };
struct LayerKind {
  Mixer mixer = Mixer::kAttention;
  FeedForward feed_forward = FeedForward::kDense;
  bool operator==(const LayerKind&) const = default;
};

/// Attention over one latent vector a token that all heads share (MLA): keys and values are made from it by
/// each head's matrices, which the program absorbs into the query and the output.
struct LatentAttention {
  int64_t query_rank = 0;  // of the query's own latent; 0: straight from the hidden state
  int64_t latent = 0;      // channels of the latent
  int64_t nope = 0;        // channels of a head without rotation
  int64_t rope = 0;        // channels that rotate; the key's are shared by the heads
  int64_t value = 0;       // channels of a head's value
  bool operator==(const LatentAttention&) const = default;
};

/// Layers whose past is a state of one size, however long the sequence: a convolution over the last tokens,
/// and for each head a matrix [key, value] that every token lets decay and adds to.
struct Recurrence {
  int64_t heads = 0;           // of values, each with a matrix
  int64_t key_heads = 0;       // which heads / key_heads of them share (Mamba2: groups)
  int64_t key = 0, value = 0;  // channels of a head's key (Mamba2: its state) and value
  int64_t convolution = 0;     // tokens that it sees, the token's own included
  bool convolution_bias = false;
  /// Of the convolution: keys and queries of each key head, and the values.
  int64_t channels() const { return 2 * key_heads * key + heads * value; }
  bool operator==(const Recurrence&) const = default;
};

/// A mixture of experts: which experts a token takes, and how much of each.
struct Experts {
  int64_t count = 0, per_token = 0;
  int64_t feed_forward = 0;  // of one expert
  enum class Scores : uint8_t { kSoftmax, kSigmoid, kSoftmaxOfChosen } scores = Scores::kSoftmax;
  bool normalise = false;               // the chosen experts' scores add up to 1
  double scale = 1.0;                   // of the scores, last
  bool choice_bias = false;             // added to the scores for the choice only
  int64_t groups = 1, groups_kept = 1;  // experts are chosen from the best groups
  bool group_by_best_two = false;       // a group's score is the sum of its two best, else its best
  int64_t shared_feed_forward = 0;      // of an expert that every token takes; 0: none
  bool shared_gate = false;             // which a sigmoid weighs
  bool bias = false;                    // of the router and of each expert's matrices
  bool operator==(const Experts&) const = default;
};

/// What a dense decoder needs to be built. Each model file fills it from its own keys.
struct DecoderConfig {
  std::string model;  // the descriptor's name: "llama", "gemma3"
  int64_t vocabulary = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, feed_forward = 0;
  int64_t context = 0;            // longest sequence that the model was made for
  int64_t prediction_layers = 0;  // that follow the model's own in the file and are left aside (MTP)
  double norm_epsilon = 1e-5;
  Activation activation = Activation::kSilu;
  bool tied_embedding = false;
  bool head_bias = false;                      // added to the logits; the file holds it
  bool qkv_bias = false, output_bias = false;  // of the attention's projections
  bool sinks = false;                          // each head's score of nothing (gpt-oss)
  bool qk_norm = false;                        // RMS norm of each head's q and k before rotation
  bool post_norms = false;                     // norms after attention and after the MLP (Gemma)
  bool attention_gate = false;                 // a sigmoid of the hidden state weighs what each head gives
  double swiglu_limit = 0.0;                   // of kClampedSwiglu
  double embedding_scale = 1.0;                // Gemma: sqrt(hidden)
  double residual_scale = 1.0;                 // of what a layer adds (Granite)
  double logits_divisor = 1.0;                 // Granite
  double attention_scale = 0.0;                // of q.k
  double attention_soft_cap = 0.0;             // of the scores; 0: none
  double final_soft_cap = 0.0;                 // of the logits; 0: none
  LatentAttention latent;                      // of layers with Mixer::kLatentAttention
  Recurrence recurrence;                       // of layers with Mixer::kGatedDelta or kMamba2
  Experts experts;
  std::string left_aside;  // prefix of tensors that none of the layers uses; empty: there are none
  std::vector<LayerKind> layer_kinds;  // by layer; empty: all are attention and a dense MLP
  std::vector<Rotary> rotaries;        // distinct ones
  std::vector<int32_t> layer_rotary;   // by layer: index into rotaries; -1: nothing rotates
  std::vector<int64_t> layer_window;   // by layer: keys seen, the token's own included; 0 = all
  std::vector<std::string> assumptions;
};

/// How the values of a parameter come from the checkpoint: by container and architecture, never by looking
/// at shapes or values.
enum class Layout : uint8_t {
  kAsStored,
  kUnpermuteRotaryPairs,  // GGUF llama q and k: rows of interleaved pairs back to halves
  kTransposed,            // stored [in, out]
  kAddOne,                // a norm stored as its difference from 1 (Hugging Face Gemma); GGUF stores the gain
  kUnpermuteRotaryTail,   // as kUnpermuteRotaryPairs, of the last rows of each head only (MLA)
};
/// Which rows of a tensor that holds several parameters, one under the other: q, k and v, or gate and up.
enum class Part : uint8_t {
  kWhole,
  kQuery,
  kKey,
  kValue,
  kGate,
  kUp,
  kLatentKey,        // of each head's rows of kv_b: first what makes its key,
  kLatentValue,      // then what makes its value
  kExpertGate,       // of each expert's rows of gate and up: every second,
  kExpertUp,         // and those after them
  kExpertGateFirst,  // or the first half,
  kExpertUpLast,     // and the second
  kHeadQuery,        // of each head's rows of q_proj: first its query,
  kHeadGate,         // then the gate of what it gives
  kDeltaQuery,       // of each key head's rows: its query, its key, its values and their gates,
  kDeltaKey,
  kDeltaValue,
  kDeltaGate,
  kDeltaBeta,  // and of another tensor: how much is written, how much decays
  kDeltaStep,
  kQueryFirst,  // queries of all key heads, then keys, then values
  kKeyNext,
  kValueLast,
  kMambaGate,  // gates of all channels, then what the convolution sees, then how much decays
  kMambaMixed,
  kMambaStep
};
/// Which layers, of which configurations, have a weight.
enum class Needs : uint8_t {
  kAlways,
  kLatentQuery,  // MLA: the query has a latent of its own,
  kPlainQuery,   // or not
  kQkvBias,
  kOutputBias,
  kDense,    // a layer with a dense MLP
  kExperts,  // a layer with a mixture of experts:
  kChoiceBias,
  kSharedExpert,
  kSharedGate,
  kExpertBias,
  kSinks,
  kAttention,   // a layer with attention over all tokens,
  kGatedDelta,  // or another mixer
  kMamba2,
  kConvolutionBias
};
struct TensorSource {
  std::string tensor;  // name in the checkpoint
  Layout layout = Layout::kAsStored;
  int64_t heads = 0;      // for kUnpermuteRotaryPairs and kUnpermuteRotaryTail
  int64_t tail = 0;       // rows of a head that the latter moves
  int64_t width = 0;      // columns of a row; 0: the tensor's last size
  int64_t first_row = 0;  // of the part
  int64_t block_rows = 0,
          block_stride = 0;  // of a part that has some rows of each block; 0: all rows from the first
};
/// Values that the host computes once in float64: rotary tables.
using Computed = std::function<void(std::span<float> out)>;

/// One weight of the step program. Several sources are stacked along a new leading axis (layers in a loop).
struct ParameterSource {
  std::string parameter;  // name in the graph
  graph::Type type;
  std::variant<std::vector<TensorSource>, Computed> from;
};

/// The bucket: static sizes of one compiled step.
struct StepShape {
  int64_t tokens = 1;              // T
  int64_t sequences = 1;           // S
  int64_t queries = 1;             // Q: most tokens of one sequence in this step (decode: 1)
  int64_t pages_per_sequence = 1;  // P
  int64_t page_size = 16;
  int64_t pages = 1;        // in the cache, by layer
  int64_t state_slots = 0;  // sequences that a recurrent layer's caches hold; 0: as many as `sequences`
};
enum class Sampling : uint8_t { kGreedy, kFull };
struct StepOptions {
  DType weights = DType::kBF16;      // of matrices; norms stay float32
  DType activations = DType::kBF16;  // float32 for the oracle
  DType cache = DType::kBF16;
  bool layers_in_loop = false;
  Sampling sampling = Sampling::kGreedy;
  bool return_logits = false;  // adds an output "logits" f32[S, vocabulary]
};

/// Step inputs, in this order (all i32 unless said):
///   tokens[T] positions[T] token_sequence[T] token_column[T] query_token[S,Q] kv_slots[T] page_table[S,P]
///   lengths[S] logit_token[S]; with a recurrent layer state_slots[S]; and with Sampling::kFull: temperature
///   f32[S] top_k[S] top_p f32[S] seed u32[S]
/// Padding tokens have token_sequence = S and kv_slots = -1; padding rows have length 0 and sample token 0.
/// A sequence keeps its state slot as long as it lives; padding rows have -1. Its state starts anew at
/// position 0, whatever the slot holds. Outputs: sampled i32[S] (-1: the row's logits are all NaN), then
/// logits f32[S, vocabulary] if asked, then the caches (in place): "cache.k.3" and "cache.v.3" [pages,
/// page_size, kv_heads, head_dim] a layer, or in a loop one "cache.k" and "cache.v" with the layers' pages
/// one after the other [layers * pages, ...]; page ids and slots of the inputs count in one layer. A
/// recurrent layer has "cache.conv.3" [state_slots, 1, what the convolution sees before a token, channels]
/// and "cache.recurrent.3" f32[state_slots, 1, heads * key, value]. Weights: "embed.weight",
/// "layer.3.attention.q.weight" (in a loop "layers.attention.q.weight" [layers, ...]), "final_norm.weight",
/// "head.weight" unless tied, "rope.0.cos" and "rope.0.sin" f32[P * page_size, dim / 2].
struct StepProgram {
  graph::Graph graph;
  std::vector<ParameterSource> weights;
};

/// A weight's names: `parameter` in the graph, then in the two containers. Those of a layer leave out the
/// layer's prefix ("layer.3.", "blk.3.", "model.layers.3."). "{}" in a container's name stands for the
/// expert: the parameter [experts, ...] is all of them, stacked.
struct WeightName {
  std::string_view parameter, gguf, hf;
  Layout gguf_layout = Layout::kAsStored, hf_layout = Layout::kAsStored;
  Part gguf_part = Part::kWhole, hf_part = Part::kWhole;
  Needs needs = Needs::kAlways;
};
/// For the tables: the name, in layers or configurations that have it, or as a part of a fused tensor.
constexpr WeightName only(Needs needs, WeightName name) {
  name.needs = needs;
  return name;
}
constexpr WeightName partOf(Part part, WeightName name) {
  name.gguf_part = name.hf_part = part;
  return name;
}
constexpr WeightName hfPartOf(Part part, WeightName name) {
  name.hf_part = part;
  return name;
}

/// An architecture that is close to a model but is not it, and why.
struct Refusal {
  std::string_view architecture, reason;
};

struct Model {
  using Names = std::span<const std::string_view>;
  std::string_view name;     // "llama"
  Names gguf_architectures;  // general.architecture
  Names hf_architectures;    // architectures[0] of config.json
  std::span<const Refusal> refusals;
  std::span<const WeightName> global_weights, layer_weights;
  Result<DecoderConfig> (*read_config)(const io::Checkpoint& checkpoint);
  /// buildDecoder (layers/decoder.h) for dense decoders.
  Result<StepProgram> (*build)(const Model&, const DecoderConfig&, const StepShape&, const StepOptions&,
                               io::Container);
};

/// All models, by name; the list is written by CMake from the file names.
std::span<const Model* const> allModels();
/// By the checkpoint's container and architecture. Error lists what exists.
Result<const Model*> findModel(const io::Checkpoint& checkpoint);
Result<DecoderConfig> readConfig(const io::Checkpoint& checkpoint);
/// Builds and verifies the step program.
Result<StepProgram> buildStep(const DecoderConfig&, const StepShape&, const StepOptions&, io::Container);
/// Checks every parameter of the model against the checkpoint: missing, extra and mis-shaped tensors, all at
/// once.
Status checkTensors(const io::Checkpoint& checkpoint, const DecoderConfig& config);

/// The stored row of each row of a parameter with `rows` rows; empty when they are the same. It moves whole
/// rows, so it holds for packed rows as well.
std::vector<int64_t> storedRows(const TensorSource& source, int64_t rows);
/// Float32 values of consecutive rows (of a matrix; a vector is one row) from `first_row` on, as many as fit
/// `out`.
Status readRows(const io::Checkpoint& checkpoint, const TensorSource& source, int64_t first_row,
                std::span<float> out);
/// All values of a parameter as float32.
Status readParameter(const io::Checkpoint& checkpoint, const ParameterSource& source, std::span<float> out);

/// Lines for `inspect`: sizes, attention, rotary positions, and every assumption.
std::vector<std::string> describe(const DecoderConfig& config);
/// Values in all weights of the model, rotary tables left out.
int64_t parameterCount(const DecoderConfig& config);

}  // namespace sublane::models
