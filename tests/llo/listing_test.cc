// The grammar of bundle listings, rule by rule.
#include "llo/listing.h"

#include <gtest/gtest.h>

#include <bit>

#include "listing_writer.h"
#include "llo/listing_words.h"

namespace sublane::llo {
namespace {

constexpr std::string_view kTable =
    "  #allocation0 [shape = 'u32[8]{0}', space=smem, size = 0x20, tag = 'registry']\n"
    "    %s1_s0 = sld [smem:[#allocation0]]\n"
    "      #allocation3 [shape = 'f32[8,128]{1,0}', space=vmem, size = 0x1000, offset = 0x2000, scoped, "
    "tag = 'it's a tag, isn't it']\n"
    "  #allocation4 [shape = 's32[]', space=sflag, size = 0x4, offset = 0xcc, fixed_abs, tag = 'flag']\n"
    "  #allocation5_spill [shape = 'u32[8,128]{1,0}', space=vmem, size = 0x1000, offset = 0, scoped]\n";

Listing read(const std::vector<std::string>& lines) {
  auto listing = readListing(listingOf(lines), {.function = "f", .compiler = "libtpu 1", .memory = kTable});
  if (listing.ok()) return std::move(*listing);
  ADD_FAILURE() << listing.error().text();
  return {.bundles = {{}}, .instructions = {{}}, .operands = {{}, {}, {}, {}}, .forms = {""}};
}
/// The only instruction of a listing of one bundle, and the operands.
struct One {
  Listing listing;
  BundleInstruction instruction;
  std::vector<Operand> operands;
  std::string form;
};
One one(const std::string& instruction) {
  One read_one{read({":  { " + instruction + " }"})};
  read_one.instruction = read_one.listing.instructions.at(0);
  const auto operands = read_one.listing.operandsOf(read_one.instruction);
  read_one.operands.assign(operands.begin(), operands.end());
  read_one.operands.resize(8);
  read_one.form = read_one.listing.formOf(read_one.instruction);
  return read_one;
}
Register scalar(uint8_t index) { return {RegisterFile::kScalar, index}; }
Register vector(uint8_t index) { return {RegisterFile::kVector, index}; }
Register predicate(uint8_t index) { return {RegisterFile::kPredicate, index}; }
Register mask(uint8_t index) { return {RegisterFile::kMask, index}; }

TEST(Listing, BundlesHaveMarksDepthsAndManyInstructions) {
  const Listing listing =
      read({":  {}",
            "LB: > {  %s9_s1 = sadd.s32 1, %s8_s1  ;;  %v3_v2 = vadd.f32 0.5, %v2_v2 } /* Start region 1 */",
            "PF: > > { %4 = sfence } /* End region 1 :: Start region 2 */ /* and more */", "LB PB:  {}"});
  ASSERT_EQ(listing.bundles.size(), 4u);
  EXPECT_EQ(listing.of(listing.bundles[0]).size(), 0u);
  EXPECT_EQ(listing.of(listing.bundles[1]).size(), 2u);
  EXPECT_EQ(listing.of(listing.bundles[2])[0].op, Op::kSfence);
  EXPECT_EQ(listing.bundles[1].depth, 1);
  EXPECT_EQ(listing.bundles[2].depth, 2);
  EXPECT_EQ(listing.bundles[3].depth, 0);
  EXPECT_FALSE(listing.bundles[0].loop_start);
  EXPECT_TRUE(listing.bundles[1].loop_start);
  EXPECT_FALSE(listing.bundles[2].loop_start);
  EXPECT_TRUE(listing.bundles[3].loop_start);
}

TEST(Listing, TheFormIsWhatFollowsTheOperation) {
  const One mul = one("%12 = vmatmul.mubr.bf16.gmra.mxu1 %v5_v63");
  EXPECT_EQ(mul.instruction.op, Op::kVmatmul);
  EXPECT_EQ(mul.form, "mubr.bf16.gmra");
  EXPECT_EQ(mul.instruction.unit_index, 1);
  EXPECT_EQ(mul.instruction.value, 12);
  EXPECT_FALSE(mul.instruction.result);
  EXPECT_EQ(unitOf(mul.instruction.op), Unit::kMatrix);
  EXPECT_EQ(one("%v1_v0 = vadd.f32 %v1_v1, %v1_v1").instruction.op, Op::kVadd);
  EXPECT_EQ(one("%1 = vadd.xlane.f32.xlu0 %v1_v1").instruction.op, Op::kVaddXlane);
  EXPECT_EQ(one("%1 = vadd.xlane.f32.xlu0 %v1_v1").form, "f32");
  const One pop = one("%v1_v0 = vpop.add.s32.mrf.mxu2.mxu3");
  EXPECT_EQ(pop.instruction.unit_index, 2);
  EXPECT_EQ(pop.form, "add.s32.mrf.mxu3");
}

TEST(Listing, PartsOfWords) {
  const One indexed = one("%v1_v0 = vpop.f32.mrb[100].mxu0");
  EXPECT_EQ(indexed.instruction.op, Op::kVpop);
  EXPECT_EQ(indexed.form, "f32.mrb");
  EXPECT_EQ(indexed.instruction.part, 100u);
  EXPECT_EQ(indexed.instruction.unit_index, 0);
  const One transpose = one("%7 = vxpose.xlu1.b32.start [2/16] (short) /*vx=*/%v9_v25, /*width=*/128");
  EXPECT_EQ(transpose.form, "b32.start.short");
  EXPECT_EQ(transpose.instruction.part, 2u | 16u << 16);
  EXPECT_EQ(transpose.instruction.unit_index, 1);
  EXPECT_EQ(transpose.operands[1].role, Role::kWidth);
  EXPECT_EQ(transpose.operands[1].bits, 128u);
}

TEST(Listing, NumbersAreBits) {
  EXPECT_EQ(one("%s1_s0 = smov.u32 4294901760").operands[0].bits, 4294901760u);
  EXPECT_EQ(one("%s1_s0 = smov.u32 -65536").operands[0].bits, 4294901760u);
  const Operand half = one("%v1_v0 = vmov 0.5").operands[0];
  EXPECT_EQ(half.kind, Operand::Kind::kFloat);
  EXPECT_EQ(half.bits, std::bit_cast<uint32_t>(0.5f));
  EXPECT_EQ(one("%v1_v0 = vmov 1e-05").operands[0].bits, std::bit_cast<uint32_t>(1e-05f));
  EXPECT_EQ(one("%v1_v0 = vmov -inf").operands[0].bits, 0xff800000u);
  EXPECT_EQ(one("%v1_v0 = vmov nan").operands[0].kind, Operand::Kind::kFloat);
  const Operand pair = one("%v1_v0 = vmov nan|nan").operands[0];
  EXPECT_EQ(pair.kind, Operand::Kind::kInteger);
  EXPECT_EQ(pair.bits, 0x7fc07fc0u);
}

TEST(Listing, RegistersAndValues) {
  const One pop = one("%s3_s15 = spop %431");
  EXPECT_EQ(pop.instruction.result, scalar(15));
  EXPECT_EQ(pop.operands[0].kind, Operand::Kind::kValue);
  EXPECT_EQ(pop.operands[0].value, 431);
  const One compare = one("%vm9_vm15 = vcmp.eq.s32.totalorder %v1_v63, 3");
  EXPECT_EQ(compare.instruction.result, mask(15));
  EXPECT_EQ(compare.operands[0].reg, vector(63));
  EXPECT_EQ(compare.form, "eq.s32.totalorder");
  EXPECT_EQ(one("%p9_p0 = pneg %p8_p12").operands[0].reg, predicate(12));
}

TEST(Listing, Predicates) {
  const One plain = one("%s3_s1 = sadd.s32 (!%p8_p2), 1, %s2_s1");
  EXPECT_EQ(plain.instruction.predicate, predicate(2));
  EXPECT_TRUE(plain.instruction.predicate_negated);
  EXPECT_FALSE(plain.instruction.keeps_result);
  EXPECT_EQ(plain.instruction.operand_count, 2);
  const One keeps = one("%s3_s1 = smov.u32 (%p8_p2, %s2_s1), 0");
  EXPECT_TRUE(keeps.instruction.keeps_result);
  EXPECT_FALSE(keeps.instruction.predicate_negated);
  EXPECT_EQ(keeps.instruction.operand_count, 1);
  const One trailing = one("%v3_v1 = vld [vmem:[#allocation3]] (%p8_p11)");
  EXPECT_EQ(trailing.instruction.predicate, predicate(11));
  EXPECT_EQ(trailing.instruction.operand_count, 1);
  EXPECT_FALSE(one("%3 = sst [smem:[#allocation0]] (1), %s8_s2").instruction.predicate);
}

TEST(Listing, WhatNeverHappensIsLeftOut) {
  const Listing listing = read({":  { %3 = sst [smem:[#allocation0]] (0), %s8_s2  ;;  %4 = sfence }",
                                ": { %5 = sst [smem:[#allocation0]] (!1), %s8_s2 }"});
  ASSERT_EQ(listing.instructions.size(), 1u);
  EXPECT_EQ(listing.instructions[0].op, Op::kSfence);
  EXPECT_TRUE(listing.operands.empty());
}

TEST(Listing, MemoryOperands) {
  const Operand vmem = one("%v1_v0 = vld [vmem:[%s2_s3 + $0x38] ss:$12 sps:$4 sm:$0xf]").operands[0];
  EXPECT_EQ(vmem.kind, Operand::Kind::kMemory);
  EXPECT_EQ(vmem.space, Space::kVmem);
  EXPECT_EQ(vmem.reg, scalar(3));
  EXPECT_EQ(vmem.offset, 0x38);
  EXPECT_EQ(vmem.sublane_stride, 12);
  EXPECT_EQ(vmem.sublanes_per_stride, 4);
  EXPECT_EQ(vmem.sublane_mask, 0xf);
  EXPECT_EQ(vmem.allocation, -1);
  const One two = one("%s1_s0 = sld [smem:[%s2_s3 + %s9_s4]]");
  EXPECT_EQ(two.operands[0].reg, scalar(3));
  EXPECT_EQ(two.operands[0].index, scalar(4));
  const One both = one("%s1_s0 = sld [smem:[#allocation0 + %s9_s4]]");
  EXPECT_EQ(both.listing.allocations[both.operands[0].allocation].name, "allocation0");
  EXPECT_EQ(both.operands[0].reg, scalar(4));
  const Operand back = one("%v1_v0 = vld [vmem:[#allocation3 + %s9_s4 - $0x1f] ss:$-1 sm:$0xff]").operands[0];
  EXPECT_EQ(back.offset, -0x1f);
  EXPECT_EQ(back.sublane_stride, -1);
  EXPECT_EQ(one("%v1_v0 = vld [vmem:[%s2_s3] sm:%s4_s5]").operands[0].mask, scalar(5));
  const Operand shuffle = one("%v1_v0 = vld.sshfl [vmem:[%s2_s3] pattern:$0x32107654]").operands[0];
  EXPECT_EQ(shuffle.bits, 0x32107654u);
  EXPECT_EQ(shuffle.sublane_mask, 0xff);
  EXPECT_EQ(one("%1 = cld [cmem:[%s2_s3]]").operands[0].space, Space::kCmem);
}

TEST(Listing, StoresNameTheirSourceWithoutAComma) {
  const One vst = one("%9 = vst.msk [vmem:[%s2_s3]] /*vm=*/%vm1_vm14, /*vst_source=*/%v8_v1");
  ASSERT_EQ(vst.instruction.operand_count, 3);
  EXPECT_EQ(vst.operands[1].role, Role::kVectorMask);
  EXPECT_EQ(vst.operands[2].role, Role::kStoreSource);
  const One sst = one("%9 = sst [smem:[%s2_s3]] %s8_s1");
  ASSERT_EQ(sst.instruction.operand_count, 2);
  EXPECT_EQ(sst.operands[1].reg, scalar(1));
}

TEST(Listing, Allocations) {
  const One address = one("%s1_s0 = smov.u32 [#allocation3 + $0x10] /* materialized constant */");
  EXPECT_EQ(address.operands[0].kind, Operand::Kind::kAllocation);
  EXPECT_EQ(address.operands[0].offset, 0x10);
  const std::vector<Allocation>& all = address.listing.allocations;
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].offset, -1);
  EXPECT_EQ(all[0].bytes, 0x20);
  EXPECT_EQ(all[0].space, Space::kSmem);
  EXPECT_EQ(all[1].name, "allocation3");
  EXPECT_EQ(all[1].offset, 0x2000);
  EXPECT_TRUE(all[1].scoped);
  EXPECT_FALSE(all[1].absolute);
  EXPECT_EQ(all[1].tag, "it's a tag, isn't it");
  EXPECT_EQ(all[2].space, Space::kSyncFlag);
  EXPECT_TRUE(all[2].absolute);
  EXPECT_TRUE(all[3].spill);
  EXPECT_EQ(all[3].shape, "u32[8,128]{1,0}");
}

