#include "gate/project.h"

#include <gtest/gtest.h>

#include "../report/mutations.h"
#include "base/paths.h"

namespace sublane::gate {
namespace {

std::vector<Entry> entries(const std::string& text, const std::string& path = "ci/sublane.toml") {
  Result<std::vector<Entry>> found = parseProject(text, path);
  EXPECT_TRUE(found.ok()) << found.error().text();
  return found.ok() ? std::move(*found) : std::vector<Entry>{};
}
std::string fault(const std::string& text) {
  const Result<std::vector<Entry>> found = parseProject(text, "s.toml");
  return found.ok() ? "none" : found.error().message();
}

constexpr const char* kUsual = R"(
[defaults]
chips = ["v6e", "v5e"]
baseline = "perf/{name}.{chip}.baseline"
max_regression = "1%"

[[program]]
file = "decode.mlir"
inputs = "decode.npz"
chips = ["v6e"]
compile_options = {xla_a = 3, xla_b = true, xla_c = "x"}

[[program]]
name = "llama"
model = "smollm2-135m"
step = "decode"
batch = 16
context = 2048
layers = "loop"
max_regression = 0.05
[program.budget]
us = 900
hbm_bytes = 1_000_000
v5e = {us = 2000.5}
)";

TEST(Project, AnEntryIsAProgramOnAChip) {
  const std::vector<Entry> found = entries(kUsual);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "decode");
  EXPECT_EQ(found[0].subject, "ci/decode.mlir") << "beside the file that names it";
  EXPECT_EQ(found[0].inputs, "ci/decode.npz");
  EXPECT_EQ(found[0].baseline, "ci/perf/decode.v6e.baseline");
  EXPECT_EQ(found[0].compile_options, (std::vector<std::string>{"xla_a=3", "xla_b=true", "xla_c=x"}));
  EXPECT_DOUBLE_EQ(found[0].most_regression, 0.01);
  EXPECT_EQ(found[0].where, "ci/sublane.toml:7");
  EXPECT_TRUE(found[0].budget.empty());
  EXPECT_EQ(found[1].subject, "smollm2-135m");
  EXPECT_EQ(found[1].batch, 16);
  EXPECT_EQ(found[1].layers, "loop");
  EXPECT_DOUBLE_EQ(found[1].most_regression, 0.05);
  EXPECT_DOUBLE_EQ(*found[1].budget.us, 900);
  EXPECT_EQ(found[2].chip, "v5e");
  EXPECT_EQ(found[2].baseline, "ci/perf/llama.v5e.baseline");
  EXPECT_DOUBLE_EQ(*found[2].budget.us, 2000.5);
  EXPECT_EQ(*found[2].budget.hbm_bytes, 1000000) << "what a chip does not say is that of all";
}

TEST(Project, ABudgetAloneWillDo) {
  const auto found =
      entries("[[program]]\nmodel = \"m\"\nchips = [\"v6e\"]\nbudget = {us = 5}\n", "sublane.toml");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].baseline, "");
}

TEST(Project, ErrorsSayWhereAndWhatWasExpected) {
  const std::string head = "[[program]]\nfile = \"a.mlir\"\nchips = [\"v6e\"]\nbaseline = \"b\"\n";
  EXPECT_EQ(fault("[[program]\n").substr(0, 19), "s.toml:1: not TOML:");
  EXPECT_EQ(fault(""), "s.toml: no program");
  EXPECT_EQ(fault(head + "batchs = 3\n"), "s.toml:5: there is no key \"batchs\"");
  EXPECT_EQ(fault(head + "batch = 0\n"), "s.toml:5: batch: expected a whole number from 1 to 16777216");
  EXPECT_EQ(fault(head + "batch = \"8\"\n"), "s.toml:5: batch: expected a whole number from 1 to 16777216");
  EXPECT_EQ(fault(head + "layers = \"rolled\"\n"), "s.toml:5: layers: expected \"unrolled\" or \"loop\"");
  EXPECT_EQ(fault(head + "max_regression = \"fast\"\n"),
            "s.toml:5: max_regression: expected a share, as \"2%\" or 0.02");
  EXPECT_EQ(fault(head + "budget = {us = -1}\n"), "s.toml:5: us: expected a number of microseconds above 0");
  EXPECT_EQ(fault(head + "budget = {v9 = {us = 1}}\n"), "s.toml:5: there is no key \"v9\"");
  EXPECT_EQ(fault(head + "model = \"m\"\n"), "s.toml:1: program: expected one of file, model and config");
  EXPECT_EQ(fault("[[program]]\nfile = \"a.mlir\"\nbaseline = \"b\"\n"),
            "s.toml:1: program: expected chips, here or under [defaults]");
  EXPECT_EQ(fault("[[program]]\nfile = \"a.mlir\"\nchips = [\"v6e\"]\n"),
            "s.toml:1: program: expected a baseline or a budget, here or under [defaults]");
  EXPECT_NE(fault("[[program]]\nfile = \"a.mlir\"\nchips = [\"v9\"]\nbaseline = \"b\"\n").find("s.toml:3: "),
            std::string::npos);
  EXPECT_EQ(fault(head + head), "s.toml:5: \"a on v6e\" is already that of s.toml:1");
  EXPECT_EQ(fault("[defaults]\nname = \"x\"\n" + head), "s.toml:2: there is no key \"name\"");
  EXPECT_EQ(fault("program = 3\n"), "s.toml:1: program: expected tables: [[program]]");
}

TEST(Project, BadInputIsRefusedNotFollowed) {
  EXPECT_NE(fault("a = " + std::string(100000, '[')).find("not TOML"), std::string::npos);
  EXPECT_NE(fault(std::string(2 << 20, ' ')).find("are more than"), std::string::npos);
  EXPECT_NE(fault(std::string("a = \"\x01\x00\xff\"", 9)).find("not TOML"), std::string::npos);
  EXPECT_FALSE(readProject("/none/sublane.toml").ok());
}

TEST(Project, WrongBytesAreRefusedOrTaken) {
  int refused = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) refused += !parseProject(mutated(kUsual, seed), "s.toml").ok();
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 3000);
}

TEST(Share, IsAPercentOrANumber) {
  EXPECT_DOUBLE_EQ(*readShare("2%"), 0.02);
  EXPECT_DOUBLE_EQ(*readShare("0.02"), 0.02);
  for (const char* text : {"", "fast", "2%%", "-1%", "nan", "10000%"})
    EXPECT_FALSE(readShare(text).ok()) << text;
}

}  // namespace
}  // namespace sublane::gate
