// Faults in compiled programs: what is said of one, and a few of each kind. faults_long_test.cc makes
// hundreds.
#include <gtest/gtest.h>

#include "faults_campaign.h"

namespace sublane::sim {
namespace {

class FaultText : public testing::Test {
 protected:
  /// What is said of the first fault of a kind in a program.
  void seed(const std::string& program, const std::string& kind) {
    Result<Subject> subject = subjectNamed(program);
    ASSERT_TRUE(subject.ok()) << subject.error().text();
    Result<Judge> judge = Judge::of(std::move(*subject), "v6e");
    ASSERT_TRUE(judge.ok()) << judge.error().text();
    const Result<Coverage> coverage = coverageOf(judge->compiled());
    ASSERT_TRUE(coverage.ok()) << coverage.error().text();
    for (const Fault& fault : faultsOf(judge->compiled().program, *coverage, 1)) {
      if (kFaultKinds[fault.kind].name != kind) continue;
      where = textOf(judge->compiled().program, fault);
      function = judge->compiled().program.listings[static_cast<size_t>(fault.listing)].function;
      verdict = judge->on(fault);
    }
    ASSERT_FALSE(where.empty()) << "no " << kind << " in " << program;
  }
  std::string where, function;
  Verdict verdict;
};

/// A value that differs is shown with its vector and the bundle that wrote it.
TEST_F(FaultText, ShowsTheFirstDifferingVectorAndTheBundleThatWroteIt) {
  seed("elementwise_f32", "swapped operands");
  EXPECT_TRUE(verdict.caught && !verdict.error) << where << ": " << verdict.said;
  EXPECT_NE(verdict.said.find("first at ["), std::string::npos) << verdict.said;
  EXPECT_NE(verdict.said.find("(row "), std::string::npos) << verdict.said;
  EXPECT_NE(verdict.said.find("last written by " + function + ", bundle 0x"), std::string::npos)
      << verdict.said;
  EXPECT_TRUE(verdict.near) << where << ": " << verdict.said;
}

/// Who touches what a transfer still moves is named, and the transfer, too: however fast the memory is.
TEST_F(FaultText, NamesTheTransferThatNobodyWaitedFor) {
  seed("paged", "dropped wait");
  EXPECT_TRUE(verdict.error && verdict.operation) << where << ": " << verdict.said;
  EXPECT_NE(verdict.said.find("nobody"), std::string::npos) << where << ": " << verdict.said;
}

TEST(FaultsOfEachKind, AreCaughtAndLocated) {
  const Result<Campaign> result =
      campaign({"elementwise_f32", "reductions", "matmul_bf16", "paged"}, "v6e", 1);
  ASSERT_TRUE(result.ok()) << result.error().text();
  print(*result);
  EXPECT_GE(result->all.made, 50);
  EXPECT_GE(result->all.shareCaught(), 0.9);
  EXPECT_GE(result->all.shareLocated(), 0.85);
}

}  // namespace
}  // namespace sublane::sim
