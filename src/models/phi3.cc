// Phi-3 and Phi-4, text: the Llama family's layers with q, k and v in one matrix, gate and up in another, and
// in some sizes a sliding window. A window of W means that a token sees W keys, its own included.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model phi3;
namespace {

constexpr std::string_view kGguf[] = {"phi3"};
constexpr std::string_view kHf[] = {"Phi3ForCausalLM"};

constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight"},
    partOf(Part::kQuery, {"attention.q.weight", "attn_qkv.weight", "self_attn.qkv_proj.weight"}),
    partOf(Part::kKey, {"attention.k.weight", "attn_qkv.weight", "self_attn.qkv_proj.weight"}),
    partOf(Part::kValue, {"attention.v.weight", "attn_qkv.weight", "self_attn.qkv_proj.weight"}),
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"mlp.norm.weight", "ffn_norm.weight", "post_attention_layernorm.weight"},
    partOf(Part::kGate, {"mlp.gate.weight", "ffn_up.weight", "mlp.gate_up_proj.weight"}),
    partOf(Part::kUp, {"mlp.up.weight", "ffn_up.weight", "mlp.gate_up_proj.weight"}),
    {"mlp.down.weight", "ffn_down.weight", "mlp.down_proj.weight"},
};

void readGguf(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readGgufSizes(keys, checkpoint, config);
  config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim)};
  useOneKindOfLayer(config);
  // 0 in files of models without a window.
  if (std::optional<int64_t> window = keys.optionalInt("phi3.attention.sliding_window");
      window && *window != 0)
    config.layer_window.assign(config.layer_window.size(), *window);
}

void readHf(io::ConfigReader& keys, DecoderConfig& config) {
  readHfSizes(keys, false, config);
  config.activation = readHfActivation(keys, "hidden_act", "silu");
  config.rotaries = {readHfRotary(keys, {.parameters = "rope_parameters"}, config.head_dim)};
  useOneKindOfLayer(config);
  readHfWindow(keys, config);
  refuseIfTrue(keys, "attention_bias");
  // The first is what longrope scales by, which is refused by its type; the others are of training.
  for (const char* key :
       {"original_max_position_embeddings", "embd_pdrop", "resid_pdrop", "layer_types", "auto_map*"})
    keys.ignore(key);
}

Result<DecoderConfig> readPhi3(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = phi3.name;
  if (checkpoint.container == io::Container::kGguf) {
    readGguf(keys, checkpoint, config);
  } else {
    readHf(keys, config);
  }
  config.attention_scale = scaleOfWidth(static_cast<double>(config.head_dim));
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model phi3{.name = "phi3",
                           .gguf_architectures = kGguf,
                           .hf_architectures = kHf,
                           .refusals = {},
                           .global_weights = kUsualGlobals,
                           .layer_weights = kLayer,
                           .read_config = readPhi3,
                           .build = buildDecoder};

}  // namespace sublane::models
