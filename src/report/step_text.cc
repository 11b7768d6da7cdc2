#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "base/units.h"
#include "report/step_text.h"

namespace sublane::report {
namespace {

using events::CauseCycles;

/// Rows of one place that differ in their layer only; rows without a place stand alone.
struct Group {
  const SimulatedRow* first = nullptr;
  int32_t low = 0, high = 0;
  int64_t count = 0, cycles = 0, hbm_bytes = 0;
  double us = 0;
  CauseCycles causes{};
};

std::vector<Group> groupsOf(const SimulatedStep& step) {
  std::map<std::tuple<std::string, std::string, Origin, bool>, Group> groups;
  for (const SimulatedRow& each : step.rows) {
    const Row& row = each.row;
    const bool placed = !row.place.part.empty();
    const std::string what = placed ? row.kind + " " + row.kernel : row.op;
    Group& group = groups[{row.place.part, what, row.origin, placed && row.place.layer != RowPlace::kNone}];
    if (!group.first) {
      group.first = &each;
      group.low = group.high = row.place.layer;
    }
    group.low = std::min(group.low, row.place.layer);
    group.high = std::max(group.high, row.place.layer);
    group.count += row.count;
    group.cycles += row.cycles;
    group.hbm_bytes += row.hbm_bytes;
    group.us += row.us;
    for (size_t i = 0; i < group.causes.size(); ++i) group.causes[i] += each.causes[i];
  }
  std::vector<Group> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) sorted.push_back(group);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Group& a, const Group& b) {
    return std::tuple(-a.us, a.first->row.id) < std::tuple(-b.us, b.first->row.id);
  });
  return sorted;
}

/// "mxu" for issue:mxu, "xlu wait" for dependency:xlu, others as they are called.
std::string shortName(size_t cause) {
  const std::string_view full = events::name(static_cast<events::Cause>(cause));
  const size_t colon = full.find(':');
  if (colon == std::string_view::npos) return std::string(full);
  const std::string unit(full.substr(colon + 1));
  return full.starts_with("issue:") ? unit : unit + " wait";
}

}  // namespace

std::string causesText(const CauseCycles& causes, int64_t cycles, size_t width) {
  std::vector<size_t> order;
  for (size_t i = 0; i < causes.size(); ++i)
    if (causes[i] > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return causes[a] > causes[b]; });
  std::string text;
  for (const size_t cause : order) {
    const double percent =
        100.0 * static_cast<double>(causes[cause]) / static_cast<double>(std::max<int64_t>(1, cycles));
    const std::string word = fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", shortName(cause), percent);
    if (percent < 1 || text.size() + word.size() > width) break;
    text += word;
  }
  return text;
}

namespace {

std::string layerText(const Group& group) {
  if (group.low == RowPlace::kEvery) return "*";
  if (group.low == RowPlace::kNone) return "-";
  return group.low == group.high ? fmt::format("{}", group.low) : fmt::format("{}-{}", group.low, group.high);
}

/// Columns of place are left out of programs that name none.
bool hasPlaces(const SimulatedStep& step) {
  return std::any_of(step.rows.begin(), step.rows.end(),
                     [](const SimulatedRow& row) { return !row.row.place.part.empty(); });
}

std::string operationText(const Row& row) {
  if (row.place.part.empty()) return row.op;
  return row.kernel.empty() ? row.kind : row.kind + " " + row.kernel;
}

std::string groupLine(const Group& group, const SimulatedStep& step, bool places) {
  const Row& row = group.first->row;
  std::string line = fmt::format("{:>9.2f} {:>5.1f}% {:>6} ", group.us,
                                 step.us > 0 ? 100 * group.us / step.us : 0, group.count);
  if (places) {
    line += fmt::format("{:>5} {:<16} ", layerText(group),
                        row.place.part.empty() ? "-" : shortened(escaped(row.place.part), 16));
  }
  line += fmt::format("{:<{}} {:>6} ", shortened(escaped(operationText(row)), places ? 17 : 32),
                      places ? 17 : 32, scaled(group.hbm_bytes));
  line += step.rung == Rung::kBundles ? causesText(group.causes, group.cycles, kColumns - line.size())
                                      : std::string(name(row.origin));
  while (line.back() == ' ') line.pop_back();
  return line + "\n";
}

}  // namespace

std::string rowsText(const SimulatedStep& step, int64_t top) {
  const std::vector<Group> groups = groupsOf(step);
  const bool places = hasPlaces(step);
  std::string text = fmt::format("{:>9} {:>6} {:>6} ", "us", "share", "count");
  if (places) text += fmt::format("{:>5} {:<16} ", "layer", "part");
  text += fmt::format("{:<{}} {:>6} {}\n", "operation", places ? 17 : 32, "HBM B",
                      step.rung == Rung::kBundles ? "where its cycles went, %" : "origin");
  double rest_us = 0;
  size_t rest = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (top > 0 && static_cast<int64_t>(i) >= top) {
      rest_us += groups[i].us;
      rest += 1;
      continue;
    }
    text += groupLine(groups[i], step, places);
  }
  if (rest > 0) {
    text += fmt::format("{:>9.2f} {:>5.1f}% {} more lines (--top 0 shows all)\n", rest_us,
                        step.us > 0 ? 100 * rest_us / step.us : 0, rest);
  }
  if (step.launch_us > 0)
    text += fmt::format("{:>9.2f} {:>5.1f}% launch of the program\n", step.launch_us,
                        100 * step.launch_us / step.us);
  return text;
}

