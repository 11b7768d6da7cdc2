#include <algorithm>

#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

bool has(const report::SimulatedRow& row, report::Flag flag) {
  return std::find(row.row.flags.begin(), row.row.flags.end(), flag) != row.row.flags.end();
}

Finding copies(const Evidence& evidence, const Rows& rows, std::string_view buffer, std::string cure) {
  Finding finding = about(rows, "whole-copies");
  finding.what = fmt::format("{}: {} copies of a whole {} take {:.1f} us ({:.0f} %), {} moved", named(rows),
                             formatCount(rows.count), buffer, rows.us, evidence.percent(rows.us),
                             formatBytes(static_cast<double>(rows.bytes)));
  finding.cure = std::move(cure);
  finding.gain_us = rows.us;
  return finding;
}

/// Copies that were executed: what may alias and did, took no time and has no row.
std::vector<Finding> look(const Evidence& evidence) {
  std::vector<Finding> found;
  const auto executed = [&](report::Flag flag) {
    return pick(evidence, [&](const report::SimulatedRow& row) { return has(row, flag) && row.row.us > 0; });
  };
  const Rows state = executed(report::Flag::kWholeState), weights = executed(report::Flag::kWholeArgument);
  if (!state.empty() && evidence.percent(state.us) >= 1) {
    found.push_back(copies(evidence, state, "donated buffer (the cache)",
                           "update it in place, in the layout that its argument has"));
  }
  if (!weights.empty() && evidence.percent(weights.us) >= 1) {
    found.push_back(copies(evidence, weights, "argument (a weight)",
                           "store it in the layout that the program wants, once"));
  }
  return found;
}

}  // namespace

extern const Rule rule_whole_copies;
const Rule rule_whole_copies{"whole-copies", "copies of whole caches and weights in each step", look};

}  // namespace sublane::findings
