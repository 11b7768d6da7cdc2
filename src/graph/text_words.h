// Words that the printer and the parser of the text form share; private to graph/.
#pragma once

#include <array>
#include <string_view>

namespace sublane::graph {

// In the order of Comparison and of Role.
inline constexpr std::array<std::string_view, 6> kComparisonWords = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
inline constexpr std::array<std::string_view, 3> kRoleWords = {"input", "weight", "state"};

}  // namespace sublane::graph
