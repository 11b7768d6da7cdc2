#include "report/diff.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modules.h"
#include "schema_keys.h"

namespace sublane::report {
namespace {

struct Op {
  const char *part, *kind, *op;
  int32_t layer = 0;
  int64_t cycles = 0;
  events::Cause cause = events::Cause::kDma;
};

Simulation simulation(const std::vector<Op>& ops, const std::string& name = "decode") {
  Simulation result{.subject = "m", .chip = &v6e(), .clock_hz = 1e6};  // a cycle is a us
  SimulatedStep step;
  step.name = name;
  for (const Op& op : ops) {
    SimulatedRow row;
    row.row.place = {.layer = op.layer, .part = op.part};
    row.row.kind = op.kind;
    row.row.op = op.op;
    row.row.cycles = op.cycles;
    row.row.us = static_cast<double>(op.cycles);
    row.causes[static_cast<size_t>(op.cause)] = op.cycles;
    step.cycles += op.cycles;
    step.us += row.row.us;
    step.causes[static_cast<size_t>(op.cause)] += op.cycles;
    step.rows.push_back(std::move(row));
  }
  result.steps.push_back(std::move(step));
  return result;
}

Difference difference(const Simulation& a, const Simulation& b) {
  Result<Difference> found = differenceOf(a, b);
  EXPECT_TRUE(found.ok()) << found.error().text();
  return std::move(found).value();
}

TEST(Diff, MatchesThroughTheModelTreeThoughFusionChangedTheNames) {
  const Difference d = difference(simulation({{"attention.core", "gather", "gather.1", 0, 100},
                                              {"attention.core", "gather", "gather.2", 1, 100},
                                              {"mlp.up", "matmul", "fusion.7", 0, 50}}),
                                  simulation({{"attention.core", "kernel", "flash.1", 0, 30},
                                              {"mlp.up", "matmul", "fusion.99", 0, 20},
                                              {"mlp.up", "elementwise", "fusion.100", 0, 35}}));
  ASSERT_EQ(d.steps.size(), 1u);
  const auto& lines = d.steps[0].lines;
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].place, "attention.core");
  EXPECT_DOUBLE_EQ(lines[0].changeUs(), -170);
  EXPECT_EQ(lines[0].before.ops, (std::vector<std::string>{"gather.1", "gather.2"}));
  EXPECT_EQ(lines[0].after.ops, std::vector<std::string>{"flash.1"});
  EXPECT_EQ(lines[1].place, "mlp.up");
  EXPECT_DOUBLE_EQ(lines[1].changeUs(), 5);
  const std::string text = toText(d, {});
  EXPECT_NE(text.find("gained 170.00 us in decode: attention.core gather"), std::string::npos) << text;
  EXPECT_NE(text.find("lost 5.00 us in decode: mlp.up"), std::string::npos) << text;
}

TEST(Diff, LinesAndCausesAddUpToTheTotal) {
  const Difference d =
      difference(simulation({{"a", "x", "1", 0, 10}, {"", "copy", "copy.1", -1, 7, events::Cause::kSpill}}),
                 simulation({{"b", "x", "1", 0, 4}, {"", "copy", "copy.9", -1, 9, events::Cause::kSpill}}));
  double before = 0, after = 0;
  events::CauseCycles causes{};
  for (const DiffLine& line : d.steps[0].lines) {
    before += line.before.us;
    after += line.after.us;
    for (size_t i = 0; i < causes.size(); ++i) causes[i] += line.after.causes[i];
  }
  EXPECT_DOUBLE_EQ(before, d.steps[0].before.us);
  EXPECT_DOUBLE_EQ(after, d.steps[0].after.us);
  EXPECT_EQ(causes, d.steps[0].after.causes);
  EXPECT_EQ(d.steps[0].lines.size(), 3u) << "a part that one side lacks is a line with a zero";
}

TEST(Diff, SourceLinesCountOnlyIfBothSidesComeFromOneFile) {
  const auto at = [](const char* source, int64_t cycles) {
    Simulation made = simulation({{"", "matmul", "fusion.1", -1, cycles}});
    made.steps[0].rows[0].row.source = source;
    return made;
  };
  EXPECT_EQ(difference(at("a.py:1", 5), at("a.py:1", 6)).steps[0].lines[0].place, "a.py:1");
  const std::string text =
      toText(difference(at("long/folder/model.py:142", 5), at("long/folder/model.py:142", 6)), {});
  EXPECT_NE(text.find("\n~lder/model.py:142 "), std::string::npos) << text;
  const Difference files = difference(at("a.mlir:1", 5), at("b.mlir:9", 6));
  ASSERT_EQ(files.steps[0].lines.size(), 1u);
  EXPECT_EQ(files.steps[0].lines[0].kind, "matmul");
  EXPECT_DOUBLE_EQ(files.steps[0].lines[0].changeUs(), 1);
}

TEST(Diff, TheSameIsNoChange) {
  const Simulation same = simulation({{"a", "x", "1", 0, 10}});
  const Difference d = difference(same, same);
  EXPECT_EQ(d.steps[0].lines[0].changeUs(), 0);
  EXPECT_TRUE(d.settings.empty());
  EXPECT_NE(toText(d, {}).find("nothing changed"), std::string::npos);
}

