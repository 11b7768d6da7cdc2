// Every fault that the reader of listings can name, as text.
#include <gtest/gtest.h>

#include "listing_writer.h"
#include "llo/listing.h"

namespace sublane::llo {
namespace {

constexpr std::string_view kTable =
    "#allocation3 [shape = 'f32[8]', space=vmem, size = 0x1000, offset = 0x2000, tag = 't']\n";

std::string errorOf(const std::string& text, std::string_view table = kTable) {
  auto listing = readListing(text, {.function = "fusion.1", .compiler = "libtpu 0.0.52", .memory = table});
  return listing.ok() ? "no error" : listing.error().text();
}
/// Of one instruction, without the place.
std::string errorIn(const std::string& instruction) {
  const std::string text = errorOf(listingOf({":  { " + instruction + " }"}));
  const std::string place = "listing fusion.1, bundle 0x0: ";
  return text.starts_with(place) ? text.substr(place.size()) : text;
}

TEST(ListingErrors, AnUnknownOperationIsNamedWithItsBundleAndTheCompiler) {
  EXPECT_EQ(errorOf(listingOf({":  {}", ":  { %1 = sfence  ;;  %v2_v0 = vfrob.f32 %v1_v1 }"})),
            "listing fusion.1, bundle 0x1: unknown operation vfrob.f32 (libtpu 0.0.52)\n"
            "  hint: say what executes it in src/llo/operations.inc");
}

TEST(ListingErrors, OfBundles) {
  const std::string place = "listing fusion.1, bundle 0x0: ";
  EXPECT_EQ(errorOf(""), place + "there is no bundle");
  EXPECT_EQ(errorOf("= control target key end\n"), place + "there is no bundle");
  EXPECT_EQ(errorOf("hello\n"), place + "a bundle's number expected at \"hello\"");
  EXPECT_EQ(errorOf("0 : {}\n0x2 : {}\n"), place + "bundle 0x2 stands where 0x1 is due");
  EXPECT_EQ(errorOf("0 LB; {}\n"), place + "a bundle's mark or ':' expected at \"0 LB; {}\"");
  EXPECT_EQ(errorOf("0 : [\n"), place + "'{' expected at \"[\"");
  EXPECT_EQ(errorOf("0 : {} /* Start\n"), place + "a comment does not end");
  EXPECT_EQ(errorOf("0 : {} {}\n"), place + "the line's end expected at \"{}\"");
  EXPECT_EQ(errorOf("0 : { %1 = sfence"), place + "the text ends inside a bundle");
  EXPECT_EQ(errorOf("0 : {"), place + "an instruction (%name = operation) expected at \"\"");
  EXPECT_EQ(errorOf("0 : " + std::string(300, '>') + " {}\n"), place + "more than 254 loops deep");
}

TEST(ListingErrors, OfInstructions) {
  EXPECT_EQ(errorIn("sfence"), "an instruction (%name = operation) expected at \"sfence }\"");
  EXPECT_EQ(errorIn("%1 sfence"), "'=' expected at \"sfence }\"");
  EXPECT_EQ(errorIn("%1 = vpop.f32.mrb[x].mxu0"), "a number below 65536 and ']' expected at \"x].mxu0 }\"");
  EXPECT_EQ(errorIn("%v1_v0 = vpop.f32.mrb[70000].mxu0"),
            "a number below 65536 and ']' expected at \"].mxu0 }\"");
  EXPECT_EQ(errorIn("%1 = inlined_call %s1_s1"), "a call does not name what it calls");
  EXPECT_EQ(errorIn("%1 = sbr.rel (%p1_p1)"), "a branch has no target");
  EXPECT_EQ(errorIn("%1 = sbr.rel target bundleno = 1 (0x1), region = 4"), "a branch to bundle 0x1 of 0x1");
  EXPECT_EQ(errorIn("%1 = sbr.rel target bundleno = 1 (0x2), region = 4"), "a branch to bundle 1 or 0x2");
  EXPECT_EQ(errorIn("%1 = sbr.rel target = 4"), "an operand expected at \"target = 4 }\"");
  EXPECT_EQ(errorIn("%s2_s1 = sphi %s1_s1, %s0_s2"), "sphi merges s2 into s1");
  EXPECT_EQ(errorIn("%s2_s1 = int_to_ptr.vmem %s1_s1, %s1_s1"), "int_to_ptr takes one operand, not 2");
  EXPECT_EQ(errorIn("%s2_s2 = sshll.u32 %s1_s1, 4  ;;  %s3_s3 = int_to_ptr.vmem %s2_s2"),
            "int_to_ptr moves s2, which this bundle computes, to s3");
  EXPECT_EQ(errorIn("%1 = sfence /* x"), "a comment does not end");
}

TEST(ListingErrors, OfValues) {
  EXPECT_EQ(errorIn("%x = sfence"), "no value can be read from %x");
  EXPECT_EQ(errorIn("% = sfence"), "no value can be read from %");
  EXPECT_EQ(errorIn("%99999999999_s1 = sfence"), "no value can be read from %99999999999_s1");
  EXPECT_EQ(errorIn("%s1 = sfence"), "no register can be read from %s1");
  EXPECT_EQ(errorIn("%s1_s32 = sfence"), "no register can be read from %s1_s32");
  EXPECT_EQ(errorIn("%v1_v64 = sfence"), "no register can be read from %v1_v64");
  EXPECT_EQ(errorIn("%s1_v1 = sfence"), "no register can be read from %s1_v1");
  EXPECT_EQ(errorIn("%v1_v0 = vmov 1x"), "an operand expected at \"1x }\"");
  EXPECT_EQ(errorIn("%v1_v0 = vmov 4294967296"), "an operand expected at \"4294967296 }\"");
  EXPECT_EQ(errorIn("%v1_v0 = vmov 1.0|2.0"), "a pair of unequal halves \"1.0|2.0\"");
  EXPECT_EQ(errorIn("%v1_v0 = vmov x|x"), "a pair of numbers expected at \"x|x }\"");
}

TEST(ListingErrors, OfPredicates) {
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 (%s1_s2), 1"), "%1_s2 stands where a predicate is due");
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 (%p1_p2, %s2_s2), 1"), "s2 is kept as s1: another register");
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 (%p1_p2 1"), "')' after a predicate expected at \" 1 }\"");
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 (0 1"), "')' after a constant predicate expected at \" 1 }\"");
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 (), 1"), "a word and ')' expected at \"), 1 }\"");
}

TEST(ListingErrors, OfBrackets) {
  EXPECT_EQ(errorIn("%1 = vxpose.xlu0.b32.end [2-16]"), "[part/parts] expected at \"-16] }\"");
  EXPECT_EQ(errorIn("%1 = sst [smem]"), "':' after a word in brackets expected at \"] }\"");
  EXPECT_EQ(errorIn("%1 = sst [color:$1]"), "unknown attribute [color:");
  EXPECT_EQ(errorIn("%1 = dma.hbm_to_vmem [thread:1]"), "$thread] expected at \"1] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 [#allocation9]"), "#allocation9 is not in the table of allocations");
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 [#allocation3 + 8]"),
            "']' after an allocation expected at \"+ 8] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = smov.u32 [#allocation3 + $0x80000000]"),
            "an offset below 2^31 expected at \"] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = int_to_ptr.vmem [resolvable:$true"), "']' expected at \"\"");
}

