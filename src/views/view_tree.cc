#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.h"
#include "report/step_text.h"
#include "views/focus.h"
#include "views/views.h"

namespace sublane::views {
namespace {

using report::SimulatedRow;

/// Model, layer, part, operation, kernel, loop.
struct Node {
  std::string name;
  double us = 0;
  int64_t count = 0, cycles = 0, bytes = 0;
  events::CauseCycles causes{};
  std::vector<std::unique_ptr<Node>> children;

  Node& child(const std::string& wanted) {
    for (const std::unique_ptr<Node>& each : children)
      if (each->name == wanted) return *each;
    children.push_back(std::make_unique<Node>(Node{.name = wanted}));
    return *children.back();
  }
  void add(const SimulatedRow& row) {
    us += row.row.us;
    count += row.row.count;
    cycles += row.row.cycles;
    bytes += row.row.hbm_bytes;
    for (size_t i = 0; i < causes.size(); ++i) causes[i] += row.causes[i];
  }
};

/// Alike layers are one branch, unless they are asked for.
std::vector<std::string> pathTo(const report::Row& row, bool join_layers) {
  std::vector<std::string> path;
  if (row.place.layer == report::RowPlace::kEvery) path.emplace_back("layers (in a loop)");
  if (row.place.layer >= 0)
    path.push_back(join_layers ? "all layers" : fmt::format("layer {}", row.place.layer));
  for (size_t at = 0; at < row.place.part.size();) {
    const size_t dot = std::min(row.place.part.find('.', at), row.place.part.size());
    path.push_back(row.place.part.substr(at, dot - at));
    at = dot + 1;
  }
  if (row.place.part.empty()) path.emplace_back("(no part)");
  return path;
}

void addLoops(const report::KernelUse& kernel, double us_a_cycle, Node& node) {
  std::vector<Node*> made;
  for (const report::LoopUse& loop : kernel.loops) {
    Node& parent = loop.parent < 0 ? node : *made[static_cast<size_t>(loop.parent)];
    Node& at = parent.child(fmt::format("loop {:#x} to {:#x}", loop.first, loop.last));
    at.us += us_a_cycle * static_cast<double>(loop.cycles);
    at.count += loop.iterations;
    at.cycles += loop.cycles;
    for (size_t i = 0; i < at.causes.size(); ++i) at.causes[i] += loop.causes[i];
    made.push_back(&at);
  }
}

struct Printer {
  const Look& look;
  int64_t lines = 0;
  std::string text{};

  void print(const Node& node, size_t depth) {
    const double percent = look.step.us > 0 ? 100 * node.us / look.step.us : 0;
    if (look.top > 0 && (percent < 0.5 || (depth > 3 && percent < 2))) return;
    std::string line = fmt::format("{:>9.2f} {:>5.1f}% {:>9}  {}{}", node.us, percent, node.count,
                                   std::string(2 * depth, ' '), escaped(node.name));
    line = fmt::format("{:<62} ", report::shortened(line, 62));
    line += report::causesText(node.causes, node.cycles, report::kColumns - line.size());
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
    ++lines;
    std::vector<const Node*> children;
    for (const std::unique_ptr<Node>& child : node.children) children.push_back(child.get());
    std::stable_sort(children.begin(), children.end(),
                     [](const Node* a, const Node* b) { return a->us > b->us; });
    for (const Node* child : children) print(*child, depth + 1);
  }
};

std::string nameOf(const report::Row& row, bool join_layers) {
  return join_layers && row.place.layer >= 0 ? row.kind : row.op + " (" + row.kind + ")";
}

std::string text(const Look& look) {
  const bool join_layers = look.all_in_focus && look.top > 0;
  Node root{.name = look.step.name};
  for (const SimulatedRow& row : look.step.rows) {
    Node* node = &root;
    node->add(row);
    for (const std::string& name : pathTo(row.row, join_layers)) {
      node = &node->child(name);
      node->add(row);
    }
    node = &node->child(nameOf(row.row, join_layers));
    node->add(row);
  }
  // Loops stand under the operation that runs the kernel, if only one does.
  const double us_a_cycle = look.simulation.clock_hz > 0 ? 1e6 / look.simulation.clock_hz : 0;
  std::map<int32_t, const SimulatedRow*> by_id;
  for (const SimulatedRow& row : look.step.rows) by_id[row.row.id] = &row;
  for (const report::KernelUse& kernel : look.step.anatomy.kernels) {
    if (kernel.rows.size() != 1 || !by_id.contains(kernel.rows[0])) continue;  // whose share is whose?
    const report::Row& row = by_id[kernel.rows[0]]->row;
    Node* node = &root;
    for (const std::string& name : pathTo(row, join_layers)) node = &node->child(name);
    addLoops(kernel, us_a_cycle, node->child(nameOf(row, join_layers)));
  }
  Printer printer{look};
  printer.print(root, 0);
  std::string head = fmt::format("{:>9} {:>6} {:>9}  {:<34} {}\n", "us", "share", "count",
                                 "model, layer, part, operation, loop", "where its cycles went, %");
  if (look.top > 0)
    head += "          (branches under 0.5 % are left out, layers joined; --top 0 or --focus shows them)\n";
  return head + printer.text;
}

}  // namespace

extern const View view_tree;
const View view_tree{"tree", "model, layer, part, operation, loop, each with its time and causes", text};

}  // namespace sublane::views
