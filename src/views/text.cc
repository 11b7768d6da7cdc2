#include <algorithm>

#include "base/text.h"
#include "report/step_text.h"
#include "views/focus.h"
#include "views/views.h"

namespace sublane::views {

#define SUBLANE_ENTRY(view) extern const View view;
#include "views.inc"
#undef SUBLANE_ENTRY

std::span<const View* const> allViews() {
  static constexpr const View* kViews[] = {
#define SUBLANE_ENTRY(view) &view,
#include "views.inc"
#undef SUBLANE_ENTRY
  };
  return kViews;
}

namespace {

Result<std::vector<const View*>> viewsNamed(std::vector<std::string> names) {
  if (names.empty()) names = {"findings", "limits", "ops"};
  std::vector<const View*> views;
  std::string known;
  for (const View* view : allViews()) known += (known.empty() ? "" : ", ") + std::string(view->name);
  for (const std::string& name : names) {
    if (name == "all") return std::vector<const View*>(allViews().begin(), allViews().end());
    const auto found = std::find_if(allViews().begin(), allViews().end(),
                                    [&](const View* view) { return view->name == name; });
    if (found == allViews().end())
      return inputError("--view {}: no such view", name).hint("one of all, " + known);
    views.push_back(*found);
  }
  return views;
}

/// Columns pad to the right; lines do not end in it.
std::string withoutTrailingSpaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out.resize(out.find_last_not_of(' ') + 1);
    out += c;
  }
  return out;
}

std::string focusText(const Look& look, const std::string& focus) {
  double us = 0;
  for (const report::SimulatedRow& row : look.step.rows) us += row.row.us;
  return fmt::format("focus {}: {} operations, {:.2f} us ({:.1f} % of the step)\n", escaped(focus),
                     look.step.rows.size(), us, look.step.us > 0 ? 100 * us / look.step.us : 0);
}

}  // namespace

Report reportOf(const report::Simulation& simulation) {
  Report report{.simulation = simulation, .findings = {}};
  for (const report::SimulatedStep& step : simulation.steps)
    report.findings.push_back(
        findings::findingsOf({step, *simulation.chip, simulation.clock_hz, simulation.layers_in_loop}));
  return report;
}

Result<std::string> toText(const Report& report, const ViewOptions& options) {
  SUBLANE_TRY(const std::vector<const View*> views, viewsNamed(options.views));
  std::string text = report::headerText(report.simulation);
  for (size_t i = 0; i < report.simulation.steps.size(); ++i) {
    const report::SimulatedStep& whole = report.simulation.steps[i];
    SUBLANE_TRY(const std::vector<char> in_focus, rowsInFocus(whole, options.focus));
    const report::SimulatedStep step = focused(whole, in_focus);
    const Look look{.simulation = report.simulation,
                    .step = step,
                    .findings = report.findings[i],
                    .in_focus = in_focus,
                    .top = options.top,
                    .all_in_focus = step.rows.size() == whole.rows.size()};
    text += report::headlineText(whole, report.simulation);
    if (!options.focus.empty()) text += focusText(look, options.focus);
    for (const View* view : views) text += view->text(look);
  }
  return withoutTrailingSpaces(text);
}

}  // namespace sublane::views
