#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "findings/copies.h"

namespace sublane::findings {
namespace {

constexpr int64_t kLarge = 1 << 20;

/// A value before all that only moves it, and what does.
struct Unmoved {
  Spot value;
  std::vector<Spot> moves;
};
Unmoved unmoved(const Look& look, Spot value) {
  Unmoved origin{.value = value};
  for (int depth = 0; depth < 200; ++depth) {
    origin.value = look.flow.producer(origin.value);
    const llo::Instruction& at = look.flow.at(origin.value);
    if (!at.is("copy") || at.operands.empty()) break;
    origin.moves.push_back(origin.value);
    origin.value = look.flow.operand(origin.value, 0);
  }
  return origin;
}

/// Asynchronous copies that write the value to the HBM are moves, too.
Rows movesTo(const Look& look, Spot output) {
  std::set<std::string> ops;
  Spot value = output;
  for (int depth = 0; depth < 200; ++depth) {
    const llo::Instruction& at = look.flow.at(value);
    const bool move = at.is("copy") || at.is("copy-start") || at.is("copy-done");
    if (move) ops.insert(at.name);
    if ((!move && !at.is("bitcast")) || at.operands.empty()) break;
    value = look.flow.operand(value, 0);
  }
  return pick(look.evidence, [&](const report::SimulatedRow& row) { return ops.count(row.row.op) > 0; });
}

Finding dropped(const Look& look, Spot output, size_t number, const std::string& because) {
  const Rows rows = movesTo(look, output);
  Finding finding = about(rows, "unused-outputs");
  finding.what =
      fmt::format("result {} ({}) {}: {} and {} of memory for it", number,
                  llo::toString(look.flow.at(output).shape), because, timeOf(look.evidence, rows.us),
                  formatBytes(static_cast<double>(llo::paddedBytes(look.flow.at(output).shape))));
  finding.cure = "do not return it";
  finding.edit = Edit{.kind = EditKind::kDropOutput, .output = static_cast<int64_t>(number)};
  return finding;
}

/// Results of kernels that are written to the HBM and never read.
std::vector<Finding> unusedResults(const Look& look) {
  std::vector<Finding> found;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const Spot spot = look.flow.spotOf(row.row.op);
    if (!spot.found()) continue;
    const llo::Instruction& at = look.flow.at(spot);
    if (!at.is("custom-call") || !at.shape.isTuple()) continue;
    std::set<int64_t> used;
    bool whole = spot.instruction == look.flow.computation(spot).root;  // returned as they are
    for (const Spot user : look.flow.users(spot)) {
      const llo::Instruction& element = look.flow.at(user);
      whole |= !element.is("get-tuple-element");
      if (!look.flow.users(user).empty() || user.instruction == look.flow.computation(user).root)
        used.insert(element.tuple_index);
    }
    for (const llo::OutputAlias& alias : at.aliases)  // written in place, if at all
      if (!alias.output_index.empty()) used.insert(alias.output_index[0]);
    double bytes = 0;
    for (size_t k = 0; k < at.shape.elements.size(); ++k)
      if (used.count(static_cast<int64_t>(k)) == 0 && at.shape.elements[k].memory() == llo::Memory::kHbm)
        bytes += static_cast<double>(llo::paddedBytes(at.shape.elements[k]));
    const bool executed = look.evidence.step.rung == report::Rung::kBundles;
    const double wrote =
        static_cast<double>(row.hbm_write_bytes) / static_cast<double>(std::max<int64_t>(1, row.row.count));
    if (whole || bytes < kLarge || (executed && wrote < bytes)) continue;
    const Rows rows = pick(look.evidence, [&](const auto& other) { return other.row.id == row.row.id; });
    Finding finding = about(rows, "unused-outputs");
    save(finding, rows, [&](const report::SimulatedRow& each) {
      return look.evidence.hbmUs(bytes * static_cast<double>(each.row.count));
    });
    if (look.evidence.percent(finding.gain_us) < 1) continue;
    finding.what = fmt::format("{}: the kernel writes {} of results that nothing reads", named(rows),
                               formatBytes(bytes));
    finding.cure = "a variant of the kernel without that result";
    found.push_back(std::move(finding));
  }
  return found;
}

std::vector<Finding> look(const Look& look) {
  std::vector<Finding> found = unusedResults(look);
  std::map<Spot, size_t> before;
  const std::vector<Spot> outputs = look.flow.outputs();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const llo::Shape& shape = look.flow.at(outputs[k]).shape;
    if (shape.isTuple() || llo::paddedBytes(shape) < kLarge) continue;
    const Unmoved origin = unmoved(look, outputs[k]);
    const auto [first, is_first] = before.try_emplace(origin.value, k);
    const llo::Instruction& at = look.flow.at(origin.value);
    const bool argument = at.is("parameter");
    if (argument && look.flow.donatedTo(at.parameter_number) >= 0) continue;  // it stays where it is
    if (argument) {
      found.push_back(
          dropped(look, outputs[k], k, fmt::format("is argument {}, unchanged", at.parameter_number)));
    } else if (!is_first) {
      found.push_back(dropped(look, outputs[k], k, fmt::format("is result {} again", first->second)));
    } else if (!look.flow.dependsOnArguments(origin.value)) {
      found.push_back(dropped(look, outputs[k], k, "is a constant"));
    }
  }
  return found;
}

}  // namespace

extern const Rule rule_unused_outputs;
const Rule rule_unused_outputs{
    "unused-outputs", "results that are arguments, constants or one another, or unused", Rank::kCause, look};

}  // namespace sublane::findings
