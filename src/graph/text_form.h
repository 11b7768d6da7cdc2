// The text form of a graph: what each stage can print, and read back.
//
// One line a value: its type, operation, operands, attributes and place. Values are numbered in the order
// of their definition, so equal graphs have equal text whatever passes did to them. A loop's body follows
// its line, indented. `#` starts a comment.
//
//   graph step {
//     %0: f32[8,64] = input "x"
//     %1: f32[16,64] = weight "head.weight"
//     %2: f32[8,16] = dot(%0, %1) {lhs_contract=[1], rhs_contract=[1], precision=highest} @ head
//     output "logits" = %2
//   }
//
//   SUBLANE_TRY(Graph graph, parse(text));
//   print(graph) == print(*parse(print(graph)));   // for every graph that verifies
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"

namespace sublane::graph {

std::string print(const Graph& graph);
/// "axis=1" or "starts=[1,0], limits=[3,8]": equal for equal attributes of one operation only. "" for none.
std::string print(const Attrs& attrs);

/// Errors name line and column of everything that can't be read, up to 20 faults. The graph is read, not
/// judged: verify it.
Result<Graph> parse(std::string_view text);

}  // namespace sublane::graph
