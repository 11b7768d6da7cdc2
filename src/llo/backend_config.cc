#include <simdjson.h>

#include <charconv>

#include "llo/llo.h"

namespace sublane::llo {
namespace {

namespace dom = simdjson::dom;

/// libtpu writes 64-bit integers as strings, as protobuf's JSON does.
std::optional<double> number(dom::element object, std::string_view key) {
  dom::element element;
  if (object.at_key(key).get(element)) return std::nullopt;
  double value = 0;
  if (!element.get(value)) return value;
  std::string_view text;
  if (element.get(text)) return std::nullopt;
  int64_t whole = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(whole);
}

std::optional<int64_t> integer(dom::element object, std::string_view key) {
  const std::optional<double> value = number(object, key);
  if (!value || *value < 0 || *value > 9e15) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<int64_t> vmemBytes(dom::element root) {
  dom::array configs;
  if (root.at_key("used_scoped_memory_configs").get(configs)) return std::nullopt;
  for (dom::element config : configs) {
    if (integer(config, "memory_space") == 1) return integer(config, "size");
  }
  return std::nullopt;
}

}  // namespace

BackendConfig readBackendConfig(const std::string& json) {
  BackendConfig config;
  if (json.empty()) return config;
  thread_local dom::parser parser;
  dom::element root, inner;
  if (parser.parse(json).get(root) || !root.is_object()) return config;
  config.estimated_cycles = integer(root, "estimated_cycles");
  if (!config.estimated_cycles && !root.at_key("window_config").get(inner)) {
    config.estimated_cycles = integer(inner, "estimated_cycles");
  }
  if (!root.at_key("known_trip_count").get(inner)) config.trip_count = integer(inner, "n");
  config.vmem_bytes = vmemBytes(root);
  if (!root.at_key("custom_call_config").get(inner) && !inner.at_key("cost_estimate").get(inner)) {
    config.kernel_flops = number(inner, "flops");
    config.kernel_bytes = number(inner, "bytes_accessed");
    config.kernel_transcendentals = number(inner, "transcendentals");
  }
  return config;
}

}  // namespace sublane::llo
