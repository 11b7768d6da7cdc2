// Which part of the program's code each operation lies in. Private to the folder.
//
// A program that is larger than the instruction memory is cut into overlays, which its own loader fetches
// from HBM. The dump "hlo-details" says where the bundles of each operation begin and end.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "llo/program.h"

namespace sublane::llo {

/// Sets `overlay` of the traced operations and returns the bundles of each overlay by its number, as far as
/// operations reach (what stands behind the last, checks that fail, say, is not seen). Overlay 0 is the
/// loader itself. Text that says nothing of the kind gives nothing.
std::vector<int64_t> joinOverlays(std::string_view details, std::vector<TracedOp>& traced);

}  // namespace sublane::llo
