// The gate: simulates the entries of a project, compares each with its baseline and its budget, and says what
// became slower, at the user's own source. Views: text, JSON, JUnit's XML, SARIF.
//
//   const std::vector<Checked> all = checkAll(entries, simulate, {});
//   fmt::print("{}", toText(all));
//   return passed(all) ? 0 : 1;
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gate/project.h"
#include "report/baseline.h"
#include "report/simulate.h"
#include "views/sarif.h"

namespace sublane::gate {

struct Checked {
  Entry entry;
  report::BaselineCheck check;               // of a budget's steps, too
  std::optional<Error> error;                // why there is nothing to check
  bool updated = false;                      // the baseline was written instead
  std::vector<views::SarifResult> findings;  // of all its steps
  std::string compiler, model_hash, program_hash;
  double us = 0;  // of all its steps
  bool passed() const { return !error && check.passed(); }
};

using Simulate = std::function<Result<report::Simulation>(const Entry&)>;
struct CheckOptions {
  bool update = false;
  bool redact = false;  // names are stripped from what is shown; baselines keep theirs
  const std::atomic<bool>* cancel = nullptr;
};
/// One after the other; an entry that cannot be checked does not keep the others from it.
std::vector<Checked> checkAll(const std::vector<Entry>& entries, const Simulate& simulate,
                              const CheckOptions& options);

bool passed(const std::vector<Checked>& all);
/// The first error; else that a check failed.
Status statusOf(const std::vector<Checked>& all);

std::string toText(const std::vector<Checked>& all);
/// Schema "sublane.check/1".
std::string toJson(const std::vector<Checked>& all);
/// JUnit's XML: a suite an entry, a case a step.
std::string toJunit(const std::vector<Checked>& all);
/// SARIF 2.1.0: what became slower (error) at the user's source where it is known, and what was found
/// (warning, note).
std::string toSarif(const std::vector<Checked>& all);

}  // namespace sublane::gate
