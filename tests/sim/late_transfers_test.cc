// Transfers whose data moves when the program has waited for it: what is refused meanwhile, and who wrote
// what they carry.
#include <gtest/gtest.h>

#include "program_builder.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

using llo::Role;
using llo::Space;

/// Sends a register's 4096 bytes from VMEM to the output.
class LateTransfers : public ::testing::Test {
 protected:
  LateTransfers() : top(program.function("TLP")) {
    flag = top.allocate(Space::kSyncFlag, 8);
    tile = top.allocate(Space::kVmem, 4096, 0, true);
    program.root({1024});
    pointer = top.allocate(Space::kSmem, 4, 0xfff90, true);
    top.bundle({op("vlaneseq.b32", v(0)), op("sld", s(30), {smem(pointer)})});
  }
  int32_t store() { return top.bundle({op("vst", none(), {vmem(tile), reg(v(0), Role::kStoreSource)})}); }
  int32_t send() {
    return top.bundle({op("dma.vmem_to_hbm", none(),
                          {imm(0, Role::kVmem), imm(128, Role::kSizeInGranules), reg(s(30), Role::kHbm),
                           at(flag, Role::kDstSyncFlag)})});
  }
  void wait() { top.bundle({op("dma.done.wait", none(), {at(flag), imm(128)})}); }
  Result<sim::Run> run() {
    return simulate(program.build(), *chipModel("v6e"), {.values = true, .track_writers = true});
  }

  ProgramBuilder program;
  FunctionBuilder& top;
  int32_t flag = 0, tile = 0, pointer = 0;
};

TEST_F(LateTransfers, CarryTheBundleThatWroteTheirData) {
  store();
  const int32_t last = store();
  send();
  wait();
  const Result<sim::Run> result = run();
  ASSERT_TRUE(result.ok()) << result.error().text();
  const std::vector<WrittenBy>& writers = result->output_writers.at(0);
  ASSERT_EQ(writers.size(), 4096u / 32);
  for (const WrittenBy& by : writers) EXPECT_EQ(by, (WrittenBy{.listing = 0, .bundle = last}));
  EXPECT_EQ(result->vector_bundles, 3);
  EXPECT_NE(result->stores_hash, 0u);
}

TEST_F(LateTransfers, WhatNoBundleStoredIsTheTransfers) {
  const int32_t sent = send();
  wait();
  const Result<sim::Run> result = run();
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->output_writers.at(0)[0], (WrittenBy{.listing = 0, .bundle = sent, .transfer = true}));
}

TEST_F(LateTransfers, RowsBelongToTheTransferUntilItIsWaitedFor) {
  store();
  const int32_t sent = send();
  top.empty(100000);  // long after its last byte
  const int32_t again = store();
  wait();
  const Result<sim::Run> result = run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(),
            fmt::format(
                "TLP, bundle {:#x}: vst: stores into row 0x0 of VMEM while a transfer reads it; TLP, bundle "
                "{:#x} began the transfer, and nobody has waited for it",
                again, sent));
}

TEST_F(LateTransfers, SomebodyMustWait) {
  store();
  const int32_t sent = send();
  const Result<sim::Run> result = run();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find(fmt::format(
                "nobody waited for the transfer of 4096 bytes that TLP, bundle {:#x} began", sent)),
            std::string::npos)
      << result.error().message();
}

/// Of two transfers on one flag, a wait for the credits of one lets only that one's rows go.
TEST_F(LateTransfers, AWaitTakesTheCreditsInTheirOrder) {
  store();
  send();
  send();
  top.empty(100000);
  wait();
  top.bundle({op("vsyncadd", none(), {at(flag), imm(static_cast<uint32_t>(-128))})});
  store();
  wait();
  const Result<sim::Run> result = run();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("while a transfer reads it"), std::string::npos)
      << result.error().message();
}

}  // namespace
}  // namespace sublane::sim
