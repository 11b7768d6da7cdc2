#include "findings/findings.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
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

std::vector<Finding> findingsOf(const Evidence& evidence) {
  std::vector<Finding> all;
  if (evidence.step.rung != report::Rung::kBundles) return all;
  for (const Rule* rule : kRules) {
    for (Finding& finding : rule->look(evidence)) all.push_back(std::move(finding));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_us > b.gain_us; });
  return all;
}

std::string toText(const std::vector<Finding>& findings, const Evidence& evidence, int64_t top) {
  if (findings.empty()) return "";
  std::string text = "  Look first at\n";
  for (size_t i = 0; i < findings.size() && (top <= 0 || static_cast<int64_t>(i) < top); ++i) {
    const Finding& finding = findings[i];
    text += report::wrapped(fmt::format("{}. {}", i + 1, finding.what), "   ", "      ");
    text += report::wrapped(fmt::format("{}: {:.1f} us at most ({:.0f} %; assumed)", finding.cure,
                                        finding.gain_us, evidence.percent(finding.gain_us)),
                            "      -> ", "         ");
    if (finding.sources.empty()) continue;
    text +=
        report::wrapped(fmt::format("at {}", escaped(fmt::format("{}", fmt::join(finding.sources, ", ")))),
                        "      ", "      ");
  }
  return text;
}

}  // namespace sublane::findings
