// Semantics of single operations, on small listings written here in the documented grammar.
#include "sim/vector_unit.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "llo/listing.h"

namespace sublane::sim {
namespace {

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
float number(uint32_t word) { return std::bit_cast<float>(word); }

/// Runs a listing's bundles in order on a unit whose registers the test has set.
class Bench {
 public:
  explicit Bench(const std::string& chip = "v6e")
      : unit({.chip = chip, .vmem_rows = 256, .track_writers = true}) {}

  /// "" or the error.
  std::string run(const std::string& lines) {
    std::string text;
    int count = 0;
    for (size_t at = 0; at < lines.size();) {
      const size_t end = std::min(lines.find('\n', at), lines.size());
      text += fmt::format("{:#x}   :  {{ {} }}\n", count++, lines.substr(at, end - at));
      at = end + 1;
    }
    auto listing = llo::readListing(text, {.function = "test"});
    if (!listing.ok()) return listing.error().text();
    const std::vector<int64_t> addresses(listing->allocations.size(), 0);
    auto handle = unit.prepare(*listing, addresses);
    if (!handle.ok()) return handle.error().text();
    for (int b = 0; b < count; ++b)
      if (!unit.execute(*handle, b, {.registers = scalars, .predicates = predicates}, results))
        return unit.takeError().message();
    return "";
  }

