// Multi-head latent attention (DeepSeek-V2, 2405.04434), with the up-projections absorbed: instead of making
// each head's keys from the cached latents, the query is brought into the latent's space once, and all heads
// attend to the same cached vector. What they take from it is a latent again, from which each head makes its
// value.
#include "models/layers/layers.h"
#include "models/layers/rotary.h"

namespace sublane::models {
namespace {

using graph::Shape;

/// x [T, H, K] by each head's matrix -> f32 [T, H, N]; weight [H, N, K], or [H, K, N] transposed.
ValueId byHead(Builder& b, ValueId x, ValueId weight, bool transposed) {
  if (b.type(x).dtype != b.type(weight).dtype) {
    x = b.convert(x, DType::kF32);
    weight = b.convert(weight, DType::kF32);
  }
  graph::DotAttrs attrs{
      .lhs_batch = {1}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {transposed ? 1 : 2}};
  attrs.highest_precision = b.type(x).dtype == DType::kF32;
  return b.transpose(b.dot(x, weight, attrs, DType::kF32), {1, 0, 2});
}

struct Query {
  ValueId nope, rope;  // f32 [T, H, nope], [T, H, rope]
};

Query query(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h) {
  auto scope = b.at({in.layer, "attention.qkv"});
  const LatentAttention& n = in.config.latent;
  const int64_t tokens = b.type(h).shape[0], heads = in.config.heads;
  if (n.query_rank > 0) {
    h = rmsNorm(b, linear(b, h, weights.at("attention.q_a.weight")), weights.at("attention.q_a_norm.weight"),
                in.config.norm_epsilon);
    h = b.convert(h, in.options.activations);
  }
  ValueId q = linear(b, h, weights.at(n.query_rank > 0 ? "attention.q_b.weight" : "attention.q.weight"));
  q = b.reshape(q, {tokens, heads, n.nope + n.rope});
  return {b.slice(q, {0, 0, 0}, {tokens, heads, n.nope}),
          b.slice(q, {0, 0, n.nope}, {tokens, heads, n.nope + n.rope})};
}

/// What is cached of each token: the latent, normed, and the key's rotated channels: f32 [T, 1, latent +
/// rope].
ValueId cached(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h) {
  const LatentAttention& n = in.config.latent;
  const int64_t tokens = b.type(h).shape[0];
  ValueId latent, rope;
  {
    auto scope = b.at({in.layer, "attention.qkv"});
    ValueId kv = linear(b, h, weights.at("attention.kv_a.weight"));
    latent = b.slice(kv, {0, 0}, {tokens, n.latent});
    rope = b.slice(kv, {0, n.latent}, {tokens, n.latent + n.rope});
    latent = rmsNorm(b, latent, weights.at("attention.kv_a_norm.weight"), in.config.norm_epsilon);
  }
  auto scope = b.at({in.layer, "attention.rotary"});
  rope = rotate(b, b.reshape(rope, {tokens, 1, n.rope}), in.cos, in.sin);
  return b.concatenate({b.reshape(latent, {tokens, 1, n.latent}), rope}, 2);
}

}  // namespace

ValueId latentAttention(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h,
                        LayerState& state) {
  const LatentAttention& n = in.config.latent;
  const int64_t tokens = b.type(h).shape[0], heads = in.config.heads;
  const Query q = query(b, in, weights, h);
  const ValueId row = cached(b, in, weights, h);
  ValueId absorbed;
  {
    auto scope = b.at({in.layer, "attention.absorb"});
    ValueId nope =
        byHead(b, b.convert(q.nope, in.options.activations), weights.at("attention.k_b.weight"), true);
    absorbed = b.concatenate({nope, rotate(b, q.rope, in.cos, in.sin)}, 2);
    absorbed = b.convert(absorbed, in.options.activations);
  }
  {
    auto scope = b.at({in.layer, "attention.cache"});
    state.caches[0] = b.cacheWrite(state.caches[0], b.convert(row, in.options.cache), in.tokens.kv_slots);
  }
  ValueId attended;
  {
    auto scope = b.at({in.layer, "attention.core"});
    const TokenInputs& t = in.tokens;
    attended = b.pagedAttention({absorbed, state.caches[0], state.caches[0], t.page_table, t.lengths,
                                 t.positions, t.token_sequence, t.token_column, t.query_token, in.window},
                                {.scale = in.config.attention_scale});
    attended = b.slice(attended, {0, 0, 0}, {tokens, heads, n.latent});
  }
  auto scope = b.at({in.layer, "attention.out"});
  ValueId values = byHead(b, attended, weights.at("attention.v_b.weight"), false);
  values = b.reshape(b.convert(values, in.options.activations), {tokens, heads * n.value});
  return linear(b, values, weights.at("attention.o.weight"));
}

}  // namespace sublane::models
