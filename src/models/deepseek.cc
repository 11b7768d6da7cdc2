// DeepSeek-V2, V3 and R1, and Kimi-K2, which has V3's form: attention over one latent a token, first layers
// dense, the others a mixture of experts with shared ones, of which the best groups are chosen from.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model deepseek;
namespace {

constexpr std::string_view kHf[] = {"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM"};
constexpr Refusal kRefusals[] = {
    {"deepseek2", "its GGUF splits and transposes the latent's matrices; give the Hugging Face folder"},
    {"DeepseekV32ForCausalLM", "its sparse attention is not supported"},
};

// No file of this family is read from a GGUF: the second names are empty.
constexpr Layout kTail = Layout::kUnpermuteRotaryTail, kStored = Layout::kAsStored;
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "", "input_layernorm.weight"},
    only(Needs::kPlainQuery, {"attention.q.weight", "", "self_attn.q_proj.weight", kStored, kTail}),
    only(Needs::kLatentQuery, {"attention.q_a.weight", "", "self_attn.q_a_proj.weight"}),
    only(Needs::kLatentQuery, {"attention.q_a_norm.weight", "", "self_attn.q_a_layernorm.weight"}),
    only(Needs::kLatentQuery, {"attention.q_b.weight", "", "self_attn.q_b_proj.weight", kStored, kTail}),
    {"attention.kv_a.weight", "", "self_attn.kv_a_proj_with_mqa.weight", kStored, kTail},
    {"attention.kv_a_norm.weight", "", "self_attn.kv_a_layernorm.weight"},
    partOf(Part::kLatentKey, {"attention.k_b.weight", "", "self_attn.kv_b_proj.weight"}),
    partOf(Part::kLatentValue, {"attention.v_b.weight", "", "self_attn.kv_b_proj.weight"}),
    {"attention.o.weight", "", "self_attn.o_proj.weight"},
    {"mlp.norm.weight", "", "post_attention_layernorm.weight"},
    only(Needs::kDense, {"mlp.gate.weight", "", "mlp.gate_proj.weight"}),
    only(Needs::kDense, {"mlp.up.weight", "", "mlp.up_proj.weight"}),
    only(Needs::kDense, {"mlp.down.weight", "", "mlp.down_proj.weight"}),
    only(Needs::kExperts, {"experts.router.weight", "", "mlp.gate.weight"}),
    only(Needs::kChoiceBias, {"experts.choice_bias", "", "mlp.gate.e_score_correction_bias"}),
    only(Needs::kExperts, {"experts.gate.weight", "", "mlp.experts.{}.gate_proj.weight"}),
    only(Needs::kExperts, {"experts.up.weight", "", "mlp.experts.{}.up_proj.weight"}),
    only(Needs::kExperts, {"experts.down.weight", "", "mlp.experts.{}.down_proj.weight"}),
    only(Needs::kSharedExpert, {"shared.gate.weight", "", "mlp.shared_experts.gate_proj.weight"}),
    only(Needs::kSharedExpert, {"shared.up.weight", "", "mlp.shared_experts.up_proj.weight"}),
    only(Needs::kSharedExpert, {"shared.down.weight", "", "mlp.shared_experts.down_proj.weight"}),
};

void readLatent(io::ConfigReader& keys, DecoderConfig& config) {
  LatentAttention& n = config.latent;
  n.query_rank = optionalSize(keys, "q_lora_rank").value_or(0);  // null: no latent of the query
  n.latent = requireSize(keys, "kv_lora_rank");
  n.nope = requireSize(keys, "qk_nope_head_dim");
  n.rope = requireSize(keys, "qk_rope_head_dim");
  n.value = requireSize(keys, "v_head_dim");
  config.head_dim = n.rope;
  config.kv_heads = 1;
  keys.ignore("qk_head_dim");  // the sum of two that are read
}

