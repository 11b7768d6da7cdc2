// Qwen3-Next: in most layers the gated delta rule, in every fourth full attention whose heads have a gate and
// rotate in part; a mixture of experts with a shared one behind a gate. Norms are stored as their difference
// from 1, but for the delta rule's.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model qwen3_next;
namespace {

constexpr std::string_view kHf[] = {"Qwen3NextForCausalLM"};
constexpr Refusal kRefusals[] = {
    {"qwen3next", "its GGUF is another form of the same weights; give the Hugging Face folder"},
};

// No file of this family is read from a GGUF: the second names are empty.
constexpr Layout kStored = Layout::kAsStored, kGain = Layout::kAddOne;
constexpr WeightName delta(Part part, WeightName name) {
  return only(Needs::kGatedDelta, partOf(part, name));
}
constexpr WeightName delta(WeightName name) { return only(Needs::kGatedDelta, name); }
constexpr WeightName full(WeightName name) { return only(Needs::kAttention, name); }
constexpr std::string_view kQkvz = "linear_attn.in_proj_qkvz.weight", kBa = "linear_attn.in_proj_ba.weight";
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "", "input_layernorm.weight", kStored, kGain},
    full(partOf(Part::kHeadQuery, {"attention.q.weight", "", "self_attn.q_proj.weight"})),
    full(partOf(Part::kHeadGate, {"attention.gate.weight", "", "self_attn.q_proj.weight"})),
    full({"attention.k.weight", "", "self_attn.k_proj.weight"}),
    full({"attention.v.weight", "", "self_attn.v_proj.weight"}),
    full({"attention.q_norm.weight", "", "self_attn.q_norm.weight", kStored, kGain}),
    full({"attention.k_norm.weight", "", "self_attn.k_norm.weight", kStored, kGain}),
    full({"attention.o.weight", "", "self_attn.o_proj.weight"}),
    delta(Part::kDeltaQuery, {"delta.q.weight", "", kQkvz}),
    delta(Part::kDeltaKey, {"delta.k.weight", "", kQkvz}),
    delta(Part::kDeltaValue, {"delta.v.weight", "", kQkvz}),
    delta(Part::kDeltaGate, {"delta.gate.weight", "", kQkvz}),
    delta(Part::kDeltaBeta, {"delta.beta.weight", "", kBa}),
    delta(Part::kDeltaStep, {"delta.step.weight", "", kBa}),
    delta({"delta.conv.weight", "", "linear_attn.conv1d.weight"}),
    delta({"delta.step_bias", "", "linear_attn.dt_bias"}),
    delta({"delta.decay", "", "linear_attn.A_log"}),
    delta({"delta.norm.weight", "", "linear_attn.norm.weight"}),
    delta({"delta.out.weight", "", "linear_attn.out_proj.weight"}),
    {"mlp.norm.weight", "", "post_attention_layernorm.weight", kStored, kGain},
    only(Needs::kDense, {"mlp.gate.weight", "", "mlp.gate_proj.weight"}),
    only(Needs::kDense, {"mlp.up.weight", "", "mlp.up_proj.weight"}),
    only(Needs::kDense, {"mlp.down.weight", "", "mlp.down_proj.weight"}),
    only(Needs::kExperts, {"experts.router.weight", "", "mlp.gate.weight"}),
    only(Needs::kExperts, {"experts.gate.weight", "", "mlp.experts.{}.gate_proj.weight"}),
    only(Needs::kExperts, {"experts.up.weight", "", "mlp.experts.{}.up_proj.weight"}),
    only(Needs::kExperts, {"experts.down.weight", "", "mlp.experts.{}.down_proj.weight"}),
    only(Needs::kSharedExpert, {"shared.gate.weight", "", "mlp.shared_expert.gate_proj.weight"}),
    only(Needs::kSharedExpert, {"shared.up.weight", "", "mlp.shared_expert.up_proj.weight"}),
    only(Needs::kSharedExpert, {"shared.down.weight", "", "mlp.shared_expert.down_proj.weight"}),
    only(Needs::kSharedGate, {"shared.weigh.weight", "", "mlp.shared_expert_gate.weight"}),
};

void readExperts(io::ConfigReader& keys, DecoderConfig& config) {
  config.experts = {.count = requireSize(keys, "num_experts"),
                    .per_token = requireSize(keys, "num_experts_per_tok"),
                    .feed_forward = requireSize(keys, "moe_intermediate_size"),
                    .normalise = otherwise(keys, keys.optionalBool("norm_topk_prob"), true,
                                           "norm_topk_prob absent: true by the family's default"),
                    .shared_feed_forward = requireSize(keys, "shared_expert_intermediate_size"),
                    .shared_gate = true};
  readHfSparseLayers(keys, config);
}

Result<DecoderConfig> readQwen3Next(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = qwen3_next.name;
  readHfDeltaHybrid(keys, checkpoint, config);
  readExperts(keys, config);
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model qwen3_next{.name = "qwen3_next",
                                 .gguf_architectures = {},
                                 .hf_architectures = kHf,
                                 .refusals = kRefusals,
                                 .global_weights = kDeltaNormGlobals,
                                 .layer_weights = kLayer,
                                 .read_config = readQwen3Next,
                                 .build = buildDecoder};

}  // namespace sublane::models
