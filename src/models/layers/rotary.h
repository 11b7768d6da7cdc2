// Rotary positions: frequencies and tables on the host, the rotation in the graph.
//
// Pairs are channels (i, i + dim/2) of a head; channels past `dim` pass through. Tables are computed in
// float64 and stored as float32, so no angle is ever formed in a narrow type.
//
//   std::vector<double> frequencies = rotaryFrequencies(rotary);     // dim / 2 of them, scaling applied
#pragma once

#include <span>
#include <vector>

#include "graph/builder.h"
#include "models/models.h"

namespace sublane::models {

/// Radians by position of each pair. llama3 scaling: as published with Llama 3.1 (long waves divided by
/// `factor`, short ones kept, a linear blend between).
std::vector<double> rotaryFrequencies(const Rotary& rotary);

enum class RotaryTable : uint8_t { kCos, kSin };
/// [positions, dim / 2]; positions as many as fit.
void fillRotaryTable(const Rotary& rotary, RotaryTable table, std::span<float> out);

/// x f32 [T, heads, head_dim], cos and sin f32 [T, dim / 2].
graph::ValueId rotate(graph::Builder& b, graph::ValueId x, graph::ValueId cos, graph::ValueId sin);

}  // namespace sublane::models