/// V3: a sigmoid of each, a bias for the choice, groups by their two best. V2: softmax, groups by their best.
void readExperts(io::ConfigReader& keys, bool v3, DecoderConfig& config) {
  Experts& e = config.experts;
  e.count = requireSize(keys, "n_routed_experts");
  e.per_token = requireSize(keys, "num_experts_per_tok");
  e.feed_forward = requireSize(keys, "moe_intermediate_size");
  e.shared_feed_forward = e.feed_forward * optionalSize(keys, "n_shared_experts").value_or(0);
  e.scale = requireAbove(keys, "routed_scaling_factor", 0);
  const std::string method = keys.optionalString("topk_method").value_or(v3 ? "noaux_tc" : "greedy");
  const std::string scores = keys.optionalString("scoring_func").value_or(v3 ? "sigmoid" : "softmax");
  if (scores != (v3 ? "sigmoid" : "softmax"))
    keys.refuse(fmt::format("scoring_func = \"{}\" is not supported", scores));
  const bool grouped = method == (v3 ? "noaux_tc" : "group_limited_greedy");
  if (!grouped && (v3 || method != "greedy"))
    keys.refuse(fmt::format("topk_method = \"{}\" is not supported", method));
  e.scores = v3 ? Experts::Scores::kSigmoid : Experts::Scores::kSoftmax;
  e.choice_bias = e.group_by_best_two = v3;
  const std::optional<int64_t> groups = optionalSize(keys, "n_group"),
                               kept = optionalSize(keys, "topk_group");
  if (grouped) e.groups = groups.value_or(1), e.groups_kept = kept.value_or(1);
  const bool normalise = keys.optionalBool("norm_topk_prob").value_or(v3);
  e.normalise = v3 && normalise;
  if (!v3 && normalise)
    keys.refuse("norm_topk_prob = true is not supported for V2, whose models don't have it");
  const int64_t dense = keys.optionalInt("first_k_dense_replace").value_or(0);
  const int64_t every = optionalSize(keys, "moe_layer_freq").value_or(1);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const bool sparse = layer >= dense && layer % std::max<int64_t>(every, 1) == 0;
    config.layer_kinds.push_back(
        {Mixer::kLatentAttention, sparse ? FeedForward::kExperts : FeedForward::kDense});
  }
}

void readHf(io::ConfigReader& keys, bool v3, DecoderConfig& config) {
  readHfSizes(keys, false, config);
  keys.ignore("head_dim");
  config.activation = readHfActivation(keys, "hidden_act", "silu");
  readLatent(keys, config);
  readExperts(keys, v3, config);
  Rotary rotary = readHfRotary(keys, {.parameters = "rope_parameters"}, config.latent.rope);
  if (keys.optionalBool("rope_interleave").value_or(true)) rotary.pairs = Rotary::Pairs::kInterleaved;
  useOneKindOfLayer(config);
  config.attention_scale = scaleOfWidth(static_cast<double>(config.latent.nope + config.latent.rope));
  if (rotary.mscale_all_dim != 0) {
    const double scale = yarnScale(rotary.factor, rotary.mscale_all_dim);
    config.attention_scale *= scale * scale;
  }
  config.rotaries = {rotary};
  config.prediction_layers = keys.optionalInt("num_nextn_predict_layers").value_or(0);
  if (config.prediction_layers < 0 || config.prediction_layers > 64)
    keys.refuse(fmt::format("num_nextn_predict_layers = {} is outside 0..64", config.prediction_layers));
  if (config.prediction_layers > 0)
    keys.assume(fmt::format("{} layers that predict more tokens (num_nextn_predict_layers) are left aside",
                            config.prediction_layers));
  for (const char* key : {"attention_bias", "mlp_bias", "output_router_logits"}) refuseIfTrue(keys, key);
  for (const char* key : {"pretraining_tp", "ep_size", "aux_loss_alpha", "seq_aux", "auto_map*"})
    keys.ignore(key);
}

Result<DecoderConfig> readDeepseek(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = deepseek.name;
  readHf(keys, checkpoint.architecture == "DeepseekV3ForCausalLM", config);
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model deepseek{.name = "deepseek",
                               .gguf_architectures = {},
                               .hf_architectures = kHf,
                               .refusals = kRefusals,
                               .global_weights = kUsualGlobals,
                               .layer_weights = kLayer,
                               .read_config = readDeepseek,
                               .build = buildDecoder};

}  // namespace sublane::models
