// Loops whose state repeats: which ones can be skipped to their last iteration, exactly. Private to the
// folder.
//
// A loop qualifies when its body is one straight row of register operations and segments (vector work leaves
// only cycles), each register that an iteration takes from the one before changes by the same amount each
// time, and the branch back compares two such registers. Then the iterations left follow from a division, and
// nothing between the first and the last can differ: no memory, no flag, no transfer, no marker is touched.
//
//   planLoops(code);                                     // once, after decode
//   const int64_t times = iterationsLeft(plan, registers);  // at a branch back that is taken
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/code.h"

namespace sublane::sim {

/// Finds the loops and numbers their jumps (MicroOp::c of a kJump, from 1).
void planLoops(Code& code);

/// How many further iterations end with the branch taken, if all registers are as at an iteration's
/// beginning; 0: none, or a comparison whose sides would wrap.
int64_t iterationsLeft(const LoopPlan& plan, std::span<const uint32_t> registers);

/// What one iteration adds to the register.
uint32_t stepOf(const LoopPlan::Carried& carried, std::span<const uint32_t> registers);

}  // namespace sublane::sim
