// The sequencer on small programs: what each mechanism computes and what it costs.
#include <gtest/gtest.h>

#include <cstring>

#include "program_builder.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

using llo::Role;
using llo::Space;

/// Reads of one cycle a byte: 100 cycles of latency and 32 bytes a cycle.
ChipModel model() {
  ChipModel model = *chipModel("v6e");
  model.clock_hz = 1e9;
  model.hbm_peak_bytes_per_second = 32e9;
  model.hbm_efficiency = 1;
  model.hbm_run_overhead_bytes = 0;
  model.read_latency_cycles = 100;
  model.write_latency_cycles = 50;
  model.small_latency_cycles = 200;
  return model;
}

/// A program with one function that leaves `s1` at the output's first word, so that tests can look at it.
class Sequencer : public ::testing::Test {
 protected:
  Sequencer() : top(program.function("TLP")) {
    word = top.allocate(Space::kSmem, 64);
    flag = top.allocate(Space::kSyncFlag, 8);
    program.root({1024});
    pointer = top.allocate(Space::kSmem, 4, 0xfff90, true);
  }

  /// Sends SMEM words to the output and waits for them.
  void showWords() {
    top.bundle({op("sld", s(30), {smem(pointer)})});
    top.bundle({op("dma.smem_to_hbm", none(),
                   {at(word, Role::kSmem), imm(1, Role::kSizeInGranules), reg(s(30), Role::kHbm),
                    at(flag, Role::kDstSyncFlag)})});
    top.bundle({op("dma.done.wait", none(), {at(flag), imm(1)})});
  }
  void keep(int place, llo::Register from) {
    top.bundle({op("sst", none(), {smem(word, place), reg(from)})});
  }

  Result<sim::Run> run(Options options = {}) { return simulate(program.build(), model(), options); }
  /// Word `place` of the output; all 8 must have been stored.
  std::vector<uint32_t> words() {
    for (int i = 0; i < 8; ++i) top.bundle({op("sst", none(), {smem(word, i), reg(s(i))})});
    showWords();
    const Result<sim::Run> result = run({.values = true});
    EXPECT_TRUE(result.ok()) << result.error().text();
    std::vector<uint32_t> words(8, 0xdead);
    if (result.ok()) std::memcpy(words.data(), result->outputs.at(0).data(), 32);
    return words;
  }
  void clear() {
    for (int i = 0; i < 8; ++i) top.bundle({op("smov.u32", s(i), {imm(0)})});
  }
  std::string faultOf(Options options = {}) {
    const Result<sim::Run> result = run(std::move(options));
    return result.ok() ? "ok" : result.error().message();
  }

  ProgramBuilder program;
  FunctionBuilder& top;
  int32_t word = 0, flag = 0, pointer = 0;
};

TEST_F(Sequencer, ScalarOperations) {
  clear();
  const std::vector<std::tuple<std::string, uint32_t, uint32_t, uint32_t>> cases = {
      {"sadd.s32", 0xffffffff, 2, 1},
      {"ssub.s32", 1, 2, 0xffffffff},
      {"smul.u32", 0x10001, 0x10001, 0x20001},
      {"smulhi.u32", 0x80000000, 6, 3},
      {"sand.u32", 0xff00, 0x0ff0, 0x0f00},
      {"sor.u32", 0xf000, 0x000f, 0xf00f},
      {"sxor.u32", 0xff, 0x0f, 0xf0},
      {"sshll.u32", 1, 31, 0x80000000},
      {"sshll.u32", 1, 32, 0},
      {"sshrl.u32", 0x80000000, 31, 1},
      {"sshra.s32", 0x80000000, 31, 0xffffffff},
      {"sshra.s32", 0x80000000, 40, 0xffffffff},
      {"sshllo.u32", 0, 3, 7},
      {"sshllo.u32", 1, 2, 7},
      {"smin.u32", 1, 0xffffffff, 1},
      {"smin.s32", 1, 0xffffffff, 0xffffffff},
      {"smax.s32", 1, 0xffffffff, 1},
      {"scalar_lea.vmem", 100, 28, 128},
      {"sadd.f32", 0x3f800000, 0x3f800000, 0x40000000},
      {"smul.f32", 0x40000000, 0x3f000000, 0x3f800000},
      {"smax.f32", 0x40000000, 0xc0000000, 0x40000000},
  };
  for (const auto& [word, a, b, expected] : cases) {
    // A fault stops the program: 1 / (x == expected) by a check.
    top.bundle({op("smov.u32", s(10), {imm(a)})});
    top.bundle({op(word, s(11), {reg(s(10)), imm(b)})});
    top.bundle({op("scmp.ne.s32.totalorder", p(1), {reg(s(11)), imm(expected)})});
    top.bundle({op("shalt.err", none()).when(p(1))});
    const Result<sim::Run> result = run();
    ASSERT_TRUE(result.ok()) << word << " " << a << " " << b << ": " << result.error().text();
  }
}