TEST(ListingErrors, OfAddresses) {
  EXPECT_EQ(errorIn("%s1_s1 = sld [smem:%s1_s1]"), "'[' of an address expected at \"%s1_s1] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = sld [smem:[%s1_s1 ? 1]]"), "']' of an address expected at \"? 1]] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = sld [smem:[x]]"),
            "an allocation, a register or $offset below 2^31 expected at \"x]] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = sld [smem:[$0x7fffffff + $0x1]]"), "an offset of 2147483648");
  EXPECT_EQ(errorIn("%s1_s1 = sld [smem:[#allocation3 + #allocation3]]"),
            "one allocation in an address, not a second expected at \"#allocation3]] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = sld [smem:[%s1_s1 + %s1_s1 + %s1_s1]]"),
            "at most two registers in an address, not a third expected at \"%s1_s1]] }\"");
  EXPECT_EQ(errorIn("%s1_s1 = sld [smem:[%1]]"), "value %1 in an address has no register");
  EXPECT_EQ(errorIn("%v1_v1 = vld [vmem:[%s1_s1] sm]"),
            "an access attribute (ss, sps, sm, pattern) expected at \"sm] }\"");
  EXPECT_EQ(errorIn("%v1_v1 = vld [vmem:[%s1_s1] sm:$x]"), "a number of 32 bits expected at \"sm:$x] }\"");
  EXPECT_EQ(errorIn("%v1_v1 = vld [vmem:[%s1_s1] sm:$0x100]"), "unknown access attribute \"sm:$0x100\"");
  EXPECT_EQ(errorIn("%v1_v1 = vld [vmem:[%s1_s1] sps:$0]"), "unknown access attribute \"sps:$0\"");
  EXPECT_EQ(errorIn("%v1_v1 = vld [vmem:[%s1_s1] sm:%1]"), "a sublane mask without a register");
}

