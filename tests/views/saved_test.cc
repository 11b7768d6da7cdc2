// Reports of explain, redacted and read back: no name is left in any view, and a saved one is compared.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/diff.h"
#include "report/read_report.h"
#include "report/redact.h"
#include "views/views.h"

namespace sublane::views {
namespace {

report::Simulation made() {
  report::Simulation simulation{
      .subject = "zebra.mlir", .chip = *chips::findChip("v6e"), .compiler = "libtpu 0.0.52"};
  simulation.clock_hz = 1e9;
  report::SimulatedStep step{.name = "zebra.mlir", .cycles = 2000, .us = 2};
  for (int32_t i = 0; i < 2; ++i) {
    report::SimulatedRow row;
    row.row.id = i;
    row.row.place = {.layer = i, .part = "zebra.part"};
    row.row.kind = "matmul";
    row.row.op = "zebra." + std::to_string(i);
    row.row.kernel = "zebra_kernel";
    row.row.source = "zebra.py:7";
    row.row.cycles = 1000;
    row.row.us = 1;
    row.row.origin = Origin::kSimulated;
    row.causes[static_cast<size_t>(events::Cause::kSpill)] = 1000;
    step.rows.push_back(row);
  }
  step.causes[static_cast<size_t>(events::Cause::kSpill)] = 2000;
  report::KernelUse kernel{.name = "zebra.0", .rows = {0}, .cycles = 1000, .source = "zebra.py:7"};
  kernel.bundles = {{.executions = 1, .text = "v1 = vadd.f32 v2, zebra"}};
  step.anatomy.kernels = {kernel};
  for (size_t u = 0; u < report::kUnits; ++u)  // each of them, as an executed step has
    step.anatomy.units.push_back({.unit = name(static_cast<report::Unit>(u)), .slots = 1, .cycles = 2000});
  step.anatomy.buffers = {
      {.op = "zebra.0", .shape = "f32[4]", .memory = "hbm", .what = "argument", .bytes = 16}};
  step.anatomy.schedule = {"zebra.0", "zebra.1"};
  step.anatomy.timeline = {{0, 0, 1000}, {1, 1000, 2000}};
  simulation.steps = {step};
  return simulation;
}

std::vector<std::string> allTexts(const report::Simulation& simulation) {
  const Report report = reportOf(simulation);
  return {toText(report, {.views = {"all"}, .top = 0}).value(), toJson(report, {.bundles = true}).value()};
}

TEST(Redacted, NoNameIsLeftInAnyViewOfExplain) {
  report::Simulation simulation = made();
  for (const std::string& text : allTexts(simulation)) ASSERT_NE(text.find("zebra"), std::string::npos);
  report::Pseudonyms names;
  report::redact(simulation, names);
  for (const std::string& text : allTexts(simulation))
    EXPECT_EQ(text.find("zebra"), std::string::npos) << text;
}

TEST(Saved, AReportOfExplainIsComparedAsASimulation) {
  const std::string text = toJson(reportOf(made()), {}).value();
  const Result<report::Simulation> read = report::parseReport(text, "r.json");
  ASSERT_TRUE(read.ok()) << read.error().text();
  const report::Difference difference = report::differenceOf(made(), *read).value();
  EXPECT_TRUE(difference.settings.empty());
  EXPECT_EQ(difference.steps[0].error.changed_us, 0) << "every row has its twin";
  EXPECT_EQ(difference.steps[0].changeUs(), 0);
}

TEST(Saved, APartOfAProgramIsNotCompared) {
  const std::string text = toJson(reportOf(made()), {.focus = "layer.0"}).value();
  const Result<report::Simulation> read = report::parseReport(text, "r.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message(),
            "r.json: focus: the report is of a part of the program; make it without --focus");
}

}  // namespace
}  // namespace sublane::views
