// Rules over programs that libtpu compiles: a few of those whose confusion table `make test-long` prints.
#include <cstdlib>

#include "confusion.h"

namespace sublane::findings {
namespace {

class CompiledPrograms : public testing::Test {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }
};

TEST_F(CompiledPrograms, ShowWhatTheyAreMadeFor) {
  const std::set<std::string> few = {"missed_donation", "unused_outputs", "single_buffered",
                                     "tile_padding",    "wide_weights",   "scalar_bound"};
  Confusion confusion;
  for (const Expected& program : readExpected(programFolder() + "expected.txt")) {
    const std::string group = program.name.substr(0, program.name.find('.'));
    if (few.count(group)) confusion.add(program.name, program.rules, rulesOf(findingsIn(program, "v6e")));
  }
  fmt::print("{}", confusion.toText());
  EXPECT_GE(confusion.all().right, 6);
  EXPECT_GE(confusion.all().precision(), 0.9);
  EXPECT_GE(confusion.all().recall(), 0.8);
}

double gainOf(std::string_view rule, const std::vector<Finding>& findings) {
  double us = 0;
  for (const Finding& each : findings) us += each.rule == rule ? each.gain_us : 0;
  return us;
}

/// The edit is made, and the program compiled again: what the rule found is gone (or less of it, where it
/// found several), and the time with it.
TEST_F(CompiledPrograms, AreCuredByTheirEdits) {
  for (const char* name : {"missed_donation.fires", "unused_outputs.fires", "whole_copies_layout.fires",
                           "report/stablehlo/scan_cache"}) {
    SCOPED_TRACE(name);
    const Result<Judged> before = judgedFile(programPath(name), {.chip = "v6e"});
    ASSERT_TRUE(before.ok()) << before.error().text();
    const std::vector<Finding> findings = findingsOf(before->evidence());
    const auto finding = std::find_if(findings.begin(), findings.end(),
                                      [](const Finding& each) { return each.edit.has_value(); });
    ASSERT_NE(finding, findings.end());
    std::stringstream text;
    text << std::ifstream(programPath(name)).rdbuf();
    const Result<std::string> cured = applied(*finding->edit, text.str());
    ASSERT_TRUE(cured.ok()) << cured.error().text();
    const Result<Judged> after = judgedProgram({name, "", *cured}, {.chip = "v6e"});
    ASSERT_TRUE(after.ok()) << after.error().text();
    EXPECT_LT(gainOf(finding->rule, findingsOf(after->evidence())), 0.6 * gainOf(finding->rule, findings));
    EXPECT_LT(after->step.us, before->step.us);
  }
}

}  // namespace
}  // namespace sublane::findings
