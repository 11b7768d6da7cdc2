// What a run tells its sink.
#include <gtest/gtest.h>

#include <map>

#include "program_builder.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

using events::Event, events::Kind, events::Memory;
using llo::Role, llo::Space;

/// A granule a cycle.
ChipModel model() {
  ChipModel model = *chipModel("v6e");
  model.clock_hz = 1e9;
  model.hbm_peak_bytes_per_second = 32e9;
  model.hbm_efficiency = 1;
  model.hbm_run_overhead_bytes = 0;
  model.read_latency_cycles = 100;
  return model;
}

TEST(Events, TellTheLifeOfEachTransfer) {
  ProgramBuilder program;
  FunctionBuilder& top = program.function("TLP");
  const int32_t flag = top.allocate(Space::kSyncFlag, 8);
  top.allocate(Space::kVmem, 1 << 16, 0);
  program.parameter(1 << 20);
  program.root({1024});
  top.bundle({op("scalar_parameter_address", s(20), {imm(0)})});
  for (const int offset : {0, 0, 1}) {  // bundles 1, 2, 3
    top.bundle({op("dma.hbm_to_vmem", none(),
                   {reg(s(20), Role::kHbm), imm(64, Role::kSizeInGranules), imm(0, Role::kVmem),
                    at(flag, Role::kDstSyncFlag, offset)})});
  }
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(64)})});  // 4
  top.bundle({op("vsyncadd", none(), {at(flag), imm(static_cast<uint32_t>(-64))})});
  top.empty(500);
  top.bundle({op("dma.done.wait", none(), {at(flag), imm(64)})});  // 506; nobody waits for the third
  std::map<Kind, std::vector<Event>> told;
  int64_t clock = 0;
  Options options;
  options.sink = [&](const Event& event) {
    told[event.kind].push_back(event);
    if (event.kind != Kind::kCycles) return;
    EXPECT_EQ(event.cycle, clock) << "without a gap";
    clock += event.duration;
  };
  const Result<sim::Run> result = simulate(program.build(), model(), options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  const std::vector<Event>&issued = told[Kind::kIssued], &done = told[Kind::kDone],
        &taken = told[Kind::kTaken];
  ASSERT_EQ(issued.size(), 3u);
  ASSERT_EQ(done.size(), 3u);
  ASSERT_EQ(taken.size(), 2u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(issued[i].transfer, static_cast<int32_t>(i));
    EXPECT_EQ(issued[i].bundle, static_cast<int32_t>(i + 1));
    EXPECT_EQ(issued[i].bytes, 64 * 32);
    EXPECT_EQ(issued[i].from, Memory::kHbm);
    EXPECT_EQ(issued[i].to, Memory::kVmem);
    EXPECT_EQ(done[i].transfer, static_cast<int32_t>(i));
    EXPECT_EQ(done[i].bundle, static_cast<int32_t>(i + 1)) << "who began it";
    EXPECT_EQ(done[i].first_byte, issued[i].cycle + 100) << "the latency of a read";
    EXPECT_EQ(done[i].last_byte, done[i].cycle) << "which lies before the bytes";
  }
  EXPECT_EQ(taken[0].transfer, 0);
  EXPECT_EQ(taken[0].bundle, 4);
  EXPECT_EQ(taken[0].cycle, done[0].cycle) << "it stalled";
  EXPECT_EQ(taken[1].transfer, 1);
  EXPECT_EQ(taken[1].bundle, 506);
  EXPECT_GT(taken[1].cycle, done[1].cycle) << "it did not";
}

}  // namespace
}  // namespace sublane::sim
