// Composes small listings for the tests, from the grammar as docs/simulator.md tells it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace sublane::llo {

/// The key of the marks and one line a bundle; the bundles are numbered here. A line is what stands after the
/// number: ":  { ... }", "LB: > {}".
inline std::string listingOf(const std::vector<std::string>& lines) {
  std::string text = "= control target key start\nLB: loop body\n= control target key end\n\n";
  for (size_t b = 0; b < lines.size(); ++b)
    text += b == 0 ? fmt::format("     0   {}\n", lines[b]) : fmt::format("{:#6x} {}\n", b, lines[b]);
  return text;
}

}  // namespace sublane::llo
