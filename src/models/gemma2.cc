// Gemma 2: every second layer sees a window, scores and logits are capped, norms before and after attention
// and MLP, gated GELU, a scaled embedding. A window of W means that a token sees W keys, its own included.
#include <cmath>

#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model gemma2;
namespace {

constexpr std::string_view kGguf[] = {"gemma2"};
constexpr std::string_view kHf[] = {"Gemma2ForCausalLM"};

constexpr Layout kGain = Layout::kAsStored, kDelta = Layout::kAddOne;
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight", kGain, kDelta},
    {"attention.q.weight", "attn_q.weight", "self_attn.q_proj.weight"},
    {"attention.k.weight", "attn_k.weight", "self_attn.k_proj.weight"},
    {"attention.v.weight", "attn_v.weight", "self_attn.v_proj.weight"},
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"attention.post_norm.weight", "post_attention_norm.weight", "post_attention_layernorm.weight", kGain,
     kDelta},
    {"mlp.norm.weight", "ffn_norm.weight", "pre_feedforward_layernorm.weight", kGain, kDelta},
    {"mlp.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight"},
    {"mlp.up.weight", "ffn_up.weight", "mlp.up_proj.weight"},
    {"mlp.down.weight", "ffn_down.weight", "mlp.down_proj.weight"},
    {"mlp.post_norm.weight", "post_ffw_norm.weight", "post_feedforward_layernorm.weight", kGain, kDelta},
};

constexpr double kUsualScoreCap = 50.0,
                 kUsualFinalCap = 30.0;  // of the family's format, and of all its models

void setEverySecond(int64_t window, DecoderConfig& config) {
  useOneKindOfLayer(config);
  for (size_t layer = 0; layer < config.layer_window.size(); layer += 2) config.layer_window[layer] = window;
}

void readGguf(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readGgufSizes(keys, checkpoint, config);
  config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim)};
  setEverySecond(requireSize(keys, "gemma2.attention.sliding_window"), config);
  config.attention_soft_cap = otherwise(keys, keys.optionalFloat("gemma2.attn_logit_softcapping"),
                                        kUsualScoreCap, "gemma2.attn_logit_softcapping absent: 50");
  config.final_soft_cap = otherwise(keys, keys.optionalFloat("gemma2.final_logit_softcapping"),
                                    kUsualFinalCap, "gemma2.final_logit_softcapping absent: 30");
  // The 27B (46 layers) was trained with the hidden size per head.
  const bool by_hidden = config.layers == 46 && config.heads > 0;
  const int64_t width = by_hidden ? config.hidden / config.heads : config.head_dim;
  keys.assume(fmt::format("attention scale is not in the file: 1/sqrt({})", width));
  config.attention_scale = scaleOfWidth(static_cast<double>(width));
}

void readHf(io::ConfigReader& keys, DecoderConfig& config) {
  readHfSizes(keys, true, config);
  config.activation = readHfActivation(keys, "hidden_activation", "gelu_pytorch_tanh");
  keys.ignore("hidden_act");  // the family reads hidden_activation only
  config.rotaries = {readHfRotary(keys, {.parameters = "rope_parameters"}, config.head_dim)};
  const int64_t window = requireSize(keys, "sliding_window");
  setEverySecond(window, config);
  useHfLayerTypes(keys, window, config);
  config.attention_scale = scaleOfWidth(requireAbove(keys, "query_pre_attn_scalar", 0));
  // null switches a cap off; an absent key is the family's default
  config.attention_soft_cap = readHfCap(keys, "attn_logit_softcapping", kUsualScoreCap);
  config.final_soft_cap = readHfCap(keys, "final_logit_softcapping", kUsualFinalCap);
  for (const char* key : {"attention_bias", "use_bidirectional_attention"}) refuseIfTrue(keys, key);
}

Result<DecoderConfig> readGemma2(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = gemma2.name;
  config.activation = Activation::kGeluTanh;
  config.post_norms = true;
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

constinit const Model gemma2{.name = "gemma2",
                             .gguf_architectures = kGguf,
                             .hf_architectures = kHf,
                             .refusals = {},
                             .global_weights = kDeltaNormGlobals,
                             .layer_weights = kLayer,
                             .read_config = readGemma2,
                             .build = buildDecoder};

}  // namespace sublane::models
