// A mixture of experts, as plain operations: every expert is computed for every token, and the weights of
// those that the router did not choose are 0. It reads each expert's matrices once, as a decode step of many
// tokens does anyway; it multiplies count / per_token times too much, which is the grouped kernel's to save.
#include <limits>
#include <optional>

#include "models/layers/layers.h"

namespace sublane::models {
namespace {

using graph::Comparison;
using graph::Shape;

struct Routing {
  ValueId chosen;   // bool [T, E]
  ValueId weights;  // f32 [T, E]; 0 where not chosen
};

class Router {
 public:
  Router(Builder& b, const Experts& experts, int64_t tokens) : b_(b), experts_(experts), tokens_(tokens) {}

  Routing route(ValueId logits, std::optional<ValueId> bias) {
    ValueId scores = logits;
    if (experts_.scores == Experts::Scores::kSoftmax) scores = softmax(logits);
    if (experts_.scores == Experts::Scores::kSigmoid) scores = b_.logistic(logits);
    ValueId choice = scores;
    if (bias) choice = b_.add(choice, b_.broadcast(*bias, shape(), {1}));
    if (experts_.groups > 1) choice = onlyBestGroups(choice);
    Routing routing;
    routing.chosen = best(choice, experts_.per_token);
    if (experts_.scores == Experts::Scores::kSoftmaxOfChosen)
      scores = softmax(b_.select(routing.chosen, logits, splat(-std::numeric_limits<double>::infinity())));
    routing.weights = b_.select(routing.chosen, scores, splat(0));
    if (experts_.normalise) {
      ValueId sum = b_.reduceSum(routing.weights, {1});
      // DeepSeek's guard against a sum of zero; nothing beside a sum of probabilities.
      sum = b_.add(sum, b_.constant(DType::kF32, 1e-20));
      routing.weights = b_.divide(routing.weights, b_.broadcast(sum, shape(), {0}));
    }
    if (experts_.scale != 1.0)
      routing.weights = b_.multiply(routing.weights, b_.constant(DType::kF32, experts_.scale));
    return routing;
  }

 private:
  Shape shape() const { return {tokens_, experts_.count}; }
  ValueId splat(double value) { return b_.splat({DType::kF32, shape()}, value); }

  ValueId softmax(ValueId x) {
    ValueId e = b_.exp(b_.subtract(x, b_.broadcast(b_.reduceMax(x, {1}), shape(), {0})));
    return b_.divide(e, b_.broadcast(b_.reduceSum(e, {1}), shape(), {0}));
  }

  /// The `count` largest of each row, the lowest index first on ties: bool, of x's shape.
  ValueId best(ValueId x, int64_t count) {
    const Shape shape = b_.type(x).shape;
    ValueId index = b_.iota({DType::kI32, shape}, 1);
    ValueId below_all = b_.splat({DType::kF32, shape}, -std::numeric_limits<double>::infinity());
    ValueId chosen = b_.splat({DType::kBool, shape}, 0);
    for (int64_t i = 0; i < count; ++i) {
      ValueId is = b_.compare(Comparison::kEqual, index, b_.broadcast(b_.argMax(x, 1), shape, {0}));
      chosen = b_.bitOr(chosen, is);
      x = b_.select(is, below_all, x);
    }
    return chosen;
  }

  /// Experts of the groups that are not kept can't be chosen.
  ValueId onlyBestGroups(ValueId choice) {
    const int64_t groups = experts_.groups, each = experts_.count / groups;
    ValueId grouped = b_.reshape(choice, {tokens_ * groups, each});
    ValueId top = grouped;
    if (experts_.group_by_best_two) {
      ValueId none = b_.splat({DType::kF32, {tokens_ * groups, each}}, 0);
      top = b_.reduceSum(b_.select(best(grouped, 2), grouped, none), {1});
    } else {
      top = b_.reduceMax(grouped, {1});
    }
    ValueId kept = best(b_.reshape(top, {tokens_, groups}), experts_.groups_kept);
    kept = b_.reshape(b_.broadcast(kept, {tokens_, groups, each}, {0, 1}), shape());
    return b_.select(kept, choice, splat(-std::numeric_limits<double>::infinity()));
  }

