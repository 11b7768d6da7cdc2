// Keys of families that mix layers of attention with layers of a state of one size.
#include <algorithm>

#include "models/layers/keys.h"

namespace sublane::models {
namespace {

/// One "layer_types" a layer: `attention` by its name, else the recurrent mixer by one of its names.
std::vector<Mixer> mixersOf(io::ConfigReader& keys, const std::vector<std::string>& types, int64_t layers,
                            const HybridNames& names) {
  if (static_cast<int64_t>(types.size()) != layers)
    keys.refuse(fmt::format("layer_types names {} layers, num_hidden_layers is {}", types.size(), layers));
  std::vector<Mixer> mixers;
  for (const std::string& type : types) {
    const bool attention = type == names.attention || type == "full_attention";
    if (!attention && type != names.recurrent && type != "linear_attention")
      keys.refuse(fmt::format("layer_types: \"{}\" is not supported ({}, {})", type, names.recurrent,
                              names.attention));
    mixers.push_back(attention ? Mixer::kAttention : names.mixer);
  }
  return mixers;
}

/// Every nth layer is attention.
std::vector<Mixer> mixersByInterval(io::ConfigReader& keys, int64_t layers) {
  const int64_t every = otherwise(keys, optionalSize(keys, "full_attention_interval"), int64_t{4},
                                  "full_attention_interval absent: every 4th layer by the family's default");
  std::vector<Mixer> mixers;
  for (int64_t layer = 0; layer < layers; ++layer)
    mixers.push_back((layer + 1) % std::max<int64_t>(every, 1) == 0 ? Mixer::kAttention : Mixer::kGatedDelta);
  return mixers;
}

void readDeltaRule(io::ConfigReader& keys, DecoderConfig& config) {
  config.recurrence = {.heads = requireSize(keys, "linear_num_value_heads"),
                       .key_heads = requireSize(keys, "linear_num_key_heads"),
                       .key = requireSize(keys, "linear_key_head_dim"),
                       .value = requireSize(keys, "linear_value_head_dim"),
                       .convolution = requireSize(keys, "linear_conv_kernel_dim")};
}

}  // namespace

void readHfLayerMixers(io::ConfigReader& keys, const HybridNames& names, DecoderConfig& config) {
  const std::optional<std::vector<std::string>> types = keys.optionalStrings("layer_types");
  const std::vector<Mixer> mixers =
      types ? mixersOf(keys, *types, config.layers, names) : mixersByInterval(keys, config.layers);
  if (types) keys.ignore("full_attention_interval");  // the same, said twice
  config.layer_kinds.assign(static_cast<size_t>(config.layers), {});
  for (size_t i = 0; i < std::min(mixers.size(), config.layer_kinds.size()); ++i)
    config.layer_kinds[i].mixer = mixers[i];
}

void readHfDeltaHybrid(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readHfSizes(keys, false, config);
  config.activation = readHfActivation(keys, "hidden_act", "silu");
  config.rotaries = {readHfRotary(
      keys, {.parameters = "rope_parameters", .partial = true, .usual_partial = 0.25}, config.head_dim)};
  useOneKindOfLayer(config);
  config.qk_norm = config.attention_gate = true;
  config.attention_scale = scaleOfWidth(static_cast<double>(config.head_dim));
  for (const char* key : {"attention_bias", "use_sliding_window"}) refuseIfTrue(keys, key);
  readHfLayerMixers(keys, {"linear_attention", "full_attention", Mixer::kGatedDelta}, config);
  readDeltaRule(keys, config);
  const bool predicts = std::ranges::any_of(
      checkpoint.tensors, [](const io::Tensor& tensor) { return tensor.name.starts_with("mtp."); });
  if (!predicts) return;
  config.left_aside = "mtp.";
  keys.assume("tensors mtp.*, layers that predict more tokens, are left aside");
}

void readHfSparseLayers(io::ConfigReader& keys, DecoderConfig& config) {
  const int64_t every = optionalSize(keys, "decoder_sparse_step").value_or(1);
  const std::vector<int64_t> dense = keys.optionalInts("mlp_only_layers").value_or(std::vector<int64_t>{});
  config.layer_kinds.resize(static_cast<size_t>(config.layers));
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const bool sparse =
        std::ranges::find(dense, layer) == dense.end() && every > 0 && (layer + 1) % every == 0;
    config.layer_kinds[static_cast<size_t>(layer)].feed_forward =
        sparse ? FeedForward::kExperts : FeedForward::kDense;
  }
  for (const char* key : {"router_aux_loss_coef", "output_router_logits"}) keys.ignore(key);
}

}  // namespace sublane::models
