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
    made.us += each.row.us;
    made.cycles += each.row.cycles;
    made.rows.push_back(std::move(each));
  }
  return made;
}

std::vector<Finding> found(const report::SimulatedStep& step) { return findingsOf({step, v6e(), 1e6}); }
std::set<std::string_view> rulesOf(const report::SimulatedStep& step) {
  std::set<std::string_view> rules;
  for (const Finding& finding : found(step)) rules.insert(finding.rule);
  return rules;
}
using Rules = std::set<std::string_view>;

/// Busy at something that no rule complains of.
report::SimulatedRow useful(double us = 1000) {
  return row("elementwise", Cause::kIssueVectorAlu, us, us / 2);
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
  EXPECT_EQ(rulesOf(step({useful(), row("wait", Cause::kDma, 300, 250)})), Rules{"exposed-transfers"});
  EXPECT_EQ(rulesOf(step({useful(5000), row("wait", Cause::kDma, 100, 90)})), Rules{});
}

TEST(Findings, ChainsOfDependentOperations) {
  EXPECT_EQ(rulesOf(step({useful(), row("reduce", Cause::kDependencyCrossLane, 200)})),
            Rules{"latency-bound"});
  EXPECT_EQ(rulesOf(step({useful(), row("reduce", Cause::kIssueCrossLane, 200)})), Rules{});
}

TEST(Findings, ScalarWork) {
  EXPECT_EQ(rulesOf(step({useful(), row("kernel", Cause::kIssueScalar, 200)})), Rules{"scalar-bound"});
  EXPECT_EQ(rulesOf(step({useful(), row("kernel", Cause::kIssueVectorLoad, 200)})), Rules{});
}

TEST(Findings, TheMxuBehindOtherWork) {
  const report::SimulatedStep idle = step({useful(), row("kernel", Cause::kIssueCrossLane, 400, 20, 50)});
  EXPECT_EQ(rulesOf(idle), Rules{"mxu-idle"});
  EXPECT_NE(found(idle)[0].what.find("issue:xlu takes most of it"), std::string::npos) << found(idle)[0].what;
  EXPECT_EQ(rulesOf(step({useful(), row("kernel", Cause::kIssueMatrix, 400, 20, 300)})), Rules{});
}

TEST(Findings, Spills) {
  report::SimulatedRow spilling = useful(500);
  spilling.causes[static_cast<size_t>(Cause::kSpill)] = 100;
  EXPECT_EQ(rulesOf(step({useful(), spilling})), Rules{"spills"});
}

TEST(Findings, CopiesOfWholeBuffersThatWereExecuted) {
  report::SimulatedRow copy = row("copy", Cause::kIssueVectorLoad, 300, 200);
  EXPECT_EQ(rulesOf(step({useful(), copy})), Rules{});
  copy.row.flags = {report::Flag::kWholeState};
  EXPECT_EQ(rulesOf(step({useful(), copy})), Rules{"whole-copies"});
  copy.row.us = 0;  // it may alias, and did
  EXPECT_EQ(rulesOf(step({useful(), copy})), Rules{});
}

TEST(Findings, Collectives) {
  EXPECT_EQ(rulesOf(step({useful(), row("collective", Cause::kDma, 300)})), Rules{"exposed-collectives"});
  EXPECT_EQ(rulesOf(step({useful(9000), row("collective", Cause::kDma, 300)})), Rules{});
}

TEST(Findings, TheLargestGainComesFirstAndCannotBeMoreThanItsTime) {
  const report::SimulatedStep both = step({useful(), row("gather", Cause::kIssueVectorStore, 500, 50),
                                           row("reduce", Cause::kDependencyCrossLane, 800)});
  const std::vector<Finding> findings = found(both);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "latency-bound");
  for (const Finding& finding : findings) EXPECT_LE(finding.gain_us, finding.us);
  const Evidence evidence{both, v6e(), 1e6};
  const std::string text = toText(findings, evidence, 1);
  EXPECT_NE(text.find("Look first at\n   1. part reduce: 800.0 us (35 %)"), std::string::npos) << text;
  EXPECT_EQ(text.find("2. "), std::string::npos);
}

TEST(Findings, NothingIsSaidOfWhatWasNotExecuted) {
  report::SimulatedStep estimated = step({row("gather", Cause::kIssueVectorStore, 500, 50)});
  estimated.rung = report::Rung::kCompiler;
  EXPECT_TRUE(found(estimated).empty());
}

TEST(Findings, EveryRuleHasANameAndASummary) {
  EXPECT_GE(allRules().size(), 8u);
  std::set<std::string_view> names;
  for (const Rule* rule : allRules()) {
    EXPECT_FALSE(rule->summary.empty()) << rule->name;
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
  }
}

}  // namespace
}  // namespace sublane::findings
