// Focus: the rows that a path of the model tree names. Private to the folder.
//
//   "layer.3.attention"   the parts attention, attention.core, ... of layer 3
//   "layer.*"             all layers
//   "attention.core"      that part of every layer
//   "fusion.12", "gather" one operation, or all of a kind
#pragma once

#include <string>
#include <vector>

#include "report/simulate.h"

namespace sublane::views {

/// By the rows' ids. Error: nothing is in focus; what could be, is listed.
Result<std::vector<char>> rowsInFocus(const report::SimulatedStep& step, const std::string& focus);

/// The step with those rows only; its totals stay the whole step's.
report::SimulatedStep focused(const report::SimulatedStep& step, const std::vector<char>& in_focus);

/// "layer.3.attention.core", "head", "(no part)": where a row stands.
std::string pathOf(const report::RowPlace& place);

}  // namespace sublane::views
