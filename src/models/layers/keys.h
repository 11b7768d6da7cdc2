// Keys that several families share, read into a DecoderConfig.
//
// Each function reads its keys through the ConfigReader, so that what is missing, mistyped, refused or left
// unread is told at once by finishConfig. A key that changes mathematics is read here or in the model's file;
// one that is neither read nor ignored is an error.
//
//   io::ConfigReader keys(checkpoint.metadata, checkpoint.source);
//   DecoderConfig config{.model = "llama"};
//   readHfSizes(keys, config);
//   config.rotaries = {readHfRotary(keys, {.parameters = "rope_parameters"}, config.head_dim)};
//   return finishConfig(keys, std::move(config));
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/checkpoint.h"
#include "models/models.h"

namespace sublane::models {

/// Sizes of networks and their indices are below this: rows and channels are 32-bit.
inline constexpr int64_t kMostElements = (int64_t{1} << 31) - 1;
/// A size of 1 to `most`. Anything else is refused by its key and gives 0, as an absent or mistyped one does.
int64_t requireSize(io::ConfigReader& keys, const std::string& key, int64_t most = kMostElements);
std::optional<int64_t> optionalSize(io::ConfigReader& keys, const std::string& key);
/// A finite number above `low`. Anything else is refused by its key and gives nothing.
std::optional<double> optionalAbove(io::ConfigReader& keys, const std::string& key, double low);
double requireAbove(io::ConfigReader& keys, const std::string& key, double low);

/// Layers, widths, heads, context, vocabulary, norm epsilon and the tied head, under "<architecture>.".
void readGgufSizes(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config);
/// The same from config.json. `tied_by_default` is what the family does when tie_word_embeddings is absent.
void readHfSizes(io::ConfigReader& keys, bool tied_by_default, DecoderConfig& config);

/// Rotation under "<architecture>.rope.", and the divisors of rope_freqs.weight.
Rotary readGgufRotary(io::ConfigReader& keys, const io::Checkpoint& checkpoint, int64_t head_dim);
/// Where config.json keeps a rotation: `parameters` is the newer dictionary, with theta and scaling together;
/// `theta` and `scaling` are the older keys (scaling empty: the older form has none).
struct HfRotaryKeys {
  std::string_view parameters, theta = "rope_theta", scaling = "rope_scaling";
  double usual_theta = 10000.0;  // of the family's format when no key says it
  bool partial = false;          // may partial_rotary_factor be other than 1?
  double usual_partial = 1.0;    // when no key says it
};
Rotary readHfRotary(io::ConfigReader& keys, const HfRotaryKeys& names, int64_t head_dim);

/// DeepSeek's and YaRN's: 0.1 m ln(factor) + 1 above a factor of 1.
double yarnScale(double factor, double m);

/// Refuses by name an activation that is not one of silu and the tanh form of gelu.
Activation readHfActivation(io::ConfigReader& keys, const std::string& key, const std::string& otherwise);
/// Keys of Hugging Face that switch on mathematics which the family's graph does not have.
void refuseIfTrue(io::ConfigReader& keys, const std::string& key);
/// An absent value, recorded as an assumption.
template <class T>
T otherwise(io::ConfigReader& keys, std::optional<T> value, T fallback, const std::string& what) {
  if (value) return *value;
  keys.assume(what);
  return fallback;
}

/// "sliding_window", when it is there, for every layer.
void readHfWindow(io::ConfigReader& keys, DecoderConfig& config);

/// Qwen's: "sliding_window" where "use_sliding_window" says so, in the layers from "max_window_layers" on or
/// as "layer_types" has it.
void readHfUpperWindow(io::ConfigReader& keys, DecoderConfig& config);
/// "layer_types" of attention: which layers see a window. nullopt: the key is absent. Refused: not one a
/// layer.
std::optional<std::vector<bool>> readHfLayerTypes(io::ConfigReader& keys, int64_t layers);
/// What "layer_types" calls the two kinds of layer of a hybrid, and the mixer of the recurrent ones.
struct HybridNames {
  std::string_view recurrent, attention;
  Mixer mixer;
};
/// "layer_types", or without it "full_attention_interval": the mixers of layer_kinds.
void readHfLayerMixers(io::ConfigReader& keys, const HybridNames& names, DecoderConfig& config);
/// What Qwen3-Next and Qwen3.5 share: sizes, partial rotation, mixers, the delta rule, mtp.* left aside.
void readHfDeltaHybrid(io::ConfigReader& keys, const io::Checkpoint& checkpoint, DecoderConfig& config);
/// Qwen's layers with experts: all but those of "mlp_only_layers", of every "decoder_sparse_step"th.
void readHfSparseLayers(io::ConfigReader& keys, DecoderConfig& config);

/// The same onto `config`, whose layers have their usual windows: those that see one see `window` keys.
void useHfLayerTypes(io::ConfigReader& keys, int64_t window, DecoderConfig& config);
/// A soft cap; null is none.
double readHfCap(io::ConfigReader& keys, const std::string& key, double usual);

/// All layers alike: one rotary, no window.
void useOneKindOfLayer(DecoderConfig& config);
/// 1/sqrt(width); 0 for a width that checkConfig refuses.
double scaleOfWidth(double width);

/// Every fault of the reader in one error, else the configuration with the reader's assumptions.
Result<DecoderConfig> finishConfig(io::ConfigReader& keys, DecoderConfig config);

/// Sizes that must fit each other: all of them, at once.
Status checkConfig(const DecoderConfig& config);

}  // namespace sublane::models
