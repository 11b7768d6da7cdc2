// The step program of a dense decoder: what every family's `build` is, unless it needs another.
#pragma once

#include "models/models.h"

namespace sublane::models {

/// The weights outside the layers, as nearly every family names them.
inline constexpr WeightName kUsualGlobals[] = {
    {"embed.weight", "token_embd.weight", "model.embed_tokens.weight"},
    {"final_norm.weight", "output_norm.weight", "model.norm.weight"},
    {"head.weight", "output.weight", "lm_head.weight"},
};
/// The same where Hugging Face stores a norm as its difference from 1.
inline constexpr WeightName kDeltaNormGlobals[] = {
    kUsualGlobals[0],
    {"final_norm.weight", "output_norm.weight", "model.norm.weight", Layout::kAsStored, Layout::kAddOne},
    kUsualGlobals[2],
};

/// Refuses shapes that don't fit each other or 32-bit indices; the graph is not verified here (buildStep
/// does).
Result<StepProgram> buildDecoder(const Model& model, const DecoderConfig& config, const StepShape& shape,
                                 const StepOptions& options, io::Container container);

}  // namespace sublane::models
