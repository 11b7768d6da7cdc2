// The fast machine merges bundles into segments; here a slow one executes the same programs one bundle a
// segment, and both must agree in every number.
#include <gtest/gtest.h>

#include <random>

#include "program_builder.h"
#include "sim/decode.h"
#include "sim/machine.h"

namespace sublane::sim {
namespace {

using llo::Role;
using llo::Space;

/// A program of nested loops with transfers, calls and branches in all places, from a seed.
llo::Program randomProgram(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
  ProgramBuilder program;
  program.parameter(1 << 20);
  program.root({1 << 20});
  program.traced({"a", "b", "c"});
  FunctionBuilder& top = program.function("TLP");
  FunctionBuilder& callee = program.function("fusion.1");
  const int32_t flag = top.allocate(Space::kSyncFlag, 4);
  const int32_t output = top.allocate(Space::kSmem, 4, 0xfff90, true);
  const auto filler = [&](FunctionBuilder& f, int count) {
    for (int i = 0; i < count; ++i) {
      switch (below(6)) {
        case 0:
        case 1:
          f.empty(1 + below(3));
          break;
        case 2:
          f.bundle({op("sadd.s32", s(5), {reg(s(5)), imm(3)}), op("vadd.f32", v(1), {reg(v(2)), reg(v(3))})});
          break;
        case 3:
          f.bundle(
              {op("vmul.f32", v(2), {reg(v(2)), reg(v(3))}), op("vadd.f32", v(1), {reg(v(2)), reg(v(3))})});
          break;
        case 4:
          f.bundle({op("sand.u32", s(6), {reg(s(5)), imm(1)})});
          f.bundle({op("scmp.eq.s32.totalorder", p(3), {reg(s(6)), imm(0)})});
          break;
        default:
          // Over a few bundles, when the number in s5 is even.
          f.bundle({op("sbr.rel", none()).when(p(3)).to(f.size() + 6 + below(3))});
          f.empty(4);
          for (int k = 0; k < 4; ++k) f.bundle({op("sadd.s32", s(5), {reg(s(5)), imm(1)})});
      }
    }
  };
  const auto transfer = [&](bool read, uint32_t granules) {
    const llo::Register address = s(read ? 20 : 21);
    if (read) {
      top.bundle({op("dma.hbm_to_vmem", none(),
                     {reg(address, Role::kHbm), imm(granules, Role::kSizeInGranules), imm(0, Role::kVmem),
                      at(flag, Role::kDstSyncFlag)})});
    } else {
      top.bundle({op("dma.vmem_to_hbm", none(),
                     {imm(0, Role::kVmem), imm(granules, Role::kSizeInGranules), reg(address, Role::kHbm),
                      at(flag, Role::kDstSyncFlag)})});
    }
  };
  filler(callee, 6);
  top.bundle({op("smov.u32", s(5), {imm(random() % 100)}), op("scalar_parameter_address", s(20), {imm(0)})});
  top.bundle({op("sld", s(21), {smem(output)}), op("scmp.eq.s32.totalorder", p(3), {imm(0), imm(1)})});
  for (uint32_t block = 0; block < 3; ++block) {
    top.bundle({op("vtrace", none(), {imm(0x80000000 + block)})});
    top.bundle({op("smov.u32", s(0), {imm(2 + random() % 9)})});
    const int32_t loop = top.size();
    const uint32_t granules = 1 + random() % 300;
    transfer(below(2) == 0, granules);
    filler(top, 3);
    if (below(2) == 0) top.bundle({top.call("fusion.1")});
    top.bundle({op("dma.done.wait", none(), {at(flag), imm(granules)})});
    top.bundle(
        {op("vsyncadd", none(), {at(flag), imm(0u - granules)}), op("ssub.s32", s(0), {reg(s(0)), imm(1)})});
    top.bundle({op("scmp.gt.s32.totalorder", p(0), {reg(s(0)), imm(0)})});
    top.bundle({op("sbr.rel", none()).when(p(0)).to(loop)});
    top.bundle({op("sadd.s32", s(5), {reg(s(5)), imm(1)})});
    top.empty(3);
    top.bundle({op("vtrace", none(), {imm(0x90000000 + block)})});
    filler(top, 2);
  }
  return program.build();
}

struct Told {
  Run run;
  std::vector<int64_t> by_cause;  // of events
  uint32_t s5 = 0;
};

Told execute(const llo::Program& program, bool merge, DmaTiming dma, std::vector<Without> without) {
  const ChipModel model = *chipModel("v6e");
  const Placement placement = *place(program, model);
  const Result<Code> code = decode(
      program, placement,
      {.delay_slots = model.branch_delay_slots, .slots = slotsOf(model), .without = without, .merge = merge});
  EXPECT_TRUE(code.ok()) << code.error().text();
  Told told{.by_cause = std::vector<int64_t>(events::kCauseCount, 0)};
  Machine machine(program, placement, *code,
                  {.timing = *memoryTiming(model, dma, without),
                   .most_bundles = 1 << 20,
                   .sink =
                       [&](const events::Event& event) {
                         told.by_cause[static_cast<size_t>(event.cause)] += event.duration;
                       }},
                  nullptr);
  machine.prepare({});
  const Status status = machine.run();
  EXPECT_TRUE(status.ok()) << status.error().text();
  told.run = machine.takeRun();
  return told;
}

TEST(Merging, ChangesNoNumber) {
  int64_t bundles = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const llo::Program program = randomProgram(seed);
    const std::vector<Without> without =
        seed % 3 ? std::vector<Without>{} : std::vector<Without>{Without::kDependencies, Without::kLaunch};
    const DmaTiming dma = seed % 2 ? DmaTiming::kShared : DmaTiming::kCompiler;
    const Told fast = execute(program, true, dma, without), slow = execute(program, false, dma, without);
    EXPECT_EQ(fast.run.cycles, slow.run.cycles) << seed;
    EXPECT_EQ(fast.run.bundles, slow.run.bundles) << seed;
    EXPECT_EQ(fast.run.causes, slow.run.causes) << seed;
    EXPECT_EQ(fast.by_cause, slow.by_cause) << seed;
    ASSERT_EQ(fast.run.ops.size(), slow.run.ops.size());
    for (size_t i = 0; i < fast.run.ops.size(); ++i) {
      EXPECT_EQ(fast.run.ops[i].causes, slow.run.ops[i].causes) << seed;
      EXPECT_EQ(fast.run.ops[i].executions, slow.run.ops[i].executions) << seed;
    }
    EXPECT_EQ(events::total(fast.run.causes), fast.run.cycles) << seed;
    bundles += fast.run.bundles;
  }
  EXPECT_GT(bundles, 10000);
}

}  // namespace
}  // namespace sublane::sim
