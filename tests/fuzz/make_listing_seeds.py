"""Writes corpus/listing/*: small bundle listings, composed from the grammar, from which the fuzzer starts.

    python3 tests/fuzz/make_listing_seeds.py

A seed is a listing, a zero byte, a table of allocations, a zero byte, a map of equal operations.
"""

import pathlib

TABLE = """  #allocation0 [shape = 'u32[8]{0}', space=smem, size = 0x20, tag = 'registry']
  #allocation1 [shape = 'f32[8,128]{1,0}', space=vmem, size = 0x1000, offset = 0x2000, scoped, tag = 'it's, a']
  #allocation2 [shape = 's32[]', space=sflag, size = 0x4, offset = 0xcc, fixed_abs, tag = 'flag']
  #allocation3_spill [shape = 'u32[8,128]{1,0}', space=vmem, size = 0x1000, offset = 0, scoped]
"""
EQUAL = "key:f\nordinal:1\nequivalent_hlos[size=2]:\n  f\n  g\n"

SCALAR = [
    "%s1_s0 = sld [smem:[#allocation0]]",
    "%s2_s1 = sadd.s32 (!%p9_p2), 1, %s1_s0",
    "%s3_s1 = smov.u32 (%p9_p2, %s2_s1), 4294901760",
    "%p4_p3 = scmp.lt.s32.totalorder %s3_s1, 7",
    "%s5_s2 = scalar_select /*predicate=*/%p4_p3, /*on_true=*/1, /*on_false=*/0",
    "%s6_s2 = int_to_ptr.vmem [resolvable:$true] %s5_s2",
    "%s7_s3 = int_to_ptr.hbm [resolvable:$false] %s6_s2",
    "%s8_s4 = scalar_lea.smem %s7_s3, 1 [#allocation0]",
    "%9 = sst [smem:[%s8_s4 + %s1_s0]] %s2_s1",
    "%10 = sst [smem:[#allocation0]] (0), %s2_s1",
    "%s11_s5 = reloc 3",
    "%s12_s6 = sphi %s11_s6, %s10_s6",
]
VECTOR = [
    "%v1_v0 = vld [vmem:[%s2_s3 + $0x38] ss:$12 sps:$4 sm:$0xf] /* (strided) */",
    "%v2_v1 = vld [vmem:[#allocation1 + %s2_s3 - $0x7] ss:$-1 sm:%s4_s5]",
    "%v3_v2 = vld.sshfl [vmem:[#allocation1] sm:$0xff pattern:$0x32107654]",
    "%v4_v3 = vsel /*vm=*/%vm1_vm2, /*on_true_vy=*/nan|nan, /*on_false_vx=*/1e-05",
    "%5 = vxpose.xlu1.b32.start [2/16] (short) /*vx=*/%v9_v25, /*width=*/128",
    "%6 = vmatmul.mubr.bf16.vlgmr.msra.gmra.mrb[4].mxu1 %v4_v3",
    "%v7_v4 = vpop.f32.mrb[4].mxu1",
    "%8 = vst.msk [vmem:[#allocation3_spill]] /*vm=*/%vm1_vm14, /*vst_source=*/%v7_v4",
    "%9 = vadd.xlane.f32.xlu0 %v7_v4",
    "%v10_v5 = vpop.xlane.xlu0 %9",
]
TRANSFER = [
    "%1 = dma.hbm_to_vmem [thread:$1] (%p1_p2), /*hbm=*/%s1_s1, /*size_in_granules=*/64, /*vmem=*/%s2_s2, "
    "/*dst_syncflagno=*/[#allocation2] /* \nbounds: (1, 2) /* nested */\nstrides: (1) */",
    "%2 = dma.done.wait [#allocation2], 64 /* wait */",
    "%3 = vsyncadd [#allocation2], 4294967232",
]
CONTROL = [
    "%1 = vtrace 2147483648",
    "%2 = inlined_call %s1_s0 /* %g = fusion(%x) */",
    "%3 = vtrace 2415919104",
    "%4 = sbr.rel (!%p1_p2) target bundleno = 1 (0x1), region = 4",
    "%5 = shalt.err (!%p1_p2) /* BoundsCheck */",
    "%s6_s0 = inlined_call_operand.vmem [shape: bf16[8,128], index: 0, kind: input, shape index: {}] /* operand 0 */",
]


def listing(bundles: list) -> str:
    lines = ["= control target key start\nLB: loop body\n= control target key end\n"]
    for number, (mark, instructions) in enumerate(bundles):
        body = "  ;;  ".join(instructions)
        lines.append(f"  {number and hex(number)} {mark} {{ {body} }} /* Start region {number} */")
    return "\n".join(lines) + "\n"


def main() -> None:
    folder = pathlib.Path(__file__).parent / "corpus" / "listing"
    folder.mkdir(parents=True, exist_ok=True)
    everything = SCALAR + VECTOR + TRANSFER + CONTROL
    seeds = {
        "scalar": [(":", SCALAR[:6]), ("LB: >", SCALAR[6:])],
        "vector": [(":", VECTOR[:5]), ("PF: > >", VECTOR[5:])],
        "transfer": [(":", TRANSFER), (":", [])],
        "control": [(":", CONTROL[:3]), (":", CONTROL[3:])],
        "lines": [(":", [one]) for one in everything],
    }
    for name, bundles in seeds.items():
        (folder / name).write_bytes(b"\0".join(part.encode() for part in (listing(bundles), TABLE, EQUAL)))


if __name__ == "__main__":
    main()
