#include "sim/not_modelled.h"

#include <gtest/gtest.h>

#include "program_builder.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

TEST(NotModelled, TheSparseCoreIsRefusedByTheOperationThatUsesIt) {
  ProgramBuilder program;
  FunctionBuilder& top = program.function("TLP");
  program.root({8});
  program.traced({"fusion.1", "gather.2"});
  top.bundle({op("vtrace", none(), {imm(0x80000001)})});
  top.bundle({op("int_to_ptr.sparse_core_sequencer_sflag", s(1), {reg(s(1))})});
  top.bundle({op("vtrace", none(), {imm(0x90000001)})});
  const Result<sim::Run> result = simulate(program.build(), *chipModel("v6e"), {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(
      result.error().message(),
      "simulator: 1 of 2 operations (gather.2; 0 bytes) work with the SparseCore, which is not modelled");
}

TEST(NotModelled, CollectivesAreRefusedWithTheirBytes) {
  ProgramBuilder program;
  program.function("TLP").empty(1);
  program.parameter(1024);
  program.root({1024});
  llo::Instruction reduce{.name = "all-reduce.1", .opcode = "all-reduce"};
  reduce.shape = {.type = llo::ElementType::kF32, .dims = {1024}};
  reduce.operands = {0};
  program.module().computations[0].instructions.push_back(reduce);
  llo::Program built = program.build();
  built.traced = {{.name = "all-reduce.1", .instruction = 2, .computation = 0}};
  const std::vector<NotModelled> found = notModelled(built, false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].what, "other chips");
  EXPECT_EQ(found[0].bytes, 2 * 4096);
  EXPECT_FALSE(refuseWhatIsNotModelled(built, false).ok());
}

TEST(NotModelled, TheRestIsNot) {
  ProgramBuilder program;
  program.function("TLP").empty(1);
  program.root({8});
  EXPECT_TRUE(notModelled(program.build(), false).empty());
}

TEST(NotModelled, CoresShareTheHbmAndSaySo) {
  ProgramBuilder program;
  program.function("TLP").empty(1);
  program.root({8});
  const Result<sim::Run> two = simulate(program.build(), *chipModel("v5p"), {});
  ASSERT_TRUE(two.ok()) << two.error().text();
  ASSERT_EQ(two->notes.size(), 1u);
  EXPECT_TRUE(two->notes[0].starts_with("one of 2 cores is executed")) << two->notes[0];
  EXPECT_TRUE(simulate(program.build(), *chipModel("v6e"), {})->notes.empty());
}

TEST(NotModelled, AWaitForTheOtherCoreSaysWhatItIs) {
  ProgramBuilder program;
  FunctionBuilder& top = program.function("TLP");
  const int32_t flag = top.allocate(llo::Space::kSyncFlag, 4);
  program.root({8});
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(8)})});
  const Result<sim::Run> two = simulate(program.build(), *chipModel("v4"), {});
  ASSERT_FALSE(two.ok());
  EXPECT_TRUE(two.error().hint().starts_with("one of 2 cores is executed")) << two.error().text();
  EXPECT_TRUE(simulate(program.build(), *chipModel("v6e"), {}).error().hint().empty());
}

}  // namespace
}  // namespace sublane::sim