namespace {

/// "1399 us ± 12 % (attention, v6e, 63 points)": what a reader takes away.
std::string timeText(const SimulatedStep& step, const Simulation& simulation) {
  const std::string us =
      step.us < 100 ? fmt::format("{:.2f} us", step.us) : fmt::format("{:.0f} us", step.us);
  if (step.rung == Rung::kCompiler) return us + " (compiler: libtpu's estimates; NOT executed)";
  if (step.rung == Rung::kRoofline) return us + " (datasheet: a roofline; NOT executed)";
  if (!simulation.without.empty()) return us + " (simulated, counterfactual)";
  if (simulation.mode == sim::Mode::kScoreboard) return us + " (simulated, stalls by the scoreboard)";
  if (simulation.dma == sim::DmaTiming::kCompiler)
    return us + " (simulated, transfers by libtpu's own model)";
  if (step.error) {
    return fmt::format("{} ± {:.0f} % ({}, {}, {} points)", us, 100 * step.error->relative, step.error->name,
                       simulation.chip->name, step.error->points);
  }
  return fmt::format("{} (simulated; error unknown: no measured points{}{} on {})", us,
                     step.unknown_class.empty() ? "" : " of ", step.unknown_class, simulation.chip->name);
}

}  // namespace

std::string headlineText(const SimulatedStep& step, const Simulation& simulation) {
  std::string text = "\n" + wrapped(step.name + (step.bucket.empty() ? "" : ": " + step.bucket), "", "  ");
  text += wrapped(timeText(step, simulation), "", "  ");
  if (step.rung != Rung::kBundles) {
    text += wrapped("the bundles were not executed: " + step.reason, "  ", "  ");
    if (!step.hint.empty()) text += wrapped("hint: " + step.hint, "  ", "  ");
  }
  return text;
}

std::string totalsText(const SimulatedStep& step, const chips::Chip& chip) {
  std::string text;
  const auto percent = [&](double us) { return step.us > 0 ? 100 * us / step.us : 0; };
  if (step.rung == Rung::kBundles) {
    text += labelled("cycles", fmt::format("{}: {}", formatCount(step.cycles),
                                           causesText(step.causes, step.cycles, 400) + " (%)"));
    text += labelled("executed", fmt::format("{} bundles, {} transfers (simulated)",
                                             formatCount(step.bundles), formatCount(step.transfers)));
    const double bytes = static_cast<double>(step.hbm_read_bytes + step.hbm_write_bytes);
    text +=
        labelled("HBM", fmt::format("{} read, {} written: {} on average (simulated), {:.1f} % of the peak",
                                    formatBytes(static_cast<double>(step.hbm_read_bytes)),
                                    formatBytes(static_cast<double>(step.hbm_write_bytes)),
                                    formatBytesPerSecond(step.us > 0 ? bytes / step.us * 1e6 : 0),
                                    percent(step.hbm_us)));
    text += labelled("beside it", fmt::format("{:.1f} us by explain's sum of libtpu's estimates (compiler)",
                                              step.compiler_us));
  }
  text += labelled("rooflines", fmt::format("HBM {:.1f} us at {}, MXU {:.1f} us at {} (datasheet)",
                                            step.hbm_us, formatBytesPerSecond(chip.hbm_bytes_per_second),
                                            step.mxu_us, formatFlopsPerSecond(chip.bf16_flops)));
  if (step.error && step.error->covered < 0.995) {
    text +=
        labelled("error", fmt::format("of the {:.0f} % of the time that is in classes with measured points",
                                      100 * step.error->covered));
  }
  for (const std::string& note : step.notes) text += labelled("note", note);
  for (const OutputValue& output : step.outputs) {
    text += labelled("output",
                     fmt::format("{}: {}, {} to {}, mean {:.6g}, {} not finite, sha256 {} (simulated)",
                                 output.number, output.shape, output.least, output.greatest, output.mean,
                                 formatCount(output.not_finite), output.sha256.substr(0, 16)));
    if (!output.compared) continue;
    text += labelled("", output.difference.empty() ? fmt::format("as expected; worst by {:.3g}", output.worst)
                                                   : "not as expected: " + output.difference);
  }
  return text;
}

std::string headerText(const Simulation& simulation) {
  std::string text = wrapped(fmt::format("{} on {}, one device{}", simulation.subject, simulation.chip->name,
                                         simulation.detail.empty() ? "" : ": " + simulation.detail),
                             "", "  ");
  text += wrapped("compiled by " + simulation.compiler, "", "  ");
  const bool executed = std::any_of(simulation.steps.begin(), simulation.steps.end(),
                                    [](const SimulatedStep& step) { return step.rung == Rung::kBundles; });
  if (!simulation.model_hash.empty() && executed) {
    text += wrapped(fmt::format("executed by {}, model of {} {}, clock {}; nothing here was measured",
                                sim::kSimulatorVersion, simulation.chip->name,
                                simulation.model_hash.substr(0, 12), formatHz(simulation.clock_hz)),
                    "", "  ");
  }
  for (const std::string& flag : simulation.flags) text += wrapped("flag " + flag, "", "  ");
  if (simulation.mode == sim::Mode::kScoreboard) {
    text +=
        wrapped("mode scoreboard: stalls from registers, FIFOs and units, not from the schedule", "", "  ");
  }
  for (const std::string& without : simulation.without) text += "without " + without + "\n";
  for (const std::string& assumption : simulation.assumptions)
    text += wrapped("assumed: " + assumption, "", "  ");
  return text;
}

}  // namespace sublane::report
