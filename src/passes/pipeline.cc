#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "graph/text_form.h"
#include "graph/verify.h"
#include "passes/passes.h"

namespace sublane::passes {

#define SUBLANE_ENTRY(pass) extern const Pass pass;
#include "passes.inc"
#undef SUBLANE_ENTRY

static constexpr const Pass* kAll[] = {
#define SUBLANE_ENTRY(pass) &pass,
#include "passes.inc"
#undef SUBLANE_ENTRY
};

// The only hand-kept order. Each line says why it stands where it does.
static constexpr const Pass* kOrder[] = {
    &simplify_shapes,  // first: what it drops hides equal nodes
    &common_subexpressions,
    &dead_code,  // last: the others leave unused nodes behind
};

std::span<const Pass* const> allPasses() { return kAll; }
std::span<const Pass* const> pipelinePasses() { return kOrder; }

namespace {

Status checkName(std::string_view option, std::string_view name, bool all_allowed) {
  if (name.empty() || (all_allowed && name == "all")) return Ok{};
  std::vector<std::string_view> names;
  for (const Pass* pass : kOrder) names.push_back(pass->name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return Ok{};
  return inputError("{}: no pass \"{}\" in the pipeline", option, name)
      .hint(fmt::format("passes, in order: {}{}", fmt::join(names, ", "), all_allowed ? "; or all" : ""));
}

Result<PassReport> runTimed(const Pass& pass, graph::Graph& graph) {
  Context context;
  auto start = std::chrono::steady_clock::now();
  Result<bool> changed = pass.run(graph, context);
  auto taken = std::chrono::steady_clock::now() - start;
  if (!changed.ok()) return std::move(changed).error().at(fmt::format("pass {}", pass.name));
  return PassReport{pass.name, *changed, context.rewrites,
                    std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count()};
}

std::string timeTable(std::span<const PassReport> reports) {
  std::string text = fmt::format("{:<24} {:>8} {:>12}\n", "pass", "rewrites", "us (measured)");
  for (const PassReport& report : reports)
    text += fmt::format("{:<24} {:>8} {:>12.1f}\n", report.name, report.rewrites,
                        static_cast<double>(report.ns) / 1e3);
  return text;
}

}  // namespace

Result<std::vector<PassReport>> runPipeline(graph::Graph& graph, const PipelineOptions& options) {
  SUBLANE_CHECK_OK(checkName("print-after", options.print_after, true));
  SUBLANE_CHECK_OK(checkName("stop-after", options.stop_after, false));
  if (options.verify_between) SUBLANE_CHECK_OK(graph::verify(graph));
  std::vector<PassReport> reports;
  for (const Pass* pass : kOrder) {
    SUBLANE_TRY(PassReport report, runTimed(*pass, graph));
    reports.push_back(report);
    if (options.print && (options.print_after == "all" || options.print_after == pass->name))
      options.print(fmt::format("# after {}\n{}", pass->name, graph::print(graph)));
    if (options.verify_between) {
      Status status = graph::verify(graph);
      if (!status.ok()) return std::move(status).error().at(fmt::format("after pass {}", pass->name));
    }
    if (options.stop_after == pass->name) break;
  }
  if (options.time && options.print) options.print(timeTable(reports));
  return reports;
}

}  // namespace sublane::passes