TEST(Listing, AnAddressMayRemarkItsAllocation) {
  const One lea = one("%s1_s0 = scalar_lea.smem %s2_s3, 1 [#allocation0]");
  EXPECT_EQ(lea.instruction.operand_count, 2);
  EXPECT_EQ(one("%s1_s0 = scalar_lea.sflag [#allocation4], %s2_s3").instruction.operand_count, 2);
  EXPECT_EQ(one("%s1_s0 = scalar_lea.sflag (!%p1_p1), [#allocation4], %s2_s3").instruction.operand_count, 2);
}

TEST(Listing, WithoutATableNamesArePlaceless) {
  const auto listing = readListing(
      listingOf({":  { %1 = vsyncpa [#allocation9], 0 }", ":  { %2 = vsyncpa [#allocation9], 1 }"}), {});
  ASSERT_TRUE(listing.ok());
  ASSERT_EQ(listing->allocations.size(), 1u);
  EXPECT_EQ(listing->allocations[0].name, "allocation9");
  EXPECT_EQ(listing->allocations[0].offset, -1);
}

TEST(Listing, TransfersHaveRolesAndAThread) {
  const One dma = one(
      "%9 = dma.hbm_to_vmem [thread:$1] (%p1_p2), /*hbm=*/%s1_s1, /*size_in_granules=*/64, /*vmem=*/%s2_s2, "
      "/*dst_syncflagno=*/[#allocation4], /*src_stride=*/%s3_s3, /*dst_stride=*/%s4_s4, "
      "/*steps_per_stride=*/%s5_s5 /* \nbounds: (1, 2) /* nested */\nstrides: (1) */");
  EXPECT_EQ(dma.instruction.op, Op::kDmaHbmToVmem);
  EXPECT_EQ(dma.instruction.part, 1u);
  EXPECT_EQ(dma.instruction.predicate, predicate(2));
  ASSERT_EQ(dma.instruction.operand_count, 7);
  const Role roles[] = {Role::kHbm,       Role::kSizeInGranules, Role::kVmem,          Role::kDstSyncFlag,
                        Role::kSrcStride, Role::kDstStride,      Role::kStepsPerStride};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(dma.operands[i].role, roles[i]) << i;
}

