#include "findings/rows.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"

namespace sublane::findings {
namespace {

constexpr size_t kMostNamed = 4;

std::string nameOf(const report::Row& row) {
  const std::string& place = row.place.part.empty() ? row.op : row.place.part;
  return escaped(place) + " " + row.kind;
}

}  // namespace

int64_t Rows::cyclesOf(std::span<const events::Cause> wanted) const {
  int64_t sum = 0;
  for (const events::Cause cause : wanted) sum += causes[static_cast<size_t>(cause)];
  return sum;
}

Rows pick(const Evidence& evidence, const std::function<bool(const report::SimulatedRow&)>& wanted) {
  Rows found;
  for (const report::SimulatedRow& row : evidence.step.rows) {
    if (!wanted(row)) continue;
    found.us += row.row.us;
    found.hbm_us += row.row.hbm_us;
    found.mxu_us += row.row.mxu_us;
    found.count += row.row.count;
    found.cycles += row.row.cycles;
    found.bytes += row.row.hbm_bytes;
    for (size_t i = 0; i < found.causes.size(); ++i) found.causes[i] += row.causes[i];
    found.rows.push_back(&row);
  }
  std::stable_sort(found.rows.begin(), found.rows.end(),
                   [](const auto* a, const auto* b) { return a->row.us > b->row.us; });
  return found;
}

double share(const report::SimulatedRow& row, std::span<const events::Cause> wanted) {
  int64_t sum = 0;
  for (const events::Cause cause : wanted) sum += row.causes[static_cast<size_t>(cause)];
  return row.row.cycles > 0 ? static_cast<double>(sum) / static_cast<double>(row.row.cycles) : 0;
}

std::vector<Finding> findingsOfCauses(const Evidence& evidence, const CauseRule& rule) {
  const Rows rows = pick(
      evidence, [&](const report::SimulatedRow& row) { return share(row, rule.causes) > rule.least_share; });
  const double spent = evidence.us(rows.cyclesOf(rule.causes));
  if (rows.empty() || evidence.percent(spent) < rule.least_percent) return {};
  Finding finding = about(rows, rule.rule);
  finding.what =
      fmt::format("{}: {:.1f} us ({:.0f} %) {}", named(rows), spent, evidence.percent(spent), rule.what);
  if (rule.says_executions) finding.what += fmt::format(" in {} executions", formatCount(rows.count));
  finding.cure = rule.cure;
  finding.gain_us = spent;
  return {std::move(finding)};
}

Finding about(const Rows& rows, std::string_view rule) {
  Finding finding{.rule = rule, .us = rows.us};
  std::set<std::string> seen;
  for (const report::SimulatedRow* row : rows.rows) {
    if (finding.ops.size() < kMostNamed) finding.ops.push_back(row->row.op);
    if (!row->row.source.empty() && finding.sources.size() < kMostNamed &&
        seen.insert(row->row.source).second)
      finding.sources.push_back(row->row.source);
  }
  return finding;
}

std::string named(const Rows& rows) {
  if (rows.empty()) return "nothing";
  std::map<std::string, double> us;
  for (const report::SimulatedRow* row : rows.rows) us[nameOf(row->row)] += row->row.us;
  const auto slowest = std::max_element(us.begin(), us.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (us.size() == 1) return slowest->first;
  return fmt::format("{} and {} more", slowest->first, formatCount(std::ssize(us) - 1));
}

}  // namespace sublane::findings
