// Programs from a seed, for tests that hold two ways to execute one against each other.
#pragma once

#include <random>

#include "program_builder.h"

namespace sublane::sim {

/// A program of nested loops with transfers, calls and branches in all places, from a seed.
inline llo::Program randomProgram(unsigned seed) {
  std::mt19937 random(seed);
  using llo::Role;
  using llo::Space;
  const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
  ProgramBuilder program;
  program.parameter(1 << 20);
  program.root({1 << 20});
  program.traced({"a", "b", "c"});
  FunctionBuilder& top = program.function("TLP");
  FunctionBuilder& callee = program.function("fusion.1");
  const int32_t flag = top.allocate(Space::kSyncFlag, 4);
  const int32_t output = top.allocate(Space::kSmem, 4, 0xfff90, true);
  const auto filler = [&](FunctionBuilder& f, int count) {
    for (int i = 0; i < count; ++i) {
      switch (below(6)) {
        case 0:
        case 1:
          f.empty(1 + below(3));
          break;
        case 2:
          f.bundle({op("sadd.s32", s(5), {reg(s(5)), imm(3)}), op("vadd.f32", v(1), {reg(v(2)), reg(v(3))})});
          break;
        case 3:
          f.bundle(
              {op("vmul.f32", v(2), {reg(v(2)), reg(v(3))}), op("vadd.f32", v(1), {reg(v(2)), reg(v(3))})});
          break;
        case 4:
          f.bundle({op("sand.u32", s(6), {reg(s(5)), imm(1)})});
          f.bundle({op("scmp.eq.s32.totalorder", p(3), {reg(s(6)), imm(0)})});
          break;
        default:
          // Over a few bundles, when the number in s5 is even.
          f.bundle({op("sbr.rel", none()).when(p(3)).to(f.size() + 6 + below(3))});
          f.empty(4);
          for (int k = 0; k < 4; ++k) f.bundle({op("sadd.s32", s(5), {reg(s(5)), imm(1)})});
      }
    }
  };
  const auto transfer = [&](bool read, uint32_t granules) {
    const llo::Register address = s(read ? 20 : 21);
    if (read) {
      top.bundle({op("dma.hbm_to_vmem", none(),
                     {reg(address, Role::kHbm), imm(granules, Role::kSizeInGranules), imm(0, Role::kVmem),
                      at(flag, Role::kDstSyncFlag)})});
    } else {
      top.bundle({op("dma.vmem_to_hbm", none(),
                     {imm(0, Role::kVmem), imm(granules, Role::kSizeInGranules), reg(address, Role::kHbm),
                      at(flag, Role::kDstSyncFlag)})});
    }
  };
  filler(callee, 6);
  top.bundle({op("smov.u32", s(5), {imm(random() % 100)}), op("scalar_parameter_address", s(20), {imm(0)})});
  top.bundle({op("sld", s(21), {smem(output)}), op("scmp.eq.s32.totalorder", p(3), {imm(0), imm(1)})});
  for (uint32_t block = 0; block < 3; ++block) {
    top.bundle({op("vtrace", none(), {imm(0x80000000 + block)})});
    top.bundle({op("smov.u32", s(0), {imm(2 + random() % 9)})});
    const int32_t loop = top.size();
    const uint32_t granules = 1 + random() % 300;
    transfer(below(2) == 0, granules);
    filler(top, 3);
    if (below(2) == 0) top.bundle({top.call("fusion.1")});
    top.bundle({op("dma.done.wait", none(), {at(flag), imm(granules)})});
    top.bundle(
        {op("vsyncadd", none(), {at(flag), imm(0u - granules)}), op("ssub.s32", s(0), {reg(s(0)), imm(1)})});
    top.bundle({op("scmp.gt.s32.totalorder", p(0), {reg(s(0)), imm(0)})});
    top.bundle({op("sbr.rel", none()).when(p(0)).to(loop)});
    top.bundle({op("sadd.s32", s(5), {reg(s(5)), imm(1)})});
    top.empty(3);
    top.bundle({op("vtrace", none(), {imm(0x90000000 + block)})});
    filler(top, 2);
  }
  return program.build();
}

}  // namespace sublane::sim