  Builder& b_;
  const Experts& experts_;
  int64_t tokens_;
};

Routing route(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId x) {
  auto scope = b.at({in.layer, "experts.router"});
  ValueId logits = linear(b, b.convert(x, DType::kF32), weights.at("experts.router.weight"));
  logits = addBias(b, logits, weights, "experts.router.bias");
  std::optional<ValueId> bias;
  if (auto found = weights.find("experts.choice_bias"); found != weights.end()) bias = found->second;
  return Router(b, in.config.experts, b.type(x).shape[0]).route(logits, bias);
}

/// x [T, K] by weight [E, N, K], and the bias [E, N] if there is one -> f32 [T, E, N].
ValueId byAllExperts(Builder& b, ValueId x, const LayerWeights& weights, const std::string& name) {
  graph::DotAttrs attrs{.lhs_contract = {1}, .rhs_contract = {2}};
  attrs.highest_precision = b.type(x).dtype == DType::kF32;
  ValueId out = b.dot(x, weights.at(name + ".weight"), attrs, DType::kF32);
  auto bias = weights.find(name + ".bias");
  return bias == weights.end() ? out : b.add(out, b.broadcast(bias->second, b.type(out).shape, {1, 2}));
}

ValueId sharedExpert(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId x) {
  auto scope = b.at({in.layer, "experts.shared"});
  ValueId units = gated(b, in.config, linear(b, x, weights.at("shared.gate.weight")),
                        linear(b, x, weights.at("shared.up.weight")));
  ValueId out = linear(b, b.convert(units, in.options.activations), weights.at("shared.down.weight"));
  auto weigh = weights.find("shared.weigh.weight");
  if (weigh == weights.end()) return out;
  ValueId share = b.logistic(linear(b, x, weigh->second));  // [T, 1]
  const Shape shape = b.type(out).shape;
  return b.multiply(out, b.broadcast(b.reshape(share, {shape[0]}), shape, {0}));
}

}  // namespace

ValueId mixtureOfExperts(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId x) {
  const Routing routing = route(b, in, weights, x);
  ValueId units, out;
  {
    auto scope = b.at({in.layer, "experts.up"});
    units = gated(b, in.config, byAllExperts(b, x, weights, "experts.gate"),
                  byAllExperts(b, x, weights, "experts.up"));
    const Shape shape = b.type(units).shape;
    // Selected, not multiplied by 0: what an expert makes of a token that is not its own may be infinite.
    units = b.multiply(units, b.broadcast(routing.weights, shape, {0, 1}));
    units = b.select(b.broadcast(routing.chosen, shape, {0, 1}), units, b.splat({DType::kF32, shape}, 0));
    units = b.convert(units, in.options.activations);
  }
  {
    auto scope = b.at({in.layer, "experts.down"});
    graph::DotAttrs attrs{.lhs_contract = {1, 2}, .rhs_contract = {0, 2}};
    attrs.highest_precision = in.options.activations == DType::kF32;
    out = b.dot(units, weights.at("experts.down.weight"), attrs, DType::kF32);
    if (auto bias = weights.find("experts.down.bias"); bias != weights.end()) {
      graph::DotAttrs by_expert{.lhs_contract = {1}, .rhs_contract = {0}, .highest_precision = true};
      out = b.add(out, b.dot(routing.weights, bias->second, by_expert, DType::kF32));
    }
  }
  if (in.config.experts.shared_feed_forward == 0) return out;
  ValueId shared = sharedExpert(b, in, weights, x);
  auto scope = b.at({in.layer, "experts.down"});
  return b.add(out, shared);
}

}  // namespace sublane::models
