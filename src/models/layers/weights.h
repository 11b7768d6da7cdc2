// The weights of a dense decoder: what each is called, its shape, and the tensors that it comes from.
//
//   for (const WeightName& name : layerWeights(model, config, 3)) shape = weightShape(config,
//   name.parameter);
#pragma once

#include <string>
#include <vector>

#include "models/models.h"

namespace sublane::models {

/// Of a name in Model::global_weights or layer_weights: rows are outputs, as in a checkpoint.
graph::Shape weightShape(const DecoderConfig& config, std::string_view parameter);
/// Of a tensor that it lies in: one expert's, with the other parts' rows, as the container stores them.
graph::Shape storedShape(const WeightName& name, const DecoderConfig& config, io::Container container);
/// The gain of a norm.
bool isNorm(std::string_view parameter);

/// Where a weight lies in the checkpoint, or each expert's part of it in order; layer -1 for a global one.
std::vector<TensorSource> tensorSources(const WeightName& name, const DecoderConfig& config,
                                        io::Container container, int64_t layer);

/// The global weights that this configuration has: without the head when it is tied.
std::vector<WeightName> globalWeights(const Model& model, const DecoderConfig& config);
/// The weights of one layer, in the model's order.
std::vector<WeightName> layerWeights(const Model& model, const DecoderConfig& config, int64_t layer);
LayerKind layerKind(const DecoderConfig& config, int64_t layer);

/// Does the file hold a bias of the logits?
bool storesHeadBias(const io::Checkpoint& checkpoint);

/// The model that made the configuration.
const Model& modelOf(const DecoderConfig& config);

/// Rows of interleaved rotary pairs (GGUF llama) as rows in halves: result[i] is the stored row of row i.
/// Within each head, stored row 2i + a is row a * width/2 + i.
std::vector<int64_t> unpermuteRotaryPairs(int64_t rows, int64_t heads);
/// Its inverse: the row in halves of each stored row.
std::vector<int64_t> permuteRotaryPairs(int64_t rows, int64_t heads);

}  // namespace sublane::models