TEST(ListingErrors, OfCallOperands) {
  const std::string head = "%s1_s1 = inlined_call_operand.vmem [shape:";
  EXPECT_EQ(errorIn(head + " f32[8]]"), "a shape and its index expected at \" f32[8]] }\"");
  EXPECT_EQ(errorIn(head + " f32[8], index: x"), "an index and a kind expected at \"x }\"");
  EXPECT_EQ(errorIn(head + " f32[8], index: 1, kind: temp, shape index: {}]"),
            "a call's operand of unknown kind \"temp\"");
  EXPECT_EQ(errorIn(head + " f32[8], index: 1, kind: input"), "']' expected at \"\"");
}

TEST(ListingErrors, OfTheTableOfAllocations) {
  auto of = [](const std::string& line) { return errorOf(listingOf({":  {}"}), "\n  " + line + "\n"); };
  const std::string place = "allocations of fusion.1, line 2: ";
  EXPECT_EQ(of("#allocation1"), place + "'[' expected at \"\"");
  EXPECT_EQ(of("#allocation1 [size = 0x4"), place + "']' and the line's end expected at \"\"");
  EXPECT_EQ(of("#allocation1 [size = x]"), place + "can't read the field at \"size = x]\"");
  EXPECT_EQ(of("#allocation1 [size = 0x4, colour = red]"),
            place + "can't read the field at \" colour = red]\"");
  EXPECT_EQ(of("#allocation1 [space=moon]"), place + "can't read the field at \"space=moon]\"");
  EXPECT_EQ(of("#allocation1 [tag = 'open]"), place + "can't read the field at \"tag = 'open]\"");
  EXPECT_EQ(of("#allocation1 [scoped] x"), place + "']' and the line's end expected at \" x\"");
  EXPECT_EQ(errorOf(listingOf({":  {}"}), "#allocation1 [scoped]\n#allocation1 [scoped]\n"),
            place + "allocation1 stands twice in the table");
}

TEST(ListingErrors, CutAnywhereATextIsRefusedOrShort) {
  const std::string text = listingOf(
      {":  { %s1_s1 = sld [smem:[#allocation3 + $0x8]]  ;;  %v2_v2 = vadd.f32 (%p1_p1), 0.5, %v1_v1 }",
       "LB: > { %3 = sbr.rel (!%p1_p1) target bundleno = 0 (0x0), region = 1 } /* End region 1 */",
       ":  { %4 = dma.hbm_to_vmem [thread:$0]  /*hbm=*/%s1_s1, /*size_in_granules=*/4 /* x /* y */ */ }"});
  int accepted = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    auto listing = readListing(std::string_view(text).substr(0, size), {.function = "f", .memory = kTable});
    if (listing.ok())
      ++accepted;
    else
      EXPECT_FALSE(listing.error().message().empty());
  }
  EXPECT_GT(accepted, 2);  // after each bundle
  EXPECT_LT(accepted, 70);
}

}  // namespace
}  // namespace sublane::llo
