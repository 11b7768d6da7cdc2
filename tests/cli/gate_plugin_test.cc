// A project's loop from a user's side: sublane.toml, baselines, a saved report, a difference, the log.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/paths.h"
#include "base/subprocess.h"

namespace sublane {
namespace {

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

class Project : public testing::Test {
 protected:
  SubprocessResult sublane(std::vector<std::string> arguments) {
    Subprocess child;
    child.argv = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder_.path(), SUBLANE_BINARY_DIR "/sublane"};
    child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
    return run(child).value();
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(writeFileAtomically(folder_.path() + "/" + name, text).ok());
  }
  std::string read(const std::string& name) { return readFile(folder_.path() + "/" + name).value(); }
  void SetUp() override {
    for (const char* name : {"scan_24.mlir", "unrolled_24.mlir"})
      write(name, readFile(std::string(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/") + name).value());
    write("sublane.toml",
          "[defaults]\nchips = [\"v6e\"]\nbaseline = \"perf/{name}.{chip}.baseline\"\n"
          "[[program]]\nfile = \"scan_24.mlir\"\n[[program]]\nfile = \"unrolled_24.mlir\"\n"
          "budget = {us = 100000}\n");
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
};

TEST_F(Project, IsCheckedAsAWhole) {
  const SubprocessResult none = sublane({"check"});
  EXPECT_EQ(none.code, 2) << "no baselines yet";
  EXPECT_TRUE(has(none.output, "ERROR  unrolled_24 on v6e")) << none.output;
  ASSERT_EQ(sublane({"check", "--update"}).code, 0);
  const std::string kept = read("perf/scan_24.v6e.baseline");
  EXPECT_EQ(sublane({"check"}).code, 0);
  ASSERT_EQ(sublane({"check", "--update", "--only", "scan_24"}).code, 0);
  EXPECT_EQ(read("perf/scan_24.v6e.baseline"), kept) << "the same program gives the same bytes";
  // As if the whole program and its slowest line had been faster once.
  std::string faster = kept;
  const size_t step = faster.find(" us ") + 4;
  faster.replace(step, faster.find(' ', step) - step, "1.00");
  const size_t line = faster.find("\n  ") + 3;
  faster.replace(line, faster.find(' ', line) - line, "0.50");
  write("perf/scan_24.v6e.baseline", faster);
  const SubprocessResult slower = sublane({"check", "--sarif", "r.sarif", "--junit", "r.xml"});
  EXPECT_EQ(slower.code, 1) << slower.errors;
  EXPECT_TRUE(has(slower.output, "FAILED scan_24 on v6e")) << slower.output;
  EXPECT_TRUE(has(slower.output, "ok     unrolled_24 on v6e")) << slower.output;
  EXPECT_TRUE(has(slower.output, "slower: ")) << slower.output;
  EXPECT_TRUE(has(slower.errors, "1 of 2 programs are slower than allowed")) << slower.errors;
  const auto sarif = nlohmann::json::parse(read("r.sarif"));
  int64_t at_source = 0;
  for (const auto& result : sarif["runs"][0]["results"]) {
    if (!result.contains("locations")) continue;
    const auto& place = result["locations"][0]["physicalLocation"];
    at_source += result["level"] == "error" && has(place["artifactLocation"]["uri"], "scan_24.mlir");
    EXPECT_GE(place["region"]["startLine"].get<int64_t>(), 1);
  }
  EXPECT_GE(at_source, 1) << "the line that became slower is at the user's source";
  EXPECT_TRUE(has(read("r.xml"), "failures=\"1\" errors=\"0\""));
  write("sublane.toml",
        "[[program]]\nfile = \"scan_24.mlir\"\nchips = [\"v6e\"]\nbudget = {us = \"fast\"}\n");
  const SubprocessResult wrong = sublane({"check"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(has(wrong.errors, "sublane.toml:4: us: expected a number of microseconds above 0"))
      << wrong.errors;
}

TEST_F(Project, SavedReportsAreComparedWithoutACompile) {
  const auto saved = [&](const char* verb, const char* program, const char* name) {
    const SubprocessResult made = sublane({verb, program, "--chip", "v6e", "--json"});
    EXPECT_EQ(made.code, 0) << made.errors;
    write(name, made.output);
  };
  saved("simulate", "unrolled_24.mlir", "before.json");
  saved("simulate", "scan_24.mlir", "after.json");
  saved("explain", "scan_24.mlir", "explained.json");
  const SubprocessResult compiled =
      sublane({"diff", "unrolled_24.mlir", "scan_24.mlir", "--chip", "v6e", "--json"});
  const SubprocessResult read_back = sublane({"diff", "before.json", "after.json", "--json"});
  ASSERT_EQ(read_back.code, 0) << read_back.errors;
  EXPECT_EQ(read_back.output, compiled.output);
  const SubprocessResult half = sublane({"diff", "before.json", "scan_24.mlir", "--chip", "v6e", "--json"});
  EXPECT_EQ(half.output, compiled.output);
  EXPECT_TRUE(has(sublane({"diff", "explained.json", "after.json"}).output, "nothing changed"));
  EXPECT_TRUE(has(sublane({"diff", "before.json", "scan_24.mlir"}).errors, "--chip is required"));
  EXPECT_TRUE(has(sublane({"diff", "before.json", "after.json", "--other-chip", "v5e"}).errors,
                  "is a saved report: --other-... cannot change it"));
  write("cut.json", read("after.json").substr(0, 1000));
  const SubprocessResult cut = sublane({"diff", "before.json", "cut.json"});
  EXPECT_EQ(cut.code, 2);
  EXPECT_TRUE(has(cut.errors, "cut.json: not JSON")) << cut.errors;
}

TEST_F(Project, KeepsALogWhereItWasMade) {
  const std::vector<std::string> simulate = {"simulate", "scan_24.mlir", "--chip", "v6e"};
  ASSERT_EQ(sublane(simulate).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/.sublane")) << "nothing is written unasked";
  EXPECT_EQ(sublane({"log"}).code, 2);
  std::vector<std::string> noted = simulate;
  noted.insert(noted.end(), {"--note", "first try"});
  EXPECT_TRUE(has(sublane(noted).errors, "there is no log here"));
  ASSERT_EQ(sublane({"log", "init"}).code, 0);
  EXPECT_TRUE(has(sublane({"log"}).output, "nothing is logged yet"));
  ASSERT_EQ(sublane(noted).code, 0);
  ASSERT_EQ(sublane({"diff", "unrolled_24.mlir", "scan_24.mlir", "--chip", "v6e"}).code, 0);
  ASSERT_EQ(sublane({"explain", "scan_24.mlir", "--chip", "v6e", "--redact"}).code, 0);
  ASSERT_EQ(sublane({"check", "--update"}).code, 0);
  const auto log = nlohmann::json::parse(sublane({"log", "--json"}).output);
  ASSERT_EQ(log["entries"].size(), 4u);
  EXPECT_EQ(log["entries"][0]["note"], "first try");
  EXPECT_EQ(log["entries"][0]["sides"][0]["subject"], "scan_24.mlir");
  EXPECT_EQ(log["entries"][0]["sides"][0]["program"].get<std::string>().size(), 16u);
  EXPECT_EQ(log["entries"][0]["sides"][0]["program"], log["entries"][1]["sides"][1]["program"]);
  EXPECT_TRUE(has(log["entries"][1]["outcome"], " us"));
  EXPECT_EQ(log["entries"][2]["sides"][0]["subject"], "program-1");
  EXPECT_TRUE(has(log["entries"][3]["outcome"], "scan_24 on v6e updated"));
  EXPECT_TRUE(has(sublane({"log", "show", "1"}).output, "note: first try"));
  EXPECT_EQ(sublane({"log", "show", "9"}).code, 2);
}

}  // namespace
}  // namespace sublane
