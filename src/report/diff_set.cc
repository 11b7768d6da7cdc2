#include "report/diff_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "report/text_parts.h"

namespace sublane::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSeenUs = 0.005;
constexpr size_t kMostParts = 8;

std::string percentText(double ratio) { return fmt::format("{:+.1f}%", 100 * (ratio - 1)); }

/// The largest change first; what could not be compared last.
std::vector<const ProgramDiff*> inOrder(const SetDiff& set) {
  std::vector<const ProgramDiff*> order;
  for (const ProgramDiff& program : set.programs) order.push_back(&program);
  std::stable_sort(order.begin(), order.end(), [](const ProgramDiff* a, const ProgramDiff* b) {
    if (a->difference.has_value() != b->difference.has_value()) return a->difference.has_value();
    return a->difference && a->ratio() > b->ratio();
  });
  return order;
}

/// "attention.core gather +12.1 us": of the line that changed most.
std::string mostChanged(const ProgramDiff& program) {
  const DiffLine* most = nullptr;
  for (const StepDiff& step : program.difference->steps)
    for (const DiffLine& line : step.lines)
      if (!most || std::abs(line.changeUs()) > std::abs(most->changeUs())) most = &line;
  if (!most || std::abs(most->changeUs()) < kSeenUs) return "unchanged";
  return fmt::format("{}{}{} {:+.2f} us", escaped(most->place), most->place.empty() ? "" : " ", most->kind,
                     most->changeUs());
}

const char* verdict(const ProgramDiff& program) {
  if (std::abs(program.after_us - program.before_us) < kSeenUs) return " ";
  bool known = true;
  for (const StepDiff& step : program.difference->steps) known &= step.error.known;
  return !known || program.resolvable ? " " : "?";
}

std::string rowText(const ProgramDiff& program) {
  std::string text =
      fmt::format("{:<30} {:>11.2f} {:>11.2f} {:>8}{}  ", shortened(escaped(program.program), 30),
                  program.before_us, program.after_us, percentText(program.ratio()), verdict(program));
  text += shortened(mostChanged(program), kColumns - text.size());
  return text + "\n";
}

std::string failuresText(const SetDiff& set) {
  std::string text;
  for (const ProgramDiff& program : set.programs) {
    if (program.difference) continue;
    const bool before = program.error_before.empty(), after = program.error_after.empty();
    text += wrapped(fmt::format("{} {}", escaped(program.program),
                                before && !after   ? "no longer compiles or runs with " + set.after
                                : after && !before ? "compiles and runs with " + set.after + " only"
                                : !before          ? "compiles or runs with neither"
                                                   : "could not be compared"),
                    "  ", "    ");
    if (!after) text += wrapped(escaped(program.error_after, 1000), "    ", "    ");
    if (!before && after) text += wrapped(escaped(program.error_before, 1000), "    ", "    ");
  }
  return text.empty() ? "" : "\nnot compared\n" + text;
}

std::string partsText(const SetDiff& set) {
  std::string text;
  const std::vector<PartChange> parts = partChanges(set);
  for (size_t i = 0; i < std::min(parts.size(), kMostParts); ++i) {
    const PartChange& part = parts[i];
    text += fmt::format("  {:<28} {:<12} {:>11.2f} {:>11.2f} {:>+11.2f}  {} program{}\n",
                        shortened(part.place.empty() ? "(no place)" : escaped(part.place), 28),
                        shortened(part.kind, 12), part.before_us, part.after_us,
                        part.after_us - part.before_us, part.programs, part.programs == 1 ? "" : "s");
  }
  return text.empty() ? "" : "\nparts that changed most, us over all programs (simulated)\n" + text;
}

}  // namespace

ProgramDiff programDiff(const std::string& program, const Result<Simulation>& before,
                        const Result<Simulation>& after) {
  ProgramDiff diff{.program = program};
  if (!before.ok()) diff.error_before = before.error().message();
  if (!after.ok()) diff.error_after = after.error().message();
  if (!before.ok() || !after.ok()) return diff;
  Result<Difference> difference = differenceOf(*before, *after);
  if (!difference.ok()) {
    diff.error_after = difference.error().message();
    return diff;
  }
  diff.resolvable = true;
  for (const StepDiff& step : difference->steps) {
    diff.before_us += step.before.us;
    diff.after_us += step.after.us;
    diff.resolvable &= step.resolvable();
  }
  diff.difference = std::move(*difference);
  return diff;
}

int64_t SetDiff::compared() const {
  return std::count_if(programs.begin(), programs.end(),
                       [](const ProgramDiff& program) { return program.difference.has_value(); });
}

