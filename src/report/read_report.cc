#include "report/read_report.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/json_keys.h"
#include "base/paths.h"
#include "base/text.h"

namespace sublane::report {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostBytes = size_t{1} << 28;  // a report of 10^5 operations is 60 MB

void readLayer(JsonKeys& keys, RowPlace& place) {
  const Json& layer = keys.at("layer");
  if (layer.is_null()) return;
  if (layer == "*") {
    place.layer = RowPlace::kEvery;
  } else if (layer.is_number_integer() && layer.get<int64_t>() >= 0 && layer.get<int64_t>() <= 1 << 24) {
    place.layer = layer.get<int32_t>();
  } else {
    keys.fail("layer", "neither a layer's number, \"*\" nor null");
  }
}

void readOrigin(JsonKeys& keys, Origin& origin) {
  std::string text;
  keys.text("origin", text);
  for (const Origin each :
       {Origin::kMeasured, Origin::kCompiler, Origin::kSimulated, Origin::kDatasheet, Origin::kAssumed}) {
    if (text != name(each)) continue;
    origin = each;
    return;
  }
  keys.fail("origin", "no origin: " + escaped(text));
}

/// The compiler's bytes, which reports write as hexadecimal digits.
void readFingerprint(JsonKeys& keys, std::string& bytes) {
  std::string hex;
  keys.textIfThere("fingerprint", hex);
  if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdef") != hex.npos)
    return keys.fail("fingerprint", "no pairs of hexadecimal digits");
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::strtol(hex.substr(i, 2).c_str(), nullptr, 16));
}

/// What both kinds of rows have.
Row readRow(JsonKeys& keys) {
  Row row;
  readLayer(keys, row.place);
  keys.textIfThere("part", row.place.part);
  keys.text("kind", row.kind);
  keys.text("op", row.op);
  keys.textIfThere("kernel", row.kernel);
  keys.textIfThere("source", row.source);
  keys.integer("count", row.count);
  keys.integer("cycles", row.cycles);
  keys.number("us", row.us);
  keys.integer("hbm_bytes", row.hbm_bytes);
  readOrigin(keys, row.origin);
  return row;
}

void readCauses(JsonKeys& keys, events::CauseCycles& causes) {
  keys.counts("causes", [&](const std::string& name, int64_t cycles) {
    const std::optional<events::Cause> cause = events::causeNamed(name);
    if (!cause) return keys.fail("causes", "there is no cause " + inQuotes(name));
    causes[static_cast<size_t>(*cause)] = cycles;
  });
}

SimulatedStep readSimulatedStep(JsonKeys& keys) {
  SimulatedStep step;
  std::string rung;
  keys.text("name", step.name);
  keys.textIfThere("bucket", step.bucket);
  readFingerprint(keys, step.fingerprint);
  keys.text("rung", rung);
  for (const Rung each : {Rung::kBundles, Rung::kCompiler, Rung::kRoofline})
    if (rung == name(each)) step.rung = each;
  if (rung != name(step.rung)) keys.fail("rung", "there is no rung " + inQuotes(rung));
  keys.textIfThere("reason", step.reason);
  keys.number("total_us", step.us);
  keys.integer("cycles", step.cycles);
  keys.number("launch_us", step.launch_us);
  readCauses(keys, step.causes);
  keys.integer("hbm_read_bytes", step.hbm_read_bytes);
  keys.integer("hbm_write_bytes", step.hbm_write_bytes);
  return step;
}

SimulatedRow readSimulatedRow(JsonKeys& keys) {
  SimulatedRow row{.row = readRow(keys)};
  keys.integer("hbm_read_bytes", row.hbm_read_bytes);
  keys.integer("hbm_write_bytes", row.hbm_write_bytes);
  keys.textIfThere("class", row.error_class);
  readCauses(keys, row.causes);
  return row;
}

void addRow(SimulatedRow row, SimulatedStep& step) {
  row.row.id = static_cast<int32_t>(step.rows.size());
  step.rows.push_back(std::move(row));
}

