#include "report/diff.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modules.h"

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

TEST(Diff, SaysWhenAChangeIsSmallerThanTheError) {
  Simulation before = simulation({{"a", "x", "1", 0, 100}}), after = simulation({{"a", "x", "1", 0, 95}});
  EXPECT_NE(toText(difference(before, after), {}).find("resolution    not known"), std::string::npos);
  before.steps[0].error = StepError{.relative = 0.12, .name = "GEMM", .points = 20};
  const Difference small = difference(before, after);
  EXPECT_FALSE(small.steps[0].resolvable());
  EXPECT_NE(toText(small, {}).find("not resolvable"), std::string::npos);
  after = simulation({{"a", "x", "1", 0, 60}});
  EXPECT_TRUE(difference(before, after).steps[0].resolvable());
  const auto document = nlohmann::json::parse(toJson(small));
  EXPECT_EQ(document["schema"], "sublane.diff/1");
  EXPECT_EQ(document["steps"][0]["resolvable"], false);
  EXPECT_EQ(document["steps"][0]["lines"][0]["change_us"], -5);
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
