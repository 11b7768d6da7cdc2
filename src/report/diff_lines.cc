#include "report/diff_lines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sublane::report {
namespace {

constexpr size_t kMostOps = 4;
constexpr double kSeenUs = 0.005;  // smaller changes do not show

std::string placeOf(const Row& row, bool by_source) {
  return !row.place.part.empty() ? row.place.part : by_source ? row.source : "";
}

/// "mlp" of "mlp.up", "decoder/block" of "decoder/block/norm", "model.py" of "model.py:42"; none: empty.
std::string parentOf(const std::string& place) {
  const size_t colon = place.rfind(':');
  if (colon != std::string::npos && colon + 1 < place.size() &&
      std::all_of(place.begin() + static_cast<std::ptrdiff_t>(colon) + 1, place.end(),
                  [](char c) { return c >= '0' && c <= '9'; }))
    return place.substr(0, colon);
  const size_t end = place.find_last_of("./");
  return end == std::string::npos ? "" : place.substr(0, end);
}

/// The rows of one side that stand at one key.
using Rows = std::vector<const SimulatedRow*>;
struct Both {
  Rows before, after;
  double before_us = 0, after_us = 0;
  double change() const { return after_us - before_us; }
  bool oneSided() const { return before.empty() != after.empty(); }
};
using Tree = std::map<std::string, Both>;  // by key

Tree treeOf(const SimulatedStep& before, const SimulatedStep& after, bool by_source) {
  Tree tree;
  for (const SimulatedRow& row : before.rows) {
    Both& at = tree[keyOf(row.row, by_source)];
    at.before.push_back(&row);
    at.before_us += row.row.us;
  }
  for (const SimulatedRow& row : after.rows) {
    Both& at = tree[keyOf(row.row, by_source)];
    at.after.push_back(&row);
    at.after_us += row.row.us;
  }
  return tree;
}

/// Parts of one parent that one side lacks, and those that change the other way: what was done there is done
/// here now. Named by parent.
std::map<std::string, std::vector<std::string>> movedParts(const Tree& tree) {
  std::map<std::string, std::vector<std::string>> children, moved;
  for (const auto& [key, both] : tree) {
    const std::string parent = key[0] == '\t' ? "" : parentOf(key);
    if (!parent.empty()) children[parent].push_back(key);
  }
  for (const auto& [parent, keys] : children) {
    bool lost = false, gained = false;
    for (const std::string& key : keys) {
      if (!tree.at(key).oneSided()) continue;
      (tree.at(key).change() < 0 ? lost : gained) = true;
    }
    std::vector<std::string> together;
    bool slower = false, faster = false;
    for (const std::string& key : keys) {
      const Both& both = tree.at(key);
      const bool answers = (lost && both.change() > kSeenUs) || (gained && both.change() < -kSeenUs);
      if (!both.oneSided() && !answers) continue;
      together.push_back(key);
      (both.change() > 0 ? slower : faster) = true;
    }
    if (slower && faster && together.size() > 1) moved[parent] = together;
  }
  return moved;
}

DiffSide sideOf(const Rows& rows) {
  DiffSide side;
  std::map<std::string, double> ops;
  for (const SimulatedRow* row : rows) {
    side.us += row->row.us;
    side.count += row->row.count;
    side.hbm_bytes += row->row.hbm_bytes;
    for (size_t i = 0; i < side.causes.size(); ++i) side.causes[i] += row->causes[i];
    ops[row->row.op] += row->row.us;
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [op, us] : ops) order.emplace_back(-us, op);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < std::min(order.size(), kMostOps); ++i) side.ops.push_back(order[i].second);
  return side;
}

