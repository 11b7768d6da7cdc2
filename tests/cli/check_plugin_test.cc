// `sublane check` from a user's side: write a baseline, pass it, fail it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/paths.h"
#include "base/subprocess.h"

namespace sublane {
namespace {

class CheckVerb : public testing::Test {
 protected:
  SubprocessResult check(std::vector<std::string> more) {
    Subprocess child;
    child.argv = {SUBLANE_BINARY_DIR "/sublane",
                  "check",
                  SUBLANE_SOURCE_DIR "/tests/report/stablehlo/scan_24.mlir",
                  "--chip",
                  "v6e",
                  "--baseline",
                  baseline_};
    child.argv.insert(child.argv.end(), more.begin(), more.end());
    return run(child).value();
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
  const std::string baseline_ = folder_.path() + "/scan.baseline";
};

TEST_F(CheckVerb, WritesPassesAndFails) {
  const SubprocessResult none = check({});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.errors.find("--update writes it"), std::string::npos) << none.errors;
  ASSERT_EQ(check({"--update"}).code, 0);
  const std::string kept = readFile(baseline_).value();
  EXPECT_EQ(check({}).code, 0);
  ASSERT_EQ(check({"--update"}).code, 0);
  EXPECT_EQ(readFile(baseline_).value(), kept) << "the same program gives the same bytes";
  // As if the program had been faster once.
  const size_t at = kept.find(" us ") + 4;
  ASSERT_TRUE(
      writeFileAtomically(baseline_, kept.substr(0, at) + "1.00" + kept.substr(kept.find(' ', at))).ok());
  const std::string sarif = folder_.path() + "/r.sarif", junit = folder_.path() + "/r.xml";
  const SubprocessResult slower = check({"--sarif", sarif, "--junit", junit});
  EXPECT_EQ(slower.code, 1) << slower.errors;
  EXPECT_NE(slower.output.find("FAILED"), std::string::npos) << slower.output;
  EXPECT_NE(slower.errors.find("is slower than"), std::string::npos) << slower.errors;
  EXPECT_EQ(nlohmann::json::parse(readFile(sarif).value())["version"], "2.1.0");
  EXPECT_NE(readFile(junit)->find("failures=\"1\""), std::string::npos);
  EXPECT_EQ(check({"--max-regression", "10000%"}).code, 2);
  EXPECT_EQ(check({"--max-regression", "fast"}).code, 2);
}

}  // namespace
}  // namespace sublane
