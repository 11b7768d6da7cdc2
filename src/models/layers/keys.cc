#include "models/layers/keys.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "formats/formats.h"

namespace sublane::models {
namespace {

constexpr double kUsualTheta = 10000.0;  // of the first rotary models; both containers' formats name it
constexpr int64_t kMostLayers = 4096;    // beyond any model; keeps a broken file from asking for memory

/// Heads of one width; a file whose keys and values differ is refused.
int64_t readGgufHeadDim(io::ConfigReader& keys, const std::string& prefix, const DecoderConfig& config) {
  std::optional<int64_t> key = optionalSize(keys, prefix + "attention.key_length");
  std::optional<int64_t> value = optionalSize(keys, prefix + "attention.value_length");
  if (key && value && *key != *value)
    keys.refuse(fmt::format("{0}attention.key_length {1} and value_length {2} differ", prefix, *key, *value));
  if (key) return *key;
  return config.heads > 0 ? config.hidden / config.heads : 0;
}

int64_t readGgufVocabulary(io::ConfigReader& keys, const std::string& prefix) {
  if (keys.has(prefix + "vocab_size")) return requireSize(keys, prefix + "vocab_size");
  std::optional<std::vector<std::string>> tokens = keys.optionalStrings("tokenizer.ggml.tokens");
  if (!tokens) {
    keys.refuse(prefix + "vocab_size and tokenizer.ggml.tokens are both missing");
    return 0;
  }
  keys.assume(
      fmt::format("{}vocab_size absent: {}, the number of tokenizer.ggml.tokens", prefix, tokens->size()));
  return static_cast<int64_t>(tokens->size());
}

/// By 2309.00071, with what DeepSeek-V2 added.
void readYarn(io::ConfigReader& keys, const std::string& prefix, Rotary& rotary) {
  rotary.scaling = Rotary::Scaling::kYarn;
  rotary.factor = requireAbove(keys, prefix + ".factor", 0);
  rotary.original_context = requireSize(keys, prefix + ".original_max_position_embeddings");
  rotary.beta_fast = optionalAbove(keys, prefix + ".beta_fast", 0).value_or(32.0);
  rotary.beta_slow = optionalAbove(keys, prefix + ".beta_slow", 0).value_or(1.0);
  rotary.truncate = keys.optionalBool(prefix + ".truncate").value_or(true);
  const double mscale = keys.optionalFloat(prefix + ".mscale").value_or(0.0);
  rotary.mscale_all_dim = keys.optionalFloat(prefix + ".mscale_all_dim").value_or(0.0);
  std::optional<double> given = optionalAbove(keys, prefix + ".attention_factor", 0);
  const bool both = mscale != 0 && rotary.mscale_all_dim != 0;
  rotary.attention_factor =
      given  ? *given
      : both ? yarnScale(rotary.factor, mscale) / yarnScale(rotary.factor, rotary.mscale_all_dim)
             : yarnScale(rotary.factor, 1.0);
}

/// The keys under `prefix`; `type` has been read.
void readHfScaling(io::ConfigReader& keys, const std::string& prefix, const std::string& type,
                   Rotary& rotary) {
  if (type == "default") return;
  if (type == "yarn") return readYarn(keys, prefix, rotary);
  if (type == "linear") {
    rotary.scaling = Rotary::Scaling::kLinear;
    rotary.factor = requireAbove(keys, prefix + ".factor", 0);
  } else if (type == "llama3") {
    rotary.scaling = Rotary::Scaling::kLlama3;
    rotary.factor = requireAbove(keys, prefix + ".factor", 0);
    rotary.low_frequency_factor = requireAbove(keys, prefix + ".low_freq_factor", 0);
    rotary.high_frequency_factor = requireAbove(keys, prefix + ".high_freq_factor", 0);
    rotary.original_context = requireSize(keys, prefix + ".original_max_position_embeddings");
  } else {
    keys.refuse(
        fmt::format("{}.rope_type = \"{}\" is not supported (default, linear, llama3, yarn)", prefix, type));
    keys.ignore(prefix + ".*");
  }
}

/// The type under either of its names: nullopt when the dictionary names none.
std::optional<std::string> readHfRopeType(io::ConfigReader& keys, const std::string& prefix) {
  std::optional<std::string> newer = keys.optionalString(prefix + ".rope_type");
  std::optional<std::string> older = keys.optionalString(prefix + ".type");
  if (newer && older && *newer != *older)
    keys.refuse(
        fmt::format("{0}.rope_type = \"{1}\" and {0}.type = \"{2}\" disagree", prefix, *newer, *older));
  return newer ? newer : older;
}

void refusePartialRotary(io::ConfigReader& keys, const std::string& key) {
  std::optional<double> part = keys.optionalFloat(key);
  if (part && *part != 1.0) keys.refuse(fmt::format("{} = {} is not supported (1)", key, *part));
}

/// The channels of a head that rotate. The factor applies once, wherever it is said.
int64_t readPartialRotary(io::ConfigReader& keys, const std::string& parameters, double usual,
                          int64_t head_dim) {
  const std::string newer_key = parameters + ".partial_rotary_factor", older_key = "partial_rotary_factor";
  std::optional<double> newer = optionalAbove(keys, newer_key, 0), older = optionalAbove(keys, older_key, 0);
  if (newer && older && *newer != *older)
    keys.refuse(fmt::format("{} {} and {} {} disagree", newer_key, *newer, older_key, *older));
  const double factor = otherwise(keys, newer ? newer : older, usual,
                                  fmt::format("{} absent: {} by the family's default", older_key, usual));
  if (factor > 1) keys.refuse(fmt::format("{} = {} is not between 0 and 1", older_key, factor));
  return static_cast<int64_t>(static_cast<double>(head_dim) * std::min(factor, 1.0));
}

}  // namespace

double yarnScale(double factor, double m) { return factor <= 1 ? 1.0 : 0.1 * m * std::log(factor) + 1.0; }

std::optional<int64_t> optionalSize(io::ConfigReader& keys, const std::string& key) {
  std::optional<int64_t> value = keys.optionalInt(key);
  if (!value || (*value >= 1 && *value <= kMostElements)) return value;
  keys.refuse(fmt::format("{} = {} is outside 1..{}", key, *value, kMostElements));
  return 0;
}

int64_t requireSize(io::ConfigReader& keys, const std::string& key, int64_t most) {
  if (!keys.has(key)) return keys.requireInt(key);  // which says that it is missing
  const std::optional<int64_t> value = keys.optionalInt(key);
  if (!value) return 0;
  if (*value >= 1 && *value <= most) return *value;
  keys.refuse(fmt::format("{} = {} is outside 1..{}", key, *value, most));
  return 0;
}

std::optional<double> optionalAbove(io::ConfigReader& keys, const std::string& key, double low) {
  std::optional<double> value = keys.optionalFloat(key);
  if (!value || (*value > low && std::isfinite(*value))) return value;
  keys.refuse(fmt::format("{} = {} is not a finite number above {}", key, *value, low));
  return std::nullopt;
}

double requireAbove(io::ConfigReader& keys, const std::string& key, double low) {
  if (!keys.has(key)) return keys.requireFloat(key);
  return optionalAbove(keys, key, low).value_or(0.0);
}

void readGgufSizes(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config) {
  std::string prefix = checkpoint.architecture + ".";
  config.layers = requireSize(keys, prefix + "block_count", kMostLayers);
  config.context = requireSize(keys, prefix + "context_length");
  config.hidden = requireSize(keys, prefix + "embedding_length");
  config.feed_forward = requireSize(keys, prefix + "feed_forward_length");
  config.heads = requireSize(keys, prefix + "attention.head_count");
  config.kv_heads = otherwise(keys, optionalSize(keys, prefix + "attention.head_count_kv"), config.heads,
                              prefix + "attention.head_count_kv absent: as many as head_count");
  config.head_dim = readGgufHeadDim(keys, prefix, config);
  config.norm_epsilon = requireAbove(keys, prefix + "attention.layer_norm_rms_epsilon", 0);
  config.vocabulary = readGgufVocabulary(keys, prefix);
  config.tied_embedding = checkpoint.find("output.weight") == nullptr;
  if (config.tied_embedding)
    keys.assume("output.weight absent: the head is the embedding, as GGUF writes tied models");
  for (const char* pattern : {"general.*", "tokenizer.*", "quantize.*", "GGUF.*"}) keys.ignore(pattern);
}

void readHfSizes(io::ConfigReader& keys, bool tied_by_default, DecoderConfig& config) {
  config.layers = requireSize(keys, "num_hidden_layers", kMostLayers);
  config.context = requireSize(keys, "max_position_embeddings");
  config.hidden = requireSize(keys, "hidden_size");
  config.feed_forward = requireSize(keys, "intermediate_size");
  config.heads = requireSize(keys, "num_attention_heads");
  config.kv_heads = otherwise(keys, optionalSize(keys, "num_key_value_heads"), config.heads,
                              "num_key_value_heads absent: as many as num_attention_heads");
  if (std::optional<int64_t> head_dim = optionalSize(keys, "head_dim")) {
    config.head_dim = *head_dim;
  } else if (config.heads > 0) {
    config.head_dim = config.hidden / config.heads;
    keys.assume(fmt::format("head_dim absent: hidden_size / num_attention_heads = {}", config.head_dim));
    if (config.hidden % config.heads != 0)
      keys.refuse(
          fmt::format("head_dim is missing, and hidden_size {} is not a multiple of "
                      "num_attention_heads {}",
                      config.hidden, config.heads));
  }
  config.norm_epsilon = requireAbove(keys, "rms_norm_eps", 0);
  config.vocabulary = requireSize(keys, "vocab_size");
  config.tied_embedding =
      otherwise(keys, keys.optionalBool("tie_word_embeddings"), tied_by_default,
                fmt::format("tie_word_embeddings absent: {} by the family's default", tied_by_default));
  // io reads the keys beside the tensors, or refuses them; the step computes in what the matrices stand for.
  if (std::string method = keys.optionalString("quantization_config.quant_method").value_or("");
      !method.empty())
    keys.assume(fmt::format("quantization_config ({}): matrices are unpacked when they are loaded", method));
  for (const char* pattern :
       {"architectures", "model_type", "quantization_config.*", "compression_config.*", "_name_or_path",
        "name_or_path", "torch_dtype", "dtype", "transformers_version", "initializer_range", "use_cache",
        "bos_token_id*", "eos_token_id*", "pad_token_id*", "attention_dropout", "cache_implementation",
        "transformers.js_config*"})
    keys.ignore(pattern);
}

Rotary readGgufRotary(io::ConfigReader& keys, const io::Checkpoint& checkpoint, int64_t head_dim) {
  std::string prefix = checkpoint.architecture + ".rope.";
  Rotary rotary;
  rotary.theta = otherwise(keys, optionalAbove(keys, prefix + "freq_base", 1), kUsualTheta,
                           prefix + "freq_base absent: 10000");
  rotary.dim = keys.optionalInt(prefix + "dimension_count").value_or(head_dim);
  if (head_dim > 0 && rotary.dim != head_dim)  // a width that is no size was refused already
    keys.refuse(
        fmt::format("{}dimension_count {} is not the head's width {}: partial rotation is not supported",
                    prefix, rotary.dim, head_dim));
  std::string type = keys.optionalString(prefix + "scaling.type").value_or("none");
  if (type == "linear") {
    rotary.scaling = Rotary::Scaling::kLinear;
    rotary.factor = requireAbove(keys, prefix + "scaling.factor", 0);
  } else if (type == "yarn") {
    rotary.scaling = Rotary::Scaling::kYarn;
    rotary.factor = requireAbove(keys, prefix + "scaling.factor", 0);
    rotary.original_context = requireSize(keys, prefix + "scaling.original_context_length");
    rotary.beta_fast = optionalAbove(keys, prefix + "scaling.yarn_beta_fast", 0).value_or(32.0);
    rotary.beta_slow = optionalAbove(keys, prefix + "scaling.yarn_beta_slow", 0).value_or(1.0);
    rotary.attention_factor =
        optionalAbove(keys, prefix + "scaling.attn_factor", 0).value_or(1.0) * yarnScale(rotary.factor, 1.0);
  } else if (type != "none") {
    keys.refuse(fmt::format("{}scaling.type = \"{}\" is not supported (none, linear, yarn)", prefix, type));
    keys.ignore(prefix + "scaling.*");
  }
  keys.ignore(prefix + "scaling.original_context_length");  // said for the record: the type uses none
  keys.ignore(prefix + "scaling.finetuned");
  const io::Tensor* divisors = checkpoint.find("rope_freqs.weight");
  if (divisors == nullptr) return rotary;
  if (divisors->shape != std::vector<int64_t>{head_dim / 2}) {
    keys.refuse(fmt::format("rope_freqs.weight has shape [{}], the head's width needs [{}]",
                            fmt::join(divisors->shape, ","), head_dim / 2));
    return rotary;
  }
  std::vector<float> values(static_cast<size_t>(head_dim / 2));
  Status read = formats::dequantize(divisors->packing, divisors->bytes, values);
  if (!read.ok()) keys.refuse(fmt::format("rope_freqs.weight: {}", read.error().message()));
  rotary.frequency_divisors.assign(values.begin(), values.end());
  return rotary;
}

Rotary readHfRotary(io::ConfigReader& keys, const HfRotaryKeys& names, int64_t head_dim) {
  Rotary rotary;
  rotary.dim = head_dim;
  const std::string parameters(names.parameters), theta(names.theta), scaling(names.scaling);
  const std::string newer_key = parameters + ".rope_theta";
  std::optional<double> newer = optionalAbove(keys, newer_key, 1), older = optionalAbove(keys, theta, 1);
  if (newer && older && *newer != *older)
    keys.refuse(fmt::format("{} {} and {} {} disagree", newer_key, *newer, theta, *older));
  rotary.theta = otherwise(keys, newer ? newer : older, names.usual_theta,
                           fmt::format("{} absent: {} by the family's default", theta, names.usual_theta));
  if (names.partial) {
    rotary.dim = readPartialRotary(keys, parameters, names.usual_partial, head_dim);
  } else {
    refusePartialRotary(keys, parameters + ".partial_rotary_factor");
    refusePartialRotary(keys, "partial_rotary_factor");
  }
  std::optional<std::string> type = readHfRopeType(keys, parameters), older_type;
  if (!scaling.empty()) older_type = readHfRopeType(keys, scaling);
  if (type && older_type && *type != *older_type)
    keys.refuse(fmt::format("{} and {} name different types, \"{}\" and \"{}\"", parameters, scaling, *type,
                            *older_type));
  if (type) {
    readHfScaling(keys, parameters, *type, rotary);
    if (older_type) keys.ignore(scaling + ".*");  // the same, said twice
  } else if (older_type) {
    readHfScaling(keys, scaling, *older_type, rotary);
  }  // a factor without a type stays unread, and so is an error
  return rotary;
}

Activation readHfActivation(io::ConfigReader& keys, const std::string& key, const std::string& fallback) {
  std::string activation =
      otherwise(keys, keys.optionalString(key), fallback, fmt::format("{} absent: {}", key, fallback));
  if (activation == "silu" || activation == "swish") return Activation::kSilu;
  if (activation == "gelu_pytorch_tanh" || activation == "gelu_tanh") return Activation::kGeluTanh;
  keys.refuse(fmt::format("{} = \"{}\" is not supported (silu, gelu_pytorch_tanh)", key, activation));
  return Activation::kSilu;
}

void refuseIfTrue(io::ConfigReader& keys, const std::string& key) {
  if (keys.optionalBool(key).value_or(false)) keys.refuse(key + " = true is not supported");
}

void readHfWindow(io::ConfigReader& keys, DecoderConfig& config) {
  if (std::optional<int64_t> window = optionalSize(keys, "sliding_window"))
    config.layer_window.assign(config.layer_window.size(), *window);
}

std::optional<std::vector<bool>> readHfLayerTypes(io::ConfigReader& keys, int64_t layers) {
  std::optional<std::vector<std::string>> types = keys.optionalStrings("layer_types");
  if (!types) return std::nullopt;
  if (static_cast<int64_t>(types->size()) != layers)
    keys.refuse(fmt::format("layer_types names {} layers, num_hidden_layers is {}", types->size(), layers));
  std::vector<bool> windowed;
  for (const std::string& type : *types) {
    if (type != "sliding_attention" && type != "full_attention")
      keys.refuse(
          fmt::format("layer_types: \"{}\" is not supported (sliding_attention, full_attention)", type));
    windowed.push_back(type == "sliding_attention");
  }
  return windowed;
}

void useHfLayerTypes(io::ConfigReader& keys, int64_t window, DecoderConfig& config) {
  const std::optional<std::vector<bool>> windowed = readHfLayerTypes(keys, config.layers);
  for (size_t i = 0; windowed && i < std::min(config.layer_window.size(), windowed->size()); ++i)
    config.layer_window[i] = (*windowed)[i] ? window : 0;
}

void readHfUpperWindow(io::ConfigReader& keys, DecoderConfig& config) {
  const bool used = keys.optionalBool("use_sliding_window").value_or(false);
  const std::optional<int64_t> window = optionalSize(keys, "sliding_window");
  const int64_t first = keys.optionalInt("max_window_layers").value_or(28);  // the format's default
  const std::optional<std::vector<bool>> types = readHfLayerTypes(keys, config.layers);
  if (!used || !window) return;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const auto i = static_cast<size_t>(layer);
    const bool windowed = types && i < types->size() ? (*types)[i] : layer >= first;
    if (windowed) config.layer_window[i] = *window;
  }
}

double readHfCap(io::ConfigReader& keys, const std::string& key, double usual) {
  if (keys.has(key)) return keys.optionalFloat(key).value_or(0.0);
  if (keys.isNull(key)) return 0.0;
  keys.assume(fmt::format("{} absent: {} by the family's default", key, usual));
  return usual;
}

void useOneKindOfLayer(DecoderConfig& config) {
  config.layer_rotary.assign(static_cast<size_t>(config.layers), 0);
  config.layer_window.assign(static_cast<size_t>(config.layers), 0);
}

double scaleOfWidth(double width) { return width > 0 ? 1.0 / std::sqrt(width) : 0.0; }

Result<DecoderConfig> finishConfig(io::ConfigReader& keys, DecoderConfig config) {
  SUBLANE_CHECK_OK(keys.finish());
  config.assumptions = keys.assumptions();
  Status fits = checkConfig(config);
  if (!fits.ok()) return std::move(fits).error().at(keys.source());
  return config;
}

}  // namespace sublane::models
