// The verifier: says everything that is wrong with a graph, before anything runs or lowers it.
//
// Types and attributes of each node, one definition before each use, loop bodies, state and its aliases,
// names and places. All faults are in one error, in the graph's order, each with its node, operation,
// place and what disagrees:
//
//   graph step: 1 fault
//     node 4 add @ layer.3/mlp.up: operands f32[4] and f32[8] must be of one type
//
//   SUBLANE_CHECK_OK(verify(graph));
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace sublane::graph {

struct VerifyOptions {
  bool places = true;  // every node must have a place of letters, digits, '.', '_' and '-'
};
Status verify(const Graph& graph, const VerifyOptions& options = {});

}  // namespace sublane::graph
