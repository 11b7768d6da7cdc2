#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/report.h"

namespace sublane::report {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json layerJson(int32_t layer) {
  if (layer == RowPlace::kEvery) return "*";
  return layer == RowPlace::kNone ? Json(nullptr) : Json(layer);
}

Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json rowJson(const Row& row) {
  Json json;
  json["id"] = row.id;
  json["layer"] = layerJson(row.place.layer);
  json["part"] = textOrNull(row.place.part);
  json["kind"] = row.kind;
  json["op"] = row.op;
  json["kernel"] = textOrNull(row.kernel);
  json["count"] = row.count;
  json["cycles"] = row.cycles;
  json["us"] = row.us;
  json["error"] = orNull(row.error);
  json["origin"] = name(row.origin);
  json["hbm_bytes"] = row.hbm_bytes;
  json["flops"] = orNull(row.flops);
  json["matmul_flops"] = row.matmul_flops;
  json["transcendentals"] = row.transcendentals;
  json["bound"] = name(row.bound);
  json["hbm_us"] = row.hbm_us;
  json["mxu_us"] = row.mxu_us;
  json["share"] = row.share;
  json["memory"] = row.memory;
  json["shape"] = row.shape;
  json["source"] = textOrNull(row.source);
  json["needed_by"] = row.needed_by < 0 ? Json(nullptr) : Json(row.needed_by);
  json["flags"] = Json::array();
  for (Flag flag : row.flags) json["flags"].push_back(name(flag));
  return json;
}

Json memoryJson(const HbmUse& memory, const chips::Chip& chip) {
  Json json;
  json["origin"] = name(Origin::kCompiler);
  json["used_bytes"] = memory.used();
  json["free_bytes"] = static_cast<int64_t>(chip.hbm_usable_bytes) - memory.used();
  json["usable_bytes"] = static_cast<int64_t>(chip.hbm_usable_bytes);
  json["hbm_bytes"] = static_cast<int64_t>(chip.hbm_bytes);
  json["arguments"] = memory.arguments;
  json["argument_data"] = memory.argument_data;
  json["outputs"] = memory.outputs;
  json["aliased"] = memory.aliased;
  json["temporaries"] = memory.temporaries;
  json["code"] = memory.code;
  json["donated_state"] = memory.state;
  json["whole_state_temporary"] = memory.holdsWholeState();
  return json;
}

Json totalJson(const Step& step, const chips::Chip& chip) {
  const Total& total = step.total;
  auto share = [&](double us) { return total.us > 0 ? us / total.us : 0.0; };
  Json json;
  json["rows"] = total.rows;
  json["cycles"] = total.cycles;
  json["us"] = total.us;
  json["hbm_bytes"] = total.hbm_bytes;
  json["flops"] = total.flops;
  json["matmul_flops"] = total.matmul_flops;
  json["origin_share"] = {{"compiler", share(total.compiler_us)}, {"datasheet", share(total.datasheet_us)}};
  json["us_each_row_at_least_its_hbm_bound"] = total.raised_us;
  json["us_with_copies_overlapped"] = {{"value", total.overlapped_us}, {"origin", name(Origin::kAssumed)}};
  json["roofline"] = {{"origin", name(Origin::kDatasheet)},
                      {"hbm_us", total.hbm_us},
                      {"hbm_share", share(total.hbm_us)},
                      {"mxu_us", total.mxu_us},
                      {"mxu_share", share(total.mxu_us)}};
  json["placed_share"] = share(total.placed_us);
  json["rows_below_their_hbm_bound"] = total.below_bound_rows;
  json["rows_of_unknown_flops"] = total.unknown_rows;
  json["memory"] = step.memory ? memoryJson(*step.memory, chip) : Json(nullptr);
  return json;
}

/// The compiler's fingerprint is bytes, not text.
std::string hexOf(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

Json stepJson(const Step& step, const chips::Chip& chip) {
  Json json;
  json["name"] = step.name;
  json["bucket"] = textOrNull(step.bucket);
  json["fingerprint"] = textOrNull(hexOf(step.fingerprint));
  json["rows"] = Json::array();
  for (const Row& row : step.rows) json["rows"].push_back(rowJson(row));
  json["total"] = totalJson(step, chip);
  json["look_first"] = Json::array();
  for (const Finding& finding : step.findings) {
    json["look_first"].push_back({{"what", finding.what}, {"hint", finding.hint}, {"worth_us", finding.us}});
  }
  return json;
}

}  // namespace

std::string toJson(const Explanation& explanation) {
  const chips::Chip& chip = *explanation.chip;
  Json json = jsonDocument("sublane.explain/1");
  json["subject"] = explanation.subject;
  json["detail"] = textOrNull(explanation.detail);
  json["chip"] = chip.name;
  json["devices"] = 1;
  json["compiler"] = explanation.compiler;
  json["flags"] = explanation.flags;
  json["assumptions"] = explanation.assumptions;
  for (const char* key : {"clock_hz", "hbm_bytes_per_second", "bf16_flops"}) {
    const chips::Number& number = chip.numbers.at(key);
    json["chip_numbers"][key] = jsonNumber(number.value, number.unit, number.origin);
  }
  json["steps"] = Json::array();
  for (const Step& step : explanation.steps) json["steps"].push_back(stepJson(step, chip));
  return jsonText(json);
}

}  // namespace sublane::report