TEST_F(Sequencer, OneOperandOperations) {
  const std::vector<std::tuple<std::string, uint32_t, uint32_t>> cases = {
      {"sclz.u32", 1, 31},
      {"sclz.u32", 0, 32},
      {"scvt.s32.f32", 0xfffffffe, 0xc0000000},
      {"scvt.f32.s32", 0xc0200000, 0xfffffffe},
      {"sfloor.f32", 0xbfc00000, 0xc0000000},
      {"sceil.f32", 0xbfc00000, 0xbf800000},
  };
  for (const auto& [word, a, expected] : cases) {
    top.bundle({op(word, s(11), {imm(a)})});
    top.bundle({op("scmp.ne.s32.totalorder", p(1), {reg(s(11)), imm(expected)})});
    top.bundle({op("shalt.err", none()).when(p(1))});
    const Result<sim::Run> result = run();
    ASSERT_TRUE(result.ok()) << word << " " << a << ": " << result.error().text();
  }
}

TEST_F(Sequencer, Comparisons) {
  clear();
  const auto compare = [&](int bit, const std::string& word, uint32_t a, uint32_t b) {
    top.bundle({op(word, p(2), {imm(a), imm(b)})});
    top.bundle({op("sor.u32", s(0), {reg(s(0)), imm(1u << bit)}).when(p(2))});
  };
  const uint32_t minus = 0xffffffff, nan = 0x7fc00000;
  compare(0, "scmp.lt.s32.totalorder", minus, 1);
  compare(1, "scmp.lt.u32.totalorder", minus, 1);
  compare(2, "scmp.gt.s32.totalorder", 1, minus);
  compare(3, "scmp.ge.s32.totalorder", 1, 1);
  compare(4, "scmp.le.s32.totalorder", 2, 1);
  compare(5, "scmp.eq.s32.totalorder", 5, 5);
  compare(6, "scmp.ne.s32.totalorder", 5, 5);
  compare(7, "scmp.lt.f32.partialorder", 0xc0000000, 0x3f800000);
  compare(8, "scmp.eq.f32.partialorder", nan, nan);
  compare(9, "scmp.ge.u32.totalorder", minus, 1);
  EXPECT_EQ(words()[0], 0b1010101101u);
}

TEST_F(Sequencer, PredicatesAndSelection) {
  clear();
  top.bundle({op("scmp.eq.s32.totalorder", p(1), {imm(1), imm(1)}),
              op("scmp.eq.s32.totalorder", p(2), {imm(1), imm(2)})});
  top.bundle({op("pnand", p(3), {reg(p(1)), reg(p(2))}), op("por", p(4), {reg(p(1)), reg(p(2))}),
              op("pneg", p(5), {reg(p(1))})});
  top.bundle({op("smov.u32", s(0), {imm(7)}).when(p(3)), op("smov.u32", s(1), {imm(7)}).unless(p(4))});
  top.bundle({op("smov.u32", s(2), {imm(7)}).unless(p(5)), op("smov.u32", s(3), {imm(7)}).when(p(2))});
  top.bundle({op("scalar_select", s(4),
                 {reg(p(2), Role::kPredicate), imm(1, Role::kOnTrue), imm(2, Role::kOnFalse)})});
  EXPECT_EQ(words(), (std::vector<uint32_t>{7, 0, 7, 0, 2, 0, 0, 0}));
}

