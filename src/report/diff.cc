#include "report/diff.h"

#include <algorithm>

#include "report/diff_lines.h"

namespace sublane::report {
namespace {

DiffSide wholeOf(const SimulatedStep& step) {
  return {.us = step.us,
          .count = 1,
          .hbm_bytes = step.hbm_read_bytes + step.hbm_write_bytes,
          .causes = step.causes};
}

StepDiff stepDiff(const SimulatedStep& before, const SimulatedStep& after, const SideErrors& errors) {
  StepDiff diff{.name = before.name == after.name ? before.name : before.name + " -> " + after.name,
                .before = wholeOf(before),
                .after = wholeOf(after),
                .origin_before = before.origin(),
                .origin_after = after.origin(),
                .lines = diffLines(before, after)};
  // The points are of executed bundles, not of estimates.
  const bool executed = before.rung == Rung::kBundles && after.rung == Rung::kBundles;
  setErrors(before, after, executed ? errors : SideErrors{.one_chip = errors.one_chip}, diff);
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

/// Counterfactuals and other modes have no measured points.
bool hasPoints(const Simulation& side) {
  return side.without.empty() && side.dma == sim::DmaTiming::kShared && side.mode == sim::Mode::kPacked;
}

Result<Difference> differenceWith(const Simulation& before, const Simulation& after,
                                  const SideErrors& errors) {
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
  if (before.chip->name == after.chip->name)
    setting("simulator and model", before.model_hash.substr(0, 12), after.model_hash.substr(0, 12));
  setting("flags", joined(before.flags), joined(after.flags));
  setting("without", joined(before.without), joined(after.without));
  for (const SimulatedStep& step : before.steps) {
    const SimulatedStep* other = stepNamed(after, step.name);
    const bool only_ones = before.steps.size() == 1 && after.steps.size() == 1;
    if (!other && only_ones) other = &after.steps[0];
    if (other) difference.steps.push_back(stepDiff(step, *other, errors));
  }
  if (difference.steps.empty()) {
    return inputError("diff: {} has {} steps and {} has {}, and none of one name", before.subject,
                      before.steps.size(), after.subject, after.steps.size())
        .hint("compare two models, two programs, or one step with --step");
  }
  return difference;
}

}  // namespace

Result<Difference> differenceOf(const Simulation& before, const Simulation& after) {
  SideErrors errors{.one_chip = before.chip->name == after.chip->name};
  if (hasPoints(before) && hasPoints(after)) {
    errors.before = readClassErrors(sim::chipModelText(before.chip->name));
    errors.after = readClassErrors(sim::chipModelText(after.chip->name));
  }
  return differenceWith(before, after, errors);
}

Result<Difference> differenceOf(const Simulation& before, const Simulation& after,
                                const std::map<std::string, ClassError>& errors) {
  return differenceWith(before, after, {errors, errors, before.chip->name == after.chip->name});
}

}  // namespace sublane::report
