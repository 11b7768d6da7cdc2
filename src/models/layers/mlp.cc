#include <cmath>
#include <numbers>

#include "models/layers/layers.h"

namespace sublane::models {
namespace {

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the form that Gemma was trained with.
ValueId geluTanh(Builder& b, ValueId x) {
  auto constant = [&](double value) { return b.constant(DType::kF32, value); };
  ValueId cube = b.multiply(b.multiply(x, x), x);
  ValueId inner =
      b.multiply(b.add(x, b.multiply(cube, constant(0.044715))), constant(std::sqrt(2.0 / std::numbers::pi)));
  return b.multiply(b.multiply(x, constant(0.5)), b.add(b.tanh(inner), constant(1.0)));
}

ValueId activate(Builder& b, Activation activation, ValueId x) {
  return activation == Activation::kSilu ? b.multiply(x, b.logistic(x)) : geluTanh(b, x);
}

}  // namespace

ValueId linear(Builder& b, ValueId x, ValueId weight) {
  if (b.type(x).dtype != b.type(weight).dtype) {
    x = b.convert(x, DType::kF32);
    weight = b.convert(weight, DType::kF32);
  }
  return b.linear(x, weight, DType::kF32);
}

ValueId gated(Builder& b, const DecoderConfig& config, ValueId gate, ValueId up) {
  if (config.activation != Activation::kClampedSwiglu)
    return b.multiply(activate(b, config.activation, gate), up);
  constexpr double kAlpha = 1.702;
  auto constant = [&](double value) { return b.constant(DType::kF32, value); };
  gate = b.minimum(gate, constant(config.swiglu_limit));
  up = b.maximum(b.minimum(up, constant(config.swiglu_limit)), constant(-config.swiglu_limit));
  ValueId glu = b.multiply(gate, b.logistic(b.multiply(gate, constant(kAlpha))));
  return b.multiply(b.add(up, constant(1.0)), glu);
}

namespace {

ValueId denseMlp(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId h) {
  ValueId units;
  {
    auto scope = b.at({in.layer, "mlp.up"});
    ValueId gate = linear(b, h, weights.at("mlp.gate.weight"));
    ValueId up = linear(b, h, weights.at("mlp.up.weight"));
    units = b.convert(gated(b, in.config, gate, up), in.options.activations);
  }
  auto scope = b.at({in.layer, "mlp.down"});
  return linear(b, units, weights.at("mlp.down.weight"));
}

}  // namespace

ValueId feedForward(Builder& b, const LayerInputs& in, const LayerWeights& weights, ValueId x) {
  ValueId h;
  {
    auto scope = b.at({in.layer, "mlp.norm"});
    h = rmsNorm(b, x, weights.at("mlp.norm.weight"), in.config.norm_epsilon);
    h = b.convert(h, in.options.activations);
  }
  const bool dense = weights.contains("mlp.down.weight");
  ValueId update = dense ? denseMlp(b, in, weights, h) : mixtureOfExperts(b, in, weights, h);
  auto scope = b.at({in.layer, dense ? "mlp.down" : "experts.down"});
  if (in.config.post_norms)
    update = rmsNorm(b, update, weights.at("mlp.post_norm.weight"), in.config.norm_epsilon);
  return addResidual(b, x, update, in.config.residual_scale);
}

}  // namespace sublane::models