TEST_F(Sequencer, ReadsOfABundlePrecedeItsWrites) {
  clear();
  top.bundle({op("smov.u32", s(0), {imm(10)}), op("smov.u32", s(1), {imm(20)})});
  top.bundle({op("smov.u32", s(0), {reg(s(1))}), op("smov.u32", s(1), {reg(s(0))})});  // swap
  top.bundle({op("sadd.s32", s(2), {reg(s(3)), imm(1)}), op("sadd.s32", s(3), {reg(s(4)), imm(2)}),
              op("sadd.s32", s(4), {reg(s(2)), imm(3)})});  // a ring of three zeros
  // A store sees the register and the memory as they were, a load, too.
  top.bundle({op("sst", none(), {smem(word, 9), imm(55)})});
  top.bundle({op("sld", s(5), {smem(word, 9)}), op("sst", none(), {smem(word, 9), reg(s(5))})});
  top.bundle({op("sld", s(6), {smem(word, 9)})});
  // Swapped under a predicate that does not hold: both stay.
  top.bundle({op("scmp.eq.s32.totalorder", p(1), {imm(1), imm(2)})});
  top.bundle({op("smov.u32", s(7), {reg(s(0))}), op("smov.u32", s(0), {reg(s(7))}).when(p(1))});
  EXPECT_EQ(words(), (std::vector<uint32_t>{20, 10, 1, 2, 3, 55, 0, 20}));
}

TEST_F(Sequencer, Division) {
  clear();
  top.bundle({op("sdivrem.u32", none(), {imm(23), imm(7)}).remark(top.remark("kDivAndRem"))});
  top.bundle({op("spop.drf", s(0))});
  top.bundle({op("spop.drf", s(1))});
  top.bundle({op("sdivrem.u32", none(), {imm(23), imm(7)}).remark(top.remark("kRem"))});
  top.bundle({op("spop.drf", s(2))});
  EXPECT_EQ(words(), (std::vector<uint32_t>{3, 2, 2, 0, 0, 0, 0, 0}));
}

TEST_F(Sequencer, DelaySlotsAreExecutedWhetherTheBranchIsTakenOrNot) {
  clear();
  top.bundle({op("scmp.eq.s32.totalorder", p(1), {imm(1), imm(1)})});
  const int32_t branch = top.size();
  top.bundle({op("sbr.rel", none()).when(p(1)).to(branch + 7), op("smov.u32", s(0), {imm(1)})});
  for (int i = 0; i < 4; ++i) top.bundle({op("sadd.s32", s(1), {reg(s(1)), imm(1)})});
  top.bundle({op("smov.u32", s(2), {imm(9)})});  // jumped over
  top.bundle({op("smov.u32", s(3), {imm(9)})});
  EXPECT_EQ(branch + 7, top.size());
  top.bundle({op("sbr.rel", none()).unless(p(1)).to(branch)});  // not taken
  for (int i = 0; i < 4; ++i) top.bundle({op("sadd.s32", s(4), {reg(s(4)), imm(1)})});
  EXPECT_EQ(words(), (std::vector<uint32_t>{1, 4, 0, 0, 4, 0, 0, 0}));
}

TEST_F(Sequencer, ABranchInTheDelaySlotsOfOneThatIsNotTaken) {
  clear();
  top.bundle({op("scmp.eq.s32.totalorder", p(1), {imm(1), imm(1)})});
  const int32_t first = top.size();
  top.bundle({op("sbr.rel", none()).unless(p(1)).to(0)});
  top.bundle({op("sbr.rel", none()).when(p(1)).to(first + 8)});
  for (int i = 0; i < 6; ++i) top.bundle({op("sadd.s32", s(0), {reg(s(0)), imm(1)})});
  EXPECT_EQ(words()[0], 4u);  // bundles 2..5 after the second branch; 6 and 7 are jumped over
}

