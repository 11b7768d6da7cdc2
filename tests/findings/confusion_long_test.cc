// All rules over all programs: what they find against what is known to hold, as a confusion table.
#include <cstdlib>

#include "confusion.h"

namespace sublane::findings {
namespace {

class ConfusionTable : public testing::Test {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }
};

TEST_F(ConfusionTable, EveryProgramIsJudged) {
  std::set<std::string> judged;
  for (const Expected& program : readExpected(programFolder() + "expected.txt")) judged.insert(program.name);
  for (const auto& entry : std::filesystem::directory_iterator(programFolder())) {
    if (entry.path().extension() != ".mlir") continue;
    EXPECT_TRUE(judged.count(entry.path().stem().string())) << entry.path();
  }
}

TEST_F(ConfusionTable, OfAllRulesOverAllProgramsOnV6e) {
  Confusion confusion;
  for (const Expected& program : readExpected(programFolder() + "expected.txt"))
    confusion.add(program.name, program.rules, rulesOf(findingsIn(program, "v6e")));
  fmt::print("{}", confusion.toText());
  EXPECT_GE(confusion.all().precision(), 0.9);
  EXPECT_GE(confusion.all().recall(), 0.8);
  // Few programs trigger each rule, so one by one they are only held to a single false alarm.
  for (const auto& [rule, counts] : confusion.byRule()) EXPECT_LE(counts.wrong, 1) << rule;
}

/// What holds on one chip need not on another (its memories and units have other shares); what a program is
/// made to show should be seen on most.
TEST_F(ConfusionTable, ProgramsShowWhatTheyAreMadeForOnOtherChips) {
  for (const char* chip : {"v5e", "tpu7x"}) {
    Counts counts;
    for (const Expected& program : readExpected(programFolder() + "expected.txt")) {
      std::string rule = program.name.substr(0, program.name.find('.'));
      std::replace(rule.begin(), rule.end(), '_', '-');
      const auto& rules = allRules();
      const bool own =
          std::any_of(rules.begin(), rules.end(), [&](const Rule* each) { return each->name == rule; });
      if (!own) continue;
      const bool should = program.rules.count(rule) > 0;
      const bool did = rulesOf(findingsIn(program, chip)).count(rule) > 0;
      counts += {.right = should && did,
                 .wrong = !should && did,
                 .missed = should && !did,
                 .silent = !should && !did};
      if (should != did) fmt::print("  {} {}: {} {}\n", chip, program.name, did ? "wrong" : "missed", rule);
    }
    fmt::print("{}: {} right, {} wrong, {} missed, {} silent\n", chip, counts.right, counts.wrong,
               counts.missed, counts.silent);
    EXPECT_GE(counts.precision(), 0.85) << chip;
    EXPECT_GE(counts.recall(), 0.7) << chip;
  }
}

}  // namespace
}  // namespace sublane::findings
