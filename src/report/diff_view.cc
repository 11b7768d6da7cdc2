#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "report/diff.h"
#include "report/text_parts.h"

namespace sublane::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kGainsAndLosses = 3, kParts = 4;

std::string change(double before, double after) {
  const std::string percent =
      before > 0 ? fmt::format("{:+.1f}%", 100 * (after - before) / before) : std::string("new");
  return fmt::format("{:>+10.2f} {:>8}", after - before, percent);
}

/// The causes that changed most, in us: "dma -12.1, vst +3.0".
std::string causesText(const DiffSide& before, const DiffSide& after, double clock_before, double clock_after,
                       size_t width) {
  std::vector<std::pair<double, std::string>> changes;
  for (size_t i = 0; i < before.causes.size(); ++i) {
    const double us = 1e6 * (static_cast<double>(after.causes[i]) / std::max(clock_after, 1.0) -
                             static_cast<double>(before.causes[i]) / std::max(clock_before, 1.0));
    if (std::abs(us) >= 0.005)
      changes.emplace_back(us, std::string(events::name(static_cast<events::Cause>(i))));
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::string text;
  for (const auto& [us, name] : changes) {
    const std::string word = fmt::format("{}{} {:+.1f}", text.empty() ? "" : ", ", name, us);
    if (text.size() + word.size() > width) break;
    text += word;
  }
  return text;
}

/// "?" where a change is too small to be believed, "" where it is not known or large enough.
const char* doubt(const DiffLine& line) {
  return line.error.known && !line.resolvable() && line.changeUs() != 0 ? "?" : " ";
}

/// Cut in front where that is a file, so that the line is seen.
std::string placeText(const std::string& place, size_t width) {
  if (place.size() <= width || place.find(':') == std::string::npos) return shortened(place, width);
  return "~" + place.substr(place.size() - width + 1);
}

std::string lineText(const DiffLine& line, const Difference& d, const std::string& indent) {
  const std::string place = indent + (line.place.empty() ? "(no place)" : escaped(line.place));
  std::string text = fmt::format("{:<18} {:<12} {:>10.2f} {:>10.2f} {}{} ", placeText(place, 18),
                                 shortened(line.kind, 12), line.before.us, line.after.us,
                                 change(line.before.us, line.after.us), indent.empty() ? doubt(line) : " ");
  text += causesText(line.before, line.after, d.clock_before_hz, d.clock_after_hz,
                     kColumns > text.size() ? kColumns - text.size() : 0);
  while (text.back() == ' ') text.pop_back();
  return text + "\n";
}

/// A line, and under it what changed in its parts where it has several.
std::string lineAndParts(const DiffLine& line, const Difference& d) {
  std::string text = lineText(line, d, "");
  if (!line.layers.empty()) text += wrapped("only in layers " + line.layers, "    ", "    ");
  if (line.parts.size() < 2) return text;
  size_t shown = 0;
  for (const DiffLine& part : line.parts) {
    if (std::abs(part.changeUs()) < 0.005 || shown == kParts) break;
    ++shown;
    text += lineText(part, d, "  ");
  }
  return text;
}

std::string resolutionText(const StepDiff& step) {
  if (!step.sameOrigin()) return "none: the two sides are of different origins; simulate says why";
  const ChangeError& error = step.error;
  if (error.changed_us <= 0) return "exact: every operation is alike on both sides";
  if (!error.known)
    return fmt::format("not known: no measured points of {} of what changed",
                       error.name.empty() ? "most" : escaped(error.name) + ", the largest");
  return fmt::format(
      "{}: {:.2f} us, by measured pairs; what is not alike on both sides takes {:.2f} us, most of it {}",
      step.resolvable() ? "the change is larger than the error of the difference"
                        : "not resolvable: smaller than the error of the difference",
      error.us, error.changed_us, escaped(error.name));
}

std::string stepText(const StepDiff& step, const Difference& d, int64_t top) {
  std::string text = fmt::format("\n{}\n{:<18} {:<12} {:>10} {:>10} {:>10} {:>8}  {}\n", escaped(step.name),
                                 "part", "kind", "before us", "after us", "change us", "", "causes, us");
  int64_t shown = 0;
  bool doubts = false;
  DiffSide rest_before, rest_after;
  for (const DiffLine& line : step.lines) {
    if (top > 0 && shown >= top) {
      rest_before.us += line.before.us;
      rest_after.us += line.after.us;
      continue;
    }
    ++shown;
    doubts |= *doubt(line) == '?';
    text += lineAndParts(line, d);
  }
  if (const auto more = std::ssize(step.lines) - shown; more > 0) {
    text += fmt::format("{:<31} {:>10.2f} {:>10.2f} {}\n", fmt::format("{} more lines (--top 0)", more),
                        rest_before.us, rest_after.us, change(rest_before.us, rest_after.us));
  }
  const std::string causes =
      causesText(step.before, step.after, d.clock_before_hz, d.clock_after_hz, kColumns - 73);
  text +=
      fmt::format("{:<31} {:>10.2f} {:>10.2f} {}{}{}\n", "total, launch included", step.before.us,
                  step.after.us, change(step.before.us, step.after.us), causes.empty() ? "" : "  ", causes);
  if (doubts) text += "? not resolvable: below the error of the difference of its class\n";
  text += labelled("origins",
                   fmt::format("before {}, after {}", name(step.origin_before), name(step.origin_after)));
  text += labelled("HBM",
                   fmt::format("{} before, {} after", formatBytes(static_cast<double>(step.before.hbm_bytes)),
                               formatBytes(static_cast<double>(step.after.hbm_bytes))));
  return text + labelled("resolution", resolutionText(step));
}

/// The largest gains and losses over all steps, in a sentence each.
std::string summary(const Difference& d) {
  std::string text;
  for (const bool gains : {true, false}) {
    std::vector<std::pair<const StepDiff*, const DiffLine*>> found;
    for (const StepDiff& step : d.steps) {
      for (const DiffLine& line : step.lines) {
        if (gains ? line.changeUs() < -0.005 : line.changeUs() > 0.005) found.emplace_back(&step, &line);
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::abs(a.second->changeUs()) > std::abs(b.second->changeUs());
    });
    for (size_t i = 0; i < std::min(found.size(), kGainsAndLosses); ++i) {
      const auto& [step, line] = found[i];
      text += fmt::format("  {} {:.2f} us in {}: {} {}{}\n", gains ? "gained" : "lost",
                          std::abs(line->changeUs()), escaped(step->name),
                          line->place.empty() ? "(no place)" : escaped(line->place), line->kind,
                          *doubt(*line) == '?' ? " (not resolvable)" : "");
    }
  }
  return text.empty() ? "  nothing changed\n" : text;
}

Json sideJson(const DiffSide& side, double clock_hz, Origin origin) {
  Json causes = Json::object();
  for (size_t i = 0; i < side.causes.size(); ++i) {
    if (side.causes[i] == 0) continue;
    causes[std::string(events::name(static_cast<events::Cause>(i)))] =
        1e6 * static_cast<double>(side.causes[i]) / std::max(clock_hz, 1.0);
  }
  return {{"us", side.us},       {"origin", name(origin)},
          {"count", side.count}, {"hbm_bytes", side.hbm_bytes},
          {"causes_us", causes}, {"ops", side.ops}};
}

Json lineJson(const DiffLine& line, const StepDiff& step, const Difference& d) {
  return {{"place", line.place},
          {"kind", line.kind},
          {"change_us", line.changeUs()},
          {"before", sideJson(line.before, d.clock_before_hz, step.origin_before)},
          {"after", sideJson(line.after, d.clock_after_hz, step.origin_after)}};
}

/// Origin: the pairs are measured.
Json errorJson(const ChangeError& error) {
  return {{"us", error.known ? Json(error.us) : Json(nullptr)},
          {"origin", name(Origin::kMeasured)},
          {"changed_us", error.changed_us},
          {"class", error.name.empty() ? Json(nullptr) : Json(error.name)},
          {"covered_share", error.covered}};
}

Json resolvableJson(const ChangeError& error, bool resolvable) {
  return error.known ? Json(resolvable) : Json(nullptr);
}

}  // namespace

