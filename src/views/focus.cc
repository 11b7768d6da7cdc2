#include "views/focus.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace sublane::views {
namespace {

using report::Row;
using report::RowPlace;

bool isWithin(const std::string& part, std::string_view wanted) {
  return part == wanted ||
         (part.size() > wanted.size() && part.starts_with(wanted) && part[wanted.size()] == '.');
}

/// "layer.3.attention": a layer (or any), and a part within it.
struct Path {
  bool any_layer = false;
  int32_t layer = RowPlace::kNone;
  std::string part;
};
std::optional<Path> layerPath(const std::string& focus) {
  constexpr std::string_view kLayer = "layer.";
  if (!focus.starts_with(kLayer)) return std::nullopt;
  const std::string rest = focus.substr(kLayer.size());
  const size_t dot = std::min(rest.find('.'), rest.size());
  const std::string number = rest.substr(0, dot);
  Path path{.part = dot < rest.size() ? rest.substr(dot + 1) : ""};
  if (number == "*") {
    path.any_layer = true;
    return path;
  }
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), path.layer);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return path;
}

bool shows(const Row& row, const std::string& focus, const std::optional<Path>& path) {
  if (path) {
    const bool layer = path->any_layer ? row.place.layer != RowPlace::kNone : row.place.layer == path->layer;
    return layer && (path->part.empty() || isWithin(row.place.part, path->part));
  }
  return row.op == focus || row.kind == focus || row.kernel == focus || isWithin(row.place.part, focus);
}

std::string whatThereIs(const report::SimulatedStep& step) {
  constexpr size_t kMost = 12;
  std::set<std::string> parts;
  int32_t last_layer = -1;
  for (const report::SimulatedRow& row : step.rows) {
    if (!row.row.place.part.empty()) parts.insert(row.row.place.part);
    last_layer = std::max(last_layer, row.row.place.layer);
  }
  std::string text;
  if (last_layer >= 0) text = fmt::format("layers 0 to {}", last_layer);
  size_t shown = 0;
  for (const std::string& part : parts) {
    if (++shown > kMost) return text + ", ...";
    text += (text.empty() ? "" : ", ") + part;
  }
  return text.empty() ? "an operation's name, or its kind" : text;
}

}  // namespace

Result<std::vector<char>> rowsInFocus(const report::SimulatedStep& step, const std::string& focus) {
  const std::optional<Path> path = layerPath(focus);
  std::vector<char> in_focus;
  for (const report::SimulatedRow& row : step.rows)
    in_focus.push_back(focus.empty() || shows(row.row, focus, path));
  if (std::find(in_focus.begin(), in_focus.end(), 1) == in_focus.end() && !focus.empty()) {
    return inputError("--focus {}: none of {} operations of {} is there", focus, step.rows.size(), step.name)
        .hint("there are: " + whatThereIs(step));
  }
  return in_focus;
}

report::SimulatedStep focused(const report::SimulatedStep& step, const std::vector<char>& in_focus) {
  report::SimulatedStep part = step;
  part.rows.clear();
  for (size_t i = 0; i < step.rows.size(); ++i)
    if (in_focus[i]) part.rows.push_back(step.rows[i]);
  if (part.rows.size() < step.rows.size()) part.launch_us = 0;
  return part;
}

std::string pathOf(const RowPlace& place) {
  std::string path;
  if (place.layer >= 0) path = fmt::format("layer.{}", place.layer);
  if (place.layer == RowPlace::kEvery) path = "layer.*";
  if (!place.part.empty()) path += (path.empty() ? "" : ".") + place.part;
  return path.empty() ? "(no part)" : path;
}

}  // namespace sublane::views
