#include "views/sarif.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sublane::views {
namespace {

nlohmann::json resultOf(const std::vector<std::string>& sources) {
  const std::string text =
      toSarif({{"spills", "Registers spill"}},
              {{.rule = "spills", .level = "note", .message = "it \"spills\"", .sources = sources}}, "/repo");
  return nlohmann::json::parse(text)["runs"][0]["results"][0];
}
std::string uriOf(const std::string& source) {
  return resultOf({source})["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
}

TEST(Sarif, AResultStandsAtTheUsersSource) {
  const auto result = resultOf({"model.py:42", "model.py:7", "no line", "x:0", ":3"});
  EXPECT_EQ(result["ruleId"], "spills");
  EXPECT_EQ(result["message"]["text"], "it \"spills\"");
  ASSERT_EQ(result["locations"].size(), 2u);
  EXPECT_EQ(result["locations"][1]["physicalLocation"]["region"]["startLine"], 7);
  EXPECT_FALSE(resultOf({""}).contains("locations"));
}

TEST(Sarif, PathsAreRelativeToTheCheckout) {
  EXPECT_EQ(uriOf("/repo/src/model.py:1"), "src/model.py");
  EXPECT_EQ(uriOf("/elsewhere/a b.py:1"), "file:///elsewhere/a%20b.py");
  EXPECT_EQ(uriOf("sub/model.py:1"), "sub/model.py");
  EXPECT_EQ(uriOf("C:/x.py:9"), "C:/x.py");
}

TEST(Sarif, FindingsAreWarningsByWhatTheirCureSaves) {
  const report::SimulatedStep step{.name = "decode", .us = 100};
  const findings::Evidence evidence{step, **chips::findChip("v6e"), 1e9};
  const std::vector<findings::Finding> found = {
      {.rule = "spills", .what = "a.", .cure = "b", .sources = {"m.py:1"}, .gain_us = 5},
      {.rule = "spills", .what = "c.", .cure = "d", .gain_us = 4}};
  const auto results = sarifOf(found, evidence, "m");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].level, "warning");
  EXPECT_EQ(results[0].message, "m decode: a.. Cure: b (5.0 us, 5 % of the step)");
  EXPECT_EQ(results[1].level, "note");
  EXPECT_FALSE(sarifRules().empty());
}

}  // namespace
}  // namespace sublane::views
