// Lowering: a graph as StableHLO text, which both libtpu and XLA's CPU plugin parse and verify.
//
// Each node's place becomes the operation's location, and so the `op_name` of what the compiler makes of
// it. State parameters carry `tf.aliasing_output`. Sequence-state nodes become plain operations here
// (`--kernels=none`); kernels replace them later.
//
//   SUBLANE_TRY(std::string text, lower::toStableHlo(step.graph));
#pragma once

#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace sublane::lower {

Result<std::string> toStableHlo(const graph::Graph& graph);

}  // namespace sublane::lower
