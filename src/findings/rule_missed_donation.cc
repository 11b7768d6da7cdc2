#include <algorithm>
#include <set>

#include "base/units.h"
#include "findings/copies.h"

namespace sublane::findings {
namespace {

constexpr int64_t kLarge = 1 << 20;

/// Rows that write the whole buffer anew on the way from the argument to the output.
Rows copiesFor(const Look& look, int64_t argument) {
  std::vector<Copy> copies;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const std::optional<Copy> copy = copyOf(look, row);
    if (copy && copy->argument == argument && copy->to->memory() == llo::Memory::kHbm)
      copies.push_back(*copy);
  }
  std::vector<const Copy*> all;
  for (const Copy& copy : copies) all.push_back(&copy);
  return rowsOf(look, all);
}

bool isTaken(const Look& look, int64_t output) {
  const auto& aliases = look.flow.module().aliases;
  return std::any_of(aliases.begin(), aliases.end(), [&](const llo::InputOutputAlias& alias) {
    return alias.output_index == std::vector<int64_t>{output};
  });
}

/// BEFORE  (cache) -> dynamic-update-slice(copy(cache), row)      a second buffer, and a copy
/// AFTER   the argument is donated: its buffer becomes the result's
std::vector<Finding> look(const Look& look) {
  std::vector<Finding> found;
  const std::vector<Spot> outputs = look.flow.outputs();
  std::set<int64_t> given;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const WholeArgument whole = look.flow.wholeArgument(outputs[k]);
    if (whole.argument < 0 || !whole.updated || look.flow.donatedTo(whole.argument) >= 0) continue;
    if (isTaken(look, static_cast<int64_t>(k)) || !given.insert(whole.argument).second) continue;
    const llo::Shape& shape = look.flow.at(look.flow.parameter(whole.argument)).shape;
    const llo::Shape& result = look.flow.at(outputs[k]).shape;
    if (shape.type != result.type || shape.dims != result.dims || llo::paddedBytes(shape) < kLarge) continue;
    const Rows rows = copiesFor(look, whole.argument);
    Finding finding = about(rows, "missed-donation");
    finding.what = fmt::format(
        "argument {} ({}) is updated and returned as result {}, but not donated: a second buffer of {}, and "
        "copies of {}",
        whole.argument, llo::toString(shape), k, formatBytes(static_cast<double>(llo::paddedBytes(shape))),
        timeOf(look.evidence, rows.us));
    finding.cure = "donate it (donate_argnums in JAX): its buffer becomes the result's";
    finding.edit =
        Edit{.kind = EditKind::kDonate, .argument = whole.argument, .output = static_cast<int64_t>(k)};
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace

extern const Rule rule_missed_donation;
const Rule rule_missed_donation{"missed-donation", "arguments that are updated and returned, but not donated",
                                Rank::kCause, look};

}  // namespace sublane::findings
