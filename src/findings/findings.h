// Findings: why a step is slow, one rule a file. A rule looks at what was executed (times, bytes and causes
// of every operation), at its anatomy (kernels, loops, transfers) and at the compiled program; it says what
// it costs, by which evidence, and which edit would cure it. Rules go by what happened, never by names.
//
// Several rules may see the same time. Each says how much of which row it would save, and a row's time is
// given away once: to causes before what they bring about, so that the gains add up to the step's at most.
//
//   for (const Finding& finding : findingsOf({step, *chip, clock_hz})) fmt::print("{}\n", finding.what);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/edit.h"
#include "report/anatomy.h"
#include "report/simulate.h"

namespace sublane::findings {

/// A step, and what is needed to judge it. On a lower rung the anatomy is empty and rows have no causes:
/// rules over them stay silent, those over the program still speak.
struct Evidence {
  const report::SimulatedStep& step;
  const chips::Chip& chip;
  double clock_hz = 0;
  bool layers_in_loop = false;  // of one of our models: the option that unrolls them can be changed

  const report::Anatomy& anatomy() const { return step.anatomy; }
  const llo::HloModule& module() const;  // without one: an empty one
  double us(int64_t cycles) const { return clock_hz > 0 ? 1e6 * static_cast<double>(cycles) / clock_hz : 0; }
  double hbmUs(double bytes) const { return 1e6 * bytes / chip.hbm_bytes_per_second; }
  double percent(double us) const { return step.us > 0 ? 100 * us / step.us : 0; }
};

/// What a cure takes off a row's time.
struct Saving {
  int32_t row = -1;  // id
  double us = 0;
};

struct Finding {
  std::string_view rule;                  // "row-by-row"
  std::string what{};                     // a sentence with its numbers
  std::string cure{};                     // the edit, in words
  std::vector<std::string> ops{};         // the slowest first; a few
  std::vector<std::string> sources{};     // their lines in the user's program, where it says them
  std::vector<std::string> evidence{};    // short lines: numbers with their origin, layouts, loops
  std::vector<Saving> savings{};          // by row; what is left of them after rules that come first
  double us = 0;                          // what these operations take
  double gain_us = 0;                     // what the cure would save at most: the savings' sum
  Origin gain_origin = Origin::kAssumed;  // simulated once the edit was made and the program ran again
  std::optional<Edit> edit{};             // where it is mechanical

  std::vector<int32_t> rows() const;  // ids
};

class Dataflow;
struct Look {
  const Evidence& evidence;
  const Dataflow& flow;  // of the module
};

/// Who is served first where several rules would save the same time.
enum class Rank : uint8_t {
  kCause,    // something that need not be there at all, by an edit that is known
  kPattern,  // a known pattern in certain operations
  kSymptom,  // a limit that says where, but hardly why
};

struct Rule {
  std::string_view name, summary;
  Rank rank{};
  std::vector<Finding> (*look)(const Look& look);
};

/// All rules, by name; the list is written by CMake from the file names.
std::span<const Rule* const> allRules();

/// What all rules find, the largest gain first; but what has a known cure and is worth a twentieth of the
/// step stands before symptoms, however large.
std::vector<Finding> findingsOf(const Evidence& evidence);

/// "Look first at", the first `top` of them; empty if there are none.
std::string toText(const std::vector<Finding>& findings, const Evidence& evidence, int64_t top);

}  // namespace sublane::findings
