#include "models/layers/layers.h"
#include "models/layers/rotary.h"

namespace sublane::models {
namespace {

struct Heads {
  ValueId q, k, v;  // f32 [T, heads, head_dim]
};

Heads project(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h) {
  auto scope = b.at({in.layer, "attention.qkv"});
  const DecoderConfig& config = in.config;
  int64_t tokens = b.type(h).shape[0];
  auto heads = [&](const std::string& name, int64_t count) {
    ValueId x = addBias(b, linear(b, h, weights.at(name + ".weight")), weights, name + ".bias");
    return b.reshape(x, {tokens, count, config.head_dim});
  };
  return {heads("attention.q", config.heads), heads("attention.k", config.kv_heads),
          heads("attention.v", config.kv_heads)};
}

/// Norms before rotation.
void normAndRotate(Builder& b, const LayerInputs& in, const LayerWeights& weights, Heads& heads) {
  auto scope = b.at({in.layer, "attention.rotary"});
  if (in.config.qk_norm) {
    heads.q = rmsNorm(b, heads.q, weights.at("attention.q_norm.weight"), in.config.norm_epsilon);
    heads.k = rmsNorm(b, heads.k, weights.at("attention.k_norm.weight"), in.config.norm_epsilon);
  }
  const bool rotates = in.cos >= 0;
  heads.q = b.convert(rotates ? rotate(b, heads.q, in.cos, in.sin) : heads.q, in.options.activations);
  if (rotates) heads.k = rotate(b, heads.k, in.cos, in.sin);
}

}  // namespace

ValueId attention(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h,
                  LayerState& state) {
  const DecoderConfig& config = in.config;
  ValueId attended;
  Heads heads = project(b, in, weights, h);
  normAndRotate(b, in, weights, heads);
  {
    auto scope = b.at({in.layer, "attention.cache"});
    ValueId k = b.convert(heads.k, in.options.cache), v = b.convert(heads.v, in.options.cache);
    state.caches[0] = b.cacheWrite(state.caches[0], k, in.tokens.kv_slots);
    state.caches[1] = b.cacheWrite(state.caches[1], v, in.tokens.kv_slots);
  }
  {
    auto scope = b.at({in.layer, "attention.core"});
    const TokenInputs& t = in.tokens;
    std::vector<ValueId> operands = {heads.q,       state.caches[0], state.caches[1],  t.page_table,
                                     t.lengths,     t.positions,     t.token_sequence, t.token_column,
                                     t.query_token, in.window};
    if (config.sinks) operands.push_back(weights.at("attention.sinks"));
    attended =
        b.pagedAttention(operands, {.scale = config.attention_scale, .soft_cap = config.attention_soft_cap});
  }
  auto scope = b.at({in.layer, "attention.out"});
  int64_t tokens = b.type(state.x).shape[0];
  attended = b.reshape(attended, {tokens, config.heads * config.head_dim});
  if (config.attention_gate) {
    ValueId gate = b.logistic(linear(b, h, weights.at("attention.gate.weight")));
    attended = b.convert(b.multiply(b.convert(attended, DType::kF32), gate), in.options.activations);
  }
  ValueId out = linear(b, attended, weights.at("attention.o.weight"));
  return addBias(b, out, weights, "attention.o.bias");
}

std::vector<LayerCache> layerCaches(const DecoderConfig& config, const LayerKind& kind, DType dtype,
                                    const StepShape& shape) {
  const int64_t pages = shape.pages, page_size = shape.page_size;
  if (isRecurrent(kind.mixer)) {
    const Recurrence& n = config.recurrence;
    const int64_t slots = shape.state_slots > 0 ? shape.state_slots : shape.sequences;
    return {{"conv", {dtype, {slots, 1, n.convolution - 1, n.channels()}}},
            {"recurrent", {DType::kF32, {slots, 1, n.heads * n.key, n.value}}}};
  }
  if (kind.mixer == Mixer::kLatentAttention)
    return {{"latent", {dtype, {pages, page_size, 1, config.latent.latent + config.latent.rope}}}};
  const graph::Type type{dtype, {pages, page_size, config.kv_heads, config.head_dim}};
  return {{"k", type}, {"v", type}};
}

namespace {

ValueId mixer(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h, LayerState& state) {
  switch (in.kind.mixer) {
    case Mixer::kAttention:
      return attention(b, in, weights, h, state);
    case Mixer::kLatentAttention:
      return latentAttention(b, in, weights, h, state);
    case Mixer::kGatedDelta:
      return gatedDelta(b, in, weights, h, state);
    case Mixer::kMamba2:
      return mamba2(b, in, weights, h, state);
  }
  return h;
}

}  // namespace

LayerState mix(Builder& b, const LayerInputs& in, const LayerWeights& weights, LayerState state) {
  ValueId h;
  {
    auto scope = b.at({in.layer, "attention.norm"});
    h = rmsNorm(b, state.x, weights.at("attention.norm.weight"), in.config.norm_epsilon);
    h = b.convert(h, in.options.activations);
  }
  ValueId out = mixer(b, in, weights, h, state);
  auto scope = b.at({in.layer, "attention.out"});
  if (in.config.post_norms)
    out = rmsNorm(b, out, weights.at("attention.post_norm.weight"), in.config.norm_epsilon);
  state.x = addResidual(b, state.x, out, in.config.residual_scale);
  return state;
}

}  // namespace sublane::models
