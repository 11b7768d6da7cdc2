#include "findings/findings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "findings/dataflow.h"
#include "report/text_parts.h"

namespace sublane::findings {

#define SUBLANE_ENTRY(rule) extern const Rule rule;
#include "rules.inc"
#undef SUBLANE_ENTRY

static const Rule* const kRules[] = {
#define SUBLANE_ENTRY(rule) &rule,
#include "rules.inc"
#undef SUBLANE_ENTRY
};

std::span<const Rule* const> allRules() { return kRules; }

const llo::HloModule& Evidence::module() const {
  static const llo::HloModule kNone;
  return step.module ? *step.module : kNone;
}

std::vector<int32_t> Finding::rows() const {
  std::vector<int32_t> ids;
  for (const Saving& saving : savings) ids.push_back(saving.row);
  return ids;
}

namespace {

/// What is left to be saved of a row, and whether a finding says already why it takes its time.
struct Left {
  double us = 0;
  bool explained = false;
};
using Rows = std::map<int32_t, Left>;

/// Takes a finding's savings from what is left of its rows; symptoms get nothing of rows that are explained.
/// False, and nothing is taken, if little of them is left: another finding says why that time passes.
bool take(Finding& finding, Rank rank, const report::SimulatedStep& step, Rows& rows) {
  constexpr double kLeastShare = 0.3, kExplains = 0.2;
  const double wanted = finding.gain_us;
  double gain = 0;
  for (Saving& saving : finding.savings) {
    const Left& left = rows[saving.row];
    const bool none = rank == Rank::kSymptom && left.explained;
    saving.us = none ? 0 : std::max(0.0, std::min(saving.us, left.us));
    gain += saving.us;
  }
  if (wanted > 0 && gain < kLeastShare * wanted) return false;
  for (const Saving& saving : finding.savings) {
    Left& left = rows[saving.row];
    left.us -= saving.us;
    const auto row = static_cast<size_t>(saving.row);
    if (row < step.rows.size() && saving.us > kExplains * step.rows[row].row.us) left.explained = true;
  }
  finding.gain_us = gain;
  return true;
}

struct Ranked {
  Finding finding;
  Rank rank;
  /// Something with a known cure that is worth doing: it stands before all that only says where time passes.
  bool first = false;
};

bool gainsMore(const Ranked& a, const Ranked& b) {
  return std::pair(a.first, a.finding.gain_us) > std::pair(b.first, b.finding.gain_us);
}

}  // namespace

std::vector<Finding> findingsOf(const Evidence& evidence) {
  const Dataflow flow(evidence.module());
  const Look look{evidence, flow};
  Rows rows;
  for (const report::SimulatedRow& row : evidence.step.rows) rows[row.row.id].us = row.row.us;
  std::vector<Ranked> all;
  for (const Rank rank : {Rank::kCause, Rank::kPattern, Rank::kSymptom}) {
    std::vector<Ranked> found;
    for (const Rule* rule : kRules) {
      if (rule->rank != rank) continue;
      for (Finding& finding : rule->look(look)) found.push_back({std::move(finding), rank});
    }
    std::stable_sort(found.begin(), found.end(), gainsMore);
    for (Ranked& each : found)
      if (take(each.finding, rank, evidence.step, rows)) all.push_back(std::move(each));
  }
  constexpr double kWorthDoing = 5;  // percent of the step
  for (Ranked& each : all)
    each.first = each.rank != Rank::kSymptom && evidence.percent(each.finding.gain_us) >= kWorthDoing;
  std::stable_sort(all.begin(), all.end(), gainsMore);
  std::vector<Finding> findings;
  for (Ranked& each : all) findings.push_back(std::move(each.finding));
  return findings;
}

std::string toText(const std::vector<Finding>& findings, const Evidence& evidence, int64_t top) {
  if (findings.empty()) return "";
  std::string text = "  Look first at\n";
  for (size_t i = 0; i < findings.size() && (top <= 0 || static_cast<int64_t>(i) < top); ++i) {
    const Finding& finding = findings[i];
    text += report::wrapped(fmt::format("{}. {}", i + 1, finding.what), "   ", "      ");
    for (const std::string& line : finding.evidence) text += report::wrapped(line, "      ", "        ");
    const std::string gain = std::abs(evidence.percent(finding.gain_us)) < 0.1
                                 ? std::string("no time")
                                 : fmt::format("{:.1f} us ({:.0f} %; {})", finding.gain_us,
                                               evidence.percent(finding.gain_us), name(finding.gain_origin));
    text += report::wrapped(fmt::format("{}: {}", finding.cure, gain), "      -> ", "         ");
    if (finding.sources.empty()) continue;
    text +=
        report::wrapped(fmt::format("at {}", escaped(fmt::format("{}", fmt::join(finding.sources, ", ")))),
                        "      ", "      ");
  }
  return text;
}

}  // namespace sublane::findings
