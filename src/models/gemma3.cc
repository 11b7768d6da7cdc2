// Gemma 3, text: layers with a sliding window between layers that see everything, each kind with its own
// rotary base; norms before and after attention and MLP, and on q and k; gated GELU; a scaled embedding.
// A window of W means that a token sees W keys, its own included.
#include <cmath>

#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model gemma3;
namespace {

constexpr std::string_view kGguf[] = {"gemma3"};
constexpr std::string_view kHf[] = {"Gemma3ForCausalLM"};
constexpr Refusal kRefusals[] = {
    {"Gemma3ForConditionalGeneration",
     "it reads images too; only the text model Gemma3ForCausalLM is supported"},
};

constexpr Layout kGain = Layout::kAsStored, kDelta = Layout::kAddOne;
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight", kGain, kDelta},
    {"attention.q.weight", "attn_q.weight", "self_attn.q_proj.weight"},
    {"attention.k.weight", "attn_k.weight", "self_attn.k_proj.weight"},
    {"attention.v.weight", "attn_v.weight", "self_attn.v_proj.weight"},
    {"attention.q_norm.weight", "attn_q_norm.weight", "self_attn.q_norm.weight", kGain, kDelta},
    {"attention.k_norm.weight", "attn_k_norm.weight", "self_attn.k_norm.weight", kGain, kDelta},
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"attention.post_norm.weight", "post_attention_norm.weight", "post_attention_layernorm.weight", kGain,
     kDelta},
    {"mlp.norm.weight", "ffn_norm.weight", "pre_feedforward_layernorm.weight", kGain, kDelta},
    {"mlp.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight"},
    {"mlp.up.weight", "ffn_up.weight", "mlp.up_proj.weight"},
    {"mlp.down.weight", "ffn_down.weight", "mlp.down_proj.weight"},
    {"mlp.post_norm.weight", "post_ffw_norm.weight", "post_feedforward_layernorm.weight", kGain, kDelta},
};

constexpr int64_t kUsualPattern = 6;        // every sixth layer sees everything
constexpr double kUsualLocalTheta = 10000;  // of the windowed layers

/// Rotary 0 turns the layers that see everything, rotary 1 those with a window.
void setLayers(int64_t window, const std::vector<bool>& windowed, DecoderConfig& config) {
  for (bool local : windowed) {
    config.layer_rotary.push_back(local ? 1 : 0);
    config.layer_window.push_back(local ? window : 0);
  }
}
std::vector<bool> everyNth(int64_t pattern, int64_t layers) {
  std::vector<bool> windowed;
  for (int64_t i = 0; i < layers; ++i) windowed.push_back(pattern < 1 || (i + 1) % pattern != 0);
  return windowed;
}
Rotary localRotary(double theta, int64_t dim) {
  Rotary rotary;
  rotary.theta = theta;
  rotary.dim = dim;
  return rotary;
}

/// Gemma 2 capped its scores and Gemma 3 doesn't: the key exists, transformers (5.24) reads and never applies
/// it.
void refuseScoreCap(io::ConfigReader& keys, const std::string& key) {
  if (std::optional<double> cap = keys.optionalFloat(key); cap && *cap != 0.0)
    keys.refuse(fmt::format("{} = {} is not supported: Gemma 3 caps no scores", key, *cap));
}

/// The file doesn't say what the scores are divided by: the width of a head, save in the 27B (62 layers),
/// which was trained with the hidden size per head.
double ggufAttentionScale(io::ConfigReader& keys, const DecoderConfig& config) {
  bool by_hidden = config.layers == 62 && config.heads > 0;
  int64_t width = by_hidden ? config.hidden / config.heads : config.head_dim;
  keys.assume(
      fmt::format("attention scale is not in the file: 1/sqrt({}), {}", width,
                  by_hidden ? "hidden size by heads, as in the model of 62 layers" : "the head's width"));
  return scaleOfWidth(static_cast<double>(width));
}

void readGguf(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readGgufSizes(keys, checkpoint, config);
  double local_theta = otherwise(keys, optionalAbove(keys, "gemma3.rope.freq_base_swa", 1), kUsualLocalTheta,
                                 "gemma3.rope.freq_base_swa absent: windowed layers turn by theta 10000");
  config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim),
                     localRotary(local_theta, config.head_dim)};
  int64_t pattern =
      otherwise(keys, keys.optionalInt("gemma3.attention.sliding_window_pattern"), kUsualPattern,
                "gemma3.attention.sliding_window_pattern absent: every 6th layer sees everything");
  setLayers(requireSize(keys, "gemma3.attention.sliding_window"), everyNth(pattern, config.layers), config);
  config.attention_scale = ggufAttentionScale(keys, config);
  refuseScoreCap(keys, "gemma3.attn_logit_softcapping");
  config.final_soft_cap = keys.optionalFloat("gemma3.final_logit_softcapping").value_or(0.0);
}

// Scaling, in the older form too, is of the layers that see everything.
constexpr HfRotaryKeys kHfGlobalRotary = {.parameters = "rope_parameters.full_attention",
                                          .usual_theta = 1000000};
constexpr HfRotaryKeys kHfLocalRotary = {.parameters = "rope_parameters.sliding_attention",
                                         .theta = "rope_local_base_freq",
                                         .scaling = "",
                                         .usual_theta = kUsualLocalTheta};

std::vector<bool> hfWindowed(io::ConfigReader& keys, int64_t layers) {
  std::optional<int64_t> newer = keys.optionalInt("sliding_window_pattern");
  std::optional<int64_t> older = keys.optionalInt("_sliding_window_pattern");
  if (std::optional<std::vector<bool>> windowed = readHfLayerTypes(keys, layers)) return *windowed;
  return everyNth(otherwise(keys, newer ? newer : older, kUsualPattern,
                            "layer_types and sliding_window_pattern absent: every 6th layer sees everything"),
                  layers);
}

void readHf(io::ConfigReader& keys, DecoderConfig& config) {
  readHfSizes(keys, true, config);
  config.activation = readHfActivation(keys, "hidden_activation", "gelu_pytorch_tanh");
  keys.ignore("hidden_act");  // the family reads hidden_activation only
  config.rotaries = {readHfRotary(keys, kHfGlobalRotary, config.head_dim),
                     readHfRotary(keys, kHfLocalRotary, config.head_dim)};
  setLayers(requireSize(keys, "sliding_window"), hfWindowed(keys, config.layers), config);
  config.attention_scale = scaleOfWidth(requireAbove(keys, "query_pre_attn_scalar", 0));
  refuseScoreCap(keys, "attn_logit_softcapping");
  config.final_soft_cap = keys.optionalFloat("final_logit_softcapping").value_or(0.0);
  for (const char* key : {"attention_bias", "use_bidirectional_attention"}) refuseIfTrue(keys, key);
}

Result<DecoderConfig> readGemma3(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = gemma3.name;
  config.activation = Activation::kGeluTanh;
  config.qk_norm = config.post_norms = true;
  if (checkpoint.container == io::Container::kGguf) {
    readGguf(keys, checkpoint, config);
  } else {
    readHf(keys, config);
  }
  // In the type of the weights: float32 in float32, and rounded to bf16 (as it was in training) in bf16.
  config.embedding_scale = std::sqrt(static_cast<double>(config.hidden));
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model gemma3{.name = "gemma3",
                             .gguf_architectures = kGguf,
                             .hf_architectures = kHf,
                             .refusals = kRefusals,
                             .global_weights = kDeltaNormGlobals,
                             .layer_weights = kLayer,
                             .read_config = readGemma3,
                             .build = buildDecoder};

}  // namespace sublane::models