TEST(Listing, BranchesAndCalls) {
  const Listing listing = read(
      {":  { %1 = sbr.rel (!%p1_p2) target bundleno = 2 (0x2), region = 4 }",
       ":  { %2 = inlined_call %s1_s0, %s2_s1 /* %fusion.16 = fusion(%copy.11, %x) */  ;;  %3 = sfence }",
       ":  { %4 = inlined_call /* <late-initialization> */ }",
       ": { %5 = inlined_call /* %fusion.16 = f() */ }"});
  EXPECT_EQ(listing.instructions[0].target, 2);
  EXPECT_EQ(listing.instructions[0].operand_count, 0);
  ASSERT_EQ(listing.callees.size(), 2u);
  EXPECT_EQ(listing.callees[listing.instructions[1].callee], "fusion.16");
  EXPECT_EQ(listing.callees[listing.instructions[3].callee], "<late-initialization>");
  EXPECT_EQ(listing.instructions[4].callee, listing.instructions[1].callee);
}

TEST(Listing, ChecksAndDivisionsKeepTheirRemark) {
  const Listing listing = read(
      {":  { %1 = shalt.err (!%p1_p0) /* BoundsCheck 3 [deref of opnd#2] for a transfer\nhlo: add.1\n */ }",
       ":  { %2 = sdivrem.u32 %s1_s0, 7 /* kRem */  ;;  %3 = shalt.err (!%p1_p0) }",
       ":  { %s4_s1 = sadd.s32 %s1_s0, 7 /* anything */ }"});
  ASSERT_EQ(listing.remarks,
            (std::vector<std::string>{"BoundsCheck 3 [deref of opnd#2] for a transfer", "kRem"}));
  EXPECT_EQ(listing.instructions[0].remark, 0);
  EXPECT_EQ(listing.instructions[1].remark, 1);
  EXPECT_EQ(listing.instructions[2].remark, -1);
  EXPECT_EQ(listing.instructions[3].remark, -1);
}

