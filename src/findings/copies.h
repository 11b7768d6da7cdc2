// Copies: what a copy of a compiled program copies, and why. Private to the folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "findings/dataflow.h"
#include "findings/rows.h"

namespace sublane::findings {

enum class CopyOf : uint8_t {
  kState,     // a donated argument, or what a loop or an update in place has made of it
  kArgument,  // another argument: a weight
  kOther,     // a value of the step
};

struct Copy {
  const report::SimulatedRow* row = nullptr;
  Spot spot;
  const llo::Shape* from = nullptr;
  const llo::Shape* to = nullptr;
  CopyOf of = CopyOf::kOther;
  int64_t argument = -1;
  bool same_layout = false;  // nothing but the place differs
  double us = 0;             // with the time in which its end is waited for
};

/// Of a row that was executed (or is estimated) and only moves a value, in any memory.
std::optional<Copy> copyOf(const Look& look, const report::SimulatedRow& row);
/// Copies of at least 1 MiB that updating in place would need not: within the HBM, or back to it after an
/// update of a whole argument elsewhere. What a prefetch brings into the VMEM is not one.
std::vector<Copy> wholeCopies(const Look& look);

/// The order of the dimensions that have more than one element, and their tiles, are the same.
bool isSameLayout(const llo::Shape& a, const llo::Shape& b);
/// "argument 3", "result 1", "fusion.12 (model.py:40)".
std::string whoMade(const Look& look, Spot value);
std::string whoWants(const Look& look, Spot value);
/// The rows of these copies and of their waits.
Rows rowsOf(const Look& look, const std::vector<const Copy*>& copies);

}  // namespace sublane::findings
