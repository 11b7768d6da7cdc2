// Granite 4: Mamba2 in most layers, attention in some, with or without rotation; an MLP that every token
// takes, and in some sizes a mixture of experts beside it. Embedding, scores, residuals and logits have
// multipliers.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model granite_hybrid;
namespace {

constexpr std::string_view kHf[] = {"GraniteMoeHybridForCausalLM"};
constexpr Refusal kRefusals[] = {
    {"granitehybrid", "its GGUF is another form of the same weights; give the Hugging Face folder"},
};

// No file of this family is read from a GGUF: the second names are empty.
constexpr WeightName mamba(WeightName name) { return only(Needs::kMamba2, name); }
constexpr WeightName mamba(Part part, WeightName name) { return mamba(partOf(part, name)); }
constexpr WeightName full(WeightName name) { return only(Needs::kAttention, name); }
constexpr WeightName experts(WeightName name) { return only(Needs::kExperts, name); }
constexpr std::string_view kIn = "mamba.in_proj.weight", kExpertsIn = "block_sparse_moe.input_linear.weight",
                           kMlpIn = "shared_mlp.input_linear.weight";
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "", "input_layernorm.weight"},
    full({"attention.q.weight", "", "self_attn.q_proj.weight"}),
    full({"attention.k.weight", "", "self_attn.k_proj.weight"}),
    full({"attention.v.weight", "", "self_attn.v_proj.weight"}),
    full({"attention.o.weight", "", "self_attn.o_proj.weight"}),
    mamba(Part::kMambaGate, {"mamba.gate.weight", "", kIn}),
    mamba(Part::kMambaMixed, {"mamba.mixed.weight", "", kIn}),
    mamba(Part::kMambaStep, {"mamba.step.weight", "", kIn}),
    mamba({"mamba.conv.weight", "", "mamba.conv1d.weight"}),
    only(Needs::kConvolutionBias, {"mamba.conv.bias", "", "mamba.conv1d.bias"}),
    mamba({"mamba.step_bias", "", "mamba.dt_bias"}),
    mamba({"mamba.decay", "", "mamba.A_log"}),
    mamba({"mamba.skip", "", "mamba.D"}),
    mamba({"mamba.norm.weight", "", "mamba.norm.weight"}),
    mamba({"mamba.out.weight", "", "mamba.out_proj.weight"}),
    {"mlp.norm.weight", "", "post_attention_layernorm.weight"},
    only(Needs::kDense, partOf(Part::kGate, {"mlp.gate.weight", "", kMlpIn})),
    only(Needs::kDense, partOf(Part::kUp, {"mlp.up.weight", "", kMlpIn})),
    only(Needs::kDense, {"mlp.down.weight", "", "shared_mlp.output_linear.weight"}),
    experts({"experts.router.weight", "", "block_sparse_moe.router.layer.weight"}),
    experts(partOf(Part::kExpertGateFirst, {"experts.gate.weight", "", kExpertsIn})),
    experts(partOf(Part::kExpertUpLast, {"experts.up.weight", "", kExpertsIn})),
    experts({"experts.down.weight", "", "block_sparse_moe.output_linear.weight"}),
    experts(partOf(Part::kGate, {"shared.gate.weight", "", kMlpIn})),
    experts(partOf(Part::kUp, {"shared.up.weight", "", kMlpIn})),
    experts({"shared.down.weight", "", "shared_mlp.output_linear.weight"}),
};