TEST_F(Sequencer, LoopsCostTheirBundles) {
  top.bundle({op("smov.u32", s(0), {imm(0)})});
  const int32_t body = top.size();
  top.bundle({op("sadd.s32", s(0), {reg(s(0)), imm(1)})});
  top.bundle({op("scmp.lt.s32.totalorder", p(0), {reg(s(0)), imm(100)})});
  top.bundle({op("sbr.rel", none()).when(p(0)).to(body)});
  top.empty(4);
  const Result<sim::Run> result = run();
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->bundles, 1 + 100 * 7);
  EXPECT_EQ(result->cycles, result->bundles);
}

TEST_F(Sequencer, ProgramsThatDoNotEndAreStopped) {
  const int32_t body = top.size();
  top.bundle({op("sbr.rel", none()).to(body)});
  top.empty(4);
  EXPECT_TRUE(faultOf({.most_bundles = 1000}).find("bundles were executed, 1000 are allowed") !=
              std::string::npos);
}

TEST_F(Sequencer, CallsSeeTheRegisters) {
  clear();
  FunctionBuilder& callee = program.function("fusion.1");
  const int32_t own = callee.allocate(Space::kSmem, 4, 0);
  callee.bundle({op("sst", none(), {smem(own), reg(s(0))})});
  callee.bundle({op("sld", s(1), {smem(own)})});
  callee.bundle({op("sadd.s32", s(1), {reg(s(1)), imm(1)})});
  top.bundle({op("smov.u32", s(0), {imm(41)})});
  top.bundle({top.call("fusion.1")});
  top.bundle({op("smov.u32", s(2), {reg(s(1))})});
  top.bundle({top.call("fusion.1")});
  EXPECT_EQ(words(), (std::vector<uint32_t>{41, 42, 42, 0, 0, 0, 0, 0}));
}

TEST_F(Sequencer, ACallWithoutAListingIsAnError) {
  top.bundle({top.call("fusion.9")});
  EXPECT_EQ(faultOf(), "simulator: fusion.9 is called, but no listing of it was dumped");
}

TEST_F(Sequencer, UnknownOperationsAreNamed) {
  top.bundle({op("scmp.zz.s32.totalorder", p(0), {imm(1), imm(1)})});
  EXPECT_EQ(faultOf(),
            "TLP (bundle 0x0): the simulator does not know the meaning of \"scmp.zz.s32.totalorder\"");
}

TEST_F(Sequencer, AFailedCheckStopsTheProgram) {
  top.empty(3);
  top.bundle({op("shalt.err", none())});
  EXPECT_EQ(faultOf(), "TLP, bundle 0x3: the program stopped itself: a check of its own failed");
  top.listing().instructions.back().remark = top.remark("BoundsCheck 7");
  EXPECT_EQ(faultOf(), "TLP, bundle 0x3: the program stopped itself: BoundsCheck 7");
}

TEST_F(Sequencer, SmemThatNothingWroteMayBeLoadedButNotUsed) {
  top.bundle({op("sld", s(0), {smem(word, 3)})});
  top.bundle({op("sadd.s32", s(1), {reg(s(0)), imm(1)})});
  ASSERT_EQ(faultOf(), "ok");
  top.bundle({op("scmp.eq.s32.totalorder", p(0), {reg(s(1)), imm(0)})});
  top.bundle({op("smov.u32", s(2), {imm(1)}).when(p(0))});
  ASSERT_EQ(faultOf(), "ok");
  const int32_t here = top.size();
  top.bundle({op("sbr.rel", none()).when(p(0)).to(here)});
  top.empty(4);
  const std::string message = faultOf();
  EXPECT_TRUE(message.starts_with("TLP, bundle 0x4: control depends on SMEM word 0x")) << message;
  EXPECT_TRUE(message.ends_with("which TLP, bundle 0x0 reads and nothing wrote")) << message;
}

