#include "models/layers/rotary.h"

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

double scaled(const Rotary& rotary, double frequency) {
  switch (rotary.scaling) {
    case Rotary::Scaling::kNone:
      return frequency;
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
    double frequency = scaled(rotary, std::pow(rotary.theta, -exponent));
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
    out[i] = static_cast<float>(table == RotaryTable::kCos ? std::cos(angle) : std::sin(angle));
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