TEST(Listing, AGeneralTransferRemarksItsMemories) {
  const Listing listing =
      read({":  { %1 = dma.general (%p1_p0), /*src_address=*/%s1_s1, "
            "/*size_in_granules=*/64, /*dst_address=*/%s2_s2 /* vmem-to-hbm\nsteps */ }"});
  ASSERT_EQ(listing.remarks, std::vector<std::string>{"vmem-to-hbm"});
  EXPECT_EQ(listing.instructions[0].remark, 0);
}

TEST(Listing, OperandsOfACallLieInRegisters) {
  const Listing listing = read(
      {":  { %s8_s0 = inlined_call_operand.vmem [shape: bf16[8,128], index: 0, kind: input, shape index: {}] "
       "/* operand 0 */  ;;  %s9_s5 = inlined_call_operand.<no memory space> [shape: (f32[], s32[]), index: "
       "1, kind: output, shape index: {0}]  ;;  %s7_s1 = inlined_call_operand.smem [shape: u32[30], index: "
       "-1, kind: const, shape index: {}] }"});
  ASSERT_EQ(listing.call_operands.size(), 3u);
  EXPECT_EQ(listing.call_operands[0].shape, "bf16[8,128]");
  EXPECT_EQ(listing.call_operands[0].space, Space::kVmem);
  EXPECT_FALSE(listing.call_operands[0].is_output);
  EXPECT_EQ(listing.call_operands[1].reg, scalar(5));
  EXPECT_EQ(listing.call_operands[1].space, Space::kNone);
  EXPECT_EQ(listing.call_operands[1].shape, "(f32[], s32[])");
  EXPECT_TRUE(listing.call_operands[1].is_output);
  EXPECT_EQ(listing.call_operands[2].index, -1);
}

