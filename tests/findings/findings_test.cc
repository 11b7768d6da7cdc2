#include "findings/findings.h"

#include <gtest/gtest.h>

#include <set>

namespace sublane::findings {
namespace {

using events::Cause;

const chips::Chip& v6e() { return **chips::findChip("v6e"); }

/// A row whose cycles are us, all of one cause; its bytes need `hbm_us`.
report::SimulatedRow row(const char* kind, Cause cause, double us, double hbm_us = 0, double mxu_us = 0) {
  report::SimulatedRow made;
  made.row.place.part = "part";
  made.row.op = std::string(kind) + ".1";
  made.row.kind = kind;
  made.row.us = us;
  made.row.cycles = static_cast<int64_t>(us);
  made.row.hbm_us = hbm_us;
  made.row.mxu_us = mxu_us;
  made.row.hbm_bytes = static_cast<int64_t>(hbm_us * 1.64e6);
  made.row.matmul_flops = mxu_us > 0 ? 1000 : 0;
  made.causes[static_cast<size_t>(cause)] = made.row.cycles;
  return made;
}

report::SimulatedStep step(std::vector<report::SimulatedRow> rows) {
  report::SimulatedStep made{.name = "decode"};
  for (report::SimulatedRow& each : rows) {
    each.row.id = static_cast<int32_t>(made.rows.size());
    made.us += each.row.us;
    made.cycles += each.row.cycles;
    made.rows.push_back(std::move(each));
  }
  return made;
}

std::vector<Finding> found(report::SimulatedStep step, const report::Anatomy& anatomy = {}) {
  step.anatomy = anatomy;
  return findingsOf({step, v6e(), 1e6});
}
std::set<std::string_view> rulesOf(const report::SimulatedStep& step, const report::Anatomy& anatomy = {}) {
  std::set<std::string_view> rules;
  for (const Finding& finding : found(step, anatomy)) rules.insert(finding.rule);
  return rules;
}
using Rules = std::set<std::string_view>;

/// Busy at something that no rule complains of.
report::SimulatedRow useful(double us = 1000) {
  return row("elementwise", Cause::kIssueVectorAlu, us, 0.6 * us);
}

TEST(Findings, SilentWhereNothingIsWrong) {
  EXPECT_EQ(rulesOf(step({useful(), row("matmul", Cause::kIssueMatrix, 1000, 200, 900)})), Rules{});
  EXPECT_EQ(rulesOf(step({})), Rules{});
}

TEST(Findings, GathersRowByRow) {
  EXPECT_EQ(rulesOf(step({useful(), row("gather", Cause::kIssueVectorStore, 500, 50)})), Rules{"row-by-row"});
  EXPECT_EQ(rulesOf(step({useful(), row("gather", Cause::kIssueVectorStore, 500, 400)})), Rules{});
  EXPECT_EQ(rulesOf(step({useful(), row("gather", Cause::kIssueVectorStore, 20, 2)})), Rules{})
      << "too little";
}

TEST(Findings, TransfersThatNothingHides) {
  EXPECT_EQ(rulesOf(step({useful(), row("copy", Cause::kDma, 300, 250)})), Rules{"exposed-transfers"});
  EXPECT_EQ(rulesOf(step({useful(5000), row("copy", Cause::kDma, 100, 90)})), Rules{});
  EXPECT_EQ(rulesOf(step({row("copy", Cause::kDma, 300, 260)})), Rules{}) << "its bytes need no less";
}

TEST(Findings, ChainsOfDependentOperations) {
  EXPECT_EQ(rulesOf(step({useful(), row("reduce", Cause::kDependencyCrossLane, 200)})),
            Rules{"latency-bound"});
  EXPECT_EQ(rulesOf(step({useful(), row("reduce", Cause::kIssueCrossLane, 200, 150)})), Rules{});
}

TEST(Findings, ScalarWork) {
  EXPECT_EQ(rulesOf(step({useful(), row("kernel", Cause::kIssueScalar, 200)})), Rules{"scalar-bound"});
  EXPECT_EQ(rulesOf(step({useful(), row("kernel", Cause::kIssueVectorLoad, 200, 150)})), Rules{});
}

TEST(Findings, TheMxuBehindOtherWork) {
  const report::SimulatedStep idle = step({useful(), row("kernel", Cause::kIssueCrossLane, 400, 20, 50)});
  EXPECT_EQ(rulesOf(idle), Rules{"mxu-idle"});
  EXPECT_NE(found(idle)[0].what.find("the largest cause is issue:xlu 100 %"), std::string::npos)
      << found(idle)[0].what;
  EXPECT_EQ(rulesOf(step({useful(), row("kernel", Cause::kIssueMatrix, 400, 20, 300)})), Rules{});
}

TEST(Findings, Spills) {
  report::SimulatedRow spilling = useful(500);
  spilling.causes[static_cast<size_t>(Cause::kSpill)] = 100;
  EXPECT_EQ(rulesOf(step({useful(), spilling})), Rules{"spills"});
}

TEST(Findings, WorkOfTheVectorUnits) {
  EXPECT_EQ(rulesOf(step({useful(), row("reduce", Cause::kIssueCrossLane, 500, 50)})), Rules{"vector-bound"});
  EXPECT_EQ(rulesOf(step({useful(), row("reduce", Cause::kIssueCrossLane, 500, 400)})), Rules{})
      << "its bytes";
}

TEST(Findings, ManySmallOperations) {
  report::SimulatedRow small = row("elementwise", Cause::kBranch, 200, 1);
  small.causes = {};
  small.causes[static_cast<size_t>(Cause::kIssueOther)] = 200;
  small.row.origin = Origin::kSimulated;
  small.row.count = 100;
  EXPECT_EQ(rulesOf(step({useful(), small})), Rules{"small-operations"});
  small.row.count = 10;
  EXPECT_EQ(rulesOf(step({useful(), small})), Rules{}) << "20 us each";
}

TEST(Findings, Collectives) {
  EXPECT_EQ(rulesOf(step({useful(), row("collective", Cause::kDma, 300)})), Rules{"exposed-collectives"});
  EXPECT_EQ(rulesOf(step({useful(9000), row("collective", Cause::kDma, 300)})), Rules{});
}

TEST(Findings, WhatCanBeCuredComesBeforeSymptomsUnlessItIsLittle) {
  const auto both = [](double gather_us) {
    return step({useful(), row("gather", Cause::kIssueVectorStore, gather_us, gather_us / 10),
                 row("reduce", Cause::kDependencyCrossLane, 1200)});
  };
  const report::SimulatedStep much = both(500), little = both(110);
  EXPECT_EQ(found(much).at(0).rule, "row-by-row");
  EXPECT_EQ(found(much).at(1).rule, "latency-bound");
  for (const Finding& finding : found(much)) EXPECT_LE(finding.gain_us, finding.us);
  EXPECT_EQ(found(little).at(0).rule, "latency-bound") << "99 of 2310 us are under a twentieth";
  const Evidence evidence{little, v6e(), 1e6};
  const std::string text = toText(found(little), evidence, 1);
  EXPECT_NE(text.find("Look first at\n   1. part reduce: 1200.0 us (52 %)"), std::string::npos) << text;
  EXPECT_EQ(text.find("2. "), std::string::npos);
}

TEST(Findings, ATimeIsGivenAwayOnce) {
  // A gather whose time is all in dependencies: the pattern takes it, and the symptom has nothing left.
  const report::SimulatedStep one = step({useful(), row("gather", Cause::kDependencyVectorLoad, 500, 50)});
  EXPECT_EQ(rulesOf(one), Rules{"row-by-row"});
  double gain = 0;
  for (const Finding& finding : found(one)) gain += finding.gain_us;
  EXPECT_LE(gain, one.us);
}

TEST(Findings, OnALowerRungRulesOverCausesAreSilent) {
  report::SimulatedStep estimated = step(
      {row("gather", Cause::kIssueVectorStore, 500, 50), row("reduce", Cause::kDependencyMatrix, 500, 400)});
  for (report::SimulatedRow& each : estimated.rows) each.causes = {};
  estimated.rung = report::Rung::kCompiler;
  EXPECT_EQ(rulesOf(estimated), Rules{"row-by-row"}) << "an estimate can say it, too";
}

TEST(Findings, KernelsOfWhichNothingIsKnown) {
  report::SimulatedStep estimated = step({row("kernel", Cause::kDma, 100, 100)});
  estimated.rows[0].row.flags = {report::Flag::kNoDescription};
  EXPECT_EQ(rulesOf(estimated).count("unknown-cost"), 0u) << "it was executed";
  estimated.rung = report::Rung::kCompiler;
  EXPECT_EQ(rulesOf(estimated).count("unknown-cost"), 1u);
}

// ---- kernels, loops and transfers

/// One kernel, all of row 1, with a loop over its bundles 10 to 20.
report::Anatomy kernel(const report::SimulatedStep& step, int64_t iterations, int64_t waits) {
  report::Anatomy anatomy;
  report::LoopUse loop{.first = 10, .last = 20, .iterations = iterations, .cycles = step.rows[1].row.cycles};
  loop.causes[static_cast<size_t>(Cause::kDma)] = waits;
  loop.causes[static_cast<size_t>(Cause::kIssueVectorAlu)] = loop.cycles - waits;
  report::KernelUse made{
      .name = "kernel.1", .rows = {1}, .cycles = step.rows[1].row.cycles, .causes = loop.causes};
  made.loops.push_back(loop);
  anatomy.kernels.push_back(made);
  return anatomy;
}

report::SimulatedStep kernelStep(double waits) {
  report::SimulatedRow made = row("kernel", Cause::kIssueVectorAlu, 1000, 400);
  made.causes = {};
  made.causes[static_cast<size_t>(Cause::kDma)] = static_cast<int64_t>(waits);
  made.causes[static_cast<size_t>(Cause::kIssueVectorAlu)] = 1000 - static_cast<int64_t>(waits);
  return step({useful(200), made});
}

TEST(Findings, LoopsThatWaitForEachBlock) {
  const report::SimulatedStep waiting = kernelStep(500);
  report::Anatomy anatomy = kernel(waiting, 100, 500);
  report::TransferUse transfer{.row = 1, .kernel = 0, .bundle = 12, .from = "hbm", .to = "vmem"};
  transfer.count = 100;
  transfer.bytes = 100 << 20;
  transfer.pieces = 100;
  transfer.flight_cycles = 510;
  transfer.waited_cycles = 500;
  anatomy.transfers = {transfer};
  EXPECT_EQ(rulesOf(waiting, anatomy).count("single-buffered"), 1u);
  anatomy.transfers[0].flight_cycles = 990;  // the work of an iteration passes while it is in flight
  EXPECT_EQ(rulesOf(waiting, anatomy).count("single-buffered"), 0u);
  anatomy.transfers[0].flight_cycles = 510;
  anatomy.transfers[0].flight_cycles = 10;  // the loop waits, but not for this
  anatomy.transfers[0].waited_cycles = 0;
  EXPECT_EQ(rulesOf(waiting, anatomy).count("single-buffered"), 0u);
  anatomy.transfers[0].flight_cycles = 510;
  anatomy.transfers[0].waited_cycles = 500;
  anatomy.kernels[0].loops[0].iterations = 1;
  EXPECT_EQ(rulesOf(waiting, anatomy).count("single-buffered"), 0u) << "no loop";
}

TEST(Findings, TransfersInSmallPieces) {
  const report::SimulatedStep waiting = kernelStep(300);
  report::Anatomy anatomy = kernel(waiting, 100, 300);
  report::TransferUse transfer{.row = 1, .kernel = 0, .bundle = 12, .from = "hbm", .to = "vmem"};
  transfer.count = 1000;
  transfer.pieces = 1'000'000;
  transfer.bytes = 256'000'000;
  transfer.flight_cycles = 700;
  transfer.waited_cycles = 300;
  anatomy.transfers = {transfer};
  EXPECT_EQ(rulesOf(waiting, anatomy).count("small-pieces"), 1u);
  anatomy.transfers[0].pieces = 10'000;  // of 25,600 bytes
  EXPECT_EQ(rulesOf(waiting, anatomy).count("small-pieces"), 0u);
}

TEST(Findings, NameTheLoopThatTakesTheTime) {
  const report::SimulatedStep chain = step({useful(), row("kernel", Cause::kDependencyCrossLane, 400)});
  report::Anatomy anatomy = kernel(chain, 8, 0);
  anatomy.kernels[0].loops[0].causes = chain.rows[1].causes;
  const std::vector<Finding> findings = found(chain, anatomy);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "latency-bound");
  ASSERT_EQ(findings[0].evidence.size(), 1u);
  EXPECT_EQ(
      findings[0].evidence[0],
      "kernel.1: its loop of bundles 10-20 runs 8 iterations; 100 % of its 400 cycles are such (simulated)");
}

TEST(Findings, EveryRuleHasANameAndASummary) {
  EXPECT_GE(allRules().size(), 22u);
  std::set<std::string_view> names;
  for (const Rule* rule : allRules()) {
    EXPECT_FALSE(rule->summary.empty()) << rule->name;
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
  }
}

}  // namespace
}  // namespace sublane::findings
