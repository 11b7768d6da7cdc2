// A gate for CI: the simulated time of a program's steps, kept in a text file that can be reviewed, and
// checked against.
//
//   SUBLANE_TRY(Baseline kept, parseBaseline(text, "decode.baseline"));
//   const BaselineCheck check = checkBaseline(kept, simulation, {.most_regression = 0.02});
//   if (!check.passed()) return checkFailed(check);
//
//   sublane baseline 1
//   chip v6e
//   compiler libtpu 0.0.52
//   model a044d8289be5
//   step decode us 1922.72 hbm_bytes 854123456 rung bundles
//     1668.26 gather attention.core
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/simulate.h"

namespace sublane::report {

struct BaselineLine {
  double us = 0;
  std::string kind, place;  // as in diff.h
};
struct BaselineStep {
  std::string name, rung;
  double us = 0;
  int64_t hbm_bytes = 0;
  int64_t line_number = 0;          // of the file that it was read from
  std::vector<BaselineLine> lines;  // the slowest first
};
struct Baseline {
  std::string chip, compiler, model;
  std::vector<BaselineStep> steps;
};

Baseline baselineOf(const Simulation& simulation);
/// A step's name, as the baseline writes it: in one word.
std::string baselineName(const SimulatedStep& step);
/// The same baseline gives the same bytes; times to 10 ns.
std::string toText(const Baseline& baseline);
/// Errors: file, line, what was expected there.
Result<Baseline> parseBaseline(std::string_view text, const std::string& where);

struct BaselineOptions {
  double most_regression = 0.02;  // relative, of a step's time and of its HBM bytes
};
/// One step against its baseline.
struct StepCheck {
  std::string name;
  bool passed = true;
  std::string reason;  // why not, or what to know all the same: "1.3 us (+4.1 %) slower than the
                       // baseline's 31.9 us; 2 % are allowed"
  double before_us = 0, after_us = 0;  // before: 0 without a baseline
  int64_t baseline_line = 0;           // of the step, in its baseline; 0: none
  struct Worst {
    BaselineLine before;
    double after_us = 0;
    std::string source;  // "model.py:42", if the program says
    std::string op;      // the slowest operation: "fusion.10"
  };
  std::vector<Worst> worst;  // lines that became slower, the most first
};
struct BaselineCheck {
  std::vector<StepCheck> steps;
  std::vector<std::string> notes;  // another compiler or model than the baseline's
  bool passed() const;
};
BaselineCheck checkBaseline(const Baseline& kept, const Simulation& now, const BaselineOptions& options);

/// Views of checks: gate/gate.h.

}  // namespace sublane::report
