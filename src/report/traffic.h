// Traffic: the bytes that an operation moves to and from HBM, counted from shapes, layouts and memory
// spaces; for this folder and findings. Only buffers in HBM count. An operation that reads through a slice or
// a gather is charged for what the slice holds, and one that writes into a buffer in place for what it
// writes.
#pragma once

#include "llo/llo.h"

namespace sublane::report {

struct Traffic {
  double read = 0, written = 0;
  double total() const { return read + written; }
};

Traffic trafficOf(const llo::HloModule& module, const llo::Computation& in,
                  const llo::Instruction& instruction);

/// Bytes that an operation reads through its operand number `operand`, wherever that lies: all of it, or what
/// the slices and gathers hold through which it is read.
double readOf(const llo::HloModule& module, const llo::Computation& in, const llo::Instruction& instruction,
              size_t operand);

/// Where operands and results lie: "HBM -> VMEM", "HBM+VMEM -> HBM".
std::string memorySpaces(const llo::Computation& in, const llo::Instruction& instruction);

}  // namespace sublane::report
