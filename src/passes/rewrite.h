// What rewrites share: replacing nodes by values, and going into loop bodies. Private to passes/.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "passes/passes.h"

namespace sublane::passes {

/// Walks the nodes in order, with operands already replaced. `replacement` gives the value that stands for
/// the node's only result, or -1 to keep the node. Replaced nodes are dropped.
bool replaceNodes(graph::Graph& graph, Context& context,
                  const std::function<graph::ValueId(const graph::Node&)>& replacement);

/// Runs `rewrite` on the body of each loop. Bodies are shared between copies of a graph: a changed one is a
/// new one.
bool rewriteBodies(graph::Graph& graph, const std::function<bool(graph::Graph& body)>& rewrite);

}  // namespace sublane::passes
