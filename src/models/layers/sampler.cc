#include "models/layers/sampler.h"

#include <array>
#include <limits>

namespace sublane::models {
namespace {

using formats::DType;
using graph::Builder;
using graph::Comparison;
using graph::Shape;
using graph::ValueId;

constexpr double kLowest = std::numeric_limits<float>::lowest();

/// Things of one [S, V] table of logits.
struct Rows {
  Builder& b;
  Shape shape;
  ValueId spread(ValueId row) const { return b.broadcast(row, shape, {0}); }  // [S] -> [S, V]
  ValueId f32(double value) const { return b.constant(DType::kF32, value); }
  ValueId u32(uint32_t value) const { return b.constant(DType::kU32, value); }
  ValueId sum(ValueId x) const { return b.reduceSum(x, {1}); }
};

/// u32 that order as the floats do: flip all bits of negative ones, the sign of the others.
ValueId orderedBits(const Rows& r, ValueId x) {
  Builder& b = r.b;
  ValueId bits = b.bitcast(x, DType::kU32);
  ValueId negative = b.compare(Comparison::kGreaterEqual, bits, r.u32(0x80000000u));
  ValueId flip = b.select(negative, b.splat({DType::kU32, r.shape}, 4294967295.0),
                          b.splat({DType::kU32, r.shape}, 2147483648.0));
  return b.bitXor(bits, flip);
}

/// The largest threshold [S] for which `mass` (f32 or i32 [S, V]) of the keys at or above it still sums to
/// `wanted` [S]. The sum falls as the threshold rises, so its bits are found one by one from the top.
ValueId bisect(const Rows& r, ValueId keys, ValueId mass, ValueId wanted) {
  ValueId start = r.b.splat({DType::kU32, {r.shape[0]}}, 0);
  auto body = [&](Builder& b, ValueId index, const std::vector<ValueId>& carried,
                  const std::vector<ValueId>& fixed, const std::vector<ValueId>&) -> std::vector<ValueId> {
    Rows inner{b, r.shape};
    ValueId shift = b.subtract(inner.u32(31), b.convert(index, DType::kU32));
    ValueId candidate = b.bitOr(carried[0], b.shiftLeft(inner.u32(1), shift));
    ValueId above = b.compare(Comparison::kGreaterEqual, fixed[0], inner.spread(candidate));
    ValueId reached = inner.sum(b.select(above, fixed[1], b.constant(b.type(fixed[1]).dtype, 0)));
    return {b.select(b.compare(Comparison::kGreaterEqual, reached, fixed[2]), candidate, carried[0])};
  };
  return r.b.loop(32, {start}, {keys, mass, wanted}, {}, body)[0];
}

ValueId keepTopK(const Rows& r, ValueId keys, ValueId top_k) {
  Builder& b = r.b;
  ValueId all = b.constant(DType::kI32, static_cast<double>(r.shape[1]));
  ValueId limited = b.bitAnd(b.compare(Comparison::kGreater, top_k, b.constant(DType::kI32, 0)),
                             b.compare(Comparison::kLess, top_k, all));
  ValueId wanted = b.select(limited, top_k, all);
  ValueId threshold = bisect(r, keys, b.splat({DType::kI32, r.shape}, 1), wanted);
  return b.compare(Comparison::kGreaterEqual, keys, r.spread(threshold));
}

/// Of the kept, those at or above the threshold of `top_p`.
ValueId keepTopP(const Rows& r, ValueId keys, ValueId scaled, ValueId kept, ValueId top_p) {
  Builder& b = r.b;
  ValueId mass = b.select(kept, b.exp(scaled), r.f32(0));
  ValueId threshold = bisect(r, keys, mass, b.multiply(top_p, r.sum(mass)));
  ValueId limited = b.compare(Comparison::kLess, top_p, r.f32(1));
  ValueId above = b.compare(Comparison::kGreaterEqual, keys, r.spread(threshold));
  return b.bitAnd(kept, b.bitOr(above, b.logicalNot(r.spread(limited))));
}

/// (logits - largest) / temperature: 0 for the largest, even if it is infinite.
ValueId scaleByTemperature(const Rows& r, ValueId logits, ValueId temperature) {
  Builder& b = r.b;
  ValueId largest = r.spread(b.reduceMax(logits, {1}));
  ValueId scaled = b.divide(b.subtract(logits, largest), r.spread(temperature));
  return b.select(b.compare(Comparison::kEqual, logits, largest), r.f32(0), scaled);
}

/// Exponential variates from 32 random bits. Small ones decide a draw, so their precision counts: -log(1 - u)
/// by its series where 1 - u would round. u stays below 1, so no variate is infinite.
ValueId exponential(const Rows& r, ValueId bits) {
  Builder& b = r.b;
  ValueId u = b.multiply(b.add(b.convert(bits, DType::kF32), r.f32(0.5)), r.f32(0x1p-32));
  u = b.minimum(u, r.f32(1.0 - 0x1p-24));
  ValueId series = r.f32(0.25);
  for (double coefficient : {1.0 / 3.0, 0.5, 1.0}) series = b.add(b.multiply(series, u), r.f32(coefficient));
  ValueId exact = b.negate(b.log(b.subtract(r.f32(1), u)));
  return b.select(b.compare(Comparison::kLess, u, r.f32(0x1p-6)), b.multiply(series, u), exact);
}

ValueId randomBits(const Rows& r, ValueId seed, ValueId position) {
  Builder& b = r.b;
  return threefry(b, r.spread(seed), r.spread(b.convert(position, DType::kU32)),
                  b.iota({DType::kU32, r.shape}, 1), b.splat({DType::kU32, r.shape}, 0));
}

ValueId withoutNan(const Rows& r, ValueId logits) {
  return r.b.select(r.b.compare(Comparison::kNotEqual, logits, logits), r.f32(kLowest), logits);
}

}  // namespace

ValueId threefry(Builder& b, ValueId key0, ValueId key1, ValueId counter0, ValueId counter1) {
  constexpr std::array<uint32_t, 8> kRotations = {13, 15, 26, 6, 17, 29, 16, 24};
  auto u32 = [&](uint32_t value) { return b.constant(DType::kU32, value); };
  auto rotateLeft = [&](ValueId x, uint32_t by) {
    return b.bitOr(b.shiftLeft(x, u32(by)), b.shiftRight(x, u32(32 - by)));
  };
  std::array<ValueId, 3> keys = {key0, key1, b.bitXor(b.bitXor(key0, key1), u32(0x1BD11BDAu))};
  ValueId x0 = b.add(counter0, keys[0]), x1 = b.add(counter1, keys[1]);
  for (uint32_t round = 0; round < 20; ++round) {
    x0 = b.add(x0, x1);
    x1 = b.bitXor(rotateLeft(x1, kRotations[round % 8]), x0);
    if (round % 4 != 3) continue;
    uint32_t inject = round / 4 + 1;
    x0 = b.add(x0, keys[inject % 3]);
    x1 = b.add(b.add(x1, keys[(inject + 1) % 3]), u32(inject));
  }
  return x0;
}

ValueId buildGreedySampler(Builder& b, ValueId logits) { return b.argMax(logits, 1); }

ValueId buildSampler(Builder& b, const SamplerInputs& in) {
  Rows r{b, b.type(in.logits).shape};
  ValueId logits = withoutNan(r, in.logits);
  ValueId greedy_token = buildGreedySampler(b, in.logits);
  // A comparison with NaN is false, so a row with NaN settings is greedy.
  ValueId draws = b.bitAnd(b.compare(Comparison::kGreater, in.temperature, r.f32(0)),
                           b.compare(Comparison::kGreater, in.top_p, r.f32(0)));
  draws = b.bitAnd(draws, b.compare(Comparison::kNotEqual, in.top_k, b.constant(DType::kI32, 1)));
  draws = b.bitAnd(draws, b.compare(Comparison::kGreaterEqual, greedy_token, b.constant(DType::kI32, 0)));
  ValueId temperature = b.select(draws, in.temperature, r.f32(1));

  ValueId keys = orderedBits(r, logits);
  ValueId scaled = scaleByTemperature(r, logits, temperature);
  ValueId kept = keepTopP(r, keys, scaled, keepTopK(r, keys, in.top_k), in.top_p);
  // Gumbel-max: the largest of scaled - log(exponential) falls on each token with its probability.
  ValueId noise = b.log(exponential(r, randomBits(r, in.seed, in.position)));
  ValueId score = b.select(kept, b.subtract(scaled, noise), r.f32(kLowest));
  return b.select(draws, b.argMax(score, 1), greedy_token);
}

}  // namespace sublane::models