void readMamba(io::ConfigReader& keys, DecoderConfig& config) {
  Recurrence& n = config.recurrence;
  n = {.heads = requireSize(keys, "mamba_n_heads"),
       .key_heads = requireSize(keys, "mamba_n_groups"),
       .key = requireSize(keys, "mamba_d_state"),
       .convolution = requireSize(keys, "mamba_d_conv"),
       .convolution_bias = otherwise(keys, keys.optionalBool("mamba_conv_bias"), true,
                                     "mamba_conv_bias absent: true by the family's default")};
  refuseIfTrue(keys, "mamba_proj_bias");
  keys.ignore("mamba_chunk_size");  // how a scan may be cut; the same sums
  const int64_t channels = config.hidden * optionalSize(keys, "mamba_expand").value_or(2);
  n.value = requireSize(keys, "mamba_d_head");
  if (n.heads > 0 && (n.value > kMostElements / n.heads || n.value * n.heads != channels))
    keys.refuse(fmt::format("mamba_n_heads {} of mamba_d_head {} are not mamba_expand times hidden_size, {}",
                            n.heads, n.value, channels));
}

/// The usual MLP is the shared one; "intermediate_size" is an expert's.
void readFeedForward(io::ConfigReader& keys, DecoderConfig& config) {
  const int64_t expert = config.feed_forward;
  config.feed_forward = requireSize(keys, "shared_intermediate_size");
  const int64_t count = keys.optionalInt("num_local_experts").value_or(0);
  const int64_t per_token = keys.optionalInt("num_experts_per_tok").value_or(0);
  for (const char* key : {"router_aux_loss_coef", "output_router_logits"}) keys.ignore(key);
  if (count == 0) return;
  config.experts = {.count = count,
                    .per_token = per_token,
                    .feed_forward = expert,
                    .scores = Experts::Scores::kSoftmaxOfChosen,
                    .shared_feed_forward = config.feed_forward};
  for (LayerKind& kind : config.layer_kinds) kind.feed_forward = FeedForward::kExperts;
}

void readPositions(io::ConfigReader& keys, DecoderConfig& config) {
  useOneKindOfLayer(config);
  const std::string type = otherwise(keys, keys.optionalString("position_embedding_type"),
                                     std::string("nope"), "position_embedding_type absent: nothing rotates");
  if (type != "rope" && type != "nope")
    keys.refuse(fmt::format("position_embedding_type = \"{}\" is not supported (rope, nope)", type));
  if (type == "rope") {
    config.rotaries = {readHfRotary(keys, {.parameters = "rope_parameters"}, config.head_dim)};
    return;
  }
  config.layer_rotary.assign(config.layer_rotary.size(), -1);
  for (const char* pattern : {"rope_theta", "rope_scaling*", "rope_parameters.*"}) keys.ignore(pattern);
}

Result<DecoderConfig> readGranite(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = granite_hybrid.name;
  readHfSizes(keys, false, config);
  config.activation = readHfActivation(keys, "hidden_act", "silu");
  if (config.activation != Activation::kSilu) keys.refuse("hidden_act: only silu is supported");
  readPositions(keys, config);
  if (!keys.has("layer_types")) keys.refuse("layer_types is missing");
  readHfLayerMixers(keys, {"mamba", "attention", Mixer::kMamba2}, config);
  readMamba(keys, config);
  readFeedForward(keys, config);
  for (auto [key, value] : {std::pair{"embedding_multiplier", &config.embedding_scale},
                            {"residual_multiplier", &config.residual_scale},
                            {"attention_multiplier", &config.attention_scale},
                            {"logits_scaling", &config.logits_divisor}})
    *value = otherwise(keys, optionalAbove(keys, key, 0), 1.0, fmt::format("{} absent: 1", key));
  refuseIfTrue(keys, "attention_bias");
  if (std::string norm = keys.optionalString("normalization_function").value_or("rmsnorm"); norm != "rmsnorm")
    keys.refuse(fmt::format("normalization_function = \"{}\" is not supported (rmsnorm)", norm));
  keys.ignore("init_method");
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model granite_hybrid{.name = "granite_hybrid",
                                     .gguf_architectures = {},
                                     .hf_architectures = kHf,
                                     .refusals = kRefusals,
                                     .global_weights = kUsualGlobals,
                                     .layer_weights = kLayer,
                                     .read_config = readGranite,
                                     .build = buildDecoder};

}  // namespace sublane::models