/// GEMM: pairs of one kernel within 5 %, of two within 30 %.
const std::map<std::string, ClassError>& gemmErrors() {
  static const std::map<std::string, ClassError> kErrors = {
      {"GEMM", {.name = "GEMM", .points = 20, .p90 = 0.12, .paired_p90 = 0.05, .paired_between_p90 = 0.3}}};
  return kErrors;
}

StepDiff withErrors(const Simulation& a, const Simulation& b) {
  return differenceOf(a, b, gemmErrors()).value().steps[0];
}

TEST(Diff, WhatIsAlikeOnBothSidesIsAsWrongOnBoth) {
  // 10000 us alike do not hide a change of 20 us in 100.
  const Simulation before = simulation({{"a", "matmul", "1", 0, 10000}, {"b", "matmul", "2", 0, 100}}),
                   after = simulation({{"a", "matmul", "7", 0, 10000}, {"b", "matmul", "8", 0, 80}});
  const StepDiff step = withErrors(before, after);
  EXPECT_TRUE(step.error.known);
  EXPECT_DOUBLE_EQ(step.error.changed_us, 100);
  EXPECT_DOUBLE_EQ(step.error.us, 5) << "5 % of the larger side of what changed";
  EXPECT_TRUE(step.resolvable());
}

TEST(Diff, SaysWhenAChangeIsBelowThePairedError) {
  const Simulation before = simulation({{"a", "matmul", "1", 0, 100}}),
                   after = simulation({{"a", "matmul", "1", 0, 96}});
  const Difference small = differenceOf(before, after, gemmErrors()).value();
  EXPECT_FALSE(small.steps[0].resolvable());
  EXPECT_FALSE(small.steps[0].lines[0].resolvable());
  const std::string text = toText(small, {});
  EXPECT_NE(text.find("gained 4.00 us in decode: a matmul (not resolvable)"), std::string::npos) << text;
  EXPECT_NE(text.find("resolution    not resolvable"), std::string::npos) << text;
  const auto document = nlohmann::json::parse(toJson(small));
  EXPECT_EQ(document["schema"], "sublane.diff/1");
  EXPECT_EQ(document["steps"][0]["resolvable"], false);
  EXPECT_EQ(document["steps"][0]["error"]["us"], 5.0);
  EXPECT_EQ(document["steps"][0]["lines"][0]["change_us"], -4);
  EXPECT_TRUE(withErrors(before, simulation({{"a", "matmul", "1", 0, 90}})).resolvable());
}

TEST(Diff, AnotherKernelHasTheErrorOfPairsOfTwo) {
  Simulation before = simulation({{"a", "kernel", "1", 0, 100}}),
             after = simulation({{"a", "kernel", "1", 0, 90}});
  before.steps[0].rows[0].row.kernel = "matmul_a";
  after.steps[0].rows[0].row.kernel = "matmul_a";
  EXPECT_TRUE(withErrors(before, after).resolvable());
  after.steps[0].rows[0].row.kernel = "matmul_b";
  EXPECT_DOUBLE_EQ(withErrors(before, after).error.us, 30);
  EXPECT_FALSE(withErrors(before, after).resolvable());
}

TEST(Diff, WithoutPairsBothSidesMayBeWrongTheOtherWay) {
  const std::map<std::string, ClassError> single = {{"GEMM", {.name = "GEMM", .points = 20, .p90 = 0.1}}};
  const Simulation before = simulation({{"a", "matmul", "1", 0, 100}}),
                   after = simulation({{"a", "matmul", "1", 0, 90}});
  EXPECT_DOUBLE_EQ(differenceOf(before, after, single)->steps[0].error.us, 19);
}

TEST(Diff, WithoutPointsTheErrorIsNotKnown) {
  const Simulation before = simulation({{"a", "sort", "1", 0, 100}, {"b", "matmul", "2", 0, 10}}),
                   after = simulation({{"a", "sort", "1", 0, 50}, {"b", "matmul", "2", 0, 5}});
  const Difference d = differenceOf(before, after, gemmErrors()).value();
  EXPECT_FALSE(d.steps[0].error.known);
  EXPECT_EQ(d.steps[0].error.name, "sort");
  EXPECT_NE(toText(d, {}).find("resolution    not known: no measured points of sort"), std::string::npos)
      << toText(d, {});
  EXPECT_TRUE(nlohmann::json::parse(toJson(d))["steps"][0]["resolvable"].is_null());
}

TEST(Diff, TwoChipsShareNoPoints) {
  const Simulation before = simulation({{"a", "matmul", "1", 0, 100}});
  Simulation after = simulation({{"a", "matmul", "1", 0, 100}});
  after.chip = chips::findChip("v5e").value();
  EXPECT_DOUBLE_EQ(withErrors(before, after).error.us, 24) << "12 % of each side, alike or not";
}

