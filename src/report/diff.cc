#include "report/diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sublane::report {
namespace {

constexpr size_t kMostOps = 4;

void add(const SimulatedRow& row, DiffSide& side) {
  side.us += row.row.us;
  side.count += row.row.count;
  side.hbm_bytes += row.row.hbm_bytes;
  for (size_t i = 0; i < side.causes.size(); ++i) side.causes[i] += row.causes[i];
}

/// Lines of the source say where an operation stands only if both sides come from the same files.
std::string placeOf(const Row& row, bool by_source) {
  return !row.place.part.empty() ? row.place.part : by_source ? row.source : "";
}

/// What a line is looked up by. Operations without a place are told apart by their kind.
std::string keyOf(const Row& row, bool by_source) {
  const std::string place = placeOf(row, by_source);
  return place.empty() ? "\t" + row.kind : place;
}

bool shareSources(const SimulatedStep& before, const SimulatedStep& after) {
  std::set<std::string> sources;
  for (const SimulatedRow& row : before.rows) sources.insert(row.row.source);
  sources.erase("");
  return std::any_of(after.rows.begin(), after.rows.end(),
                     [&](const SimulatedRow& row) { return sources.contains(row.row.source); });
}

/// The rows of a line on one side, until both sides are there.
struct Pile {
  DiffSide side;
  std::string place;
  std::map<std::string, double> kinds, ops;  // us
};

std::map<std::string, Pile> pilesOf(const SimulatedStep& step, bool by_source) {
  std::map<std::string, Pile> piles;
  for (const SimulatedRow& row : step.rows) {
    Pile& pile = piles[keyOf(row.row, by_source)];
    pile.place = placeOf(row.row, by_source);
    add(row, pile.side);
    pile.kinds[row.row.kind] += row.row.us;
    pile.ops[row.row.op] += row.row.us;
  }
  for (auto& [key, pile] : piles) {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [op, us] : pile.ops) order.emplace_back(-us, op);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < std::min(order.size(), kMostOps); ++i) pile.side.ops.push_back(order[i].second);
  }
  return piles;
}

std::string largestKind(const Pile& pile) {
  const auto most = std::max_element(pile.kinds.begin(), pile.kinds.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == pile.kinds.end() ? "" : most->first;
}

DiffSide wholeOf(const SimulatedStep& step) {
  return {.us = step.us,
          .count = 1,
          .hbm_bytes = step.hbm_read_bytes + step.hbm_write_bytes,
          .causes = step.causes};
}

StepDiff stepDiff(const SimulatedStep& before, const SimulatedStep& after) {
  StepDiff diff{.name = before.name == after.name ? before.name : before.name + " -> " + after.name,
                .before = wholeOf(before),
                .after = wholeOf(after),
                .origin_before = before.origin(),
                .origin_after = after.origin()};
  const bool by_source = shareSources(before, after);
  const std::map<std::string, Pile> old_piles = pilesOf(before, by_source),
                                    new_piles = pilesOf(after, by_source);
  std::map<std::string, std::pair<const Pile*, const Pile*>> both;
  for (const auto& [key, pile] : old_piles) both[key].first = &pile;
  for (const auto& [key, pile] : new_piles) both[key].second = &pile;
  for (const auto& [key, piles] : both) {
    const auto& [old_pile, new_pile] = piles;
    const bool old_is_larger = old_pile && (!new_pile || old_pile->side.us >= new_pile->side.us);
    const Pile& larger = old_is_larger ? *old_pile : *new_pile;
    diff.lines.push_back({.place = larger.place,
                          .kind = largestKind(larger),
                          .before = old_pile ? old_pile->side : DiffSide{},
                          .after = new_pile ? new_pile->side : DiffSide{}});
  }
  std::stable_sort(diff.lines.begin(), diff.lines.end(), [](const DiffLine& a, const DiffLine& b) {
    return std::abs(a.changeUs()) > std::abs(b.changeUs());
  });
  // What is alike in both is as wrong in both, so this is the most that a difference is wrong by.
  for (const SimulatedStep* step : {&before, &after}) {
    if (!step->error || step->error->relative <= diff.resolution) continue;
    diff.resolution = step->error->relative;
    diff.resolution_class = step->error->name;
  }
  return diff;
}

const SimulatedStep* stepNamed(const Simulation& simulation, const std::string& name) {
  const auto found = std::find_if(simulation.steps.begin(), simulation.steps.end(),
                                  [&](const SimulatedStep& step) { return step.name == name; });
  return found == simulation.steps.end() ? nullptr : &*found;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : ", ") + each;
  return text;
}

}  // namespace

bool StepDiff::resolvable() const {
  return std::abs(after.us - before.us) >= resolution * std::max(before.us, after.us);
}

Result<Difference> differenceOf(const Simulation& before, const Simulation& after) {
  Difference difference{.before = before.subject,
                        .after = after.subject,
                        .clock_before_hz = before.clock_hz,
                        .clock_after_hz = after.clock_hz};
  const auto setting = [&](const char* name, const std::string& a, const std::string& b) {
    if (a != b) difference.settings.push_back({name, {a, b}});
  };
  setting("chip", before.chip->name, after.chip->name);
  setting("what", before.detail, after.detail);
  setting("compiler", before.compiler, after.compiler);
  setting("flags", joined(before.flags), joined(after.flags));
  setting("without", joined(before.without), joined(after.without));
  for (const SimulatedStep& step : before.steps) {
    const SimulatedStep* other = stepNamed(after, step.name);
    const bool only_ones = before.steps.size() == 1 && after.steps.size() == 1;
    if (!other && only_ones) other = &after.steps[0];
    if (other) difference.steps.push_back(stepDiff(step, *other));
  }
  if (difference.steps.empty()) {
    return inputError("diff: {} has {} steps and {} has {}, and none of one name", before.subject,
                      before.steps.size(), after.subject, after.steps.size())
        .hint("compare two models, two programs, or one step with --step");
  }
  return difference;
}

}  // namespace sublane::report
