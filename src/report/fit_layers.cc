#include "report/fit_layers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/units.h"

namespace sublane::report {
namespace {

using Kind = std::tuple<models::Mixer, models::FeedForward, bool>;

Kind kindOf(const models::DecoderConfig& config, size_t layer) {
  const models::LayerKind kind = config.layer_kinds.empty() ? models::LayerKind{} : config.layer_kinds[layer];
  return {kind.mixer, kind.feed_forward, config.layer_window[layer] != 0};
}

/// The first `each` layers of every kind, in the model's order.
models::DecoderConfig withLayers(const models::DecoderConfig& config, int64_t each) {
  models::DecoderConfig cut = config;
  cut.layer_rotary.clear(), cut.layer_window.clear(), cut.layer_kinds.clear();
  std::map<Kind, int64_t> kept;
  for (size_t layer = 0; layer < static_cast<size_t>(config.layers); ++layer) {
    if (kept[kindOf(config, layer)]++ >= each) continue;
    cut.layer_rotary.push_back(config.layer_rotary[layer]);
    cut.layer_window.push_back(config.layer_window[layer]);
    if (!config.layer_kinds.empty()) cut.layer_kinds.push_back(config.layer_kinds[layer]);
  }
  cut.layers = static_cast<int64_t>(cut.layer_window.size());
  return cut;
}

}  // namespace

CutModel cutToFit(const models::DecoderConfig& config, int64_t bytes_per_weight, double most_bytes) {
  const auto bytesOf = [&](const models::DecoderConfig& one) {
    return static_cast<double>(models::parameterCount(one)) * static_cast<double>(bytes_per_weight);
  };
  const double whole = bytesOf(config);
  if (whole <= most_bytes) return {config, ""};
  for (int64_t each = 4;; --each) {
    models::DecoderConfig cut = withLayers(config, each);
    const double bytes = bytesOf(cut);
    if (bytes > most_bytes && each > 1) continue;
    return {cut, fmt::format(
                     "the weights of {} layers are {}, more than the {} of one device: the step holds {} of "
                     "them, the first {} of each kind, {}; embedding and head are whole",
                     config.layers, formatBytes(whole), formatBytes(most_bytes), cut.layers, each,
                     formatBytes(bytes))};
  }
}

}  // namespace sublane::report
