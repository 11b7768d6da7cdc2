// Layers whose past is a state of one size: a convolution over the last tokens, and for each head a matrix.
//
// The tokens of one sequence follow each other, those of several do not: a loop over the step's columns takes
// the next token of every sequence, convolves, updates the matrices and puts what came out to its token. The
// state is read from the sequence's slot before the loop and written back after it. Rows without a token in a
// column keep their state by a select, so what padding and unused slots hold never matters.
#include <cmath>
#include <functional>

#include "models/layers/layers.h"

namespace sublane::models {
namespace {

using graph::Comparison;
using graph::Shape;
using graph::Type;

ValueId scalar(Builder& b, double value) { return b.constant(DType::kF32, value); }

/// ln(1 + e^x), without overflow.
ValueId softplus(Builder& b, ValueId x) {
  ValueId magnitude = b.maximum(x, b.negate(x));
  return b.add(b.maximum(x, scalar(b, 0)), b.log(b.add(b.exp(b.negate(magnitude)), scalar(b, 1))));
}

/// x [T, N] and a value a column.
ValueId byColumn(Builder& b, ValueId vector, ValueId x) { return b.broadcast(vector, b.type(x).shape, {1}); }

/// x [S, key heads * width] -> [S, heads, width]: consecutive heads share a key head.
ValueId forEachHead(Builder& b, const Recurrence& n, ValueId x) {
  const int64_t rows = b.type(x).shape[0], shared = n.heads / n.key_heads;
  x = b.broadcast(b.reshape(x, {rows, n.key_heads, n.key}), {rows, n.key_heads, shared, n.key}, {0, 1, 3});
  return b.reshape(x, {rows, n.heads, n.key});
}

/// One token of every sequence.
struct Column {
  ValueId mixed;            // f32 [S, channels], convolved
  ValueId decay, strength;  // f32 [S, heads]: what of the state stays, and the token's own number
  ValueId state;            // f32 [S, heads, key, value]
  ValueId skip;             // f32 [heads], or -1
};
struct Updated {
  ValueId state, out;  // out: f32 [S, heads, value]
};
using Update = std::function<Updated(Builder&, const Column&)>;

struct Scan {
  ValueId mixed;            // [T, channels], in the cache's type
  ValueId decay, strength;  // f32 [T, heads]
  ValueId conv_weight;      // f32 [channels, 1, convolution]
  ValueId conv_bias = -1;   // f32 [channels]
  ValueId skip = -1;        // f32 [heads]: how much of a value passes by the state
  Update update;
};

/// The tokens of a column, -1 where a row has none, and which rows have one.
struct Tokens {
  ValueId ids, there;
};
Tokens tokensOf(Builder& b, ValueId ids, int64_t tokens) {
  ValueId there =
      b.bitAnd(b.compare(Comparison::kGreaterEqual, ids, b.constant(DType::kI32, 0)),
               b.compare(Comparison::kLess, ids, b.constant(DType::kI32, static_cast<double>(tokens))));
  return {b.select(there, ids, b.splat(b.type(ids), -1)), there};
}

/// A row each: `yes` where the row is chosen, else `no`.
ValueId selectRows(Builder& b, ValueId chosen, ValueId yes, ValueId no) {
  return b.select(b.broadcast(chosen, b.type(yes).shape, {0}), yes, no);
}

/// The slots' rows; zeros for sequences whose first token comes in this step.
ValueId readState(Builder& b, const LayerInputs& in, ValueId cache, Shape shape) {
  const TokenInputs& t = in.tokens;
  const int64_t rows = b.type(t.query_token).shape[0], tokens = b.type(t.positions).shape[0];
  const Tokens first = tokensOf(b, b.reshape(b.slice(t.query_token, {0, 0}, {rows, 1}), {rows}), tokens);
  ValueId begins =
      b.compare(Comparison::kEqual, b.takeRows(t.positions, first.ids), b.constant(DType::kI32, 0));
  ValueId state = b.reshape(b.takeRows(cache, t.state_slots), std::move(shape));
  return selectRows(b, b.bitAnd(begins, first.there), b.splat(b.type(state), 0), state);
}

ValueId writeState(Builder& b, const LayerInputs& in, ValueId cache, ValueId state) {
  Shape shape = b.type(cache).shape;
  return b.cacheWrite(cache, b.reshape(state, {b.type(state).shape[0], shape[2], shape[3]}),
                      in.tokens.state_slots);
}

/// The window and the token -> f32 [S, channels], silu applied. taps [convolution, channels].
ValueId convolve(Builder& b, ValueId window, ValueId taps, ValueId bias) {
  window = b.convert(window, DType::kF32);
  ValueId out = b.reduceSum(b.multiply(window, b.broadcast(taps, b.type(window).shape, {1, 2})), {1});
  if (bias >= 0) out = b.add(out, byColumn(b, bias, out));
  return b.multiply(out, b.logistic(out));
}

/// -> f32 [T, heads, value]; 0 for padding tokens.
ValueId scan(Builder& b, const LayerInputs& in, const Scan& s, LayerState& layer) {
  auto scope = b.at({in.layer, "recurrence.scan"});
  const Recurrence& n = in.config.recurrence;
  const Shape ids = b.type(in.tokens.query_token).shape;
  const int64_t rows = ids[0], columns = ids[1], tokens = b.type(s.mixed).shape[0];
  const int64_t before = n.convolution - 1, channels = n.channels();
  ValueId taps = b.transpose(b.reshape(s.conv_weight, {channels, n.convolution}), {1, 0});
  std::vector<ValueId> carried = {readState(b, in, layer.caches[0], {rows, before, channels}),
                                  readState(b, in, layer.caches[1], {rows, n.heads, n.key, n.value}),
                                  b.splat({DType::kF32, {tokens, 1, n.heads, n.value}}, 0)};
  std::vector<ValueId> invariants = {s.mixed, s.decay, s.strength, taps};
  const size_t bias = invariants.size(), skip = bias + (s.conv_bias >= 0 ? 1 : 0);
  if (s.conv_bias >= 0) invariants.push_back(s.conv_bias);
  if (s.skip >= 0) invariants.push_back(s.skip);
  auto body = [&](Builder& inner, ValueId, const std::vector<ValueId>& was, const std::vector<ValueId>& fixed,
                  const std::vector<ValueId>& slices) -> std::vector<ValueId> {
    const Tokens at = tokensOf(inner, slices[0], tokens);
    ValueId token = inner.reshape(inner.takeRows(fixed[0], at.ids), {rows, 1, channels});
    ValueId window = inner.concatenate({was[0], token}, 1);
    Column column{convolve(inner, window, fixed[3], s.conv_bias >= 0 ? fixed[bias] : -1),
                  inner.takeRows(fixed[1], at.ids), inner.takeRows(fixed[2], at.ids), was[1],
                  s.skip >= 0 ? fixed[skip] : -1};
    const Updated next = s.update(inner, column);
    window = inner.slice(window, {0, 1, 0}, {rows, n.convolution, channels});
    return {selectRows(inner, at.there, window, was[0]), selectRows(inner, at.there, next.state, was[1]),
            inner.cacheWrite(was[2], next.out, at.ids)};
  };
  std::vector<ValueId> last =
      b.loop(columns, carried, invariants, {b.transpose(in.tokens.query_token, {1, 0})}, body);
  layer.caches[0] = writeState(b, in, layer.caches[0], last[0]);
  layer.caches[1] = writeState(b, in, layer.caches[1], last[1]);
  return b.reshape(last[2], {tokens, n.heads, n.value});
}

/// A row of each head's state for each key channel, or one for each value channel: over [S, heads, key,
/// value].
ValueId overValues(Builder& b, ValueId by_key, ValueId state) {
  return b.broadcast(by_key, b.type(state).shape, {0, 1, 2});
}
ValueId overKeys(Builder& b, ValueId by_value, ValueId state) {
  return b.broadcast(by_value, b.type(state).shape, {0, 1, 3});
}
ValueId overHeads(Builder& b, ValueId by_head, ValueId x) {
  return b.broadcast(by_head, b.type(x).shape, {0, 1});
}
/// What a key finds in the state: f32 [S, heads, value].
ValueId find(Builder& b, ValueId state, ValueId key) {
  return b.reduceSum(b.multiply(state, overValues(b, key, state)), {2});
}

/// Length 1, nearly: as the family's reference guards it.
ValueId unit(Builder& b, ValueId x) {
  ValueId squares = b.reduceSum(b.multiply(x, x), {2});
  return b.multiply(x, overHeads(b, b.rsqrt(b.add(squares, scalar(b, 1e-6))), x));
}

/// The gated delta rule (2412.06464): the state decays, and what it held for the key is replaced by the
/// value, as much as the token's strength says.
Updated deltaRule(Builder& b, const Recurrence& n, const Column& c) {
  const int64_t rows = b.type(c.mixed).shape[0], keys = n.key_heads * n.key;
  ValueId q = unit(b, forEachHead(b, n, b.slice(c.mixed, {0, 0}, {rows, keys})));
  ValueId k = unit(b, forEachHead(b, n, b.slice(c.mixed, {0, keys}, {rows, 2 * keys})));
  ValueId v = b.reshape(b.slice(c.mixed, {0, 2 * keys}, {rows, n.channels()}), {rows, n.heads, n.value});
  q = b.multiply(q, scalar(b, 1.0 / std::sqrt(static_cast<double>(n.key))));
  ValueId state = b.multiply(c.state, overHeads(b, c.decay, c.state));
  ValueId change = b.multiply(b.subtract(v, find(b, state, k)), overHeads(b, c.strength, v));
  state = b.add(state, b.multiply(overValues(b, k, state), overKeys(b, change, state)));
  return {state, find(b, state, q)};
}

/// Mamba2 (2405.21060): the state decays, and the value is added at the key, times the step.
Updated stateSpace(Builder& b, const Recurrence& n, const Column& c) {
  const int64_t rows = b.type(c.mixed).shape[0], values = n.heads * n.value, keys = n.key_heads * n.key;
  ValueId x = b.reshape(b.slice(c.mixed, {0, 0}, {rows, values}), {rows, n.heads, n.value});
  ValueId k = forEachHead(b, n, b.slice(c.mixed, {0, values}, {rows, values + keys}));
  ValueId q = forEachHead(b, n, b.slice(c.mixed, {0, values + keys}, {rows, n.channels()}));
  ValueId state = b.multiply(c.state, overHeads(b, c.decay, c.state));
  ValueId change = b.multiply(x, overHeads(b, c.strength, x));
  state = b.add(state, b.multiply(overValues(b, k, state), overKeys(b, change, state)));
  ValueId passed = b.multiply(x, b.broadcast(c.skip, b.type(x).shape, {1}));
  return {state, b.add(find(b, state, q), passed)};
}

/// How far each head goes with each token: f32 [T, heads].
ValueId steps(Builder& b, ValueId h, ValueId weight, ValueId bias) {
  ValueId step = linear(b, h, weight);
  return softplus(b, b.add(step, byColumn(b, bias, step)));
}
/// What stays of the state after a step.
ValueId decayed(Builder& b, ValueId log_rate, ValueId step) {
  return b.exp(b.negate(b.multiply(byColumn(b, b.exp(log_rate), step), step)));
}
ValueId silu(Builder& b, ValueId x) { return b.multiply(x, b.logistic(x)); }

}  // namespace

ValueId gatedDelta(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h,
                   LayerState& state) {
  const Recurrence& n = in.config.recurrence;
  const int64_t tokens = b.type(h).shape[0];
  Scan s;
  s.conv_weight = weights.at("delta.conv.weight");
  ValueId gate;
  {
    auto scope = b.at({in.layer, "recurrence.in"});
    s.mixed =
        b.concatenate({linear(b, h, weights.at("delta.q.weight")), linear(b, h, weights.at("delta.k.weight")),
                       linear(b, h, weights.at("delta.v.weight"))},
                      1);
    s.mixed = b.convert(s.mixed, in.options.cache);
    gate = linear(b, h, weights.at("delta.gate.weight"));
    s.strength = b.logistic(linear(b, h, weights.at("delta.beta.weight")));
    ValueId step = steps(b, h, weights.at("delta.step.weight"), weights.at("delta.step_bias"));
    s.decay = decayed(b, weights.at("delta.decay"), step);
  }
  s.update = [&n](Builder& inner, const Column& column) { return deltaRule(inner, n, column); };
  ValueId out = scan(b, in, s, state);
  auto scope = b.at({in.layer, "recurrence.out"});
  out = rmsNorm(b, out, weights.at("delta.norm.weight"), in.config.norm_epsilon);
  out = b.reshape(out, {tokens, n.heads * n.value});
  out = b.multiply(out, silu(b, gate));
  return linear(b, b.convert(out, in.options.activations), weights.at("delta.out.weight"));
}

ValueId mamba2(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h, LayerState& state) {
  const Recurrence& n = in.config.recurrence;
  const int64_t tokens = b.type(h).shape[0], values = n.heads * n.value;
  Scan s;
  s.conv_weight = weights.at("mamba.conv.weight");
  if (auto bias = weights.find("mamba.conv.bias"); bias != weights.end()) s.conv_bias = bias->second;
  s.skip = weights.at("mamba.skip");
  ValueId gate;
  {
    auto scope = b.at({in.layer, "recurrence.in"});
    gate = linear(b, h, weights.at("mamba.gate.weight"));
    s.mixed = b.convert(linear(b, h, weights.at("mamba.mixed.weight")), in.options.cache);
    s.strength = steps(b, h, weights.at("mamba.step.weight"), weights.at("mamba.step_bias"));
    s.decay = decayed(b, weights.at("mamba.decay"), s.strength);
  }
  s.update = [&n](Builder& inner, const Column& column) { return stateSpace(inner, n, column); };
  ValueId out = scan(b, in, s, state);
  auto scope = b.at({in.layer, "recurrence.out"});
  out = b.multiply(b.reshape(out, {tokens, values}), silu(b, gate));
  // The norm is over the values of each key head, with a gain of its own for each channel.
  const Shape grouped = {tokens, n.key_heads, values / n.key_heads};
  ValueId one = b.splat({DType::kF32, {grouped[2]}}, 1);
  out = b.reshape(rmsNorm(b, b.reshape(out, grouped), one, in.config.norm_epsilon), {tokens, values});
  out = b.multiply(out, byColumn(b, weights.at("mamba.norm.weight"), out));
  return linear(b, b.convert(out, in.options.activations), weights.at("mamba.out.weight"));
}

}  // namespace sublane::models