double SetDiff::geometricMean() const {
  double logs = 0;
  int64_t count = 0;
  for (const ProgramDiff& program : programs) {
    if (!program.difference || !(program.ratio() > 0)) continue;
    logs += std::log(program.ratio());
    ++count;
  }
  return count > 0 ? std::exp(logs / static_cast<double>(count)) : 1;
}

std::vector<PartChange> partChanges(const SetDiff& set) {
  std::map<std::pair<std::string, std::string>, PartChange> parts;
  for (const ProgramDiff& program : set.programs) {
    if (!program.difference) continue;
    std::map<std::pair<std::string, std::string>, double> change;
    for (const StepDiff& step : program.difference->steps) {
      for (const DiffLine& line : step.lines) {
        PartChange& part = parts[{line.place, line.kind}];
        part.before_us += line.before.us;
        part.after_us += line.after.us;
        change[{line.place, line.kind}] += line.changeUs();
      }
    }
    for (const auto& [key, us] : change) parts[key].programs += std::abs(us) >= kSeenUs;
  }
  std::vector<PartChange> sorted;
  for (auto& [key, part] : parts) {
    if (part.programs == 0) continue;
    part.place = key.first;
    part.kind = key.second;
    sorted.push_back(part);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const PartChange& a, const PartChange& b) {
    return std::abs(a.after_us - a.before_us) > std::abs(b.after_us - b.before_us);
  });
  return sorted;
}

std::string toText(const SetDiff& set, const TextOptions& options) {
  std::string text = wrapped(fmt::format("{} programs on {}: {} against {}", set.programs.size(), set.chip,
                                         escaped(set.after), escaped(set.before)),
                             "", "  ");
  const std::vector<const ProgramDiff*> order = inOrder(set);
  const auto compared = static_cast<size_t>(set.compared());
  if (compared > 0) {
    text +=
        fmt::format("  geometric mean {} over {} (simulated)\n", percentText(set.geometricMean()), compared);
    text +=
        fmt::format("  worst {} {}, best {} {}\n", escaped(order[0]->program), percentText(order[0]->ratio()),
                    escaped(order[compared - 1]->program), percentText(order[compared - 1]->ratio()));
    text += fmt::format("\n{:<30} {:>11} {:>11} {:>8}   {}\n", "program", "before us", "after us", "change",
                        "what changed most");
  }
  bool doubts = false;
  for (size_t i = 0; i < compared && (options.top == 0 || static_cast<int64_t>(i) < options.top); ++i) {
    text += rowText(*order[i]);
    doubts |= *verdict(*order[i]) == '?';
  }
  if (options.top > 0 && static_cast<int64_t>(compared) > options.top)
    text += fmt::format("{} more programs (--top 0)\n", static_cast<int64_t>(compared) - options.top);
  if (doubts) text += "? not resolvable: below the error of the difference\n";
  return text + partsText(set) + failuresText(set);
}

std::string toJson(const SetDiff& set) {
  Json document = jsonDocument("sublane.diff_set/1");
  document["before"] = set.before;
  document["after"] = set.after;
  document["chip"] = set.chip;
  document["origin"] = name(Origin::kSimulated);
  document["compared"] = set.compared();
  document["geometric_mean_ratio"] = set.geometricMean();
  document["programs"] = Json::array();
  for (const ProgramDiff* program : inOrder(set)) {
    Json one = {{"program", program->program}};
    if (program->difference) {
      Json steps = Json::array();
      for (const StepDiff& step : program->difference->steps) {
        steps.push_back({{"name", step.name},
                         {"before_us", step.before.us},
                         {"after_us", step.after.us},
                         {"resolvable", step.error.known ? Json(step.resolvable()) : Json(nullptr)}});
      }
      one["before_us"] = program->before_us;
      one["after_us"] = program->after_us;
      one["ratio"] = program->ratio();
      one["steps"] = steps;
      one["most_changed"] = mostChanged(*program);
    } else {
      one["error_before"] = program->error_before.empty() ? Json(nullptr) : Json(program->error_before);
      one["error_after"] = program->error_after.empty() ? Json(nullptr) : Json(program->error_after);
    }
    document["programs"].push_back(std::move(one));
  }
  document["parts"] = Json::array();
  for (const PartChange& part : partChanges(set))
    document["parts"].push_back({{"place", part.place},
                                 {"kind", part.kind},
                                 {"before_us", part.before_us},
                                 {"after_us", part.after_us},
                                 {"programs", part.programs}});
  return jsonText(document);
}

}  // namespace sublane::report