TEST_F(Sequencer, UnknownValuesAreForgottenWhenTheyAreOverwritten) {
  top.bundle({op("sld", s(0), {smem(word, 3)})});
  keep(4, s(0));  // the word in SMEM is unknown, too
  top.bundle({op("smov.u32", s(0), {imm(1)})});
  const int32_t loop = top.size();
  top.bundle({op("ssub.s32", s(0), {reg(s(0)), imm(1)})});
  top.bundle({op("scmp.gt.s32.totalorder", p(0), {reg(s(0)), imm(0)})});
  top.bundle({op("sbr.rel", none()).when(p(0)).to(loop)});
  top.empty(4);
  ASSERT_EQ(faultOf(), "ok");
  top.bundle({op("sld", s(5), {smem(word, 4)})});
  top.bundle({op("scmp.gt.s32.totalorder", p(0), {reg(s(5)), imm(0)})});
  top.bundle({op("sbr.rel", none()).when(p(0)).to(0)});
  top.empty(4);
  EXPECT_TRUE(faultOf().find("control depends on SMEM word") != std::string::npos);
}

TEST_F(Sequencer, SmemHasAnEnd) {
  top.bundle({op("smov.u32", s(0), {imm(0x40000)})});
  top.bundle({op("sld", s(1), {smemAt(s(0))})});
  EXPECT_EQ(faultOf(), "TLP, bundle 0x1: a read of SMEM word 0x40000; there are 0x40000");
}

class Transfers : public Sequencer {
 protected:
  Transfers() {
    buffer = top.allocate(Space::kVmem, 1 << 16, 0);
    program.parameter(1 << 20);
    program.root({1024});
  }
  Draft read(uint32_t granules, int flag_offset = 0) {
    return op("dma.hbm_to_vmem", none(),
              {reg(s(20), Role::kHbm), imm(granules, Role::kSizeInGranules), imm(0, Role::kVmem),
               at(flag, Role::kDstSyncFlag, flag_offset)});
  }
  void takeAddress() { top.bundle({op("scalar_parameter_address", s(20), {imm(0)})}); }
  int32_t buffer = 0;
};

TEST_F(Transfers, AWaitEndsWhenTheBytesAreThere) {
  takeAddress();                                                   // cycle 0
  top.bundle({read(64)});                                          // 1: 100 + 64 cycles
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(64)})});  // 2 until 165
  top.bundle({op("vsyncadd", none(), {at(flag), imm(static_cast<uint32_t>(-64))})});
  const Result<sim::Run> result = run();
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->cycles, 165 + 2);
  // One cycle passed before the wait: without the bytes, or without the latency, it would be saved, too.
  EXPECT_EQ(result->causes[static_cast<size_t>(events::Cause::kDma)], 63);
  EXPECT_EQ(result->causes[static_cast<size_t>(events::Cause::kDmaEither)], 1);
  EXPECT_EQ(result->causes[static_cast<size_t>(events::Cause::kDmaLatency)], 99);
  EXPECT_EQ(result->hbm_read_bytes, 64 * 32);
  EXPECT_EQ(result->transfers, 1);
}

TEST_F(Transfers, AGeneralTransferGoesWhereTheListingRemarks) {
  takeAddress();
  const int32_t strides = top.allocate(Space::kSmem, 24);
  for (int32_t word = 0; word < 6; ++word)  // runs of one row, eight in an outer step
    top.bundle({op("sst", none(), {smem(strides, word), imm(word == 2 ? 8 : word == 5 ? 1 : 16)})});
  top.bundle({op("dma.general", none(),
                 {reg(s(20), Role::kSrcAddress), imm(64, Role::kSizeInGranules), imm(0, Role::kDstAddress),
                  at(flag, Role::kDstSyncFlag), imm(0x20000, Role::kSrcSyncFlag), imm(0, Role::kDstSyncFlag1),
                  at(strides, Role::kStrideDescriptor)})
                  .remark(top.remark("hbm-to-vmem"))});
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(64)})});
  top.bundle({op("vsyncadd", none(), {at(flag), imm(static_cast<uint32_t>(-64))})});
  const Result<sim::Run> result = run();
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->hbm_read_bytes, 64 * 32);
}

