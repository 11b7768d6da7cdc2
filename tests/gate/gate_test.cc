#include "gate/gate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../report/schema_keys.h"
#include "base/paths.h"

namespace sublane::gate {
namespace {

report::SimulatedRow row(const char* part, const char* kind, double us, const char* op,
                         const char* source = "") {
  report::SimulatedRow made;
  made.row.place.part = part;
  made.row.kind = kind;
  made.row.us = us;
  made.row.op = op;
  made.row.source = source;
  return made;
}

report::Simulation simulation(double matmul_us) {
  report::Simulation made{
      .subject = "secret.mlir", .chip = *chips::findChip("v6e"), .compiler = "libtpu 0.0.52"};
  made.clock_hz = 1e9;
  report::SimulatedStep step{.name = "decode"};
  step.rows = {row("attention.core", "gather", 100, "fusion.1"),
               row("mlp.up", "matmul", matmul_us, "fusion.2", "src/model.py:42")};
  for (size_t i = 0; i < step.rows.size(); ++i) step.rows[i].row.id = static_cast<int32_t>(i);
  step.us = 100 + matmul_us;
  step.hbm_read_bytes = 1000;
  made.steps.push_back(std::move(step));
  return made;
}

class Gate : public testing::Test {
 protected:
  std::vector<Checked> check(double us, const CheckOptions& options = {}) {
    return checkAll(entries_, [us](const Entry&) { return simulation(us); }, options);
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
  std::vector<Entry> entries_ = {{.name = "decode",
                                  .subject = "secret.mlir",
                                  .chip = "v6e",
                                  .baseline = folder_.path() + "/perf/decode.baseline",
                                  .where = "sublane.toml:3"}};
};

TEST_F(Gate, WritesPassesAndNamesTheWorstAtItsSource) {
  EXPECT_EQ(statusOf(check(50)).error().fault(), Fault::kInput) << "no baseline yet";
  const auto written = check(50, {.update = true});
  EXPECT_TRUE(passed(written));
  EXPECT_NE(toText(written).find("wrote  "), std::string::npos);
  EXPECT_TRUE(statusOf(check(50)).ok());
  const auto slower = check(60);
  EXPECT_EQ(statusOf(slower).error().fault(), Fault::kCheckFailed);
  const std::string text = toText(slower);
  EXPECT_NE(text.find("FAILED decode on v6e decode: 160.00 us, baseline 150.00 us (simulated)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("slower: mlp.up matmul: 50.00 us -> 60.00 us (fusion.2) at src/model.py:42"),
            std::string::npos)
      << text;
}

TEST_F(Gate, SarifPutsItAtTheUsersLineAndTheBaselines) {
  check(50, {.update = true});
  const auto sarif = nlohmann::json::parse(toSarif(check(60)));
  EXPECT_EQ(sarif["version"], "2.1.0");
  const auto& results = sarif["runs"][0]["results"];
  ASSERT_GE(results.size(), 2u);
  const auto place = [&](size_t i) { return results[i]["locations"][0]["physicalLocation"]; };
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_NE(place(0)["artifactLocation"]["uri"].get<std::string>().find("perf/decode.baseline"),
            std::string::npos);
  EXPECT_EQ(place(0)["region"]["startLine"], 5);
  EXPECT_EQ(place(1)["artifactLocation"]["uri"], "src/model.py");
  EXPECT_EQ(place(1)["region"]["startLine"], 42);
  // Every result is of a rule that the tool declares.
  std::set<std::string> rules;
  for (const auto& rule : sarif["runs"][0]["tool"]["driver"]["rules"]) rules.insert(rule["id"]);
  for (const auto& result : results) EXPECT_TRUE(rules.contains(result["ruleId"])) << result["ruleId"];
}

TEST_F(Gate, FindingsAreResultsTooAlsoWhereAllPasses) {
  const auto spilling = [](const Entry&) -> Result<report::Simulation> {
    report::Simulation made = simulation(50);
    auto& first = made.steps[0].rows[1];
    first.row.cycles = 50000;
    first.causes[static_cast<size_t>(events::Cause::kSpill)] = 40000;
    made.steps[0].causes = first.causes;
    return made;
  };
  checkAll(entries_, spilling, {.update = true});
  const auto all = checkAll(entries_, spilling, {});
  ASSERT_TRUE(passed(all));
  const auto results = nlohmann::json::parse(toSarif(all))["runs"][0]["results"];
  const auto spills = std::find_if(results.begin(), results.end(),
                                   [](const auto& result) { return result["ruleId"] == "spills"; });
  ASSERT_NE(spills, results.end()) << results;
  EXPECT_EQ((*spills)["level"], "warning");
  EXPECT_EQ((*spills)["locations"][0]["physicalLocation"]["region"]["startLine"], 42);
}

TEST_F(Gate, ABudgetHoldsWithoutABaseline) {
  entries_[0].baseline = "";
  entries_[0].budget = {.us = 155, .hbm_bytes = 999};
  const auto all = check(60);
  EXPECT_FALSE(passed(all));
  const std::string text = toText(all);
  EXPECT_NE(text.find("160.00 us are over the budget of 155.00 us"), std::string::npos) << text;
  EXPECT_NE(text.find("1000 bytes of HBM traffic are over the budget of 999"), std::string::npos) << text;
  entries_[0].budget = {.us = 160};
  EXPECT_TRUE(passed(check(60)));
  const auto sarif = nlohmann::json::parse(toSarif(all));
  EXPECT_EQ(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "sublane.toml");
}

TEST_F(Gate, ABudgetIsOfExecutedBundles) {
  entries_[0].baseline = "";
  entries_[0].budget = {.us = 1000};
  const auto all = checkAll(entries_,
                            [](const Entry&) -> Result<report::Simulation> {
                              report::Simulation made = simulation(1);
                              made.steps[0].rung = report::Rung::kCompiler;
                              return made;
                            },
                            {});
  EXPECT_FALSE(passed(all));
}

TEST_F(Gate, OneThatCannotBeCheckedDoesNotKeepTheOthersFromIt) {
  entries_.push_back(entries_[0]);
  entries_[1].name = "other";
  entries_[1].budget.us = 1;
  entries_[1].baseline = "";
  const auto all = checkAll(entries_,
                            [](const Entry& entry) -> Result<report::Simulation> {
                              if (entry.name == "decode") return machineError("libtpu <died>");
                              return simulation(50);
                            },
                            {.update = true});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(statusOf(all).error().fault(), Fault::kMachine);
  const std::string junit = toJunit(all);
  EXPECT_NE(junit.find("<error message=\"libtpu &lt;died&gt;\">"), std::string::npos) << junit;
  EXPECT_NE(junit.find("<testsuite name=\"other on v6e\" tests=\"1\" failures=\"1\" errors=\"0\">"),
            std::string::npos)
      << junit;
  const auto document = nlohmann::json::parse(toJson(all));
  EXPECT_EQ(document["schema"], "sublane.check/1");
  EXPECT_EQ(document["entries"][0]["error"], "libtpu <died>");
  EXPECT_EQ(document["passed"], false);
}

TEST_F(Gate, TheSchemaNamesEveryField) {
  check(50, {.update = true});
  auto all = check(60);
  all[0].findings = {{.rule = "spills", .level = "note", .message = "m", .sources = {"a:1"}}};
  const auto schema = schemaOf("check-1"), json = nlohmann::json::parse(toJson(all));
  const auto& entry = json["entries"][0];
  expectKeys(json, schema);
  expectKeys(entry, schema["$defs"]["entry"]);
  expectKeys(entry["findings"][0], schema["$defs"]["entry"]["properties"]["findings"]["items"]);
  expectKeys(entry["steps"][0], schema["$defs"]["step"]);
  expectKeys(entry["steps"][0]["slower"][0], schema["$defs"]["step"]["properties"]["slower"]["items"]);
}

TEST_F(Gate, RedactedNothingOfTheProgramIsLeft) {
  check(50, {.update = true});
  const auto all = check(60, {.redact = true});
  EXPECT_FALSE(passed(all));
  for (const std::string& view : {toText(all), toJson(all), toJunit(all), toSarif(all)}) {
    for (const char* name : {"secret", "attention", "mlp", "fusion", "model.py", "perf/"})
      EXPECT_EQ(view.find(name), std::string::npos) << name << " in\n" << view;
    EXPECT_NE(view.find("60.00 us"), std::string::npos) << view;
  }
}

}  // namespace
}  // namespace sublane::gate
