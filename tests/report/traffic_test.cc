#include "report/traffic.h"

#include "modules.h"

namespace sublane::report {
namespace {

Traffic trafficOfRoot(const HloWriter& hlo, int64_t entry_id) {
  const llo::HloModule module = read(hlo.module(entry_id));
  const llo::Computation& entry = module.entryComputation();
  return trafficOf(module, entry, entry.at(entry.root));
}

constexpr double kPage = 640 * 2;  // a row of 576 bf16, padded to whole lanes

TEST(Traffic, OnlyHbmCountsAndTilesPad) {
  HloWriter hlo;
  const auto entry = hlo.computation(
      "main",
      {parameter(1, "x", bf16({8, 576}, kTiled), 0), parameter(2, "y", bf16({8, 576}, kTiledVmem), 1),
       instruction(3, "add", "add", bf16({8, 576}, kTiled), {1, 2})},
      3);
  const Traffic traffic = trafficOfRoot(hlo, entry);
  EXPECT_EQ(traffic.read, 8 * kPage);
  EXPECT_EQ(traffic.written, 8 * kPage);
}

TEST(Traffic, AnOperandUsedTwiceIsReadOnce) {
  HloWriter hlo;
  const auto entry = hlo.computation("main",
                                     {parameter(1, "x", bf16({8, 576}, kTiled), 0),
                                      instruction(2, "add", "add", bf16({8, 576}, kTiledVmem), {1, 1})},
                                     2);
  EXPECT_EQ(trafficOfRoot(hlo, entry).total(), 8 * kPage);
}

/// fusion(table, index) whose `inner` instructions read parameter 1 (id 1) with a scalar (id 2).
Traffic fusionOver(const std::vector<std::string>& inner, int64_t root, const std::string& result) {
  HloWriter hlo;
  std::vector<std::string> body = {parameter(1, "p0", bf16({1024, 576}, kTiled), 0),
                                   parameter(2, "p1", s32({}), 1)};
  body.insert(body.end(), inner.begin(), inner.end());
  const auto fused = hlo.computation("fused", body, root, true);
  const auto entry = hlo.computation(
      "main",
      {parameter(11, "table", bf16({1024, 576}, kTiled), 0), parameter(12, "at", s32({}, {{}, {}, 6}), 1),
       instruction(13, "f", "fusion", result, {11, 12}, calls({fused}))},
      13);
  return trafficOfRoot(hlo, entry);
}

const std::string kSliceResult = bf16({16, 576}, kTiledVmem);

TEST(Traffic, AFusionThatSlicesReadsTheSlice) {
  const Traffic traffic =
      fusionOver({instruction(3, "ds", "dynamic-slice", bf16({16, 576}), {1, 2, 2}, numbers(20, {16, 576}))},
                 3, kSliceResult);
  EXPECT_EQ(traffic.read, 16 * kPage);
  EXPECT_EQ(traffic.written, 0);
}

TEST(Traffic, AConversionBeforeTheSliceReadsNoMore) {
  const Traffic traffic =
      fusionOver({instruction(3, "c", "convert", f32({1024, 576}), {1}),
                  instruction(4, "ds", "dynamic-slice", f32({16, 576}), {3, 2, 2}, numbers(20, {16, 576}))},
                 4, f32({16, 576}, kTiledVmem));
  EXPECT_EQ(traffic.read, 16 * kPage);
}

TEST(Traffic, ASecondWholeUseReadsTheWhole) {
  const Traffic traffic =
      fusionOver({instruction(3, "ds", "dynamic-slice", bf16({16, 576}), {1, 2, 2}, numbers(20, {16, 576})),
                  instruction(4, "t", "transpose", bf16({576, 1024}), {1}),
                  instruction(5, "out", "tuple", tuple({bf16({16, 576}), bf16({576, 1024})}), {3, 4})},
                 5, tuple({bf16({16, 576}, kTiledVmem), bf16({576, 1024}, kTiledVmem)}));
  EXPECT_EQ(traffic.read, 1024 * kPage);
}

TEST(Traffic, AGatherReadsItsRows) {
  // Single rows of bf16: two lie in one packed row, and both move.
  const Traffic traffic =
      fusionOver({instruction(3, "g", "gather", bf16({64, 576}), {1, 2}, numbers(34, {1, 576}))}, 3,
                 bf16({64, 576}, kTiledVmem));
  EXPECT_EQ(traffic.read, 64 * 2 * kPage);
}

TEST(Traffic, AnUpdateInPlaceCountsTheUpdate) {
  HloWriter hlo;
  const auto fused = hlo.computation(
      "fused",
      {parameter(1, "cache", bf16({1024, 576}, kTiled), 0), parameter(2, "rows", bf16({16, 576}, kTiled), 1),
       parameter(3, "at", s32({}), 2),
       instruction(4, "dus", "dynamic-update-slice", bf16({1024, 576}, kTiled), {1, 2, 3, 3})},
      4, true);
  const auto entry = hlo.computation(
      "main",
      {parameter(11, "cache", bf16({1024, 576}, kTiled), 0),
       parameter(12, "rows", bf16({16, 576}, kTiledVmem), 1), parameter(13, "at", s32({}, {{}, {}, 6}), 2),
       instruction(14, "f", "fusion", bf16({1024, 576}, kTiled), {11, 12, 13}, calls({fused}))},
      14);
  const Traffic traffic = trafficOfRoot(hlo, entry);
  EXPECT_EQ(traffic.written, 16 * kPage);
  EXPECT_EQ(traffic.read, 16 * kPage) << "lanes 576 to 639 keep what was there";
}

TEST(Traffic, AnAsynchronousCopyCountsAtItsStart) {
  const std::string start =
      tuple({bf16({8, 576}, kTiledVmem), bf16({8, 576}, kTiled), shape(8, {}, {{}, {}, 2})});
  HloWriter hlo;
  const auto entry = hlo.computation(
      "main",
      {parameter(1, "w", bf16({8, 576}, kTiled), 0), instruction(2, "s", "copy-start", start, {1}),
       instruction(3, "d", "copy-done", bf16({8, 576}, kTiledVmem), {2})},
      3);
  const llo::HloModule module = read(hlo.module(entry));
  const llo::Computation& main = module.entryComputation();
  EXPECT_EQ(trafficOf(module, main, main.at(1)).total(), 8 * kPage);
  EXPECT_EQ(memorySpaces(main, main.at(1)), "HBM -> VMEM");
  const Step step = stepOf(hlo.module(entry));
  ASSERT_EQ(step.rows.size(), 1u);
  EXPECT_EQ(step.rows[0].kind, "prefetch");
  EXPECT_EQ(step.total.hbm_bytes, 8 * kPage);
}

}  // namespace
}  // namespace sublane::report