std::string largestKind(const Rows& rows) {
  std::map<std::string, double> kinds;
  for (const SimulatedRow* row : rows) kinds[row->row.kind] += row->row.us;
  const auto most = std::max_element(kinds.begin(), kinds.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == kinds.end() ? "" : most->first;
}

/// "0-2, 7" of layers whose time changed; empty if all did, or none is known.
std::string changedLayers(const Rows& before, const Rows& after) {
  std::map<int32_t, double> change;
  for (const SimulatedRow* row : before) change[row->row.place.layer] -= row->row.us;
  for (const SimulatedRow* row : after) change[row->row.place.layer] += row->row.us;
  if (change.contains(RowPlace::kEvery)) return "";  // a loop: its rows are of all layers
  std::vector<int32_t> layers;
  for (const auto& [layer, us] : change)
    if (layer >= 0 && std::abs(us) >= kSeenUs) layers.push_back(layer);
  if (layers.empty() || layers.size() == change.size()) return "";
  std::string text;
  for (size_t i = 0, end = 0; i < layers.size(); i = end) {
    for (end = i + 1; end < layers.size() && layers[end] == layers[end - 1] + 1;) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
    if (end > i + 1) text += fmt::format("-{}", layers[end - 1]);
  }
  return text;
}

void sortByChange(std::vector<DiffLine>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const DiffLine& a, const DiffLine& b) {
    return std::abs(a.changeUs()) > std::abs(b.changeUs());
  });
}

DiffLine lineOf(std::string place, const Both& both) {
  const DiffSide before = sideOf(both.before), after = sideOf(both.after);
  const std::string kind = largestKind(before.us >= after.us ? both.before : both.after);
  return {.place = std::move(place),
          .kind = kind,
          .before = before,
          .after = after,
          .layers = changedLayers(both.before, both.after)};
}

DiffLine lineWithParts(std::string place, const Both& both, bool by_source) {
  DiffLine line = lineOf(std::move(place), both);
  std::map<std::pair<std::string, std::string>, Both> parts;
  for (const SimulatedRow* row : both.before)
    parts[{placeOf(row->row, by_source), row->row.kind}].before.push_back(row);
  for (const SimulatedRow* row : both.after)
    parts[{placeOf(row->row, by_source), row->row.kind}].after.push_back(row);
  for (const auto& [key, rows] : parts) {
    line.parts.push_back(lineOf(key.first, rows));
    line.parts.back().kind = key.second;
  }
  sortByChange(line.parts);
  return line;
}

}  // namespace

bool shareSources(const SimulatedStep& before, const SimulatedStep& after) {
  // By file: an edit moves the lines below it.
  const auto fileOf = [](const std::string& source) { return source.substr(0, source.rfind(':')); };
  std::set<std::string> files;
  for (const SimulatedRow& row : before.rows) files.insert(fileOf(row.row.source));
  files.erase("");
  return std::any_of(after.rows.begin(), after.rows.end(),
                     [&](const SimulatedRow& row) { return files.contains(fileOf(row.row.source)); });
}

std::string keyOf(const Row& row, bool by_source) {
  const std::string place = placeOf(row, by_source);
  return place.empty() ? "\t" + row.kind : place;
}

std::vector<DiffLine> diffLines(const SimulatedStep& before, const SimulatedStep& after) {
  const bool by_source = shareSources(before, after);
  Tree tree = treeOf(before, after, by_source);
  std::vector<DiffLine> lines;
  for (const auto& [parent, keys] : movedParts(tree)) {
    Both together;
    for (const std::string& key : keys) {
      const Both& both = tree.at(key);
      together.before.insert(together.before.end(), both.before.begin(), both.before.end());
      together.after.insert(together.after.end(), both.after.begin(), both.after.end());
      tree.erase(key);
    }
    lines.push_back(lineWithParts(parent, together, by_source));
  }
  for (const auto& [key, both] : tree)
    lines.push_back(lineWithParts(key[0] == '\t' ? "" : key, both, by_source));
  if (before.launch_us > 0 || after.launch_us > 0) {
    lines.push_back({.kind = "launch",
                     .before = {.us = before.launch_us, .count = 1},
                     .after = {.us = after.launch_us, .count = 1}});
  }
  sortByChange(lines);
  return lines;
}

}  // namespace sublane::report
