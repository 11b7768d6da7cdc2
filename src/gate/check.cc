#include <algorithm>
#include <filesystem>

#include "base/paths.h"
#include "findings/findings.h"
#include "gate/gate.h"
#include "gate/log.h"
#include "report/redact.h"

namespace sublane::gate {
namespace {

report::StepCheck& stepOf(report::BaselineCheck& check, const report::SimulatedStep& step) {
  const auto found = std::find_if(check.steps.begin(), check.steps.end(), [&](const report::StepCheck& each) {
    return each.name == report::baselineName(step);
  });
  if (found != check.steps.end()) return *found;
  check.steps.push_back({.name = report::baselineName(step)});
  return check.steps.back();
}

void checkBudget(const Entry& entry, const report::Simulation& now, report::BaselineCheck& check) {
  for (const report::SimulatedStep& step : now.steps) {
    report::StepCheck& one = stepOf(check, step);
    one.after_us = step.us;
    const auto fail = [&](std::string reason) {
      if (one.passed) one.reason.clear();
      one.passed = false;
      one.reason += (one.reason.empty() ? "" : "; ") + std::move(reason);
    };
    if (step.rung != report::Rung::kBundles && one.baseline_line == 0)
      fail(fmt::format("a budget is of executed bundles, this stands on {}: {}", name(step.rung),
                       step.reason));
    if (entry.budget.us && step.us > *entry.budget.us)
      fail(fmt::format("{:.2f} us are over the budget of {:.2f} us", step.us, *entry.budget.us));
    const int64_t bytes = step.hbm_read_bytes + step.hbm_write_bytes;
    if (entry.budget.hbm_bytes && bytes > *entry.budget.hbm_bytes)
      fail(fmt::format("{} bytes of HBM traffic are over the budget of {}", bytes, *entry.budget.hbm_bytes));
  }
}

Result<report::Baseline> readBaseline(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return inputError("{}: no such baseline", path)
        .hint("sublane check ... --update writes it; review it and commit it");
  }
  SUBLANE_TRY(const std::string text, readFile(path));
  return report::parseBaseline(text, path);
}

Status writeBaseline(const std::string& path, const report::Simulation& now) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) SUBLANE_CHECK_OK(createDirectories(path.substr(0, slash)));
  return writeFileAtomically(path, report::toText(report::baselineOf(now)));
}

void addFindings(const report::Simulation& now, const std::string& subject, Checked& checked) {
  for (const report::SimulatedStep& step : now.steps) {
    const findings::Evidence evidence{step, *now.chip, now.clock_hz, now.layers_in_loop};
    for (auto& result : views::sarifOf(findings::findingsOf(evidence), evidence, subject))
      checked.findings.push_back(std::move(result));
  }
}

Status checkOne(const Simulate& simulate, const CheckOptions& options, report::Pseudonyms& names,
                Checked& checked) {
  Entry& entry = checked.entry;
  std::optional<report::Baseline> kept;
  if (!entry.baseline.empty() && !options.update) {
    SUBLANE_TRY(kept, readBaseline(entry.baseline));  // before minutes of compiling
  }
  SUBLANE_TRY(report::Simulation now, simulate(entry));
  checked.compiler = now.compiler;
  checked.model_hash = now.model_hash;
  checked.program_hash = sideOf(now).program;
  for (const report::SimulatedStep& step : now.steps) checked.us += step.us;
  if (kept) checked.check = report::checkBaseline(*kept, now, {.most_regression = entry.most_regression});
  if (!entry.baseline.empty() && options.update) {
    SUBLANE_CHECK_OK(writeBaseline(entry.baseline, now));
    checked.updated = true;
  }
  if (!entry.budget.empty()) checkBudget(entry, now, checked.check);
  if (options.redact) {
    report::redact(checked.check, now, names);
    report::redact(now, names);
  }
  addFindings(now, options.redact ? names.of("program", entry.name) : entry.name, checked);
  return Ok{};
}

/// What an entry says of itself.
void redactEntry(report::Pseudonyms& names, Checked& checked) {
  Entry& entry = checked.entry;
  entry.name = names.of("program", entry.name);
  entry.subject = entry.config = entry.name;
  entry.inputs = "";
  if (!entry.baseline.empty()) entry.baseline = entry.name + ".baseline";
  entry.where = "project";
  entry.compile_options.clear();
  if (checked.error)
    checked.error = Error(checked.error->fault(), "it could not be checked; without --redact it says why");
}

}  // namespace

std::vector<Checked> checkAll(const std::vector<Entry>& entries, const Simulate& simulate,
                              const CheckOptions& options) {
  std::vector<Checked> all;
  report::Pseudonyms names;  // of all entries
  for (const Entry& entry : entries) {
    if (options.cancel && options.cancel->load()) break;
    Checked checked{.entry = entry};
    Status status = checkOne(simulate, options, names, checked);
    if (!status.ok()) checked.error = std::move(status).error();
    if (options.redact) redactEntry(names, checked);
    all.push_back(std::move(checked));
  }
  return all;
}

bool passed(const std::vector<Checked>& all) {
  return std::all_of(all.begin(), all.end(), [](const Checked& each) { return each.passed(); });
}

Status statusOf(const std::vector<Checked>& all) {
  for (const Checked& each : all)
    if (each.error) return Error(*each.error);
  const auto failed =
      std::count_if(all.begin(), all.end(), [](const Checked& each) { return !each.passed(); });
  if (failed == 0) return Ok{};
  const auto first = std::find_if(all.begin(), all.end(), [](const Checked& each) { return !each.passed(); });
  const std::string what =
      all.size() == 1 ? fmt::format("{} is slower than {} allows", first->entry.name,
                                    first->entry.baseline.empty() ? "its budget" : first->entry.baseline)
                      : fmt::format("{} of {} programs are slower than allowed", failed, all.size());
  return Error(Fault::kCheckFailed, "check: " + what)
      .hint("mend it, or accept it: --update writes baselines anew; budgets stand in sublane.toml");
}

}  // namespace sublane::gate
