// The list of models, written by CMake from the names of the files in models/.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "graph/verify.h"
#include "models/layers/weights.h"

namespace sublane::models {
#define SUBLANE_ENTRY(model) extern const Model model;
#include "models.inc"
#undef SUBLANE_ENTRY

namespace {

constexpr const Model* kModels[] = {
#define SUBLANE_ENTRY(model) &model,
#include "models.inc"
#undef SUBLANE_ENTRY
};

Model::Names architectures(const Model& model, io::Container container) {
  return container == io::Container::kGguf ? model.gguf_architectures : model.hf_architectures;
}

}  // namespace

std::span<const Model* const> allModels() { return kModels; }

Result<const Model*> findModel(const io::Checkpoint& checkpoint) {
  std::vector<std::string_view> known;
  for (const Model* model : kModels) {
    for (std::string_view name : architectures(*model, checkpoint.container)) {
      if (name == checkpoint.architecture) return model;
      known.push_back(name);
    }
    for (const Refusal& refusal : model->refusals)
      if (refusal.architecture == checkpoint.architecture)
        return inputError("{}: architecture {} is not supported: {}", checkpoint.source, refusal.architecture,
                          refusal.reason);
  }
  return inputError("{}: unknown architecture \"{}\" (known: {})", checkpoint.source, checkpoint.architecture,
                    fmt::join(known, ", "))
      .hint("`sublane models` lists what can be run");
}

const Model& modelOf(const DecoderConfig& config) {
  auto found = std::find_if(std::begin(kModels), std::end(kModels),
                            [&](const Model* model) { return model->name == config.model; });
  SUBLANE_CHECK(found != std::end(kModels), "no model is named \"{}\"", config.model);
  return **found;
}

Result<DecoderConfig> readConfig(const io::Checkpoint& checkpoint) {
  SUBLANE_TRY(const Model* model, findModel(checkpoint));
  SUBLANE_TRY(DecoderConfig config, model->read_config(checkpoint));
  config.head_bias = storesHeadBias(checkpoint);
  if (config.head_bias)
    config.assumptions.push_back("the file holds a bias of the head: it is added to the logits");
  return config;
}

Result<StepProgram> buildStep(const DecoderConfig& config, const StepShape& shape, const StepOptions& options,
                              io::Container container) {
  const Model& model = modelOf(config);
  SUBLANE_TRY(StepProgram step, model.build(model, config, shape, options, container));
  SUBLANE_CHECK_OK(graph::verify(step.graph));
  return step;
}

}  // namespace sublane::models
