// Kind: the one word for what an operation does; for this folder and findings.
#pragma once

#include <string>

#include "llo/llo.h"

namespace sublane::report {

/// "matmul", "reduce", "elementwise", "copy", "prefetch", "write back", "async copy", "gather", "slice",
/// "update slice", "scatter", "sort", "top-k", "kernel", "custom call", "collective", "scalar", ...
/// Empty for what costs nothing: parameters, constants, tuples, bitcasts, ends of asynchronous copies.
std::string kindOf(const llo::HloModule& module, const llo::Computation& in,
                   const llo::Instruction& instruction);

/// A custom call that does nothing: a mark of the compiler's for its own later passes.
bool isMark(const llo::Instruction& instruction);

/// Of a custom call: "tpu_custom_call", "TopK"; with the kernel's name where the program gives one.
std::string kernelName(const llo::Instruction& instruction);

}  // namespace sublane::report
