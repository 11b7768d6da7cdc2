// Loops that are skipped to their last iteration give what executing every iteration gives.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "program_builder.h"
#include "sim/decode.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

using llo::Role;
using llo::Space;

/// Loops of register operations only, whose registers all end in the output.
class Loops {
 public:
  Loops() : top(program.function("TLP")) {
    word = top.allocate(Space::kSmem, 64);
    flag = top.allocate(Space::kSyncFlag, 8);
    program.root({1024});
    program.traced({"a"});
    pointer = top.allocate(Space::kSmem, 4, 0xfff90, true);
    top.bundle({op("vtrace", none(), {imm(0x80000000)})});
  }
  /// Calls `body` for a loop's bundles, which `compare` of s(a) and s(b) ends. The last five are the delay
  /// slots.
  template <class Body>
  void loop(const std::string& compare, int a, int b, bool negated, Body body) {
    const int32_t start = top.size();
    body();
    top.bundle({op(compare, p(0), {reg(s(a)), reg(s(b))})});
    Draft branch = op("sbr.rel", none()).when(p(0)).to(start);
    branch.instruction.predicate_negated = negated;
    top.bundle({branch});
    top.bundle({op("sadd.s32", s(7), {reg(s(7)), imm(5)})});  // in a delay slot
    top.empty(3);
  }
  void set(int reg_number, uint32_t value) { top.bundle({op("smov.u32", s(reg_number), {imm(value)})}); }
  void add(int to, int from, uint32_t by) { top.bundle({op("sadd.s32", s(to), {reg(s(from)), imm(by)})}); }

  llo::Program finish() {
    for (int i = 0; i < 8; ++i) top.bundle({op("sst", none(), {smem(word, i), reg(s(i))})});
    top.bundle({op("sld", s(30), {smem(pointer)})});
    top.bundle({op("dma.smem_to_hbm", none(),
                   {at(word, Role::kSmem), imm(1, Role::kSizeInGranules), reg(s(30), Role::kHbm),
                    at(flag, Role::kDstSyncFlag)})});
    top.bundle({op("dma.done.wait", none(), {at(flag), imm(1)})});
    top.bundle({op("vtrace", none(), {imm(0x90000000)})});
    return program.build();
  }

  ProgramBuilder program;
  FunctionBuilder& top;
  int32_t word = 0, flag = 0, pointer = 0;
};

size_t plansOf(const llo::Program& program) {
  const ChipModel model = *chipModel("v6e");
  const Placement placement = *place(program, model);
  return decode(program, placement, {.delay_slots = model.branch_delay_slots})->loops.size();
}

/// Both ways, for time and (where vector work is no longer only cycles) for values; nothing may differ.
/// Returns the cycles.
int64_t expectTheSame(const llo::Program& program, bool values = true) {
  if (values) expectTheSame(program, false);
  const Result<Run> fast = simulate(program, *chipModel("v6e"), {.values = values});
  const Result<Run> slow = simulate(program, *chipModel("v6e"), {.values = values, .fast_forward = false});
  EXPECT_TRUE(fast.ok()) << fast.error().text();
  EXPECT_TRUE(slow.ok()) << slow.error().text();
  if (!fast.ok() || !slow.ok()) return 0;
  EXPECT_EQ(fast->cycles, slow->cycles);
  EXPECT_EQ(fast->bundles, slow->bundles);
  EXPECT_EQ(fast->causes, slow->causes);
  EXPECT_EQ(fast->savings, slow->savings);
  EXPECT_EQ(fast->outputs, slow->outputs);
  EXPECT_EQ(fast->ops.size(), slow->ops.size());
  for (size_t i = 0; i < std::min(fast->ops.size(), slow->ops.size()); ++i) {
    EXPECT_EQ(fast->ops[i].cycles, slow->ops[i].cycles);
    EXPECT_EQ(fast->ops[i].causes, slow->ops[i].causes);
  }
  return fast->cycles;
}

void clear(Loops& loops) {
  for (int i = 0; i < 8; ++i) loops.set(i, 0);
}

TEST(FastForward, ACountedLoopWithDerivedRegisters) {
  Loops loops;
  clear(loops);
  loops.set(1, 1000);
  loops.loop("scmp.lt.s32.totalorder", 0, 1, false, [&] {
    loops.add(0, 0, 1);
    loops.add(2, 0, 100);                                              // of this iteration
    loops.top.bundle({op("sshll.u32", s(3), {reg(s(2)), imm(4)})});    // and not a sum
    loops.top.bundle({op("vadd.f32", v(1), {reg(v(2)), reg(v(3))})});  // only cycles
  });
  const llo::Program program = loops.finish();
  EXPECT_EQ(plansOf(program), 1u);
  EXPECT_GT(expectTheSame(program), 1000 * 9);
}

TEST(FastForward, CopiesAtTheEndOfAnIterationAreSeenThrough) {
  Loops loops;
  clear(loops);
  loops.set(1, 777);
  loops.loop("scmp.ne.s32.totalorder", 2, 1, false, [&] {
    loops.add(2, 0, 7);
    loops.top.bundle({op("smov.u32", s(0), {reg(s(2))})});  // what the next iteration begins with
  });
  const llo::Program program = loops.finish();
  EXPECT_EQ(plansOf(program), 1u);
  expectTheSame(program);
}

