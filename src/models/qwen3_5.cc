// Qwen3.5, dense and text: Qwen3-Next's layers with a dense MLP, and the delta rule's matrices stored one
// after the other, not by key head. Its positions in three rows (M-RoPE) are equal in text, which is plain
// rotation.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model qwen3_5;
namespace {

constexpr std::string_view kHf[] = {"Qwen3_5ForCausalLM"};
constexpr Refusal kRefusals[] = {
    {"Qwen3_5ForConditionalGeneration", "it reads images too; only text models are supported"},
    {"Qwen3_5MoeForConditionalGeneration", "it reads images too; only text models are supported"},
};

// No file of this family is read from a GGUF: the second names are empty.
constexpr Layout kStored = Layout::kAsStored, kGain = Layout::kAddOne;
constexpr WeightName delta(Part part, WeightName name) {
  return only(Needs::kGatedDelta, partOf(part, name));
}
constexpr WeightName delta(WeightName name) { return only(Needs::kGatedDelta, name); }
constexpr WeightName full(WeightName name) { return only(Needs::kAttention, name); }
constexpr std::string_view kQkv = "linear_attn.in_proj_qkv.weight";
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "", "input_layernorm.weight", kStored, kGain},
    full(partOf(Part::kHeadQuery, {"attention.q.weight", "", "self_attn.q_proj.weight"})),
    full(partOf(Part::kHeadGate, {"attention.gate.weight", "", "self_attn.q_proj.weight"})),
    full({"attention.k.weight", "", "self_attn.k_proj.weight"}),
    full({"attention.v.weight", "", "self_attn.v_proj.weight"}),
    full({"attention.q_norm.weight", "", "self_attn.q_norm.weight", kStored, kGain}),
    full({"attention.k_norm.weight", "", "self_attn.k_norm.weight", kStored, kGain}),
    full({"attention.o.weight", "", "self_attn.o_proj.weight"}),
    delta(Part::kQueryFirst, {"delta.q.weight", "", kQkv}),
    delta(Part::kKeyNext, {"delta.k.weight", "", kQkv}),
    delta(Part::kValueLast, {"delta.v.weight", "", kQkv}),
    delta({"delta.gate.weight", "", "linear_attn.in_proj_z.weight"}),
    delta({"delta.beta.weight", "", "linear_attn.in_proj_b.weight"}),
    delta({"delta.step.weight", "", "linear_attn.in_proj_a.weight"}),
    delta({"delta.conv.weight", "", "linear_attn.conv1d.weight"}),
    delta({"delta.step_bias", "", "linear_attn.dt_bias"}),
    delta({"delta.decay", "", "linear_attn.A_log"}),
    delta({"delta.norm.weight", "", "linear_attn.norm.weight"}),
    delta({"delta.out.weight", "", "linear_attn.out_proj.weight"}),
    {"mlp.norm.weight", "", "post_attention_layernorm.weight", kStored, kGain},
    {"mlp.gate.weight", "", "mlp.gate_proj.weight"},
    {"mlp.up.weight", "", "mlp.up_proj.weight"},
    {"mlp.down.weight", "", "mlp.down_proj.weight"},
};

Result<DecoderConfig> readQwen35(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = qwen3_5.name;
  readHfDeltaHybrid(keys, checkpoint, config);
  for (const char* pattern : {"rope_parameters.mrope_section*", "rope_parameters.mrope_interleaved"})
    keys.ignore(pattern);
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model qwen3_5{.name = "qwen3_5",
                              .gguf_architectures = {},
                              .hf_architectures = kHf,
                              .refusals = kRefusals,
                              .global_weights = kDeltaNormGlobals,
                              .layer_weights = kLayer,
                              .read_config = readQwen35,
                              .build = buildDecoder};

}  // namespace sublane::models
