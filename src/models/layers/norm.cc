#include "models/layers/layers.h"

namespace sublane::models {

ValueId rmsNorm(Builder& b, ValueId x, ValueId gain, double epsilon) {
  x = b.convert(x, DType::kF32);
  const graph::Shape shape = b.type(x).shape;
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  std::vector<int64_t> leading;
  for (int64_t axis = 0; axis < last; ++axis) leading.push_back(axis);
  ValueId sum = b.reduceSum(b.multiply(x, x), {last});
  ValueId count = b.constant(DType::kF32, static_cast<double>(shape.back()));
  ValueId scale = b.rsqrt(b.add(b.divide(sum, count), b.constant(DType::kF32, epsilon)));
  return b.multiply(b.multiply(x, b.broadcast(scale, shape, leading)), b.broadcast(gain, shape, {last}));
}

ValueId addResidual(Builder& b, ValueId x, ValueId update, double scale) {
  if (scale != 1.0) update = b.multiply(update, b.constant(DType::kF32, scale));
  return b.convert(b.add(b.convert(x, DType::kF32), update), b.type(x).dtype);
}

ValueId addBias(Builder& b, ValueId x, const LayerWeights& weights, std::string_view name) {
  auto bias = weights.find(name);
  return bias == weights.end() ? x : b.add(x, b.broadcast(bias->second, b.type(x).shape, {1}));
}

ValueId softCap(Builder& b, ValueId x, double cap) {
  if (cap == 0.0) return x;
  ValueId limit = b.constant(b.type(x).dtype, cap);
  return b.multiply(b.tanh(b.divide(x, limit)), limit);
}

}  // namespace sublane::models
