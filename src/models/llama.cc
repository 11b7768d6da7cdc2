// The Llama family: RMS norms, rotary positions over whole heads, grouped keys, gated SiLU.
// Also what is stored under its name: SmolLM2, TinyLlama and others.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model llama;
namespace {

constexpr std::string_view kGguf[] = {"llama"};
constexpr std::string_view kHf[] = {"LlamaForCausalLM"};

constexpr WeightName kGlobal[] = {
    {"embed.weight", "token_embd.weight", "model.embed_tokens.weight"},
    {"final_norm.weight", "output_norm.weight", "model.norm.weight"},
    {"head.weight", "output.weight", "lm_head.weight"},
};
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight"},
    {"attention.q.weight", "attn_q.weight", "self_attn.q_proj.weight", Layout::kUnpermuteRotaryPairs},
    {"attention.k.weight", "attn_k.weight", "self_attn.k_proj.weight", Layout::kUnpermuteRotaryPairs},
    {"attention.v.weight", "attn_v.weight", "self_attn.v_proj.weight"},
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"mlp.norm.weight", "ffn_norm.weight", "post_attention_layernorm.weight"},
    {"mlp.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight"},
    {"mlp.up.weight", "ffn_up.weight", "mlp.up_proj.weight"},
    {"mlp.down.weight", "ffn_down.weight", "mlp.down_proj.weight"},
};

void readGguf(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readGgufSizes(keys, checkpoint, config);
  config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim)};
  if (keys.optionalInt("llama.expert_count").value_or(0) != 0)
    keys.refuse("llama.expert_count: mixtures of experts are not supported");
  if (keys.optionalInt("llama.expert_used_count").value_or(0) != 0)
    keys.refuse("llama.expert_used_count: mixtures of experts are not supported");
  keys.ignore("llama.tensor_data_layout");  // names the permutation that every llama GGUF has
}

void readHf(io::ConfigReader& keys, DecoderConfig& config) {
  readHfSizes(keys, false, config);
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
    readHf(keys, config);
  }
  useOneKindOfLayer(config);
  config.attention_scale = scaleOfWidth(static_cast<double>(config.head_dim));
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model llama{.name = "llama",
                            .gguf_architectures = kGguf,
                            .hf_architectures = kHf,
                            .refusals = {},
                            .global_weights = kGlobal,
                            .layer_weights = kLayer,
                            .read_config = readLlama,
                            .build = buildDecoder};

}  // namespace sublane::models
