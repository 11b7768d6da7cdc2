#include "sim/scoreboard.h"

#include <gtest/gtest.h>

#include <numeric>

#include "program_builder.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

constexpr std::string_view kTable =
    "# a test's\n"
    "what,from,to,cycles,hits,pairs\n"
    "result,vadd.f32,vector alu,2,9,9\n"
    "result,sadd.s32,scalar,1,9,9\n"
    "result,sld,scalar,6,9,9\n"
    "result,vexp2.f32,pop,13,9,9\n"
    "result,vmatmul.mubr.bf16.gmra,pop,20,9,9\n"
    "result,vmul.f32,vector alu,70,1,9\n"  // seen once: chance
    "result,vmul.f32,vector store,3,9,9\n"
    "interval,vmatmul.mubr.bf16.gmra,vmatmul.mubr.bf16.gmra,8,9,9\n"
    "interval,vpop.f32.mrf,vpop.f32.mrf,2,9,9\n";

class Board : public ::testing::Test {
 protected:
  Board() : f("TLP") {}
  std::vector<Issue> issues() {
    const Result<Latencies> latencies = readLatencies(kTable, "test");
    EXPECT_TRUE(latencies.ok());
    return scoreboard(f.listing(), *latencies, 4);
  }
  /// Cycles from the first bundle's issue until after the last's.
  static int cycles(const std::vector<Issue>& issues) {
    return std::accumulate(issues.begin(), issues.end(), 0, [](int sum, const Issue& issue) {
      return sum + (issue.issued ? 1 : 0) + issue.stall;
    });
  }
  int cycles() { return cycles(issues()); }
  static Draft add(int to, int from) { return op("vadd.f32", v(to), {reg(v(from)), reg(v(from))}); }
  static Draft on(Draft draft, int unit) {
    draft.instruction.unit_index = static_cast<int8_t>(unit);
    return draft;
  }
  static Draft multiply(int unit) { return on(op("vmatmul.mubr.bf16.gmra", none(), {reg(v(40))}), unit); }
  static Draft pop(int to, int unit) { return on(op("vpop.f32.mrf", v(to)), unit); }
  FunctionBuilder f;
};

TEST_F(Board, DependentAddsTakeTheirLatencyHoweverManyEmptyBundlesThereAre) {
  for (const int between : {0, 1, 5}) {
    f = FunctionBuilder("TLP");
    for (int k = 0; k < 4; ++k) {
      f.bundle({add(k + 1, k)});
      f.empty(between);
    }
    EXPECT_EQ(cycles(), 7) << between;  // at 0, 2, 4, 6
  }
}

TEST_F(Board, IndependentWorkHidesALatency) {
  f.bundle({op("sld", s(0), {smemAt(s(9))})});
  f.bundle({op("sadd.s32", s(1), {reg(s(2)), imm(1)})});
  f.bundle({op("sadd.s32", s(3), {reg(s(1)), imm(1)})});
  f.empty(9);
  f.bundle({op("sadd.s32", s(4), {reg(s(0)), reg(s(3))})});
  const std::vector<Issue> found = issues();
  EXPECT_EQ(cycles(found), 7);
  EXPECT_EQ(found.back().stall, 3);
  EXPECT_EQ(found.back().unit, llo::Unit::kScalar);
  EXPECT_FALSE(found[5].issued);
}

TEST_F(Board, AResultInAFifoIsAwaited) {
  f.bundle({op("vexp2.f32", none(), {reg(v(1))}).as(7)});
  f.bundle({op("vpop.erf", v(2), {value(7)})});
  EXPECT_EQ(cycles(), 14);
  EXPECT_EQ(issues()[1].unit, llo::Unit::kExtended);
}

TEST_F(Board, MatrixResultsComeInOrderAndOneAfterTheOther) {
  f.bundle({multiply(0), multiply(1)});
  f.bundle({multiply(0)});                            // 8 after the first
  for (int k = 0; k < 4; ++k) f.bundle({pop(k, 0)});  // of the first: at 20, 22, 24, 26
  f.bundle({pop(4, 0)});                              // of the second: 28
  f.bundle({pop(5, 1)});
  const std::vector<Issue> found = issues();
  EXPECT_EQ(found[1].stall, 7);
  EXPECT_EQ(found[2].stall, 11);
  EXPECT_EQ(found[3].stall, 1);
  EXPECT_EQ(found[6].stall, 1);
  EXPECT_EQ(found[7].stall, 0);
  EXPECT_EQ(cycles(found), 30);
}

