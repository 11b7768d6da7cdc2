// What a cause claims is what a run without it saves.
#include "sim/what_if.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "random_program.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

using events::Cause;

const std::map<Without, std::vector<Cause>>& claims() {
  static const std::map<Without, std::vector<Cause>> kClaims = {
      {Without::kHbmLimit, {Cause::kDma, Cause::kDmaEither}},
      {Without::kDmaLatency, {Cause::kDmaLatency, Cause::kDmaEither}},
      {Without::kSpills, {Cause::kSpill}},
      {Without::kBranches, {Cause::kBranch}},
      {Without::kDependencies,
       {Cause::kDependencyScalar, Cause::kDependencyVectorAlu, Cause::kDependencyVectorLoad,
        Cause::kDependencyExtended, Cause::kDependencyCrossLane, Cause::kDependencyMatrix,
        Cause::kDependencyOther}}};
  return kClaims;
}

int64_t claimOf(const Run& run, Without without) {
  int64_t sum = 0;
  for (const Cause cause : claims().at(without)) sum += run.causes[static_cast<size_t>(cause)];
  return sum;
}

Run execute(const llo::Program& program, std::vector<Without> without, DmaTiming dma = DmaTiming::kShared) {
  Result<Run> run = simulate(program, *chipModel("v6e"), {.dma = dma, .without = std::move(without)});
  EXPECT_TRUE(run.ok()) << run.error().text();
  return std::move(*run);
}

TEST(WhatIf, SavingsAreThoseOfTheRunWithoutTheCause) {
  int64_t overlapped = 0, either = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const llo::Program program = randomProgram(seed);
    const DmaTiming dma = seed % 4 ? DmaTiming::kShared : DmaTiming::kCompiler;
    const sim::Run whole = execute(program, {}, dma);
    overlapped += whole.causes[static_cast<size_t>(Cause::kOverlapped)];
    either += whole.causes[static_cast<size_t>(Cause::kDmaEither)];
    for (const auto& [without, causes] : claims()) {
      const int64_t saved = whole.cycles - execute(program, {without}, dma).cycles;
      EXPECT_EQ(whole.savings.at(without), saved) << seed << " " << static_cast<int>(without);
      EXPECT_EQ(claimOf(whole, without), std::max(saved, int64_t{0})) << seed;
    }
  }
  EXPECT_GT(overlapped, 0);
  EXPECT_GT(either, 0);
}

TEST(WhatIf, CausesStillAddUpAndAllRemovedTogetherLeaveTheIssuedBundles) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const llo::Program program = randomProgram(seed);
    const sim::Run whole = execute(program, {});
    EXPECT_EQ(events::total(whole.causes), whole.cycles);
    for (const OpTime& op : whole.ops) {
      EXPECT_EQ(events::total(op.causes), op.cycles);
      for (const int64_t cycles : op.causes) EXPECT_GE(cycles, 0);
    }
    const sim::Run bare = execute(program, {Without::kDma, Without::kSpills, Without::kLaunch,
                                            Without::kBranches, Without::kDependencies, Without::kOverlays});
    const int64_t issued = std::accumulate(
        whole.causes.begin(), whole.causes.begin() + static_cast<int>(Cause::kIssueOther) + 1, int64_t{0});
    EXPECT_EQ(bare.cycles, issued) << seed;
  }
}

// ---- attribution of made-up savings

OpTime account(int64_t dma, int64_t latency, int64_t dependency) {
  OpTime time;
  time.causes[static_cast<size_t>(Cause::kDma)] = dma;
  time.causes[static_cast<size_t>(Cause::kDmaLatency)] = latency;
  time.causes[static_cast<size_t>(Cause::kDependencyMatrix)] = dependency;
  time.cycles = dma + latency + dependency;
  return time;
}

int64_t of(const std::vector<OpTime>& accounts, size_t i, Cause cause) {
  return accounts[i].causes[static_cast<size_t>(cause)];
}

TEST(WhatIf, StallsThatEitherEndsAndStallsThatNeedBothAreTheirOwnCauses) {
  std::vector<OpTime> accounts = {account(60, 40, 0), account(100, 0, 0)};
  // In the first, bytes and latency would each save all; in the second, bytes save 30 and latency nothing.
  attribute(accounts, {{Without::kHbmLimit, {100, 30}}, {Without::kDmaLatency, {100, 0}}});
  EXPECT_EQ(of(accounts, 0, Cause::kDmaEither), 100);
  EXPECT_EQ(of(accounts, 0, Cause::kDma) + of(accounts, 0, Cause::kDmaLatency), 0);
  EXPECT_EQ(of(accounts, 1, Cause::kDma), 30);
  EXPECT_EQ(of(accounts, 1, Cause::kDmaBoth), 70);
  EXPECT_EQ(events::total(accounts[0].causes), 100);
  EXPECT_EQ(events::total(accounts[1].causes), 100);
}

TEST(WhatIf, WhatAnotherOperationPaysBackIsNotClaimed) {
  std::vector<OpTime> accounts = {account(0, 0, 100), account(0, 0, 20)};
  // The second operation waits 40 cycles longer for what the first no longer hides.
  attribute(accounts, {{Without::kDependencies, {100, -40}}});
  EXPECT_EQ(of(accounts, 0, Cause::kDependencyMatrix) + of(accounts, 1, Cause::kDependencyMatrix), 60);
  EXPECT_EQ(of(accounts, 0, Cause::kOverlapped) + of(accounts, 1, Cause::kOverlapped), 60);
  EXPECT_EQ(events::total(accounts[0].causes), 100);
  EXPECT_EQ(events::total(accounts[1].causes), 20);
}

}  // namespace
}  // namespace sublane::sim