TEST(Listing, PointerCastsRenameOrMove) {
  const Listing listing =
      read({":  { %s1_s3 = sshll.u32 %s0_s2, 4  ;;  %s2_s3 = int_to_ptr.vmem [resolvable:$true] %s1_s3 }",
            ":  { %s3_s4 = int_to_ptr.hbm [resolvable:$false] %s2_s3 }", ":  { %s4_s4 = int_to_ptr.sflag 2 }",
            ":  { %s5_s4 = sphi %s3_s4, %s4_s4 }"});
  ASSERT_EQ(listing.instructions.size(), 5u);
  EXPECT_EQ(listing.instructions[1].op, Op::kIntToPtr);
  EXPECT_EQ(unitOf(Op::kIntToPtr), Unit::kPseudo);
  EXPECT_EQ(listing.instructions[2].op, Op::kSmov);
  EXPECT_EQ(listing.formOf(listing.instructions[2]), "u32");
  EXPECT_EQ(listing.instructions[3].op, Op::kSmov);
  EXPECT_EQ(unitOf(listing.instructions[4].op), Unit::kPseudo);
}

TEST(Listing, WordsAreKnownByTheirLongestPart) {
  EXPECT_EQ(resolveWord("vsyncset.done")->op, Op::kVsyncsetDone);
  EXPECT_EQ(resolveWord("vsyncset")->op, Op::kVsyncset);
  EXPECT_EQ(resolveWord("vsetiar.raw.iar1")->unit_index, 1);
  EXPECT_EQ(resolveWord("call")->op, Op::kInlinedCall);
  EXPECT_EQ(resolveWord("call")->form, "call");
  EXPECT_EQ(resolveWord("inlined_call")->form, "");
  EXPECT_FALSE(resolveWord("vadx"));
  EXPECT_FALSE(resolveWord(""));
  EXPECT_FALSE(resolveWord(".vadd"));
  EXPECT_FALSE(registerNamed("s32"));
  EXPECT_FALSE(registerNamed("vm16"));
  EXPECT_FALSE(registerNamed("x1"));
  EXPECT_FALSE(registerNamed("s"));
  EXPECT_EQ(name(registerNamed("vm9")), "vm9");
}