TEST_F(Board, ADistanceThatWasSeenOnceIsChance) {
  f.bundle({op("vmul.f32", v(1), {reg(v(0)), reg(v(0))})});
  f.bundle({add(2, 1)});
  EXPECT_EQ(cycles(), 4);
}

TEST_F(Board, EmptyDelaySlotsAreIssuedAndALoopsEndIsAwaitedAtItsStart) {
  f.bundle({op("sadd.s32", s(1), {reg(s(0)), imm(1)})});
  f.bundle({op("sbr.rel", none()).to(0)});
  f.empty(3);
  f.bundle({op("sld", s(0), {smemAt(s(9))})});  // the last delay slot
  f.empty(9);
  const std::vector<Issue> found = issues();
  EXPECT_EQ(found[0].stall, 5);  // issued right behind the load, if it is reached from there
  EXPECT_TRUE(found[4].issued);
  EXPECT_FALSE(found[6].issued);
}

TEST_F(Board, WhatACalleeFindsIsReady) {
  f.bundle({op("sld", s(0), {smemAt(s(9))})});
  f.bundle({f.call("fusion")});
  f.bundle({op("sadd.s32", s(1), {reg(s(0)), imm(1)})});
  EXPECT_EQ(cycles(), 3);
}

TEST(Latencies, ABadRowIsNamed) {
  const Result<Latencies> table =
      readLatencies("what,from,to,cycles,hits,pairs\nresult,vadd,x,two,1,1\n", "t.csv");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message(), "t.csv:2: not a row \"result|interval,from,to,cycles,hits,pairs\"");
  EXPECT_EQ(latenciesOf("v9").error().message(), "scoreboard: no latencies of chip \"v9\"");
}

TEST(Latencies, WhatIsSeenCanBeReadBack) {
  FunctionBuilder f("TLP");
  for (int k = 0; k < 3; ++k) {
    f.bundle({op("vexp2.f32", none(), {reg(v(1))}).as(k)});
    f.empty(12 + k % 2);
    f.bundle({op("vpop.erf", v(2), {value(k)})});
  }
  Seen seen;
  for (int times = 0; times < 2; ++times) seen.add(f.listing(), 4);
  const Distance& row = seen.results.at({"vexp2.f32", "pop"});
  EXPECT_EQ(row.cycles, 13);
  EXPECT_EQ(row.hits, 4);
  EXPECT_EQ(row.pairs, 6);
  const Result<Latencies> table = readLatencies(seen.toCsv(), "t");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->result("vexp2.f32", llo::Unit::kPop), 13);
}

/// In a run: causes add up, and what is taken away is taken away here, too.
TEST(ScoreboardMode, AddsUpAndComposesWithWhatIsTakenAway) {
  ProgramBuilder program;
  FunctionBuilder& top = program.function("TLP");
  program.root({1024});
  program.traced({"op"});
  top.bundle({op("vtrace", none(), {imm(0x80000000)})});
  for (int k = 0; k < 4; ++k) {
    top.bundle({op("vadd.f32", v(k + 1), {reg(v(k)), reg(v(k))})});
    top.empty(5);
  }
  top.bundle({op("vtrace", none(), {imm(0x90000000)})});
  const llo::Program built = program.build();
  const auto cycles = [&](Options options) {
    const Result<sim::Run> run = simulate(built, *chipModel("v6e"), options);
    EXPECT_TRUE(run.ok());
    EXPECT_EQ(std::accumulate(run->causes.begin(), run->causes.end(), int64_t{0}), run->cycles);
    return run->cycles;
  };
  EXPECT_EQ(cycles({}), 26);
  EXPECT_EQ(cycles({.mode = Mode::kScoreboard}), 9);
  EXPECT_EQ(cycles({.mode = Mode::kScoreboard, .without = {Without::kDependencies}}), 6);
  ChipModel nameless = *chipModel("v6e");
  nameless.chip = "v9";
  EXPECT_FALSE(simulate(built, nameless, {.mode = Mode::kScoreboard}).ok());
}

}  // namespace
}  // namespace sublane::sim