TEST_F(Transfers, WorkHidesTheWait) {
  takeAddress();
  top.bundle({read(64)});
  top.empty(500);
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(64)})});
  const Result<sim::Run> result = run();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->cycles, result->bundles);
}

TEST_F(Transfers, FlagsCountAndAreTakenBack) {
  takeAddress();
  top.bundle({read(64)});
  top.bundle({read(64)});
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(128)})});
  top.bundle({op("vsyncadd", none(), {at(flag), imm(static_cast<uint32_t>(-128))})});
  ASSERT_EQ(faultOf(), "ok");
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(1)})});
  const std::string message = faultOf();
  EXPECT_TRUE(message.find("deadlock: sync flag") != std::string::npos) << message;
  EXPECT_TRUE(message.find("is 0, 1 are waited for, and no transfer is under way") != std::string::npos)
      << message;
}

TEST_F(Transfers, AFlagCanBeRead) {
  clear();
  takeAddress();
  top.bundle({read(64)});
  top.bundle({op("vsyncmov", none(), {at(flag)})});
  top.bundle({op("spop.sfrf", s(0))});
  top.empty(300);
  top.bundle({op("vsyncmov", none(), {at(flag)})});
  top.bundle({op("spop.sfrf", s(1))});
  top.bundle({op("vsyncset.done", none(), {at(flag), imm(0)})});
  const std::vector<uint32_t> seen = words();
  EXPECT_EQ(seen[0], 0u);
  EXPECT_EQ(seen[1], 64u);
}

TEST_F(Transfers, StridesAreRunsInHbm) {
  ChipModel with_runs = model();
  with_runs.hbm_run_overhead_bytes = 32;
  const auto cycles = [&](uint32_t source_stride) {
    ProgramBuilder builder;
    FunctionBuilder& f = builder.function("TLP");
    const int32_t own_flag = f.allocate(Space::kSyncFlag, 4);
    builder.parameter(1 << 20);
    builder.root({8});
    f.bundle({op("scalar_parameter_address", s(20), {imm(0)})});
    f.bundle({op("dma.hbm_to_vmem", none(),
                 {reg(s(20), Role::kHbm), imm(64, Role::kSizeInGranules), imm(0, Role::kVmem),
                  at(own_flag, Role::kDstSyncFlag), imm(source_stride, Role::kSrcStride),
                  imm(16, Role::kDstStride), imm(1, Role::kStepsPerStride)})});
    f.bundle({op("dma.done.wait", none(), {at(own_flag), imm(64)})});
    return simulate(builder.build(), with_runs, {})->cycles;
  };
  EXPECT_EQ(cycles(16), 1 + 100 + 64 + 1 + 1);  // contiguous: one run of 2 KiB
  EXPECT_EQ(cycles(64), 1 + 100 + 64 + 4 + 1);  // four runs of 512 bytes
}

TEST_F(Transfers, ScalarsThatComeFromHbmNeedTheArgument) {
  top.bundle({op("scalar_parameter_address", s(20), {imm(0)})});
  top.bundle({op("dma.hbm_to_smem", none(),
                 {reg(s(20), Role::kHbm), imm(1, Role::kSizeInGranules), at(word, Role::kSmem),
                  at(flag, Role::kDstSyncFlag)})});
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(1)})});
  top.bundle({op("sld", s(0), {smem(word, 1)})});
  const int32_t loop = top.size();
  top.bundle({op("ssub.s32", s(0), {reg(s(0)), imm(1)})});
  top.bundle({op("scmp.gt.s32.totalorder", p(0), {reg(s(0)), imm(0)})});
  top.bundle({op("sbr.rel", none()).when(p(0)).to(loop)});
  top.empty(4);
  const Result<sim::Run> without = run();
  ASSERT_FALSE(without.ok());
  EXPECT_TRUE(without.error().hint().find("of 0 were read") != std::string::npos) << without.error().text();
  Options options;
  const uint32_t given[] = {5, 20, 0, 0, 0, 0, 0, 0};
  options.inputs.arguments[0].resize(32);
  std::memcpy(options.inputs.arguments[0].data(), given, 32);
  const Result<sim::Run> result = run(options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->bundles, 4 + 20 * 7);
}

