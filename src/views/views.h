// Views of a report: the same facts as text, JSON, an HTML page or a trace. They render what is there and
// compute no time of their own.
//
// A text view is one file view_<name>.cc; the list is made from the file names. All look at one step, and at
// the rows in focus.
//
//   const Report report = reportOf(simulation);
//   SUBLANE_TRY(std::string text, toText(report, {.views = {"findings", "tree"}, .focus = "layer.3"}));
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/findings.h"
#include "report/diff.h"
#include "report/simulate.h"

namespace sublane::views {

/// A simulation and what the rules found in each of its steps.
struct Report {
  const report::Simulation& simulation;
  std::vector<std::vector<findings::Finding>> findings;  // by step
};
Report reportOf(const report::Simulation& simulation);

/// What a text view is given.
struct Look {
  const report::Simulation& simulation;
  const report::SimulatedStep& step;  // with only the rows in focus
  const std::vector<findings::Finding>& findings;
  std::vector<char> in_focus;  // by the rows' ids
  int64_t top = 20;            // lines of a list; 0: all

  bool shows(int32_t row) const { return row >= 0 ? in_focus[static_cast<size_t>(row)] != 0 : all_in_focus; }
  bool all_in_focus = true;
  /// Whether a row in focus runs it.
  bool shows(const report::KernelUse& kernel) const {
    return std::any_of(kernel.rows.begin(), kernel.rows.end(), [&](int32_t row) { return shows(row); });
  }
};

struct View {
  std::string_view name, summary;
  std::string (*text)(const Look& look);
};
std::span<const View* const> allViews();

struct ViewOptions {
  std::vector<std::string> views{};  // names, or "all"; empty: findings, limits, ops
  std::string focus{};  // "layer.3.attention", "attention.core", "layer.*", "fusion.12", "gather"
  int64_t top = 20;
};
/// Errors: no such view, a focus that holds nothing (what there is, is listed).
Result<std::string> toText(const Report& report, const ViewOptions& options);

struct JsonOptions {
  std::string focus{};
  bool bundles = false;  // every kernel's bundles with their text
  bool redacted = false;
  const report::Difference* difference = nullptr;  // from a step before to this one
};
/// Schema "sublane.explain/2": docs/schemas/explain-2.schema.json.
Result<std::string> toJson(const Report& report, const JsonOptions& options);

}  // namespace sublane::views
