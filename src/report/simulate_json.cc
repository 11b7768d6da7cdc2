#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/json_parts.h"

namespace sublane::report {
namespace {

Json rowJson(const SimulatedRow& simulated, const std::string& step) {
  const Row& row = simulated.row;
  Json json;
  json["step"] = step;
  json["id"] = row.id;
  json["layer"] = layerJson(row.place.layer);
  json["part"] = textOrNull(row.place.part);
  json["kind"] = row.kind;
  json["op"] = row.op;
  json["kernel"] = textOrNull(row.kernel);
  addCounts(simulated, json);
  json["bound"] = name(row.bound);
  json["hbm_us"] = row.hbm_us;
  json["mxu_us"] = row.mxu_us;
  json["share"] = row.share;
  json["source"] = textOrNull(row.source);
  json["causes"] = causesJson(simulated.causes);
  json["flags"] = Json::array();
  for (Flag flag : row.flags) json["flags"].push_back(name(flag));
  return json;
}

Json outputJson(const OutputValue& output) {
  Json json = {{"number", output.number},         {"shape", output.shape},
               {"sha256", output.sha256},         {"elements", output.elements},
               {"not_finite", output.not_finite}, {"least", output.least},
               {"greatest", output.greatest},     {"mean", output.mean}};
  if (output.compared)
    json["expected"] = {{"worst", output.worst}, {"difference", textOrNull(output.difference)}};
  return json;
}

Json stepJson(const SimulatedStep& step) {
  Json json = stepHeadJson(step);
  json["vector_bundles"] = step.vector_bundles;
  json["transfers"] = step.transfers;
  json["hbm_read_bytes"] = step.hbm_read_bytes;
  json["hbm_write_bytes"] = step.hbm_write_bytes;
  json["explain_us"] = {{"value", step.compiler_us}, {"origin", name(Origin::kCompiler)}};
  json["roofline"] = {{"origin", name(Origin::kDatasheet)}, {"hbm_us", step.hbm_us}, {"mxu_us", step.mxu_us}};
  json["notes"] = step.notes;
  json["outputs"] = Json::array();
  for (const OutputValue& output : step.outputs) json["outputs"].push_back(outputJson(output));
  return json;
}

}  // namespace

std::string toJson(const Simulation& simulation) {
  Json json = jsonDocument("sublane.simulate/1");
  json["subject"] = simulation.subject;
  json["detail"] = textOrNull(simulation.detail);
  json["chip"] = simulation.chip->name;
  json["devices"] = 1;
  json["compiler"] = simulation.compiler;
  json["simulator"] = sim::kSimulatorVersion;
  json["model_hash"] = textOrNull(simulation.model_hash);
  json["clock_hz"] = simulation.clock_hz;
  json["flags"] = simulation.flags;
  json["dma"] = simulation.dma == sim::DmaTiming::kShared ? "shared" : "compiler";
  if (simulation.mode == sim::Mode::kScoreboard) json["mode"] = "scoreboard";
  json["without"] = simulation.without;
  json["assumptions"] = simulation.assumptions;
  double total_us = 0;
  for (const SimulatedStep& step : simulation.steps) total_us += step.us;
  json["total_us"] = total_us;
  json["steps"] = Json::array();
  for (const SimulatedStep& step : simulation.steps) json["steps"].push_back(stepJson(step));
  json["ops"] = Json::array();
  for (const SimulatedStep& step : simulation.steps) {
    for (const SimulatedRow& row : step.rows) json["ops"].push_back(rowJson(row, step.name));
  }
  return jsonText(json);
}

}  // namespace sublane::report
