#include "report/baseline.h"

#include <gtest/gtest.h>

#include "modules.h"

namespace sublane::report {
namespace {

SimulatedRow row(const char* part, const char* kind, double us, const char* source = "") {
  SimulatedRow made;
  made.row.place.part = part;
  made.row.kind = kind;
  made.row.us = us;
  made.row.source = source;
  return made;
}

Simulation simulation(std::vector<SimulatedRow> rows) {
  Simulation made{.subject = "m", .chip = &v6e(), .compiler = "libtpu 0.0.52 (some build)"};
  made.model_hash = "0123456789abcdef";
  SimulatedStep step{.name = "decode"};
  for (SimulatedRow& each : rows) {
    step.us += each.row.us;
    step.rows.push_back(std::move(each));
  }
  step.hbm_read_bytes = 1000;
  made.steps.push_back(std::move(step));
  return made;
}

const Simulation& usual() {
  static const Simulation kUsual =
      simulation({row("attention.core", "gather", 100), row("mlp.up", "matmul", 50, "model.py:42"),
                  row("", "top-k", 5)});
  return kUsual;
}

Baseline parsed(const std::string& text) {
  Result<Baseline> baseline = parseBaseline(text, "b.txt");
  EXPECT_TRUE(baseline.ok()) << baseline.error().text();
  return std::move(baseline).value();
}

TEST(Baseline, IsTextThatReadsBackToTheSameBytes) {
  const std::string text = toText(baselineOf(usual()));
  EXPECT_EQ(text,
            "sublane baseline 1\nchip v6e\ncompiler libtpu 0.0.52\nmodel 0123456789ab\n"
            "step decode us 155.00 hbm_bytes 1000 rung bundles\n"
            "  100.00 gather attention.core\n  50.00 matmul mlp.up\n  5.00 top-k -\n");
  EXPECT_EQ(toText(parsed("" + text)), text);
}

TEST(Baseline, WhatIsUnchangedPasses) {
  const BaselineCheck check = checkBaseline(parsed(toText(baselineOf(usual()))), usual(), {});
  EXPECT_TRUE(check.passed()) << check.steps[0].reason;
  EXPECT_TRUE(check.notes.empty());
  EXPECT_EQ(check.steps[0].baseline_line, 5);
}

TEST(Baseline, ASlowerOneFailsAndNamesTheWorst) {
  const Simulation slower = simulation({row("attention.core", "gather", 101),
                                        row("mlp.up", "matmul", 60, "model.py:42"), row("new", "copy", 3)});
  const BaselineCheck check = checkBaseline(baselineOf(usual()), slower, {.most_regression = 0.02});
  ASSERT_FALSE(check.passed());
  ASSERT_EQ(check.steps[0].worst.size(), 2u) << "attention's 1 % is allowed";
  EXPECT_EQ(check.steps[0].worst[0].before.place, "mlp.up");
  EXPECT_EQ(check.steps[0].worst[0].source, "model.py:42");
  EXPECT_EQ(check.steps[0].worst[1].before.place, "new");
  EXPECT_NE(check.steps[0].reason.find("164.00 us are +5.8 % of the baseline's 155.00 us; 2.0 % are allowed"),
            std::string::npos)
      << check.steps[0].reason;
  EXPECT_TRUE(checkBaseline(baselineOf(usual()), slower, {.most_regression = 0.1}).passed());
}

TEST(Baseline, AFasterOnePassesAndSaysSo) {
  const BaselineCheck check =
      checkBaseline(baselineOf(usual()), simulation({row("mlp.up", "matmul", 100)}), {});
  EXPECT_TRUE(check.passed());
  EXPECT_NE(check.steps[0].reason.find("35.5 % faster"), std::string::npos) << check.steps[0].reason;
}

TEST(Baseline, BytesCount) {
  Simulation more = usual();
  more.steps[0].hbm_read_bytes = 1100;
  EXPECT_NE(checkBaseline(baselineOf(usual()), more, {}).steps[0].reason.find("1100 bytes of HBM traffic"),
            std::string::npos);
}

TEST(Baseline, AnotherRungChipOrStepIsNoPass) {
  Simulation other = usual();
  other.steps[0].rung = Rung::kCompiler;
  EXPECT_FALSE(checkBaseline(baselineOf(usual()), other, {}).passed());
  other = usual();
  other.steps[0].name = "prefill";
  EXPECT_EQ(checkBaseline(baselineOf(usual()), other, {}).steps[0].reason, "the program has no such step");
  Baseline v5e = baselineOf(usual());
  v5e.chip = "v5e";
  EXPECT_FALSE(checkBaseline(v5e, usual(), {}).passed());
  other = usual();
  other.compiler = "libtpu 0.0.53 (another)";
  const BaselineCheck check = checkBaseline(baselineOf(usual()), other, {});
  EXPECT_TRUE(check.passed());
  EXPECT_EQ(check.notes,
            std::vector<std::string>{"compiler: libtpu 0.0.52 made the baseline, libtpu 0.0.53 this"});
}

TEST(Baseline, WhatIsNoneSaysWhere) {
  const auto fault = [](const std::string& text) {
    const Result<Baseline> baseline = parseBaseline(text, "b.txt");
    return baseline.ok() ? "none" : baseline.error().message();
  };
  EXPECT_EQ(fault("hello\n"), "b.txt:1: \"hello\": expected \"sublane baseline 1\"");
  EXPECT_EQ(fault("sublane baseline 1\nchip v6e\nstep decode us x\n"),
            "b.txt:3: \"step decode us x\": expected step NAME us X hbm_bytes N rung R");
  EXPECT_NE(fault("sublane baseline 1\n  1.0 a b\n").find("under a step"), std::string::npos);
  EXPECT_NE(fault("sublane baseline 1\nchip v6e\n").find("expected a step"), std::string::npos);
}

}  // namespace
}  // namespace sublane::report
