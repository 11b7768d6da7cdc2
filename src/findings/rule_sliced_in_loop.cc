#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "findings/products.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

using llo::Computation;
using llo::Instruction;

constexpr int64_t kLarge = 1 << 16;

/// Part of the loop's state: what each iteration is given.
bool isLoopState(const Look& look, Spot value) {
  value = look.flow.producer(value);
  const Instruction& at = look.flow.at(value);
  return value.computation != look.flow.module().entry && at.is("get-tuple-element") &&
         !at.operands.empty() && look.flow.at(look.flow.operand(value, 0)).is("parameter");
}

bool isSlice(const Instruction& at) { return at.is("dynamic-slice") || at.is("slice"); }

/// A slice of a stacked array that stands in a loop by itself, not inside what uses it.
bool cutsOut(const Look& look, Spot spot, const report::SimulatedRow& row) {
  const Instruction& at = look.flow.at(spot);
  int64_t largest = 0;  // of several slices that one operation cuts out
  llo::forEachArray(at.shape,
                    [&](const llo::Shape& array) { largest = std::max(largest, llo::logicalBytes(array)); });
  if (largest < kLarge) return false;
  if (!isSlice(at) && !(at.is("fusion") && row.row.kind == "slice")) return false;
  for (size_t k = 0; k < at.operands.size(); ++k) {
    const Spot operand = look.flow.operand(spot, k);
    if (llo::logicalBytes(look.flow.at(operand).shape) > largest && isLoopState(look, operand)) return true;
  }
  return false;
}

/// The operand that a fusion writes into the loop's state by the update `root` of one of its results; not
/// found: it does not.
Spot putBackBy(const Look& look, Spot fusion, const Computation& inner, int32_t root) {
  while (inner.at(root).is("bitcast") && !inner.at(root).operands.empty()) root = inner.at(root).operands[0];
  const Instruction& update = inner.at(root);
  if (!update.is("dynamic-update-slice") || update.operands.size() < 2) return {};
  const int64_t state = parameterOf(look.flow.module(), inner, update.operands[0]);
  const int64_t written = parameterOf(look.flow.module(), inner, update.operands[1]);
  const int64_t operands = std::ssize(look.flow.at(fusion).operands);
  if (state < 0 || written < 0 || state >= operands || written >= operands) return {};
  if (!isLoopState(look, look.flow.operand(fusion, static_cast<size_t>(state)))) return {};
  return look.flow.operand(fusion, static_cast<size_t>(written));
}

/// What an operation writes into the loop's state by updates of slices.
std::vector<Spot> putsBack(const Look& look, Spot spot) {
  const Instruction& at = look.flow.at(spot);
  if (at.is("dynamic-update-slice") && at.operands.size() >= 2) {
    if (!isLoopState(look, look.flow.operand(spot, 0))) return {};
    return {look.flow.operand(spot, 1)};
  }
  if (!at.is("fusion") || at.called.size() != 1) return {};
  const Computation& inner = look.flow.module().at(at.called[0]);
  std::vector<int32_t> results = {inner.root};
  if (inner.at(inner.root).is("tuple")) results = inner.at(inner.root).operands;
  std::vector<Spot> written;
  for (const int32_t result : results)
    if (const Spot each = putBackBy(look, spot, inner, result); each.found()) written.push_back(each);
  return written;
}

/// The operations from which a value comes by moves and updates in place, back to a slice that is cut out of
/// the loop's state. Empty: it comes from elsewhere.
std::vector<Spot> wayFromSlice(const Look& look, Spot value) {
  std::vector<Spot> way;
  const int64_t bytes = llo::logicalBytes(look.flow.at(value).shape);
  for (int depth = 0; depth < 64; ++depth) {
    value = look.flow.producer(value);
    const Instruction& at = look.flow.at(value);
    const report::SimulatedRow* row = rowOf(look.evidence, at.name);
    if (row == nullptr) return {};
    way.push_back(value);
    if (cutsOut(look, value, *row)) return way;
    const bool moves = at.is("copy") || at.is("dynamic-update-slice") ||
                       (at.is("fusion") && (row->row.kind == "copy" || row->row.kind == "update slice" ||
                                            row->row.kind == "slice" || row->row.kind == "scatter"));
    if (!moves) return {};
    size_t next = at.operands.size();
    for (size_t k = 0; k < at.operands.size(); ++k)
      if (llo::logicalBytes(look.flow.at(look.flow.operand(value, k)).shape) == bytes) next = k;
    if (next == at.operands.size()) return {};
    value = look.flow.operand(value, next);
  }
  return {};
}

struct Found {
  std::set<int32_t> put_back, cut_out;  // rows
};

Found findSlices(const Look& look) {
  Found found;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const Spot spot = look.flow.spotOf(row.row.op);
    if (!spot.found() || spot.computation == look.flow.module().entry) continue;
    const std::vector<Spot> put_back = putsBack(look, spot);
    for (const Spot written : put_back) {
      if (llo::logicalBytes(look.flow.at(written).shape) < kLarge) continue;
      const std::vector<Spot> way = wayFromSlice(look, written);
      if (!way.empty()) found.put_back.insert(row.row.id);
      for (const Spot each : way)
        if (const report::SimulatedRow* on = rowOf(look.evidence, look.flow.at(each).name))
          found.put_back.insert(on->row.id);
    }
    if (put_back.empty() && cutsOut(look, spot, row)) found.cut_out.insert(row.row.id);
  }
  for (const int32_t id : found.put_back) found.cut_out.erase(id);
  return found;
}

std::optional<Edit> unrolled(const Look& look) {
  if (!look.evidence.layers_in_loop) return std::nullopt;
  return Edit{.kind = EditKind::kModelOption, .option = "layers", .value = "unrolled"};
}

/// BEFORE  loop: %c = dynamic-slice(%caches, layer); %n = dynamic-update-slice(%c, row); put back whole
/// AFTER   loop: dynamic-update-slice(%caches, row, {layer, ...}); what reads a layer reads it where it lies
std::vector<Finding> look(const Look& look) {
  const Found slices = findSlices(look);
  std::vector<Finding> found;
  const auto add = [&](const std::set<int32_t>& ids, double least, const std::string& what,
                       std::string cure) {
    const Rows rows =
        pick(look.evidence, [&](const report::SimulatedRow& row) { return ids.count(row.row.id) > 0; });
    if (rows.empty() || look.evidence.percent(rows.us) < least) return;
    Finding finding = about(rows, "sliced-in-loop");
    finding.what = fmt::format("{}: {} in a loop take {}, {} moved", named(rows), what,
                               timeOf(look.evidence, rows.us), formatBytes(static_cast<double>(rows.bytes)));
    finding.cure =
        look.evidence.layers_in_loop ? "--layers unrolled reads and updates it in place" : std::move(cure);
    finding.edit = unrolled(look);
    found.push_back(std::move(finding));
  };
  add(slices.put_back, 2, "slices that are cut out of stacked state, updated in part, and put back whole",
      "carry the stacked state through the loop and update only the rows that change, in place");
  add(slices.cut_out, 3, "slices cut out of stacked arrays before they are used",
      "read the array in place (in the operation that uses it), or split it into one argument each");
  return found;
}

}  // namespace

extern const Rule rule_sliced_in_loop;
const Rule rule_sliced_in_loop{
    "sliced-in-loop", "slices of stacked arrays that stand in a loop by themselves", Rank::kPattern, look};

}  // namespace sublane::findings