TEST(Diff, PartsThatWereFusedOtherwiseAreOneLineOfTheirParent) {
  const Difference d = difference(simulation({{"mlp.gate", "matmul", "1", 0, 50},
                                              {"mlp.up", "matmul", "2", 0, 50},
                                              {"mlp.down", "matmul", "3", 0, 40},
                                              {"attention.core", "kernel", "4", 0, 9}}),
                                  simulation({{"mlp.up", "matmul", "7", 0, 95},
                                              {"mlp.down", "matmul", "8", 0, 40},
                                              {"attention.core", "kernel", "9", 0, 9}}));
  const auto& lines = d.steps[0].lines;
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].place, "mlp");
  EXPECT_DOUBLE_EQ(lines[0].changeUs(), -5);
  ASSERT_EQ(lines[0].parts.size(), 2u);
  EXPECT_EQ(lines[0].parts[0].place, "mlp.gate");
  EXPECT_EQ(lines[0].parts[1].place, "mlp.up");
  EXPECT_DOUBLE_EQ(lines[0].parts[1].changeUs(), 45);
  EXPECT_EQ(lines[1].changeUs(), 0);
}

TEST(Diff, SaysWhichLayersChanged) {
  const Difference d = difference(
      simulation(
          {{"a", "x", "1", 0, 5}, {"a", "x", "2", 1, 5}, {"a", "x", "3", 2, 5}, {"a", "x", "4", 5, 5}}),
      simulation(
          {{"a", "x", "1", 0, 5}, {"a", "x", "2", 1, 6}, {"a", "x", "3", 2, 6}, {"a", "x", "4", 5, 7}}));
  EXPECT_EQ(d.steps[0].lines[0].layers, "1-2, 5");
  const Difference loop = difference(simulation({{"a", "x", "1", 0, 5}, {"a", "x", "2", 1, 5}}),
                                     simulation({{"a", "x", "1", RowPlace::kEvery, 9}}));
  EXPECT_EQ(loop.steps[0].lines[0].layers, "");
}

TEST(Diff, AnEditThatMovesTheLinesBelowItIsOneLineOfTheFile) {
  const auto at = [](const char* source, int64_t cycles) {
    Simulation made = simulation({{"", "matmul", "1", -1, cycles}, {"", "copy", "2", -1, 1}});
    made.steps[0].rows[0].row.source = source;
    made.steps[0].rows[1].row.source = "model.py:3";
    return made;
  };
  const Difference d = difference(at("model.py:42", 50), at("model.py:45", 40));
  ASSERT_EQ(d.steps[0].lines.size(), 2u);
  EXPECT_EQ(d.steps[0].lines[0].place, "model.py");
  EXPECT_DOUBLE_EQ(d.steps[0].lines[0].changeUs(), -10);
  EXPECT_EQ(d.steps[0].lines[1].place, "model.py:3");
}

TEST(Diff, TheLaunchIsALineSoThatLinesAddUp) {
  Simulation before = simulation({{"a", "x", "1", 0, 5}}), after = before;
  before.steps[0].launch_us = 3;
  before.steps[0].us += 3;
  const Difference d = difference(before, after);
  double sum = 0;
  for (const DiffLine& line : d.steps[0].lines) sum += line.changeUs();
  EXPECT_DOUBLE_EQ(sum, d.steps[0].changeUs());
  EXPECT_EQ(d.steps[0].lines[0].kind, "launch");
}

TEST(Diff, TheSchemaNamesEveryField) {
  const auto schema = schemaOf("diff-1");
  const auto json = nlohmann::json::parse(
      toJson(difference(simulation({{"a", "x", "1", 0, 5}}), simulation({{"a", "x", "1", 0, 6}}))));
  const auto& step = json["steps"][0];
  expectKeys(json, schema);
  expectKeys(step, schema["$defs"]["step"]);
  expectKeys(step["before"], schema["$defs"]["side"]);
  expectKeys(step["error"], schema["$defs"]["error"]);
  expectKeys(step["lines"][0], schema["$defs"]["line"]);
  expectKeys(step["lines"][0]["parts"][0], schema["$defs"]["part"]);
}

TEST(Diff, SidesOfDifferentOriginsAreNotCompared) {
  Simulation executed = simulation({{"a", "x", "1", 0, 100}}), estimated = executed;
  estimated.steps[0].rung = Rung::kCompiler;
  const Difference d = difference(executed, estimated);
  EXPECT_NE(toText(d, {}).find("different origins"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(toJson(d))["steps"][0]["resolvable"], false);
}

TEST(Diff, StepsAreMatchedByNameOrAreTheOnlyOnes) {
  EXPECT_EQ(
      difference(simulation({{"a", "x", "1", 0, 1}}, "f.mlir"), simulation({{"a", "x", "1", 0, 1}}, "g.mlir"))
          .steps[0]
          .name,
      "f.mlir -> g.mlir");
  Simulation two = simulation({{"a", "x", "1", 0, 1}});
  two.steps.push_back(two.steps[0]);
  two.steps[1].name = "prefill";
  EXPECT_FALSE(differenceOf(two, simulation({{"a", "x", "1", 0, 1}}, "f.mlir")).ok());
  EXPECT_EQ(difference(two, two).steps.size(), 2u);
}

}  // namespace
}  // namespace sublane::report
