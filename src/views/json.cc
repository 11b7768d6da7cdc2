#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/json_parts.h"
#include "views/focus.h"
#include "views/views.h"

namespace sublane::views {
namespace {

using report::Anatomy;
using report::causesJson;
using report::Json;
using report::SimulatedRow;
using report::SimulatedStep;
using report::textOrNull;

Json idOrNull(int32_t id) { return id < 0 ? Json(nullptr) : Json(id); }

Json issuedJson(const report::Issued& issued) {
  Json json = Json::object();
  for (size_t u = 0; u < issued.size(); ++u) {
    if (issued[u] != 0) json[std::string(name(static_cast<report::Unit>(u)))] = issued[u];
  }
  return json;
}

/// The kernel of a row: the slowest that it alone or with others runs, the program's own thread aside.
std::vector<int32_t> kernelsOfRows(const Anatomy& anatomy, size_t rows) {
  std::vector<int32_t> kernels(rows, -1);
  for (size_t k = 0; k < anatomy.kernels.size(); ++k) {
    if (anatomy.kernels[k].name == "TLP") continue;
    for (const int32_t row : anatomy.kernels[k].rows) {
      if (row >= 0 && static_cast<size_t>(row) < rows && kernels[static_cast<size_t>(row)] < 0)
        kernels[static_cast<size_t>(row)] = static_cast<int32_t>(k);
    }
  }
  return kernels;
}

Json rowJson(const SimulatedRow& simulated, int32_t kernel) {
  const report::Row& row = simulated.row;
  Json json;
  json["id"] = row.id;
  json["layer"] = report::layerJson(row.place.layer);
  json["part"] = textOrNull(row.place.part);
  json["kind"] = row.kind;
  json["op"] = row.op;
  json["kernel"] = textOrNull(row.kernel);
  json["kernel_id"] = idOrNull(kernel);
  report::addCounts(simulated, json);
  json["matmul_flops"] = row.matmul_flops;
  json["bound"] = name(row.bound);
  json["hbm_us"] = row.hbm_us;
  json["mxu_us"] = row.mxu_us;
  json["share"] = row.share;
  json["memory"] = row.memory;
  json["shape"] = row.shape;
  json["source"] = textOrNull(row.source);
  json["causes"] = causesJson(simulated.causes);
  json["issued"] = issuedJson(simulated.issued);
  json["flags"] = Json::array();
  for (report::Flag flag : row.flags) json["flags"].push_back(name(flag));
  return json;
}

Json kernelJson(const report::KernelUse& kernel, int32_t id, bool bundles) {
  Json json;
  json["id"] = id;
  json["name"] = kernel.name;
  json["rows"] = Json::array();
  for (const int32_t row : kernel.rows)
    if (row >= 0) json["rows"].push_back(row);
  json["cycles"] = kernel.cycles;
  json["causes"] = causesJson(kernel.causes);
  json["issued"] = issuedJson(kernel.issued);
  json["vmem_bytes"] = kernel.vmem_bytes;
  json["spill_bytes"] = kernel.spill_bytes;
  json["source"] = textOrNull(kernel.source);
  json["loops"] = Json::array();
  for (const report::LoopUse& loop : kernel.loops) {
    json["loops"].push_back({{"parent", idOrNull(loop.parent)},
                             {"first", loop.first},
                             {"last", loop.last},
                             {"iterations", loop.iterations},
                             {"cycles", loop.cycles},
                             {"causes", causesJson(loop.causes)},
                             {"issued", issuedJson(loop.issued)}});
  }
  if (!bundles) return json;
  json["bundles"] = Json::array();
  for (const report::BundleUse& bundle : kernel.bundles) {
    json["bundles"].push_back({bundle.executions, bundle.waited, std::string(events::name(bundle.cause)),
                               bundle.loop, bundle.text});
  }
  return json;
}

Json transferJson(const report::TransferUse& transfer) {
  return {{"row", idOrNull(transfer.row)},
          {"kernel", idOrNull(transfer.kernel)},
          {"bundle", transfer.bundle},
          {"from", transfer.from},
          {"to", transfer.to},
          {"remote", transfer.remote},
          {"count", transfer.count},
          {"bytes", transfer.bytes},
          {"pieces", transfer.pieces},
          {"flight_cycles", transfer.flight_cycles},
          {"waited_cycles", transfer.waited_cycles}};
}

Json bufferJson(const report::BufferLife& life) {
  return {{"op", life.op},       {"shape", life.shape}, {"memory", life.memory},
          {"what", life.what},   {"bytes", life.bytes}, {"data_bytes", life.data_bytes},
          {"first", life.first}, {"last", life.last}};
}

Json findingJson(const findings::Finding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["what"] = finding.what;
  json["cure"] = finding.cure;
  json["evidence"] = finding.evidence;
  json["edit"] = finding.edit ? Json(findings::toText(*finding.edit)) : Json(nullptr);
  json["ops"] = finding.ops;
  json["rows"] = finding.rows();
  json["sources"] = finding.sources;
  json["us"] = finding.us;
  json["gain_us"] = finding.gain_us;
  json["gain_origin"] = name(finding.gain_origin);
  return json;
}

Json memoryJson(const std::optional<report::HbmUse>& memory, const chips::Chip& chip) {
  if (!memory) return nullptr;
  return {{"origin", name(Origin::kCompiler)},
          {"used_bytes", memory->used()},
          {"usable_bytes", static_cast<int64_t>(chip.hbm_usable_bytes)},
          {"hbm_bytes", static_cast<int64_t>(chip.hbm_bytes)},
          {"arguments", memory->arguments},
          {"argument_data", memory->argument_data},
          {"outputs", memory->outputs},
          {"aliased", memory->aliased},
          {"temporaries", memory->temporaries},
          {"code", memory->code},
          {"donated_state", memory->state},
          {"whole_state_temporary", memory->holdsWholeState()}};
}

Json limitsJson(const Anatomy& anatomy) {
  Json json = Json::array();
  for (const report::LimitUse& limit : anatomy.limits) {
    json.push_back({{"limit", limit.limit},
                    {"amount", limit.amount},
                    {"unit", limit.limit == "mxu" ? "FLOP" : "B"},
                    {"origin", name(Origin::kSimulated)},
                    {"per_second", limit.per_second},
                    {"limit_origin", name(limit.limit_origin)},
                    {"us", limit.us},
                    {"share", limit.share},
                    {"unknown_rows", limit.unknown_rows}});
  }
  return json;
}

Json unitsJson(const Anatomy& anatomy) {
  Json json = Json::array();
  for (const report::UnitUse& unit : anatomy.units) {
    json.push_back({{"unit", unit.unit},
                    {"issued", unit.issued},
                    {"origin", name(Origin::kSimulated)},
                    {"slots", unit.slots},
                    {"slots_origin", name(Origin::kCompiler)},
                    {"share", unit.share()}});
  }
  return json;
}

void addAnatomy(const SimulatedStep& step, const std::vector<char>& in_focus, bool bundles, Json& json) {
  const Anatomy& anatomy = step.anatomy;
  const bool all = std::find(in_focus.begin(), in_focus.end(), 0) == in_focus.end();
  const auto shows = [&](int32_t row) { return row < 0 ? all : in_focus[static_cast<size_t>(row)] != 0; };
  const std::vector<int32_t> kernels = kernelsOfRows(anatomy, step.rows.size());
  json["ops"] = Json::array();
  for (const SimulatedRow& row : step.rows)
    if (shows(row.row.id)) json["ops"].push_back(rowJson(row, kernels[static_cast<size_t>(row.row.id)]));
  json["kernels"] = Json::array();
  for (size_t k = 0; k < anatomy.kernels.size(); ++k) {
    const std::vector<int32_t>& rows = anatomy.kernels[k].rows;
    const bool shown = std::any_of(rows.begin(), rows.end(), shows);
    json["kernels"].push_back(kernelJson(anatomy.kernels[k], static_cast<int32_t>(k), bundles && shown));
  }
  json["transfers"] = Json::array();
  for (const report::TransferUse& transfer : anatomy.transfers)
    if (shows(transfer.row)) json["transfers"].push_back(transferJson(transfer));
  json["buffers"] = Json::array();
  for (const report::BufferLife& life : anatomy.buffers) json["buffers"].push_back(bufferJson(life));
  json["schedule"] = anatomy.schedule;
  json["timeline"] = Json::array();
  for (const report::Stretch& stretch : anatomy.timeline)
    json["timeline"].push_back({stretch.row, stretch.begin, stretch.end});
}

Result<Json> stepJson(const SimulatedStep& step, const std::vector<findings::Finding>& findings,
                      const chips::Chip& chip, const JsonOptions& options) {
  SUBLANE_TRY(const std::vector<char> in_focus, rowsInFocus(step, options.focus));
  Json json = report::stepHeadJson(step);
  json["transfer_count"] = step.transfers;
  json["hbm_read_bytes"] = step.hbm_read_bytes;
  json["hbm_write_bytes"] = step.hbm_write_bytes;
  json["compiler_us"] = {{"value", step.compiler_us}, {"origin", name(Origin::kCompiler)}};
  json["roofline"] = {{"origin", name(Origin::kDatasheet)}, {"hbm_us", step.hbm_us}, {"mxu_us", step.mxu_us}};
  json["notes"] = step.notes;
  json["memory"] = memoryJson(step.memory, chip);
  json["limits"] = limitsJson(step.anatomy);
  json["units"] = unitsJson(step.anatomy);
  json["findings"] = Json::array();
  for (const findings::Finding& finding : findings) json["findings"].push_back(findingJson(finding));
  addAnatomy(step, in_focus, options.bundles, json);
  return json;
}

}  // namespace

Result<std::string> toJson(const Report& report, const JsonOptions& options) {
  const report::Simulation& simulation = report.simulation;
  Json json = jsonDocument("sublane.explain/2");
  json["subject"] = simulation.subject;
  json["detail"] = textOrNull(simulation.detail);
  json["chip"] = simulation.chip->name;
  json["devices"] = 1;
  json["compiler"] = simulation.compiler;
  json["simulator"] = sim::kSimulatorVersion;
  json["model_hash"] = textOrNull(simulation.model_hash);
  json["clock_hz"] = simulation.clock_hz;
  json["flags"] = simulation.flags;
  json["assumptions"] = simulation.assumptions;
  json["focus"] = textOrNull(options.focus);
  json["hbm_bytes_per_second"] = {{"value", simulation.chip->hbm_bytes_per_second},
                                  {"origin", name(Origin::kDatasheet)}};
  json["bf16_flops_per_second"] = {{"value", simulation.chip->bf16_flops},
                                   {"origin", name(Origin::kDatasheet)}};
  json["redacted"] = options.redacted;
  json["steps"] = Json::array();
  for (size_t i = 0; i < simulation.steps.size(); ++i) {
    SUBLANE_TRY(Json step, stepJson(simulation.steps[i], report.findings[i], *simulation.chip, options));
    json["steps"].push_back(std::move(step));
  }
  json["diff"] = options.difference ? Json::parse(report::toJson(*options.difference)) : Json(nullptr);
  return jsonText(json);
}

}  // namespace sublane::views
