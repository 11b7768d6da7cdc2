// The layers of a dense decoder as graph pieces, shared by every family.
//
// Precision: matrices multiply in the type of the activations with float32 sums; what follows a product
// (norms, rotation, gates, residual sums) is float32, and is rounded once to the activations' type where it
// is stored or enters the next product. The residual stream has the activations' type.
//
//   ValueId h = rmsNorm(b, x, weights.at("mlp.norm.weight"), config.norm_epsilon);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "models/models.h"

namespace sublane::models {

using graph::Builder;
using graph::ValueId;

/// x [T, K] by weight [N, K] -> f32 [T, N]. Unlike types are widened to float32, which is exact.
ValueId linear(Builder& b, ValueId x, ValueId weight);

/// Over the last axis, result float32: x / sqrt(mean(x^2) + epsilon) * gain.
ValueId rmsNorm(Builder& b, ValueId x, ValueId gain, double epsilon);

/// x + scale * update in float32, rounded to x's type.
ValueId addResidual(Builder& b, ValueId x, ValueId update, double scale = 1.0);

/// cap * tanh(x / cap); x itself when cap is 0.
ValueId softCap(Builder& b, ValueId x, double cap);

/// Values of one layer's weights in the graph that is being built, by name ("mlp.up.weight").
using LayerWeights = std::map<std::string, ValueId, std::less<>>;

/// x [T, N] + the vector of that name, where the layer has it.
ValueId addBias(Builder& b, ValueId x, const LayerWeights& weights, std::string_view name);

/// What each token needs to find its keys (see graph.h, paged attention).
struct TokenInputs {
  ValueId positions, token_sequence, token_column, query_token, kv_slots, page_table, lengths;
  ValueId state_slots = -1;  // only with a recurrent layer
};
/// Has a layer a state of its own for each sequence?
bool isRecurrent(Mixer mixer);
bool hasRecurrentLayer(const DecoderConfig& config);
/// One layer's surroundings.
struct LayerInputs {
  const DecoderConfig& config;
  const StepOptions& options;
  int32_t layer;  // of the places
  LayerKind kind;
  TokenInputs tokens;
  ValueId cos, sin;  // f32 [T, dim / 2], this layer's rotary at the tokens' positions; -1: nothing rotates
  ValueId window;    // i32 []
};
/// The residual stream and the layer's caches, in the order of layerCaches.
struct LayerState {
  ValueId x;
  std::vector<ValueId> caches;
};
/// A cache of a layer: "k" of "cache.k.3", and its type.
struct LayerCache {
  std::string name;
  graph::Type type;
};
std::vector<LayerCache> layerCaches(const DecoderConfig& config, const LayerKind& kind, DType dtype,
                                    const StepShape& shape);

/// Norm, the layer's mixer, residual.
LayerState mix(Builder& b, const LayerInputs& in, const LayerWeights& weights, LayerState state);
/// h [T, hidden], normed -> f32 [T, hidden], and the caches in `state`: q k v, rotation, cache write,
/// attention, output.
ValueId attention(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h,
                  LayerState& state);
/// The same over a shared latent (MLA): the cache holds [pages, page_size, 1, latent + rope].
ValueId latentAttention(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h,
                        LayerState& state);
/// A state of one size a sequence: the gated delta rule (Qwen3-Next), or Mamba2.
ValueId gatedDelta(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h,
                   LayerState& state);
ValueId mamba2(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h, LayerState& state);
/// Norm, an MLP or a mixture of experts as the layer's weights say, residual.
ValueId feedForward(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId x);

/// act(gate) * up, float32.
ValueId gated(Builder& b, const DecoderConfig& config, ValueId gate, ValueId up);
/// x [T, hidden] in the activations' type -> f32 [T, hidden]: the experts that each token's router chooses,
/// and a shared one if there is. Scores, choice and weights are float32; ties go to the lowest expert.
ValueId mixtureOfExperts(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId x);

}  // namespace sublane::models
