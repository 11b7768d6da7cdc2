// Findings: why a step is slow, one rule a file. A rule looks at what was executed (times, bytes and causes
// of every operation), says what it costs, and which edit would cure it. Rules go by what happened, never by
// names.
//
//   for (const Finding& finding : findingsOf({step, *chip, clock_hz})) fmt::print("{}\n", finding.what);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/simulate.h"

namespace sublane::findings {

/// A step that stands on the bundles, and what is needed to judge it.
struct Evidence {
  const report::SimulatedStep& step;
  const chips::Chip& chip;
  double clock_hz = 0;

  double us(int64_t cycles) const { return 1e6 * static_cast<double>(cycles) / clock_hz; }
  double percent(double us) const { return step.us > 0 ? 100 * us / step.us : 0; }
};

struct Finding {
  std::string_view rule;             // "row-by-row"
  std::string what;                  // a sentence with its numbers (simulated)
  std::string cure;                  // the edit
  std::vector<std::string> ops;      // the slowest first; a few
  std::vector<std::string> sources;  // their lines in the user's program, where it says them
  double us = 0;                     // what these operations take
  double gain_us = 0;                // what the cure would save at most: an estimate (assumed)
};

struct Rule {
  std::string_view name, summary;
  std::vector<Finding> (*look)(const Evidence& evidence);
};

/// All rules, by name; the list is written by CMake from the file names.
std::span<const Rule* const> allRules();

/// What all rules find, the largest gain first. A step on a lower rung has no causes, and gives nothing.
std::vector<Finding> findingsOf(const Evidence& evidence);

/// "Look first at", the first `top` of them; empty if there are none.
std::string toText(const std::vector<Finding>& findings, const Evidence& evidence, int64_t top);

}  // namespace sublane::findings
