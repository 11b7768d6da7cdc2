// common_subexpressions: of equal nodes in one graph keeps the first, with its place. Nodes are equal when
// operation, operands, attributes and result type are; loops are left alone, their bodies are not.
//
// BEFORE
//   graph step {
//     %0: f32[4] = input "x"
//     %1: f32[4] = tanh(%0) @ layer.0/mlp
//     %2: f32[4] = tanh(%0) @ layer.1/mlp
//     %3: f32[4] = exp(%1) @ layer.0/mlp
//     %4: f32[4] = exp(%2) @ layer.1/mlp
//     %5: f32[4] = add(%3, %4) @ head
//     output "y" = %5
//   }
// AFTER
//   graph step {
//     %0: f32[4] = input "x"
//     %1: f32[4] = tanh(%0) @ layer.0/mlp
//     %2: f32[4] = exp(%1) @ layer.0/mlp
//     %3: f32[4] = add(%2, %2) @ head
//     output "y" = %3
//   }
#include <fmt/ranges.h>

#include <unordered_map>

#include "graph/text_form.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

namespace sublane::passes {

static std::string key(const graph::Graph& graph, const graph::Node& node) {
  return fmt::format("{} {} {} {}", static_cast<int>(node.op), fmt::join(node.operands, ","),
                     graph::print(node.attrs), graph::toString(graph.type(node.results[0])));
}

static bool mergeEqual(graph::Graph& graph, Context& context) {
  bool changed = rewriteBodies(graph, [&](graph::Graph& body) { return mergeEqual(body, context); });
  std::unordered_map<std::string, graph::ValueId> first;
  bool merged = replaceNodes(graph, context, [&](const graph::Node& node) -> graph::ValueId {
    if (node.op == graph::Op::kLoop) return -1;
    auto [entry, is_new] = first.emplace(key(graph, node), node.results[0]);
    return is_new ? -1 : entry->second;
  });
  return changed || merged;
}

static Result<bool> run(graph::Graph& graph, Context& context) { return mergeEqual(graph, context); }

extern constinit const Pass common_subexpressions{"common_subexpressions", "of equal nodes keeps the first",
                                                  run};

}  // namespace sublane::passes
