// dead_code: drops nodes whose results nobody uses. Parameters stay: they are the program's signature.
//
// BEFORE
//   graph step {
//     %0: f32[4] = input "x"
//     %1: f32[4] = weight "unused"
//     %2: f32[4] = exp(%0) @ layer.0/mlp
//     %3: f32[4] = tanh(%2) @ layer.0/mlp
//     %4: f32[4] = logistic(%0) @ head
//     output "y" = %4
//   }
// AFTER
//   graph step {
//     %0: f32[4] = input "x"
//     %1: f32[4] = weight "unused"
//     %2: f32[4] = logistic(%0) @ head
//     output "y" = %2
//   }
#include <algorithm>

#include "passes/passes.h"
#include "passes/rewrite.h"

namespace sublane::passes {

static bool dropUnused(graph::Graph& graph, Context& context) {
  bool changed = rewriteBodies(graph, [&](graph::Graph& body) { return dropUnused(body, context); });
  std::vector<bool> used(graph.types.size(), false);
  for (const graph::Output& output : graph.outputs) used[static_cast<size_t>(output.value)] = true;
  std::vector<graph::Node> kept;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    graph::Node& node = graph.nodes[i];
    bool needed = std::any_of(node.results.begin(), node.results.end(),
                              [&](graph::ValueId result) { return used[static_cast<size_t>(result)]; });
    if (!needed) continue;
    for (graph::ValueId operand : node.operands) used[static_cast<size_t>(operand)] = true;
    kept.push_back(std::move(node));
  }
  int64_t dropped = static_cast<int64_t>(graph.nodes.size() - kept.size());
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  context.rewrites += dropped;
  return changed || dropped > 0;
}

static Result<bool> run(graph::Graph& graph, Context& context) { return dropUnused(graph, context); }

extern constinit const Pass dead_code{"dead_code", "drops nodes whose results nobody uses", run};

}  // namespace sublane::passes
