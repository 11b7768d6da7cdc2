#include "passes/rewrite.h"

#include <numeric>
#include <vector>

namespace sublane::passes {

using namespace graph;

bool replaceNodes(Graph& graph, Context& context, const std::function<ValueId(const Node&)>& replacement) {
  std::vector<ValueId> by(graph.types.size());
  std::iota(by.begin(), by.end(), 0);
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    for (ValueId& operand : node.operands) operand = by[static_cast<size_t>(operand)];
    ValueId stands_for = replacement(node);
    if (stands_for >= 0)
      by[static_cast<size_t>(node.results[0])] = stands_for;
    else
      kept.push_back(std::move(node));
  }
  for (Output& output : graph.outputs) output.value = by[static_cast<size_t>(output.value)];
  int64_t dropped = static_cast<int64_t>(graph.nodes.size() - kept.size());
  graph.nodes = std::move(kept);
  context.rewrites += dropped;
  return dropped > 0;
}

bool rewriteBodies(Graph& graph, const std::function<bool(Graph& body)>& rewrite) {
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (!node.body) continue;
    auto body = std::make_shared<Graph>(*node.body);
    if (!rewrite(*body)) continue;
    node.body = std::move(body);
    changed = true;
  }
  return changed;
}

}  // namespace sublane::passes