TEST_F(Transfers, CausesAddUpAndOperationsHaveTheirOwn) {
  program.traced({"fusion.1", "copy-start"});
  takeAddress();
  top.bundle({op("vtrace", none(), {imm(0x80000000)})});
  top.bundle({read(64)});
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(64)})});
  top.bundle({op("vtrace", none(), {imm(0x90000000)})});
  top.bundle({op("vtrace", none(), {imm(0x80000001)})});
  top.bundle({read(32)});
  top.bundle({op("vtrace", none(), {imm(0x90000001)})});
  top.empty(2);
  int64_t spoken = 0;
  Options options;
  options.sink = [&](const events::Event& event) { spoken += event.duration; };
  const Result<sim::Run> result = run(options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(events::total(result->causes), result->cycles);
  EXPECT_EQ(spoken, result->cycles);
  ASSERT_EQ(result->ops.size(), 3u);
  int64_t cycles = 0;
  for (const OpTime& time : result->ops) {
    EXPECT_EQ(events::total(time.causes), time.cycles);
    cycles += time.cycles;
  }
  EXPECT_EQ(cycles, result->cycles);
  EXPECT_EQ(result->ops[0].traced, 0);
  EXPECT_EQ(result->ops[0].executions, 1);
  EXPECT_EQ(result->ops[0].hbm_read_bytes, 64 * 32);
  EXPECT_EQ(result->ops[0].cycles, 1 + 1 + 163 + 1);
  EXPECT_EQ(result->ops[1].cycles, 2);
  EXPECT_EQ(result->ops[2].traced, -1);
  EXPECT_EQ(result->ops[2].causes[static_cast<size_t>(events::Cause::kLaunch)], 5);
}

TEST_F(Transfers, CounterfactualsTakeAwayWhatTheyName) {
  program.traced({"fusion.1"});
  takeAddress();
  top.bundle({op("vtrace", none(), {imm(0x80000000)})});
  top.bundle({read(64), op("smul.u32", s(3), {imm(3), imm(4)})});
  top.empty(1);
  top.bundle({op("sadd.s32", s(4), {reg(s(3)), imm(1)})});
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(64)})});
  top.bundle({op("vtrace", none(), {imm(0x90000000)})});
  const Result<sim::Run> whole = run();
  ASSERT_TRUE(whole.ok());
  const auto without = [&](Without what) { return run({.without = {what}})->cycles; };
  const auto cause = [&](events::Cause c) { return whole->causes[static_cast<size_t>(c)]; };
  // Behind the empty bundle, the transfer would be waited for anyway.
  EXPECT_EQ(cause(events::Cause::kDependencyScalar), 0);
  EXPECT_EQ(cause(events::Cause::kOverlapped), 1);
  // Three bundles pass before the wait: as much is saved by the bytes' absence as by the latency's.
  const int64_t either = cause(events::Cause::kDmaEither);
  EXPECT_EQ(either, 3);
  EXPECT_EQ(without(Without::kHbmLimit), whole->cycles - cause(events::Cause::kDma) - either);
  EXPECT_EQ(without(Without::kDmaLatency), whole->cycles - cause(events::Cause::kDmaLatency) - either);
  EXPECT_EQ(without(Without::kDma),
            whole->cycles - cause(events::Cause::kDma) - cause(events::Cause::kDmaLatency) - either);
  EXPECT_EQ(without(Without::kLaunch), whole->cycles - cause(events::Cause::kLaunch));
  EXPECT_EQ(run({.without = {Without::kDma, Without::kLaunch, Without::kDependencies}})->cycles, 4);
}