TEST(FastForward, WhatIsNoSumIsExecuted) {
  for (int kind = 0; kind < 4; ++kind) {
    Loops loops;
    clear(loops);
    loops.set(1, 200);
    loops.set(4, 1);
    loops.loop("scmp.lt.s32.totalorder", 0, 1, false, [&] {
      loops.add(0, 0, 1);
      if (kind == 0) loops.top.bundle({op("sadd.s32", s(4), {reg(s(4)), reg(s(4))})});  // doubles
      if (kind == 1) loops.top.bundle({op("smul.u32", s(4), {reg(s(4)), imm(3)})});
      if (kind == 2) loops.top.bundle({op("sadd.s32", s(4), {reg(s(4)), reg(s(0))})});  // of a changing one
      if (kind == 3) {
        loops.top.bundle({op("sand.u32", s(5), {reg(s(0)), imm(1)})});
        loops.top.bundle({op("scmp.eq.s32.totalorder", p(2), {reg(s(5)), imm(0)})});
        loops.top.bundle({op("sadd.s32", s(4), {reg(s(4)), imm(1)}).when(p(2))});  // every other time
      }
    });
    const llo::Program program = loops.finish();
    EXPECT_EQ(plansOf(program), 0u) << kind;
    expectTheSame(program);
  }
}

TEST(FastForward, LoopsThatTouchMemoryAreExecuted) {
  Loops loops;
  clear(loops);
  loops.set(1, 50);
  loops.loop("scmp.lt.s32.totalorder", 0, 1, false, [&] {
    loops.add(0, 0, 1);
    loops.top.bundle({op("sst", none(), {smem(loops.word, 1), reg(s(0))})});
  });
  const llo::Program program = loops.finish();
  EXPECT_EQ(plansOf(program), 0u);
  expectTheSame(program);
}

TEST(FastForward, ACountThatWrapsIsExecuted) {
  Loops loops;
  clear(loops);
  loops.set(0, 0x7ffffff0);
  loops.set(1, 0x7fffffff);
  loops.loop("scmp.le.s32.totalorder", 0, 1, false, [&] {  // ends when it wraps to the least number...
    loops.add(0, 0, 0x10000000);
    loops.top.bundle({op("smin.s32", s(2), {reg(s(0)), imm(5)})});
  });
  (void)loops.finish();  // ...which s32 never exceeds, so it is not run
  Loops unsigned_loop;
  clear(unsigned_loop);
  unsigned_loop.set(0, 0xfffffff0);
  unsigned_loop.set(1, 8);
  unsigned_loop.loop("scmp.gt.u32.totalorder", 0, 1, false, [&] { unsigned_loop.add(0, 0, 1); });
  const llo::Program program = unsigned_loop.finish();
  EXPECT_EQ(plansOf(program), 1u);
  expectTheSame(program);
}

TEST(FastForward, RandomLoops) {
  const char* const compares[] = {"scmp.lt.s32.totalorder", "scmp.le.s32.totalorder",
                                  "scmp.gt.s32.totalorder", "scmp.ge.s32.totalorder",
                                  "scmp.ne.s32.totalorder", "scmp.lt.u32.totalorder"};
  size_t plans = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
    Loops loops;
    clear(loops);
    const std::string compare = compares[below(6)];
    const bool up = compare.find(".lt") != std::string::npos || compare.find(".le") != std::string::npos ||
                    compare.find(".ne") != std::string::npos;
    const uint32_t step = compare.find(".ne") != std::string::npos ? 1u : 1u + random() % 7;
    const uint32_t from = random() % 50, trips = random() % 60;
    loops.set(0, up ? from : from + step * trips);
    loops.set(1, up ? from + step * trips + (trips == 0 ? step : 0) : from);
    loops.set(4, random() % 1000);
    const int outer = below(3);
    const auto inner = [&] {
      loops.loop(compare, 0, 1, false, [&] {
        loops.add(0, 0, up ? step : 0u - step);
        for (int k = below(4); k > 0; --k) {
          switch (below(5)) {
            case 0:
              loops.add(2, 2, random() % 9);
              break;
            case 1:
              loops.top.bundle({op("ssub.s32", s(3), {reg(s(3)), reg(s(4))})});
              break;
            case 2:
              loops.top.bundle({op("sand.u32", s(5), {reg(s(0)), imm(random())})});
              break;
            case 3:
              loops.top.empty(1 + below(2));
              break;
            default:
              loops.top.bundle({op("vmul.f32", v(2), {reg(v(2)), reg(v(3))})});
          }
        }
      });
    };
    if (outer == 0) {
      inner();
    } else {  // the inner one, from its beginning, a few times
      loops.set(6, static_cast<uint32_t>(outer));
      const int32_t start = loops.top.size();
      loops.set(0, up ? from : from + step * trips);
      inner();
      loops.add(6, 6, 0xffffffff);
      loops.top.bundle({op("scmp.gt.s32.totalorder", p(1), {reg(s(6)), imm(0)})});
      loops.top.bundle({op("sbr.rel", none()).when(p(1)).to(start)});
      loops.top.empty(4);
    }
    const llo::Program program = loops.finish();
    plans += plansOf(program);
    expectTheSame(program);
    if (HasFailure()) FAIL() << "seed " << seed << " " << compare << " step " << step;
  }
  EXPECT_GE(plans, 150u);
}

}  // namespace
}  // namespace sublane::sim
