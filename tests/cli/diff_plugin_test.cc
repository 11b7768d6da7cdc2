// `sublane diff` from a user's side.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/subprocess.h"

namespace sublane {
namespace {

const std::string kPrograms = SUBLANE_SOURCE_DIR "/tests/report/stablehlo/";

SubprocessResult diff(std::vector<std::string> arguments) {
  Subprocess child;
  child.argv = {SUBLANE_BINARY_DIR "/sublane", "diff"};
  child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
  return run(child).value();
}
bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(DiffVerb, TwoPrograms) {
  const std::vector<std::string> both = {kPrograms + "unrolled_24.mlir", kPrograms + "scan_24.mlir", "--chip",
                                         "v6e"};
  const SubprocessResult text = diff(both);
  ASSERT_EQ(text.code, 0) << text.errors;
  EXPECT_TRUE(has(text.output, "total, launch included")) << text.output;
  EXPECT_TRUE(has(text.output, "unrolled_24.mlir -> scan_24.mlir")) << text.output;
  std::vector<std::string> json = both;
  json.emplace_back("--json");
  const SubprocessResult once = diff(json), again = diff(json);
  EXPECT_EQ(once.output, again.output);
  const auto document = nlohmann::json::parse(once.output);
  double sum = 0;
  for (const auto& line : document["steps"][0]["lines"]) sum += line["change_us"].get<double>();
  EXPECT_NEAR(sum, document["steps"][0]["change_us"].get<double>(), 1e-6);
}

TEST(DiffVerb, TwoChips) {
  const SubprocessResult text = diff({kPrograms + "scan_24.mlir", "--chip", "v6e", "--other-chip", "v5e"});
  ASSERT_EQ(text.code, 0) << text.errors;
  EXPECT_TRUE(has(text.output, "chip: v6e -> v5e")) << text.output;
  EXPECT_TRUE(has(text.output, "lost ")) << text.output;
}

TEST(DiffVerb, WrongUse) {
  const std::string program = kPrograms + "scan_24.mlir";
  EXPECT_EQ(diff({program, "--chip", "v6e"}).code, 2);
  EXPECT_TRUE(has(diff({program, "--chip", "v6e"}).errors, "nothing to compare"))
      << "the hint says with what";
  EXPECT_EQ(diff({program, "--chip", "v6e", "--other-chip", "v9"}).code, 2);
  EXPECT_EQ(diff({program, "--chip", "v6e", "--other-libtpu", "9.9.9"}).code, 2);
  EXPECT_EQ(diff({program, "/none.mlir", "--chip", "v6e"}).code, 2);
}

}  // namespace
}  // namespace sublane
