#include "report/json_parts.h"

#include <nlohmann/json.hpp>

namespace sublane::report {
namespace {

Json errorJson(const std::optional<StepError>& error) {
  if (!error) return nullptr;
  return {{"relative", error->relative},
          {"class", error->name},
          {"points", error->points},
          {"covered_share", error->covered}};
}

/// The compiler's fingerprint is bytes, not text.
std::string hexOf(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace

Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json layerJson(int32_t layer) {
  if (layer == RowPlace::kEvery) return "*";
  return layer == RowPlace::kNone ? Json(nullptr) : Json(layer);
}

Json causesJson(const events::CauseCycles& causes) {
  Json json = Json::object();
  for (size_t i = 0; i < causes.size(); ++i) {
    if (causes[i] != 0) json[std::string(events::name(static_cast<events::Cause>(i)))] = causes[i];
  }
  return json;
}

Json stepHeadJson(const SimulatedStep& step) {
  Json json;
  json["name"] = step.name;
  json["bucket"] = textOrNull(step.bucket);
  json["fingerprint"] = textOrNull(hexOf(step.fingerprint));
  json["rung"] = name(step.rung);
  json["origin"] = name(step.origin());
  json["reason"] = textOrNull(step.reason);
  json["hint"] = textOrNull(step.hint);
  json["total_us"] = step.us;
  json["error"] = errorJson(step.error);
  json["cycles"] = step.cycles;
  json["launch_us"] = step.launch_us;
  json["causes"] = causesJson(step.causes);
  json["bundles"] = step.bundles;
  return json;
}

void addCounts(const SimulatedRow& simulated, Json& json) {
  const Row& row = simulated.row;
  json["count"] = row.count;
  json["cycles"] = row.cycles;
  json["us"] = row.us;
  json["error"] = row.error ? Json(*row.error) : Json(nullptr);
  json["class"] = textOrNull(simulated.error_class);
  json["origin"] = name(row.origin);
  json["hbm_bytes"] = row.hbm_bytes;
  json["hbm_read_bytes"] = simulated.hbm_read_bytes;
  json["hbm_write_bytes"] = simulated.hbm_write_bytes;
  json["flops"] = row.flops ? Json(*row.flops) : Json(nullptr);
}

}  // namespace sublane::report