TEST(Listing, NormalFormSaysWhatWasUnderstood) {
  const Listing listing = read(
      {":  { %s9_s0 = inlined_call_operand.hbm [shape: f32[8], index: 0, kind: input, shape index: {}] }",
       "LB: > { %s3_s1 = smov.u32 (!%p8_p2, %s2_s1), 7  ;;  %5 = vst [vmem:[#allocation3 + $0x8] "
       "ss:$2 sps:$4 sm:$0xf] /*vst_source=*/%v3_v3 }",
       ":  { %v4_v0 = vpop.erf %5  ;;  %v5_v1 = vadd.f32 (%p8_p2), 0.5, %v4_v2 }",
       ":  { %6 = vxpose.xlu1.b32.start [2/16] (short) /*vx=*/%v9_v25, /*width=*/128 }",
       ":  { %7 = sbr.rel (%p8_p2) target bundleno = 1 (0x1), region = 4 }",
       ":  { %8 = inlined_call /* <late-finalization> */  ;;  %s5_s2 = smov.u32 [#allocation4] }"});
  EXPECT_EQ(toText(listing), R"(function f
#allocation0 smem 32 bytes at -1 u32[8]{0}
#allocation3 vmem 4096 bytes at 8192 scoped f32[8,128]{1,0}
#allocation4 sflag 4 bytes at 204 absolute s32[]
#allocation5_spill vmem 4096 bytes at 0 scoped u32[8,128]{1,0}
input 0 s0 hbm f32[8]
0x0: s0 = inlined_call_operand.hbm
0x1 loop>: (!p2 else keep) s1 = smov.u32 7 ; %5 = vst vmem[#allocation3+0x8] ss:2 sps:4 sm:0xf, v3
0x2: v0 = vpop.erf %5 ; (p2) v1 = vadd.f32 0.5f, v2
0x3: %6 = vxpose.b32.start.short@1[2:16] v25, 128
0x4: (p2) %7 = sbr.rel -> 0x1
0x5: %8 = inlined_call -> <late-finalization> ; s2 = smov.u32 &#allocation4
)");
}

}  // namespace
}  // namespace sublane::llo
