// gpt-oss: every second layer sees a window, each head has a sink, all layers a mixture of experts with
// biases and a clamped SwiGLU; YaRN. The experts' matrices are MXFP4 in the published files, and plain in
// others. A window of W means that a token sees W keys, its own included.
#include "models/layers/decoder.h"
#include "models/layers/keys.h"

namespace sublane::models {
extern const Model gpt_oss;
namespace {

constexpr std::string_view kGguf[] = {"gpt-oss"};
constexpr std::string_view kHf[] = {"GptOssForCausalLM"};

constexpr Layout kStored = Layout::kAsStored, kTransposed = Layout::kTransposed;
constexpr WeightName kLayer[] = {
    {"attention.norm.weight", "attn_norm.weight", "input_layernorm.weight"},
    {"attention.q.weight", "attn_q.weight", "self_attn.q_proj.weight"},
    {"attention.q.bias", "attn_q.bias", "self_attn.q_proj.bias"},
    {"attention.k.weight", "attn_k.weight", "self_attn.k_proj.weight"},
    {"attention.k.bias", "attn_k.bias", "self_attn.k_proj.bias"},
    {"attention.v.weight", "attn_v.weight", "self_attn.v_proj.weight"},
    {"attention.v.bias", "attn_v.bias", "self_attn.v_proj.bias"},
    {"attention.sinks", "attn_sinks.weight", "self_attn.sinks"},
    {"attention.o.weight", "attn_output.weight", "self_attn.o_proj.weight"},
    {"attention.o.bias", "attn_output.bias", "self_attn.o_proj.bias"},
    {"mlp.norm.weight", "post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"experts.router.weight", "ffn_gate_inp.weight", "mlp.router.weight"},
    {"experts.router.bias", "ffn_gate_inp.bias", "mlp.router.bias"},
    hfPartOf(Part::kExpertGate, {"experts.gate.weight", "ffn_gate_exps.weight", "mlp.experts.gate_up_proj",
                                 kStored, kTransposed}),
    hfPartOf(Part::kExpertGate, {"experts.gate.bias", "ffn_gate_exps.bias", "mlp.experts.gate_up_proj_bias"}),
    hfPartOf(Part::kExpertUp,
             {"experts.up.weight", "ffn_up_exps.weight", "mlp.experts.gate_up_proj", kStored, kTransposed}),
    hfPartOf(Part::kExpertUp, {"experts.up.bias", "ffn_up_exps.bias", "mlp.experts.gate_up_proj_bias"}),
    {"experts.down.weight", "ffn_down_exps.weight", "mlp.experts.down_proj", kStored, kTransposed},
    {"experts.down.bias", "ffn_down_exps.bias", "mlp.experts.down_proj_bias"},
};

constexpr double kUsualLimit = 7.0;  // of all published files; older ones don't say it

void useLayers(int64_t window, DecoderConfig& config) {
  useOneKindOfLayer(config);
  for (size_t layer = 0; layer < config.layer_window.size(); layer += 2) config.layer_window[layer] = window;
  config.layer_kinds.assign(static_cast<size_t>(config.layers), {.feed_forward = FeedForward::kExperts});
}

void readGguf(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  readGgufSizes(keys, checkpoint, config);
  config.rotaries = {readGgufRotary(keys, checkpoint, config.head_dim)};
  useLayers(requireSize(keys, "gpt-oss.attention.sliding_window"), config);
  config.experts.count = requireSize(keys, "gpt-oss.expert_count");
  config.experts.per_token = requireSize(keys, "gpt-oss.expert_used_count");
  config.experts.feed_forward = requireSize(keys, "gpt-oss.expert_feed_forward_length");
  keys.assume("the clamp of the activation is not in the file: 7, as in all of the family");
}

void readHf(io::ConfigReader& keys, DecoderConfig& config) {
  readHfSizes(keys, false, config);
  if (std::string act = keys.optionalString("hidden_act").value_or("silu"); act != "silu")
    keys.refuse(fmt::format("hidden_act = \"{}\" is not supported (silu)", act));
  config.rotaries = {
      readHfRotary(keys, {.parameters = "rope_parameters", .usual_theta = 150000}, config.head_dim)};
  const int64_t window = requireSize(keys, "sliding_window");
  useLayers(window, config);
  useHfLayerTypes(keys, window, config);
  config.experts.count = requireSize(keys, "num_local_experts");
  config.experts.per_token = requireSize(keys, "num_experts_per_tok");
  config.experts.feed_forward = config.feed_forward;
  const std::optional<int64_t> again = keys.optionalInt("experts_per_token");
  if (again && *again != config.experts.per_token)
    keys.refuse(fmt::format("experts_per_token {} and num_experts_per_tok {} disagree", *again,
                            config.experts.per_token));
  config.swiglu_limit = optionalAbove(keys, "swiglu_limit", 0).value_or(kUsualLimit);
  if (double alpha = keys.optionalFloat("swiglu_alpha").value_or(1.702); alpha != 1.702)
    keys.refuse(fmt::format("swiglu_alpha = {} is not supported (1.702)", alpha));
  if (!keys.optionalBool("attention_bias").value_or(true))
    keys.refuse("attention_bias = false is not supported");
  for (const char* key : {"router_aux_loss_coef", "output_router_logits", "initial_context_length"})
    keys.ignore(key);
}

Result<DecoderConfig> readGptOss(const io::Checkpoint& checkpoint) {
  io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
  DecoderConfig config;
  config.model = gpt_oss.name;
  config.activation = Activation::kClampedSwiglu;
  config.swiglu_limit = kUsualLimit;
  config.qkv_bias = config.output_bias = config.sinks = true;
  if (checkpoint.container == io::Container::kGguf) {
    readGguf(keys, checkpoint, config);
  } else {
    readHf(keys, config);
  }
  config.experts.scores = Experts::Scores::kSoftmaxOfChosen;
  config.experts.bias = true;
  for (Rotary& rotary : config.rotaries)
    rotary.truncate = false;  // the family's definition; GGUF doesn't say it
  config.attention_scale = scaleOfWidth(static_cast<double>(config.head_dim));
  return finishConfig(keys, std::move(config));
}

}  // namespace

constinit const Model gpt_oss{.name = "gpt_oss",
                              .gguf_architectures = kGguf,
                              .hf_architectures = kHf,
                              .refusals = {},
                              .global_weights = kUsualGlobals,
                              .layer_weights = kLayer,
                              .read_config = readGptOss,
                              .build = buildDecoder};

}  // namespace sublane::models
