// What must hold of any DecoderConfig before a graph is built from it, and how it reads in `inspect`.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "models/layers/keys.h"
#include "models/layers/layers.h"

namespace sublane::models {
namespace {

constexpr int64_t kMostExperts = 4096;  // beyond any model; keeps a broken file from asking for memory

class Faults {
 public:
  template <class... Args>
  void unless(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (!holds) found_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  Status asStatus(const std::string& where) const {
    if (found_.empty()) return Ok{};
    return inputError("{}: {}", where, fmt::join(found_, "; "));
  }

 private:
  std::vector<std::string> found_;
};

void checkSizes(const DecoderConfig& config, Faults& faults) {
  struct Size {
    const char* name;
    int64_t value;
  };
  for (const Size& size : {Size{"vocabulary", config.vocabulary}, Size{"hidden size", config.hidden},
                           Size{"layers", config.layers}, Size{"heads", config.heads},
                           Size{"kv heads", config.kv_heads}, Size{"head width", config.head_dim},
                           Size{"feed-forward size", config.feed_forward}, Size{"context", config.context}})
    faults.unless(size.value > 0 && size.value <= kMostElements, "{} is {}", size.name, size.value);
  if (config.kv_heads > 0)
    faults.unless(config.heads % config.kv_heads == 0, "{} heads are not a multiple of {} kv heads",
                  config.heads, config.kv_heads);
  faults.unless(config.norm_epsilon > 0 && config.norm_epsilon < 1, "norm epsilon is {}, not between 0 and 1",
                config.norm_epsilon);
  faults.unless(config.attention_scale > 0 && std::isfinite(config.attention_scale), "attention scale is {}",
                config.attention_scale);
  faults.unless(std::isfinite(config.residual_scale), "residual scale is {}", config.residual_scale);
  faults.unless(config.logits_divisor > 0 && std::isfinite(config.logits_divisor), "logits divisor is {}",
                config.logits_divisor);
  faults.unless(config.final_soft_cap >= 0, "final soft cap is {}", config.final_soft_cap);
  faults.unless(config.attention_soft_cap >= 0, "soft cap of the scores is {}", config.attention_soft_cap);
}

void checkRotary(const Rotary& rotary, const DecoderConfig& config, Faults& faults) {
  faults.unless(rotary.dim > 0 && rotary.dim % 2 == 0 && rotary.dim <= config.head_dim,
                "rotary width {} is not an even number up to the head width {}", rotary.dim, config.head_dim);
  faults.unless(rotary.dim == config.rotaries[0].dim, "rotary widths {} and {} differ", rotary.dim,
                config.rotaries[0].dim);
  faults.unless(rotary.theta > 1 && std::isfinite(rotary.theta), "rope theta is {}", rotary.theta);
  faults.unless(rotary.factor > 0 && std::isfinite(rotary.factor), "rope factor is {}", rotary.factor);
  if (rotary.scaling == Rotary::Scaling::kLlama3) {
    faults.unless(
        rotary.low_frequency_factor > 0 && rotary.high_frequency_factor > rotary.low_frequency_factor,
        "rope low and high frequency factors are {} and {}", rotary.low_frequency_factor,
        rotary.high_frequency_factor);
    faults.unless(rotary.original_context > 0, "rope original context is {}", rotary.original_context);
  }
  if (rotary.scaling == Rotary::Scaling::kYarn) {
    faults.unless(rotary.original_context > 0, "rope original context is {}", rotary.original_context);
    faults.unless(rotary.beta_fast > rotary.beta_slow && rotary.beta_slow > 0, "rope betas are {} and {}",
                  rotary.beta_fast, rotary.beta_slow);
    faults.unless(rotary.attention_factor > 0 && std::isfinite(rotary.attention_factor),
                  "rope attention factor is {}", rotary.attention_factor);
  }
  const std::vector<double>& divisors = rotary.frequency_divisors;
  if (divisors.empty()) return;
  faults.unless(static_cast<int64_t>(divisors.size()) == rotary.dim / 2, "{} rope divisors for {} pairs",
                divisors.size(), rotary.dim / 2);
  faults.unless(
      std::all_of(divisors.begin(), divisors.end(), [](double d) { return d > 0 && std::isfinite(d); }),
      "a rope divisor is not a positive number");
}

void checkLayers(const DecoderConfig& config, Faults& faults) {
  faults.unless(static_cast<int64_t>(config.layer_rotary.size()) == config.layers &&
                    static_cast<int64_t>(config.layer_window.size()) == config.layers,
                "{} layer types for {} layers", config.layer_window.size(), config.layers);
  for (int32_t rotary : config.layer_rotary)
    faults.unless(rotary >= -1 && rotary < static_cast<int32_t>(config.rotaries.size()),
                  "a layer uses rotary {} of {}", rotary, config.rotaries.size());
  for (int64_t window : config.layer_window)
    faults.unless(window >= 0 && window <= kMostElements, "a layer's window is {}", window);
}

void checkLatent(const DecoderConfig& config, Faults& faults) {
  const LatentAttention& n = config.latent;
  for (auto [name, size] : {std::pair{"latent size", n.latent},
                            {"width without rotation", n.nope},
                            {"width that rotates", n.rope},
                            {"value width", n.value}})
    faults.unless(size > 0 && size <= kMostElements, "{} is {}", name, size);
  faults.unless(n.query_rank >= 0 && n.query_rank <= kMostElements, "the query's rank is {}", n.query_rank);
}

constexpr int64_t kMostRecurrent = int64_t{1} << 20;  // beyond any model; products of two stay small

void checkRecurrence(const Recurrence& n, Faults& faults) {
  for (auto [name, size] : {std::pair{"recurrent heads", n.heads},
                            {"recurrent key heads", n.key_heads},
                            {"recurrent key width", n.key},
                            {"recurrent value width", n.value}})
    faults.unless(size > 0 && size <= kMostRecurrent, "{} is {}", name, size);
  faults.unless(n.convolution > 1 && n.convolution <= 64, "a convolution over {} tokens is not over 2 to 64",
                n.convolution);
  if (n.key_heads > 0)
    faults.unless(n.heads % n.key_heads == 0, "{} recurrent heads are not a multiple of {} key heads",
                  n.heads, n.key_heads);
}

std::string describeRecurrence(const DecoderConfig& config) {
  const Recurrence& n = config.recurrence;
  const auto of = [&](Mixer mixer) {
    return std::ranges::count_if(config.layer_kinds,
                                 [mixer](const LayerKind& kind) { return kind.mixer == mixer; });
  };
  const auto mamba = of(Mixer::kMamba2), layers = mamba + of(Mixer::kGatedDelta);
  return fmt::format(
      "{} in {} of {} layers: {} heads with a state of {} x {}, {} key heads, a convolution over {} tokens "
      "of {} "
      "channels",
      mamba > 0 ? "mamba2" : "gated delta rule", layers, config.layers, n.heads, n.key, n.value, n.key_heads,
      n.convolution, n.channels());
}

std::string describeLatent(const DecoderConfig& config) {
  const LatentAttention& n = config.latent;
  return fmt::format(
      "attention: {} heads over one latent of {} and {} rotated channels; heads of {} + {}, values of {}{}, "
      "scale {:.6g}",
      config.heads, n.latent, n.rope, n.nope, n.rope, n.value,
      n.query_rank > 0 ? fmt::format(", queries of rank {}", n.query_rank) : "", config.attention_scale);
}

void checkExperts(const DecoderConfig& config, Faults& faults) {
  faults.unless(
      config.layer_kinds.empty() || static_cast<int64_t>(config.layer_kinds.size()) == config.layers,
      "{} layer kinds for {} layers", config.layer_kinds.size(), config.layers);
  const bool used = std::ranges::any_of(
      config.layer_kinds, [](const LayerKind& kind) { return kind.feed_forward == FeedForward::kExperts; });
  if (!used) return;
  const Experts& e = config.experts;
  faults.unless(e.count > 0 && e.count <= kMostExperts, "{} experts are not between 1 and {}", e.count,
                kMostExperts);
  faults.unless(e.per_token > 0 && e.per_token <= e.count, "{} experts a token of {}", e.per_token, e.count);
  faults.unless(e.feed_forward > 0 && e.feed_forward <= kMostElements, "an expert's feed-forward size is {}",
                e.feed_forward);
  faults.unless(e.groups > 0 && e.count % e.groups == 0, "{} experts are not a multiple of {} groups",
                e.count, e.groups);
  faults.unless(e.groups_kept > 0 && e.groups_kept <= e.groups, "{} groups kept of {}", e.groups_kept,
                e.groups);
  if (e.groups > 0 && e.groups_kept > 0 && e.groups_kept <= e.groups)
    faults.unless(e.per_token <= e.count / e.groups * e.groups_kept,
                  "{} experts a token, but {} groups hold {}", e.per_token, e.groups_kept,
                  e.count / e.groups * e.groups_kept);
}

std::string describeExperts(const DecoderConfig& config) {
  const Experts& e = config.experts;
  const auto layers = std::ranges::count_if(
      config.layer_kinds, [](const LayerKind& kind) { return kind.feed_forward == FeedForward::kExperts; });
  std::string text = fmt::format("experts in {} of {} layers: {} of {} a token, each {}", layers,
                                 config.layers, e.per_token, e.count, e.feed_forward);
  constexpr const char* kScores[] = {"softmax", "sigmoid", "softmax of the chosen"};
  text += fmt::format(", scores by {}{}", kScores[static_cast<size_t>(e.scores)],
                      e.normalise ? ", adding up to 1" : "");
  if (e.choice_bias) text += ", a bias for the choice";
  if (e.groups > 1) text += fmt::format(", from the best {} of {} groups", e.groups_kept, e.groups);
  if (e.scale != 1.0) text += fmt::format(", times {:g}", e.scale);
  if (e.shared_feed_forward > 0)
    text +=
        fmt::format(", a shared one of {}{}", e.shared_feed_forward, e.shared_gate ? " behind a gate" : "");
  return text;
}

std::string describeRotary(const Rotary& rotary) {
  std::string text = fmt::format("theta {:g}, {} of each head's channels", rotary.theta, rotary.dim);
  if (rotary.scaling == Rotary::Scaling::kLinear)
    text += fmt::format(", linear scaling by {:g}", rotary.factor);
  if (rotary.scaling == Rotary::Scaling::kLlama3)
    text += fmt::format(", llama3 scaling by {:g} (frequencies {:g} to {:g} of {} tokens)", rotary.factor,
                        rotary.low_frequency_factor, rotary.high_frequency_factor, rotary.original_context);
  if (rotary.scaling == Rotary::Scaling::kYarn)
    text += fmt::format(", yarn scaling by {:g} of {} tokens, cos and sin times {:.6g}", rotary.factor,
                        rotary.original_context, rotary.attention_factor);
  if (rotary.pairs == Rotary::Pairs::kInterleaved) text += ", interleaved pairs";
  if (!rotary.frequency_divisors.empty()) text += ", frequencies divided by rope_freqs.weight";
  return text;
}

std::string describeLayers(const DecoderConfig& config, size_t rotary) {
  std::vector<int64_t> windows;
  int64_t count = 0;
  for (size_t i = 0; i < config.layer_rotary.size(); ++i) {
    if (static_cast<size_t>(config.layer_rotary[i]) != rotary) continue;
    ++count;
    if (std::find(windows.begin(), windows.end(), config.layer_window[i]) == windows.end())
      windows.push_back(config.layer_window[i]);
  }
  std::vector<std::string> seen;
  for (int64_t window : windows)
    seen.push_back(window == 0 ? "all keys" : fmt::format("the last {} keys", window));
  return fmt::format("{} layers see {}", count, fmt::join(seen, " or "));
}

}  // namespace

bool isRecurrent(Mixer mixer) { return mixer == Mixer::kGatedDelta || mixer == Mixer::kMamba2; }

bool hasRecurrentLayer(const DecoderConfig& config) {
  return std::ranges::any_of(config.layer_kinds,
                             [](const LayerKind& kind) { return isRecurrent(kind.mixer); });
}

Status checkConfig(const DecoderConfig& config) {
  Faults faults;
  checkSizes(config, faults);
  faults.unless(!config.rotaries.empty() ||
                    std::ranges::all_of(config.layer_rotary, [](int32_t rotary) { return rotary == -1; }),
                "no rotary positions");
  for (const Rotary& rotary : config.rotaries) checkRotary(rotary, config, faults);
  checkLayers(config, faults);
  checkExperts(config, faults);
  if (config.latent.latent > 0) checkLatent(config, faults);
  if (hasRecurrentLayer(config)) checkRecurrence(config.recurrence, faults);
  return faults.asStatus(config.model);
}

std::vector<std::string> describe(const DecoderConfig& config) {
  constexpr const char* kActivations[] = {"gated silu", "gated gelu (tanh)", "clamped swiglu"};
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} layers, hidden {}, feed-forward {}, vocabulary {}, context {}",
                              config.model, config.layers, config.hidden, config.feed_forward,
                              config.vocabulary, config.context));
  if (config.latent.latent > 0)
    lines.push_back(describeLatent(config));
  else
    lines.push_back(fmt::format("attention: {} heads over {} kv heads of {}, scale {:.6g}{}", config.heads,
                                config.kv_heads, config.head_dim, config.attention_scale,
                                config.qk_norm ? ", q and k normed" : ""));
  if (config.attention_soft_cap > 0)
    lines.back() += fmt::format(", scores capped at {:g}", config.attention_soft_cap);
  if (config.qkv_bias) lines.back() += ", biases";
  if (config.sinks) lines.back() += ", a sink for each head";
  if (config.attention_gate) lines.back() += ", a gate for each head";
  if (hasRecurrentLayer(config)) lines.push_back(describeRecurrence(config));
  if (config.rotaries.empty()) lines.push_back("no rotary positions");
  for (size_t i = 0; i < config.rotaries.size(); ++i)
    lines.push_back(
        fmt::format("rotary {}: {}; {}", i, describeRotary(config.rotaries[i]), describeLayers(config, i)));
  lines.push_back(fmt::format(
      "norm epsilon {:.6g}, {} norms a layer, {} MLP, {} head{}", config.norm_epsilon,
      config.post_norms ? 4 : 2, kActivations[static_cast<size_t>(config.activation)],
      config.tied_embedding ? "tied" : "own",
      config.embedding_scale == 1.0 ? "" : fmt::format(", embedding times {:.6g}", config.embedding_scale)));
  if (config.residual_scale != 1.0 || config.logits_divisor != 1.0)
    lines.push_back(fmt::format("what a layer adds times {:.6g}, logits divided by {:.6g}",
                                config.residual_scale, config.logits_divisor));
  if (config.experts.count > 0) lines.push_back(describeExperts(config));
  for (const std::string& assumption : config.assumptions) lines.push_back("assumed: " + assumption);
  return lines;
}

}  // namespace sublane::models