std::string toText(const Difference& d, const TextOptions& options) {
  std::string text = fmt::format("{} against {}\n", escaped(d.after), escaped(d.before));
  for (const auto& [setting, values] : d.settings) {
    text += wrapped(fmt::format("{}: {} -> {}", setting, values.first.empty() ? "-" : escaped(values.first),
                                values.second.empty() ? "-" : escaped(values.second)),
                    "  ", "    ");
  }
  text += summary(d);
  for (const StepDiff& step : d.steps) text += stepText(step, d, options.top);
  return text;
}

std::string toJson(const Difference& d) {
  Json document = jsonDocument("sublane.diff/1");
  document["before"] = d.before;
  document["after"] = d.after;
  document["settings"] = Json::object();
  for (const auto& [setting, values] : d.settings)
    document["settings"][setting] = {{"before", values.first}, {"after", values.second}};
  document["steps"] = Json::array();
  for (const StepDiff& step : d.steps) {
    Json lines = Json::array();
    for (const DiffLine& line : step.lines) {
      Json one = lineJson(line, step, d);
      one["layers"] = line.layers.empty() ? Json(nullptr) : Json(line.layers);
      one["error"] = errorJson(line.error);
      one["resolvable"] = resolvableJson(line.error, step.sameOrigin() && line.resolvable());
      one["parts"] = Json::array();
      for (const DiffLine& part : line.parts) one["parts"].push_back(lineJson(part, step, d));
      lines.push_back(std::move(one));
    }
    Json one = {{"name", step.name},
                {"change_us", step.changeUs()},
                {"before", sideJson(step.before, d.clock_before_hz, step.origin_before)},
                {"after", sideJson(step.after, d.clock_after_hz, step.origin_after)},
                {"lines", lines}};
    one["error"] = errorJson(step.error);
    one["resolvable"] = step.sameOrigin() ? resolvableJson(step.error, step.resolvable()) : Json(false);
    document["steps"].push_back(std::move(one));
  }
  return jsonText(document);
}

}  // namespace sublane::report
