// Traffic: the bytes that an operation moves to and from HBM, counted from shapes, layouts and memory
// spaces; private to the folder. Only buffers in HBM count. An operation that reads through a slice or a
// gather is charged for what the slice holds, and one that writes into a buffer in place for what it writes.
#pragma once

#include "llo/llo.h"

namespace sublane::report {

struct Traffic {
  double read = 0, written = 0;
  double total() const { return read + written; }
};

Traffic trafficOf(const llo::HloModule& module, const llo::Computation& in,
                  const llo::Instruction& instruction);

/// Where operands and results lie: "HBM -> VMEM", "HBM+VMEM -> HBM".
std::string memorySpaces(const llo::Computation& in, const llo::Instruction& instruction);

}  // namespace sublane::report
