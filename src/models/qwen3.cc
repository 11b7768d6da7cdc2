// Qwen3, dense and with a mixture of experts: the Llama family's layers with norms on each head's q and k
// before rotation. Rows of q and k are in halves in both containers.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model qwen3;
namespace {

constexpr std::string_view kGguf[] = {"qwen3", "qwen3moe"};
constexpr std::string_view kHf[] = {"Qwen3ForCausalLM", "Qwen3MoeForCausalLM"};
constexpr Refusal kRefusals[] = {
    {"Qwen3VLForConditionalGeneration", "it reads images too; only text models are supported"},
};

constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight"},
    {"attention.q.weight", "attn_q.weight", "self_attn.q_proj.weight"},
    {"attention.k.weight", "attn_k.weight", "self_attn.k_proj.weight"},
    {"attention.v.weight", "attn_v.weight", "self_attn.v_proj.weight"},
    {"attention.q_norm.weight", "attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attention.k_norm.weight", "attn_k_norm.weight", "self_attn.k_norm.weight"},
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"mlp.norm.weight", "ffn_norm.weight", "post_attention_layernorm.weight"},
    only(Needs::kQkvBias, {"attention.q.bias", "attn_q.bias", "self_attn.q_proj.bias"}),
    only(Needs::kQkvBias, {"attention.k.bias", "attn_k.bias", "self_attn.k_proj.bias"}),
    only(Needs::kQkvBias, {"attention.v.bias", "attn_v.bias", "self_attn.v_proj.bias"}),
    only(Needs::kOutputBias, {"attention.o.bias", "attn_output.bias", "self_attn.o_proj.bias"}),
    only(Needs::kDense, {"mlp.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight"}),
    only(Needs::kDense, {"mlp.up.weight", "ffn_up.weight", "mlp.up_proj.weight"}),
    only(Needs::kDense, {"mlp.down.weight", "ffn_down.weight", "mlp.down_proj.weight"}),
    only(Needs::kExperts, {"experts.router.weight", "ffn_gate_inp.weight", "mlp.gate.weight"}),
    only(Needs::kExperts, {"experts.gate.weight", "ffn_gate_exps.weight", "mlp.experts.{}.gate_proj.weight"}),
    only(Needs::kExperts, {"experts.up.weight", "ffn_up_exps.weight", "mlp.experts.{}.up_proj.weight"}),
    only(Needs::kExperts, {"experts.down.weight", "ffn_down_exps.weight", "mlp.experts.{}.down_proj.weight"}),
};

void readGguf(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readGgufSizes(keys, checkpoint, config);
  config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim)};
  useOneKindOfLayer(config);
  if (checkpoint.architecture != "qwen3moe") return;
  config.experts = {.count = requireSize(keys, "qwen3moe.expert_count"),
                    .per_token = requireSize(keys, "qwen3moe.expert_used_count"),
                    .feed_forward = requireSize(keys, "qwen3moe.expert_feed_forward_length"),
                    .normalise = true};
  keys.assume(
      "norm_topk_prob is not in the file: the chosen experts' scores add up to 1, as in all of the family");
  config.layer_kinds.assign(static_cast<size_t>(config.layers), {.feed_forward = FeedForward::kExperts});
}

void readHfExperts(io::ConfigReader& keys, DecoderConfig& config) {
  // The name in transformers 5 and the one before it.
  const bool newer = keys.has("num_local_experts");
  config.experts = {.count = requireSize(keys, newer ? "num_local_experts" : "num_experts"),
                    .per_token = requireSize(keys, "num_experts_per_tok"),
                    .feed_forward = requireSize(keys, "moe_intermediate_size"),
                    .normalise = otherwise(keys, keys.optionalBool("norm_topk_prob"), false,
                                           "norm_topk_prob absent: false by the family's default")};
  readHfSparseLayers(keys, config);
}

void readHf(io::ConfigReader& keys, const std::string& architecture, DecoderConfig& config) {
  readHfSizes(keys, false, config);
  config.activation = readHfActivation(keys, "hidden_act", "silu");
  config.rotaries = {readHfRotary(keys, {.parameters = "rope_parameters"}, config.head_dim)};
  config.qkv_bias = config.output_bias = keys.optionalBool("attention_bias").value_or(false);
  useOneKindOfLayer(config);
  readHfUpperWindow(keys, config);
  if (architecture == "Qwen3MoeForCausalLM") readHfExperts(keys, config);
}

Result<DecoderConfig> readQwen3(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = qwen3.name;
  config.qk_norm = true;
  if (checkpoint.container == io::Container::kGguf) {
    readGguf(keys, checkpoint, config);
  } else {
    readHf(keys, checkpoint.architecture, config);
  }
  config.attention_scale = scaleOfWidth(static_cast<double>(config.head_dim));
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model qwen3{.name = "qwen3",
                            .gguf_architectures = kGguf,
                            .hf_architectures = kHf,
                            .refusals = kRefusals,
                            .global_weights = kUsualGlobals,
                            .layer_weights = kLayer,
                            .read_config = readQwen3,
                            .build = buildDecoder};

}  // namespace sublane::models
