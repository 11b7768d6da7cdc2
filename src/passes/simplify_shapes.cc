// simplify_shapes: drops operations that change nothing: a convert to the same dtype, a reshape, broadcast or
// slice to the same shape, a transpose in order, a concatenation of one part.
//
// BEFORE
//   graph step {
//     %0: f32[2,3] = input "x"
//     %1: f32[2,3] = convert(%0) @ layer.0/norm
//     %2: f32[2,3] = reshape(%1) @ layer.0/norm
//     %3: f32[2,3] = broadcast(%2) {dims=[0,1]} @ layer.0/norm
//     %4: f32[2,3] = slice(%3) {starts=[0,0], limits=[2,3]} @ layer.0/norm
//     %5: f32[2,3] = transpose(%4) {dims=[0,1]} @ layer.0/norm
//     %6: f32[2,3] = concatenate(%5) {axis=1} @ layer.0/norm
//     %7: f32[3,2] = transpose(%6) {dims=[1,0]} @ layer.0/norm
//     output "y" = %7
//   }
// AFTER
//   graph step {
//     %0: f32[2,3] = input "x"
//     %1: f32[3,2] = transpose(%0) {dims=[1,0]} @ layer.0/norm
//     output "y" = %1
//   }
#include <algorithm>

#include "passes/passes.h"
#include "passes/rewrite.h"

namespace sublane::passes {

/// Operations that move or convert elements only: with equal types on both sides, what is left to look at is
/// order.
static bool changesNothing(const graph::Graph& graph, const graph::Node& node) {
  switch (node.op) {
    case graph::Op::kConvert:
    case graph::Op::kReshape:
    case graph::Op::kBroadcast:  // dims rise, so none is left out
    case graph::Op::kSlice:
      break;
    case graph::Op::kTranspose: {
      const auto& dims = std::get<graph::DimsAttrs>(node.attrs).dims;
      if (!std::is_sorted(dims.begin(), dims.end())) return false;
      break;
    }
    case graph::Op::kConcatenate:
      if (node.operands.size() != 1) return false;
      break;
    default:
      return false;
  }
  return graph.type(node.operands[0]) == graph.type(node.results[0]);
}

static bool simplify(graph::Graph& graph, Context& context) {
  bool changed = rewriteBodies(graph, [&](graph::Graph& body) { return simplify(body, context); });
  bool dropped = replaceNodes(graph, context, [&](const graph::Node& node) {
    return changesNothing(graph, node) ? node.operands[0] : graph::ValueId{-1};
  });
  return changed || dropped;
}

static Result<bool> run(graph::Graph& graph, Context& context) { return simplify(graph, context); }

extern constinit const Pass simplify_shapes{"simplify_shapes", "drops shape operations that change nothing",
                                            run};

}  // namespace sublane::passes