  VectorUnit unit;
  uint32_t scalars[32] = {};
  uint32_t predicates = 0;
  std::vector<ScalarWrite> results;
};

/// word k of register `reg` = f(sublane, lane)
template <class F>
void fill(Bench& bench, int reg, F f) {
  for (int k = 0; k < 1024; ++k) bench.unit.vector(reg)[static_cast<size_t>(k)] = f(k / 128, k % 128);
}
uint32_t at(Bench& bench, int reg, int sublane, int lane) {
  return bench.unit.vector(reg)[static_cast<size_t>(sublane * 128 + lane)];
}

TEST(VectorUnit, AMaskOfTheBytesOfAConstant) {
  Bench bench;
  fill(bench, 0, [](int, int) { return 0u; });  // which a constant must not be taken for
  fill(bench, 1, [](int, int) { return 0x11223344u; });
  fill(bench, 2, [](int, int) { return 0xaabbccddu; });
  ASSERT_EQ(bench.run("%vm3_vm0 = vnez.u8 65535\n"
                      "%v4_v4 = vsel /*vm=*/%vm3_vm0, /*on_true_vy=*/%v1_v1, /*on_false_vx=*/%v2_v2\n"),
            "");
  EXPECT_EQ(at(bench, 4, 0, 0), 0xaabb3344u);
  EXPECT_EQ(at(bench, 4, 7, 127), 0xaabb3344u);
}

TEST(VectorUnit, ReadsOfABundleComeBeforeItsWrites) {
  Bench bench;
  fill(bench, 0, [](int, int) { return 1u; });
  fill(bench, 1, [](int, int) { return 2u; });
  fill(bench, 2, [](int, int) { return 3u; });
  ASSERT_EQ(bench.run("%v10_v0 = vmov %v1_v1  ;;  %v11_v1 = vmov %v2_v2  ;;  %v12_v2 = vmov %v0_v0"), "");
  EXPECT_EQ(at(bench, 0, 0, 0), 2u);
  EXPECT_EQ(at(bench, 1, 3, 5), 3u);
  EXPECT_EQ(at(bench, 2, 7, 127), 1u);
}

TEST(VectorUnit, PredicatesAndScalars) {
  Bench bench;
  bench.scalars[3] = 40;
  bench.predicates = 0b10;
  ASSERT_EQ(bench.run("%v1_v0 = vstv %s9_s3\n"
                      "%v2_v0 = vadd.s32 (%p1_p0), 1, %v1_v0\n"
                      "%v3_v0 = vadd.s32 (!%p1_p0), 2, %v1_v0\n"
                      "%v4_v0 = vadd.s32 (%p2_p1), %v3_v0, %s9_s3"),
            "");
  EXPECT_EQ(at(bench, 0, 4, 100), 82u);
}

TEST(VectorUnit, ArithmeticWraps) {
  Bench bench;
  fill(bench, 0, [](int s, int l) { return 0x80000000u + static_cast<uint32_t>(s * 128 + l); });
  fill(bench, 1, [](int, int) { return bits(1.5f); });
  ASSERT_EQ(bench.run("%v1_v2 = vshra.s32 %v0_v0, 4\n"
                      "%v2_v3 = vmul.u32.u64.high /*lhs_vy=*/%v0_v0, /*rhs_vx=*/%v0_v0, /*low=*/%v1_v2\n"
                      "%vm3_vm0 = vc.u32 %v0_v0, %v0_v0\n"
                      "%v4_v4 = vsel /*vm=*/%vm3_vm0, /*on_true_vy=*/%v1_v1, /*on_false_vx=*/0.0\n"
                      "%v5_v5 = vcvt.f32.s32 %v1_v1"),
            "");
  EXPECT_EQ(at(bench, 2, 0, 16), 0xf8000001u);
  EXPECT_EQ(at(bench, 3, 0, 2), 0x40000002u);
  EXPECT_EQ(number(at(bench, 4, 1, 1)), 1.5f);
  EXPECT_EQ(at(bench, 5, 0, 0), 2u) << "ties go to even";
}

TEST(VectorUnit, PacksRowsInPairs) {
  Bench bench;
  fill(bench, 0, [](int s, int l) { return bits(static_cast<float>(s * 128 + l)); });
  fill(bench, 1, [](int s, int l) { return bits(static_cast<float>(-s * 128 - l)); });
  ASSERT_EQ(bench.run("%v2_v2 = vpack.c.f32.bf16 %v1_v1, %v0_v0\n"
                      "%v3_v3 = vunpack.c.l.bf16.f32 %v2_v2\n"
                      "%v4_v4 = vunpack.c.u.bf16.f32 %v2_v2"),
            "");
  EXPECT_EQ(at(bench, 2, 1, 1), 0x43c04380u) << "rows 2 (low) and 3 (high) of the second operand: 257, 385";
  EXPECT_EQ(number(at(bench, 3, 3, 0)), 384.0f);
  EXPECT_EQ(number(at(bench, 4, 7, 0)), -896.0f);
}

TEST(VectorUnit, UnpacksBytesInOrderOfRows) {
  Bench bench;
  fill(bench, 0, [](int s, int) {
    return 0x03020100u + 0x04040404u * static_cast<uint32_t>(s) - (s == 7 ? 0x80u << 24 : 0);
  });
  ASSERT_EQ(bench.run("%v1_v1 = vunpack.c.3.s8.s32 %v0_v0\n%v2_v2 = vunpack.c.l.s8.bf16 %v0_v0\n"
                      "%v3_v3 = vpack.c.b32.b16 %v1_v1, %v1_v1\n%v4_v4 = vpack.c.b16.b8 %v3_v3, %v3_v3"),
            "");
  for (int s = 0; s < 7; ++s) EXPECT_EQ(at(bench, 1, s, 9), static_cast<uint32_t>(24 + s));
  EXPECT_EQ(static_cast<int32_t>(at(bench, 1, 7, 9)), 31 - 128);
  EXPECT_EQ(at(bench, 2, 2, 0), 0x40a04080u) << "rows 4 and 5";
  EXPECT_EQ(at(bench, 4, 0, 0), 0x1b1a1918u);
}

TEST(VectorUnit, LoadsAndStoresByStrideAndMask) {
  Bench bench;
  bench.scalars[1] = 16;
  fill(bench, 0, [](int s, int l) { return static_cast<uint32_t>(s * 1000 + l); });
  ASSERT_EQ(bench.run("%1 = vst [vmem:[%s1_s1] sm:$0xff] /*vst_source=*/%v0_v0\n"
                      "%2 = vst [vmem:[%s1_s1 + $0x10] ss:$2 sm:$0x7] /*vst_source=*/%v0_v0\n"
                      "%v3_v1 = vld [vmem:[%s1_s1 + $0x2] ss:$0 sm:$0xff]\n"
                      "%v4_v2 = vld [vmem:[%s1_s1] ss:$4 sps:$2 sm:$0xf]"),
            "");
  EXPECT_EQ(at(bench, 1, 6, 3), 2003u);
  EXPECT_EQ(at(bench, 2, 1, 3), 1003u);
  EXPECT_EQ(at(bench, 2, 2, 3), 4003u);
  EXPECT_EQ(at(bench, 2, 3, 3), 5003u);
  EXPECT_EQ(at(bench, 2, 4, 3), 0u) << "what the mask leaves out is zero";
  EXPECT_EQ(bench.unit.writerOf(36), (Writer{0, 1}));
  EXPECT_EQ(bench.unit.writerOf(35), (Writer{}));
  bench.scalars[2] = 0x12;
  ASSERT_EQ(bench.run("%v1_v3 = vld [vmem:[%s1_s1] sm:%s2_s2]"), "") << "a mask in a register";
  EXPECT_EQ(at(bench, 3, 1, 1), 1001u);
  EXPECT_EQ(at(bench, 3, 2, 1), 0u);
  EXPECT_EQ(bench.run("%v1_v1 = vld [vmem:[%s1_s1 + $0xf4] sm:$0xff]"),
            "test, bundle 0x0: vld: row 0x104 of VMEM, which has 0x100 rows");
}

TEST(VectorUnit, MaskedStoresAndTransfersWriteWords) {
  Bench bench;
  fill(bench, 0, [](int, int l) { return static_cast<uint32_t>(l); });
  // sublanes 0..7, lanes 4..5
  ASSERT_EQ(
      bench.run(fmt::format("%vm1_vm3 = vcmask {}\n"
                            "%2 = vst.msk [vmem:[%s1_s1] sm:$0x1] /*vm=*/%vm1_vm3, /*vst_source=*/%v0_v0\n"
                            "%v3_v1 = vld [vmem:[%s1_s1] sm:$0x1]",
                            4 << 3 | 7 << 10 | 5 << 13)),
      "");
  EXPECT_EQ(at(bench, 1, 0, 3), kPoison);
  EXPECT_EQ(at(bench, 1, 0, 4), 4u);
  EXPECT_EQ(at(bench, 1, 0, 6), kPoison);
  std::byte out[64];
  auto unwritten = bench.unit.readVmem(0, out);
  ASSERT_TRUE(unwritten.ok());
  EXPECT_EQ(*unwritten, 14);
  const std::byte in[32] = {std::byte{7}};
  ASSERT_TRUE(bench.unit.writeVmem(32, in).ok());
  unwritten = bench.unit.readVmem(0, out);
  EXPECT_EQ(*unwritten, 6);
  EXPECT_EQ(out[32], std::byte{7});
  EXPECT_FALSE(bench.unit.writeVmem(256 * 512 - 16, in).ok());
}

/// What nothing wrote may be loaded and masked away; what depends on it stays marked.
TEST(VectorUnit, FollowsWhatNothingWrote) {
  Bench bench;
  bench.scalars[1] = 8;
  fill(bench, 0, [](int s, int l) { return static_cast<uint32_t>(1000 * s + l); });
  // Rows 8 to 11 are written, 12 to 15 are not.
  ASSERT_EQ(bench.run("%1 = vst [vmem:[%s1_s1] sm:$0xf] /*vst_source=*/%v0_v0\n"
                      "%v2_v1 = vld [vmem:[%s1_s1] sm:$0xff]\n"
                      "%v3_v2 = vadd.s32 %v2_v1, %v0_v0\n"
                      "%vm4_vm0 = vcmask 1043456\n"  // sublanes 0 to 3
                      "%v5_v3 = vsel /*vm=*/%vm4_vm0, /*on_true_vy=*/%v3_v2, /*on_false_vx=*/0\n"
                      "%v6_v4 = vrot.slane %v3_v2, 4\n"
                      "%7 = vpush %v3_v2  ;;  %v8_v5 = vpack.c.f32.bf16 0.0, %v3_v2\n"
                      "%9 = vpush %v6_v4  ;;  %v20_v6 = vunpack.c.l.bf16.f32 %v8_v5\n"
                      "%s10_s3 = spop %7\n"
                      "%s11_s4 = spop %9\n"
                      "%12 = vst [vmem:[%s1_s1 + $0x8] sm:$0xff] /*vst_source=*/%v3_v2\n"
                      "%13 = vst [vmem:[%s1_s1 + $0x10] sm:$0xff] /*vst_source=*/%v5_v3\n"
                      "%14 = vst [vmem:[%s1_s1 + $0x18] sm:$0xff] /*vst_source=*/%v6_v4\n"
                      "%15 = vst [vmem:[%s1_s1 + $0x20] sm:$0xff] /*vst_source=*/%v20_v6\n"
                      "%16 = vrot.lane.b32.xlu0 %v3_v2, 3  ;;  %18 = vadd.xlane.f32.xlu1 %v3_v2\n"
                      "%v17_v7 = vpop.permute.xlu0 %16  ;;  %v19_v8 = vpop.xlane.xlu1 %18\n"
                      "%21 = vst [vmem:[%s1_s1 + $0x28] sm:$0xff] /*vst_source=*/%v17_v7\n"
                      "%22 = vst [vmem:[%s1_s1 + $0x30] sm:$0xff] /*vst_source=*/%v19_v8"),
            "");
  ASSERT_EQ(bench.results.size(), 2u);
  EXPECT_TRUE(bench.results[0].known);
  EXPECT_FALSE(bench.results[1].known) << "sublane 0 of the rotated register is row 12";
  const auto unwritten = [&](int64_t row) {
    std::byte out[8 * 512];
    return *bench.unit.readVmem(row * 512, out) / 128;
  };
  EXPECT_EQ(unwritten(16), 4) << "the sum";
  EXPECT_EQ(unwritten(24), 0) << "what the mask chose";
  EXPECT_EQ(unwritten(32), 4) << "what was rotated";
  EXPECT_EQ(unwritten(40), 4) << "what was packed and unpacked";
  EXPECT_EQ(unwritten(48), 4) << "what went through a cross-lane unit";
  EXPECT_EQ(unwritten(56), 4) << "what was added over lanes";
  ASSERT_EQ(bench.unit.unwrittenLoads().size(), 1u);
  EXPECT_EQ(bench.unit.unwrittenLoads()[0].bundle, 1);
  EXPECT_EQ(bench.unit.unwrittenLoads()[0].row, 12);
  bench.unit.forgetVmem(24, 1);
  EXPECT_EQ(unwritten(24), 1);
}

/// Of a word of two bf16 rows one may be padding: the other is known, and stays so through memory.
TEST(VectorUnit, FollowsHalvesOfWords) {
  Bench bench;
  bench.scalars[1] = 8;
  fill(bench, 0, [](int s, int) { return bits(static_cast<float>(s)); });
  // Row 0 is written, row 1 is not; packed, they share the words of sublane 0.
  ASSERT_EQ(bench.run("%1 = vst [vmem:[%s1_s1] sm:$0x1] /*vst_source=*/%v0_v0\n"
                      "%v2_v1 = vld [vmem:[%s1_s1] sm:$0x3]\n"
                      "%v3_v2 = vpack.c.f32.bf16 %v2_v1, %v2_v1\n"
                      "%4 = vst [vmem:[%s1_s1 + $0x8] sm:$0xff] /*vst_source=*/%v3_v2\n"
                      "%v5_v3 = vld [vmem:[%s1_s1 + $0x8] sm:$0xff]\n"
                      "%v6_v4 = vunpack.c.l.bf16.f32 %v5_v3\n"
                      "%7 = vpush %v6_v4  ;;  %v8_v5 = vrot.slane %v6_v4, 1\n"
                      "%9 = vpush %v8_v5\n"
                      "%s10_s3 = spop %7\n"
                      "%s11_s4 = spop %9"),
            "");
  ASSERT_EQ(bench.results.size(), 2u);
  EXPECT_TRUE(bench.results[0].known);
  EXPECT_FALSE(bench.results[1].known);
  std::byte row[512];
  EXPECT_EQ(*bench.unit.readVmem(16 * 512, row), 0) << "a transfer takes the words as they are";
  EXPECT_EQ(row[0], std::byte{0}) << "the low half, row 0, is 0.0";
}

/// Two masks become one of halves in the order in which vpack.c takes the rows that they mask.
TEST(VectorUnit, PacksMasksAsRows) {
  Bench bench;
  ASSERT_EQ(bench.run(fmt::format("%vm1_vm0 = vcmask {}\n"  // sublane 1
                                  "%vm2_vm1 = vcmask {}\n"  // sublane 4
                                  "%vm3_vm2 = vmpackc.low %vm1_vm0, %vm2_vm1",
                                  1 | 1 << 10 | 127 << 13, 4 | 4 << 10 | 127 << 13)),
            "");
  EXPECT_EQ(bench.unit.mask(2)[4 * 128], 0xffff0000u) << "row 9: sublane 1 of the first operand";
  EXPECT_EQ(bench.unit.mask(2)[2 * 128], 0x0000ffffu) << "row 4: sublane 4 of the second";
  EXPECT_EQ(bench.unit.mask(2)[0], 0u);
}

TEST(VectorUnit, CrossLane) {
  Bench bench;
  fill(bench, 0, [](int s, int l) { return bits(static_cast<float>(s + l)); });
  ASSERT_EQ(bench.run("%1 = vadd.xlane.f32.xlu0 %v0_v0  ;;  %2 = vrot.lane.b32.xlu1 %v0_v0, 5\n"
                      "%3 = vbcast.lane.b32.xlu1 %v0_v0, 264  ;;  %4 = vmax.xlane.f32.xlu0 %v0_v0\n"
                      "%v5_v1 = vpop.xlane.xlu0 %1  ;;  %v6_v2 = vpop.permute.xlu1 %2\n"
                      "%v7_v3 = vpop.permute.xlu1 %3  ;;  %v8_v4 = vpop.xlane.xlu0 %4"),
            "");
  EXPECT_EQ(number(at(bench, 1, 2, 77)), 128 * 2 + 127 * 64);
  EXPECT_EQ(number(at(bench, 2, 1, 5)), 1.0f);
  EXPECT_EQ(number(at(bench, 2, 1, 4)), 128.0f);
  EXPECT_EQ(number(at(bench, 3, 3, 99)), 14.0f) << "sublane 3 takes lane 8 + 3";
  EXPECT_EQ(number(at(bench, 4, 3, 99)), 130.0f);
  EXPECT_EQ(bench.run("%v1_v1 = vpop.xlane.xlu0 %1"),
            "test, bundle 0x0: vpop.xlane: cross-lane unit 0 has no result");
  EXPECT_EQ(bench.run("%1 = vadd.xlane.f32.xlu0 %v0_v0\n%v1_v1 = vpop.xlane.xlu0 %2"),
            "test, bundle 0x1: vpop.xlane: cross-lane unit 0's next result is of %1, not of %2");
}

TEST(VectorUnit, Transposes) {
  Bench bench;
  fill(bench, 0, [](int s, int l) { return static_cast<uint32_t>(1000 * s + l); });
  fill(bench, 1, [](int s, int l) { return static_cast<uint32_t>(1000 * (s + 8) + l); });
  std::string text =
      "%1 = vxpose.xlu0.b32.start [1/2] (short) /*vx=*/%v0_v0, /*width=*/128\n"
      "%2 = vxpose.xlu0.b32.end [2/2] (short) /*vx=*/%v1_v1, /*width=*/128";
  for (int k = 0; k < 16; ++k) text += fmt::format("\n%v{}_v{} = vpop.trf.xlu0", 10 + k, 10 + k);
  ASSERT_EQ(bench.run(text), "");
  EXPECT_EQ(at(bench, 10, 3, 0), 3u);
  EXPECT_EQ(at(bench, 12, 5, 11), 11021u);
  EXPECT_EQ(at(bench, 25, 7, 15), 15127u);
  EXPECT_EQ(at(bench, 25, 7, 16), kPoison);
}

TEST(VectorUnit, ExtendedUnitAnswersInOrder) {
  Bench bench;
  fill(bench, 0, [](int s, int) { return bits(static_cast<float>(s)); });
  ASSERT_EQ(
      bench.run("%1 = vexp2.f32 %v0_v0\n%2 = vrcp.f32 %v0_v0\n%v3_v1 = vpop.erf %1\n%v4_v2 = vpop.erf %2"),
      "");
  EXPECT_EQ(number(at(bench, 1, 3, 0)), 8.0f);
  EXPECT_EQ(number(at(bench, 2, 4, 0)), 0.25f);
}

TEST(VectorUnit, VectorToScalar) {
  Bench bench;
  fill(bench, 0, [](int s, int l) { return static_cast<uint32_t>(s + l + 17); });
  ASSERT_EQ(bench.run("%1 = vpush %v0_v0\n%s2_s9 = spop %1"), "");
  ASSERT_EQ(bench.results.size(), 1u);
  EXPECT_EQ(bench.results[0].reg, (llo::Register{llo::RegisterFile::kScalar, 9}));
  EXPECT_EQ(bench.results[0].value, 17u);
}

/// Weights W[k][n] = 100 k + n over two diagonal blocks, rows of ones: sums of the columns.
TEST(VectorUnit, MultipliesByBlocksOnTheDiagonal) {
  Bench bench;
  fill(bench, 0, [](int, int) { return 0x3f803f80u; });  // ones, 16 rows
  std::string text;
  for (int k = 7; k >= 0; --k)  // the last rows first
    text += fmt::format(
        "%v{0}_v{0} = vmov {1}\n%1 = vmatprep.subr.bf16.mxu0 %v{0}_v{0}\n"
        "%2 = vmatpush3.bf16.msra.mxu0 %v{0}_v{0}\n",
        8 + k, 0x3f800000u + static_cast<uint32_t>(k == 0) * 0x4000);  // high rows 1; low rows 0 or tiny
  text +=
      "%3 = vmatprep.mubr.bf16.mxu0 %v0_v0\n%4 = vmatmul.mubr.bf16.vlgmr.msra.gmra.mxu0 %v0_v0\n"
      "%v5_v1 = vpop.f32.mrf.mxu0\n%v6_v2 = vpop.f32.mrf.mxu0\n%v7_v3 = vpop.f32.mrf.mxu0\n%v8_v4 = "
      "vpop.f32.mrf.mxu0";
  ASSERT_EQ(bench.run(text), "");
  for (int reg = 1; reg <= 4; ++reg)
    EXPECT_NEAR(number(at(bench, reg, 5, 100)), 64.0f + 8 * number(0x40000000), 17.0f);
  EXPECT_EQ(bench.run("%1 = vpop.f32.mrf.mxu0"),
            "test, bundle 0x0: vpop.f32.mrf: this operation or form is not known to the values");
}

/// A full 256 x 256 product against plain sums.
TEST(VectorUnit, MultipliesWholeWeights) {
  Bench bench;
  const auto weight = [](int k, int n) { return static_cast<float>((k * 7 + n * 3) % 17 - 8); };
  const auto left = [](int r, int k) { return static_cast<float>((r * 5 + k) % 13 - 6); };
  const auto half = [](float x) { return bits(x) >> 16; };
  for (int push = 0; push < 16; ++push) {
    const int first = (push < 8 ? 0 : 128) + (7 - push % 8) * 16;
    for (int high = 0; high < 2; ++high)
      fill(bench, high, [&](int s, int l) {
        const int n = l + 128 * high;
        return half(weight(first + 2 * s, n)) | half(weight(first + 2 * s + 1, n)) << 16;
      });
    ASSERT_EQ(
        bench.run(fmt::format("%1 = vmatprep.subr.bf16.mxu1 %v1_v1\n%2 = vmatpush{}.bf16.msra.mxu1 %v0_v0",
                              push < 8 ? 1 : 2)),
        "");
  }
  for (int high = 0; high < 2; ++high)
    fill(bench, high, [&](int s, int l) {
      return half(left(2 * s, l + 128 * high)) | half(left(2 * s + 1, l + 128 * high)) << 16;
    });
  ASSERT_EQ(
      bench.run("%1 = vmatprep.mubr.bf16.mxu1 %v1_v1\n%2 = vmatmul.mubr.bf16.vlgmr.msra.gmra.mxu1 %v0_v0\n"
                "%v5_v2 = vpop.f32.mrf.mxu1\n%v6_v3 = vpop.f32.mrf.mxu1\n%v7_v4 = vpop.f32.mrf.mxu1\n%v8_v5 "
                "= vpop.f32.mrf.mxu1"),
      "");
  for (int r = 0; r < 16; ++r)
    for (int n = 0; n < 256; n += 37) {
      float sum = 0;
      for (int k = 0; k < 256; ++k) sum += left(r, k) * weight(k, n);
      EXPECT_EQ(number(at(bench, 2 + r / 8 * 2 + n / 128, r % 8, n % 128)), sum) << r << " " << n;
    }
}

TEST(VectorUnit, NamesWhatItDoesNotKnow) {
  Bench bench;
  EXPECT_EQ(bench.run("%vm1_vm0 = vweird.bf16 %v0_v0"),
            "test, bundle 0x0: vweird.bf16: this operation or form is not known to the values");
  ASSERT_EQ(bench.unit.unknown().size(), 1u);
  EXPECT_EQ(bench.unit.unknown()[0], "vweird.bf16 (bundle 0x0 of test)");
}

}  // namespace
}  // namespace sublane::sim
