#include "sim/bundle_causes.h"

#include <gtest/gtest.h>

#include "program_builder.h"

namespace sublane::sim {
namespace {

using events::Cause;

class Causes : public ::testing::Test {
 protected:
  Causes() : f("TLP") { spill = f.allocate(llo::Space::kSmem, 4, 0), f.allocation(spill).spill = true; }
  std::vector<Cause> of(CauseOptions options = {}) { return bundleCauses(f.listing(), options); }
  FunctionBuilder f;
  int32_t spill = 0;
};

TEST_F(Causes, AFullBundleBelongsToTheUnitWhoseSlotsItFillsMost) {
  f.bundle({op("sadd.s32", s(0), {reg(s(1)), imm(1)}), op("sadd.s32", s(1), {reg(s(1)), imm(1)}),
            op("vadd.f32", v(0), {reg(v(1)), reg(v(2))})});  // 2/2 scalar, 1/4 ALU
  f.bundle({op("sadd.s32", s(0), {reg(s(1)), imm(1)}), op("vadd.f32", v(0), {reg(v(1)), reg(v(2))}),
            op("vadd.f32", v(3), {reg(v(1)), reg(v(2))}), op("vmul.f32", v(4), {reg(v(1)), reg(v(2))})});
  f.bundle({op("vst", none(), {vmem(-1), reg(v(1))}), op("vld", v(1), {vmem(-1)})});
  f.bundle({op("vexp2.f32", none(), {reg(v(1))}).as(7)});
  f.bundle({op("dma.done.wait", none(), {imm(1), imm(1)})});
  EXPECT_EQ(of(), (std::vector<Cause>{Cause::kIssueScalar, Cause::kIssueVectorAlu, Cause::kIssueVectorStore,
                                      Cause::kIssueExtended, Cause::kIssueOther}));
}

TEST_F(Causes, AnEmptyBundleBelongsToTheUnitThatIsWaitedFor) {
  f.bundle({op("sld", s(0), {smem(spill)}), op("vmul.f32", v(0), {reg(v(1)), reg(v(2))})});
  f.empty(1);
  f.bundle({op("vadd.f32", v(3), {reg(v(0)), reg(v(2))})});
  f.empty(3);
  f.bundle({op("sadd.s32", s(1), {reg(s(0)), imm(1)})});
  f.bundle({op("vadd.xlane.f32", none(), {reg(v(3))}).as(9)});
  f.empty(2);
  f.bundle({op("vpop.xlane", v(4), {value(9)})});
  f.bundle({op("vmatmul.bf16", none(), {reg(v(4))})});
  f.empty(2);
  f.bundle({op("vpop.f32.mrf", v(5))});
  f.bundle({op("sadd.s32", s(9), {reg(s(8)), imm(1)})});  // nobody made s8
  f.empty(1);
  f.bundle({op("sadd.s32", s(9), {imm(8), imm(1)})});
  const std::vector<Cause> causes = of();
  EXPECT_EQ(causes[1], Cause::kDependencyVectorAlu);
  EXPECT_EQ(causes[3], Cause::kDependencyScalar);
  EXPECT_EQ(causes[8], Cause::kDependencyCrossLane);
  EXPECT_EQ(causes[12], Cause::kDependencyMatrix);
  EXPECT_EQ(causes[16], Cause::kDependencyOther);
}

TEST_F(Causes, SpillsAndDelaySlots) {
  f.bundle({op("sst", none(), {smem(spill), reg(s(1))})});
  f.bundle({op("sst", none(), {smem(spill), reg(s(1))}), op("sadd.s32", s(1), {imm(8), imm(1)})});
  f.bundle({op("sbr.rel", none()).to(0)});
  f.empty(3);
  f.bundle({op("sadd.s32", s(1), {imm(8), imm(1)})});
  f.bundle({op("sadd.s32", s(1), {imm(8), imm(1)})});
  const std::vector<Cause> causes = of();
  EXPECT_EQ(causes,
            (std::vector<Cause>{Cause::kSpill, Cause::kIssueScalar, Cause::kBranch, Cause::kBranch,
                                Cause::kBranch, Cause::kBranch, Cause::kIssueScalar, Cause::kIssueScalar}));
}

TEST_F(Causes, WhatNoOperationHoldsIsLaunch) {
  f.bundle({op("sadd.s32", s(1), {imm(8), imm(1)})});
  f.bundle({op("vtrace", none(), {imm(0x80000000)})});
  f.bundle({op("sadd.s32", s(1), {imm(8), imm(1)})});
  f.bundle({op("vtrace", none(), {imm(0x90000000)})});
  f.bundle({op("vtrace", none(), {imm(0x8fffffff)})});  // of the runtime: not an operation
  f.bundle({op("sadd.s32", s(1), {imm(8), imm(1)})});
  EXPECT_EQ(of({.launch_outside = true, .traced = 1}),
            (std::vector<Cause>{Cause::kLaunch, Cause::kIssueOther, Cause::kIssueScalar, Cause::kLaunch,
                                Cause::kLaunch, Cause::kLaunch}));
  EXPECT_EQ(of({.all_launch = true})[2], Cause::kLaunch);
}

}  // namespace
}  // namespace sublane::sim
