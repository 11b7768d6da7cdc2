// Qwen2 and Qwen2.5: the Llama family's layers with biases on q, k and v, and in some sizes a window in the
// upper layers. Rows of q and k are in halves in both containers.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model qwen2;
namespace {

constexpr std::string_view kGguf[] = {"qwen2"};
constexpr std::string_view kHf[] = {"Qwen2ForCausalLM"};
constexpr Refusal kRefusals[] = {
    {"qwen2moe", "only Qwen3's mixtures of experts are supported"},
    {"Qwen2MoeForCausalLM", "only Qwen3's mixtures of experts are supported"},
    {"Qwen2VLForConditionalGeneration", "it reads images too; only text models are supported"},
};

constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight"},
    {"attention.q.weight", "attn_q.weight", "self_attn.q_proj.weight"},
    {"attention.q.bias", "attn_q.bias", "self_attn.q_proj.bias"},
    {"attention.k.weight", "attn_k.weight", "self_attn.k_proj.weight"},
    {"attention.k.bias", "attn_k.bias", "self_attn.k_proj.bias"},
    {"attention.v.weight", "attn_v.weight", "self_attn.v_proj.weight"},
    {"attention.v.bias", "attn_v.bias", "self_attn.v_proj.bias"},
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"mlp.norm.weight", "ffn_norm.weight", "post_attention_layernorm.weight"},
    {"mlp.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight"},
    {"mlp.up.weight", "ffn_up.weight", "mlp.up_proj.weight"},
    {"mlp.down.weight", "ffn_down.weight", "mlp.down_proj.weight"},
};

void readHf(io::ConfigReader& keys, DecoderConfig& config) {
  readHfSizes(keys, false, config);
  config.activation = readHfActivation(keys, "hidden_act", "silu");
  config.rotaries = {readHfRotary(keys, {.parameters = "rope_parameters"}, config.head_dim)};
  useOneKindOfLayer(config);
  readHfUpperWindow(keys, config);
}

Result<DecoderConfig> readQwen2(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = qwen2.name;
  config.qkv_bias = true;
  if (checkpoint.container == io::Container::kGguf) {
    readGgufSizes(keys, checkpoint, config);
    config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim)};
    useOneKindOfLayer(config);
  } else {
    readHf(keys, config);
  }
  config.attention_scale = scaleOfWidth(static_cast<double>(config.head_dim));
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model qwen2{.name = "qwen2",
                            .gguf_architectures = kGguf,
                            .hf_architectures = kHf,
                            .refusals = kRefusals,
                            .global_weights = kUsualGlobals,
                            .layer_weights = kLayer,
                            .read_config = readQwen2,
                            .build = buildDecoder};

}  // namespace sublane::models
