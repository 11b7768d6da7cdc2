#include "models/layers/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sublane::models {
namespace {

double scaledLlama3(const Rotary& rotary, double frequency) {
  double context = static_cast<double>(rotary.original_context);
  double wavelength = 2.0 * std::numbers::pi / frequency;
  if (wavelength < context / rotary.high_frequency_factor) return frequency;
  if (wavelength > context / rotary.low_frequency_factor) return frequency / rotary.factor;
  double kept = (context / wavelength - rotary.low_frequency_factor) /
                (rotary.high_frequency_factor - rotary.low_frequency_factor);
  return (1.0 - kept) * frequency / rotary.factor + kept * frequency;
}

/// The channel that turns so many times within the original context.
double yarnChannel(const Rotary& rotary, double turns) {
  return static_cast<double>(rotary.dim) *
         std::log(static_cast<double>(rotary.original_context) / (turns * 2.0 * std::numbers::pi)) /
         (2.0 * std::log(rotary.theta));
}

/// Fast pairs keep their frequency, slow ones are divided by the factor, with a ramp between (2309.00071).
double scaledYarn(const Rotary& rotary, int64_t pair, double frequency) {
  double low = yarnChannel(rotary, rotary.beta_fast), high = yarnChannel(rotary, rotary.beta_slow);
  if (rotary.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, static_cast<double>(rotary.dim - 1));
  if (low == high) high += 0.001;
  const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  return frequency / rotary.factor * ramp + frequency * (1.0 - ramp);
}

double scaled(const Rotary& rotary, int64_t pair, double frequency) {
  switch (rotary.scaling) {
    case Rotary::Scaling::kNone:
      return frequency;
    case Rotary::Scaling::kYarn:
      return scaledYarn(rotary, pair, frequency);
    case Rotary::Scaling::kLinear:
      return frequency / rotary.factor;
    case Rotary::Scaling::kLlama3:
      return scaledLlama3(rotary, frequency);
  }
  return frequency;
}

}  // namespace

std::vector<double> rotaryFrequencies(const Rotary& rotary) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < rotary.dim / 2; ++i) {
    double exponent = static_cast<double>(2 * i) / static_cast<double>(rotary.dim);
    double frequency = scaled(rotary, i, std::pow(rotary.theta, -exponent));
    if (!rotary.frequency_divisors.empty()) frequency /= rotary.frequency_divisors[static_cast<size_t>(i)];
    frequencies.push_back(frequency);
  }
  return frequencies;
}

void fillRotaryTable(const Rotary& rotary, RotaryTable table, std::span<float> out) {
  std::vector<double> frequencies = rotaryFrequencies(rotary);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t position = i / frequencies.size();
    double angle = static_cast<double>(position) * frequencies[i % frequencies.size()];
    out[i] = static_cast<float>(rotary.attention_factor *
                                (table == RotaryTable::kCos ? std::cos(angle) : std::sin(angle)));
  }
}

graph::ValueId rotate(graph::Builder& b, graph::ValueId x, graph::ValueId cos, graph::ValueId sin) {
  const graph::Shape shape = b.type(x).shape;
  int64_t tokens = shape[0], heads = shape[1], width = shape[2], half = b.type(cos).shape[1];
  auto channels = [&](int64_t from, int64_t to) { return b.slice(x, {0, 0, from}, {tokens, heads, to}); };
  graph::ValueId first = channels(0, half), second = channels(half, 2 * half);
  cos = b.broadcast(cos, {tokens, heads, half}, {0, 2});
  sin = b.broadcast(sin, {tokens, heads, half}, {0, 2});
  std::vector<graph::ValueId> parts = {b.subtract(b.multiply(first, cos), b.multiply(second, sin)),
                                       b.add(b.multiply(second, cos), b.multiply(first, sin))};
  if (2 * half < width) parts.push_back(channels(2 * half, width));
  return b.concatenate(parts, 2);
}

}  // namespace sublane::models
