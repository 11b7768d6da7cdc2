// The Llama family: RMS norms, rotary positions over whole heads, grouped keys, gated SiLU. Mistral adds a
// window, Mixtral a mixture of experts. Also what is stored under its name: SmolLM2, TinyLlama and others.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model llama;
namespace {

constexpr std::string_view kGguf[] = {"llama"};
constexpr std::string_view kHf[] = {"LlamaForCausalLM", "MistralForCausalLM", "MixtralForCausalLM"};

constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight"},
    {"attention.q.weight", "attn_q.weight", "self_attn.q_proj.weight", Layout::kUnpermuteRotaryPairs},
    {"attention.k.weight", "attn_k.weight", "self_attn.k_proj.weight", Layout::kUnpermuteRotaryPairs},
    {"attention.v.weight", "attn_v.weight", "self_attn.v_proj.weight"},
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"mlp.norm.weight", "ffn_norm.weight", "post_attention_layernorm.weight"},
    only(Needs::kDense, {"mlp.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight"}),
    only(Needs::kDense, {"mlp.up.weight", "ffn_up.weight", "mlp.up_proj.weight"}),
    only(Needs::kDense, {"mlp.down.weight", "ffn_down.weight", "mlp.down_proj.weight"}),
    only(Needs::kExperts, {"experts.router.weight", "ffn_gate_inp.weight", "block_sparse_moe.gate.weight"}),
    only(Needs::kExperts,
         {"experts.gate.weight", "ffn_gate_exps.weight", "block_sparse_moe.experts.{}.w1.weight"}),
    only(Needs::kExperts,
         {"experts.up.weight", "ffn_up_exps.weight", "block_sparse_moe.experts.{}.w3.weight"}),
    only(Needs::kExperts,
         {"experts.down.weight", "ffn_down_exps.weight", "block_sparse_moe.experts.{}.w2.weight"}),
};

/// Mixtral's: the best by softmax, which then add up to 1; all layers have them.
void useExperts(int64_t count, int64_t per_token, DecoderConfig& config) {
  config.experts = {
      .count = count, .per_token = per_token, .feed_forward = config.feed_forward, .normalise = true};
  config.layer_kinds.assign(static_cast<size_t>(config.layers), {.feed_forward = FeedForward::kExperts});
}

void readGguf(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readGgufSizes(keys, checkpoint, config);
  config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim)};
  useOneKindOfLayer(config);
  const int64_t experts = keys.optionalInt("llama.expert_count").value_or(0);
  const int64_t used = keys.optionalInt("llama.expert_used_count").value_or(0);
  if (experts != 0) useExperts(experts, used, config);
  if (experts == 0 && used != 0)
    keys.refuse(fmt::format("llama.expert_used_count is {} of no experts", used));
  keys.ignore("llama.tensor_data_layout");  // names the permutation that every llama GGUF has
}

void readHf(io::ConfigReader& keys, const std::string& architecture, DecoderConfig& config) {
  readHfSizes(keys, false, config);
  useOneKindOfLayer(config);
  if (architecture == "MixtralForCausalLM") {
    useExperts(requireSize(keys, "num_local_experts"), requireSize(keys, "num_experts_per_tok"), config);
    for (const char* key : {"router_aux_loss_coef", "output_router_logits", "router_jitter_noise"})
      keys.ignore(key);
  }
  // Of Mistral and Mixtral; older Llama files may carry the key as null.
  if (architecture != "LlamaForCausalLM") readHfWindow(keys, config);
  config.activation = readHfActivation(keys, "hidden_act", "silu");
  config.rotaries = {readHfRotary(keys, {.parameters = "rope_parameters"}, config.head_dim)};
  for (const char* key : {"attention_bias", "mlp_bias", "rope_interleaved"}) refuseIfTrue(keys, key);
  keys.ignore("pretraining_tp");   // how the matrices were cut in training
  keys.ignore("is_llama_config");  // a converter's note
}

Result<DecoderConfig> readLlama(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = llama.name;
  if (checkpoint.container == io::Container::kGguf) {
    readGguf(keys, checkpoint, config);
  } else {
    readHf(keys, checkpoint.architecture, config);
  }
  config.attention_scale = scaleOfWidth(static_cast<double>(config.head_dim));
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model llama{.name = "llama",
                            .gguf_architectures = kGguf,
                            .hf_architectures = kHf,
                            .refusals = {},
                            .global_weights = kUsualGlobals,
                            .layer_weights = kLayer,
                            .read_config = readLlama,
                            .build = buildDecoder};

}  // namespace sublane::models