/// Simulate lists the operations of all steps, each with its step's name.
void readOps(JsonKeys& keys, Simulation& simulation) {
  keys.each("ops", [&](JsonKeys& inner) {
    std::string step;
    inner.text("step", step);
    const auto found = std::find_if(simulation.steps.begin(), simulation.steps.end(),
                                    [&](const SimulatedStep& each) { return each.name == step; });
    if (found == simulation.steps.end()) return inner.fail("step", "there is no step " + inQuotes(step));
    addRow(readSimulatedRow(inner), *found);
  });
}

/// Lines of a difference add up to its whole only if the rows do.
void checkSums(const SimulatedStep& step, JsonKeys& keys) {
  double us = step.launch_us;
  for (const SimulatedRow& row : step.rows) us += row.row.us;
  if (std::abs(us - step.us) > 1e-6 * std::max(1.0, step.us))
    keys.fail("steps", fmt::format("{}: its rows take {:.3f} us, its total is {:.3f} us", inQuotes(step.name),
                                   us, step.us));
}

void readSimulation(JsonKeys& keys, Simulation& simulation) {
  std::string dma;
  keys.textIfThere("model_hash", simulation.model_hash);
  keys.number("clock_hz", simulation.clock_hz);
  keys.text("dma", dma);
  if (dma == "compiler") simulation.dma = sim::DmaTiming::kCompiler;
  if (keys.at("mode") == "scoreboard") simulation.mode = sim::Mode::kScoreboard;
  keys.texts("without", simulation.without);
  keys.each("steps", [&](JsonKeys& step) { simulation.steps.push_back(readSimulatedStep(step)); });
  readOps(keys, simulation);
}

/// Explain has each step's operations in it.
void readExplanation(JsonKeys& keys, Simulation& simulation) {
  keys.textIfThere("model_hash", simulation.model_hash);
  keys.number("clock_hz", simulation.clock_hz);
  if (!keys.at("focus").is_null())
    keys.fail("focus", "the report is of a part of the program; make it without --focus");
  keys.each("steps", [&](JsonKeys& inner) {
    SimulatedStep step = readSimulatedStep(inner);
    inner.each("ops", [&](JsonKeys& row) { addRow(readSimulatedRow(row), step); });
    simulation.steps.push_back(std::move(step));
  });
}

Status readAll(const Json& document, Simulation& simulation) {
  JsonKeys keys(document);
  std::string schema, chip;
  keys.text("schema", schema);
  const bool simulated = schema == "sublane.simulate/1", explained = schema == "sublane.explain/2";
  if (keys.ok() && !simulated && !explained) {
    return inputError("schema {}: neither sublane.simulate/1 nor sublane.explain/2", inQuotes(schema))
        .hint("sublane simulate ... --json writes such a report");
  }
  keys.text("subject", simulation.subject);
  keys.textIfThere("detail", simulation.detail);
  keys.text("chip", chip);
  keys.text("compiler", simulation.compiler);
  keys.texts("flags", simulation.flags);
  keys.texts("assumptions", simulation.assumptions);
  SUBLANE_CHECK_OK(keys.status());
  SUBLANE_TRY(simulation.chip, chips::findChip(chip, "chip"));
  if (simulated) {
    readSimulation(keys, simulation);
  } else {
    readExplanation(keys, simulation);
  }
  for (const SimulatedStep& step : simulation.steps) checkSums(step, keys);
  SUBLANE_CHECK_OK(keys.status());
  if (simulation.steps.empty()) return inputError("it has no steps");
  return Ok{};
}

}  // namespace

bool isReport(const std::string& path) {
  std::ifstream file(path);
  char first = 0;
  return file && file >> first && first == '{';
}

Result<Simulation> parseReport(std::string_view text, const std::string& where) {
  if (text.size() > kMostBytes)
    return inputError("{}: {} bytes are more than the {} of a report", where, text.size(), kMostBytes);
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded())
    return inputError("{}: not JSON", where).hint("was it written whole? sublane simulate ... --json > FILE");
  Simulation simulation;
  Status read = readAll(document, simulation);
  if (!read.ok()) return std::move(read).error().at(where);
  return simulation;
}

Result<Simulation> readReport(const std::string& path) {
  SUBLANE_TRY(const std::string text, readFile(path));
  return parseReport(text, path);
}

}  // namespace sublane::report