/// Three operations in three parts of the code; each runs for `cycles`.
llo::Program inOverlays(ProgramBuilder& program, FunctionBuilder& top, int cycles) {
  program.traced({"a", "b", "c"});
  for (uint32_t i = 0; i < 3; ++i) {
    top.bundle({op("vtrace", none(), {imm(0x80000000 + i)})});
    top.empty(cycles);
    top.bundle({op("vtrace", none(), {imm(0x90000000 + i)})});
  }
  llo::Program built = program.build();
  for (int32_t i = 0; i < 3; ++i) built.traced[static_cast<size_t>(i)].overlay = i + 1;
  built.overlay_bundles = {16, 32, 32, 32};
  return built;
}

TEST_F(Transfers, TheNextPartOfTheCodeIsFetchedBeforehand) {
  const llo::Program built = inOverlays(program, top, 20);
  const Result<sim::Run> result = simulate(built, model(), {});
  ASSERT_TRUE(result.ok()) << result.error().text();
  // 32 bundles of 64 bytes after a latency of 100 cycles: 164; of these, 21 pass in the operation before.
  EXPECT_EQ(result->causes[static_cast<size_t>(events::Cause::kOverlay)], 2 * (164 - 22));
  EXPECT_EQ(events::total(result->causes), result->cycles);
  const Result<sim::Run> bare = simulate(built, model(), {.without = {Without::kOverlays}});
  EXPECT_EQ(bare->cycles, result->cycles - 2 * (164 - 22));
  EXPECT_EQ(simulate(built, model(), {.dma = DmaTiming::kCompiler})->cycles, bare->cycles)
      << "libtpu's own estimate knows of none";
}

TEST_F(Transfers, CodeThatHasArrivedCostsNothing) {
  const Result<sim::Run> result = simulate(inOverlays(program, top, 300), model(), {});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->causes[static_cast<size_t>(events::Cause::kOverlay)], 0);
  EXPECT_EQ(result->notes.size(), 1u);
  EXPECT_EQ(
      result->notes[0],
      "2 of 3 parts of the code were fetched while it ran: 4096 bytes that no operation's HBM bytes hold");
}

TEST_F(Transfers, OutputsOfATupleComeByATableAndTakeOverDonatedArguments) {
  ProgramBuilder builder;
  FunctionBuilder& f = builder.function("TLP");
  const int32_t table = f.allocate(Space::kSmem, 32), own_flag = f.allocate(Space::kSyncFlag, 4);
  const int32_t output = f.allocate(Space::kSmem, 4, 0xfff90, true);
  builder.parameter(64);
  builder.parameter(64);
  builder.root({64, 64});
  builder.module().aliases.push_back({.output_index = {1}, .parameter = 0});
  f.bundle({op("sld", s(0), {smem(output)})});
  f.bundle({op("dma.hbm_to_smem", none(),
               {reg(s(0), Role::kHbm), imm(1, Role::kSizeInGranules), at(table, Role::kSmem),
                at(own_flag, Role::kDstSyncFlag)})});
  f.bundle({op("dma.done.wait", none(), {at(own_flag), imm(1)})});
  f.bundle({op("sld", s(1), {smem(table, 1)}), op("scalar_parameter_address", s(2), {imm(0)})});
  f.bundle({op("scmp.ne.s32.totalorder", p(0), {reg(s(1)), reg(s(2))})});
  f.bundle({op("shalt.err", none()).when(p(0))});
  f.bundle({op("sld", s(1), {smem(table)})});
  f.bundle({op("scmp.eq.s32.totalorder", p(0), {reg(s(1)), reg(s(2))})});
  f.bundle({op("shalt.err", none()).when(p(0))});
  const Result<sim::Run> result = simulate(builder.build(), model(), {});
  EXPECT_TRUE(result.ok()) << result.error().text();
}

}  // namespace
}  // namespace sublane::sim
