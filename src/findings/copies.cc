#include "findings/copies.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace sublane::findings {
namespace {

using llo::Instruction;
using llo::Shape;

constexpr int64_t kLarge = 1 << 20;

/// What a copy writes: of an asynchronous one the first element.
const Shape* resultOf(const Instruction& at) {
  if (!at.shape.isTuple()) return &at.shape;
  if (at.is("copy-start") && !at.shape.elements.empty()) return at.shape.elements.data();
  return nullptr;
}

std::string named(const Instruction& at) {
  if (at.metadata.source_file.empty()) return escaped(at.name);
  std::string_view file = at.metadata.source_file;
  file = file.substr(std::min(file.find_last_of('/') + 1, file.size()));
  return escaped(fmt::format("{} ({}:{})", at.name, file, at.metadata.source_line));
}

bool isOutput(const Look& look, Spot value) {
  return value.computation == look.flow.module().entry &&
         value.instruction == look.flow.module().entryComputation().root;
}

}  // namespace

bool isSameLayout(const Shape& a, const Shape& b) {
  const auto order = [](const Shape& shape) {
    std::vector<int64_t> large;
    for (int64_t dimension : shape.layout.minor_to_major) {
      if (dimension >= 0 && dimension < std::ssize(shape.dims) &&
          shape.dims[static_cast<size_t>(dimension)] > 1)
        large.push_back(dimension);
    }
    return large;
  };
  return a.type == b.type && a.dims == b.dims && order(a) == order(b) && a.layout.tiles == b.layout.tiles;
}

std::optional<Copy> copyOf(const Look& look, const report::SimulatedRow& row) {
  const Spot spot = look.flow.spotOf(row.row.op);
  if (!spot.found() || look.flow.at(spot).operands.empty()) return std::nullopt;
  const Instruction& at = look.flow.at(spot);
  const bool moves = at.is("copy") || at.is("copy-start") || at.is("transpose") ||
                     (at.is("fusion") && row.row.kind == "copy" && at.operands.size() == 1);
  const Shape* to = resultOf(at);
  if (!moves || to == nullptr) return std::nullopt;
  Copy copy{.row = &row, .spot = spot, .from = &look.flow.at(look.flow.operand(spot, 0)).shape, .to = to};
  if (copy.from->isTuple()) return std::nullopt;
  copy.same_layout = !at.is("transpose") && isSameLayout(*copy.from, *copy.to);
  const WholeArgument whole = look.flow.wholeArgument(look.flow.operand(spot, 0));
  copy.argument = whole.argument;
  if (whole.argument >= 0)
    copy.of = whole.updated || look.flow.donatedTo(whole.argument) >= 0 ? CopyOf::kState : CopyOf::kArgument;
  for (const report::SimulatedRow* each : withWait(look, row)) copy.us += each->row.us;
  return copy;
}

std::vector<Copy> wholeCopies(const Look& look) {
  std::vector<Copy> found;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    std::optional<Copy> copy = copyOf(look, row);
    if (!copy || copy->us <= 0 || llo::logicalBytes(*copy->from) < kLarge) continue;
    if (copy->to->memory() != llo::Memory::kHbm) continue;  // a prefetch
    const bool within = copy->from->memory() == llo::Memory::kHbm;
    const bool updated =
        !within && look.flow.wholeArgument(look.flow.operand(copy->spot, 0)).updated && copy->argument >= 0;
    const bool whole = (within && (copy->same_layout || copy->of != CopyOf::kOther)) || updated;
    if (whole) found.push_back(*copy);
  }
  return found;
}

std::string whoMade(const Look& look, Spot value) {
  const Instruction& at = look.flow.at(look.flow.producer(value));
  if (at.is("parameter") && value.computation == look.flow.module().entry)
    return fmt::format("argument {}", at.parameter_number);
  if (at.is("parameter") || at.is("get-tuple-element")) return "the loop's state";
  return named(at);
}

std::string whoWants(const Look& look, Spot value) {
  std::string names;
  std::set<std::string> seen;
  for (const Spot user : look.flow.consumers(value)) {
    const Instruction& at = look.flow.at(user);
    const bool tuple = at.is("tuple");
    const std::string name =
        tuple ? (isOutput(look, user) ? "the program's results" : "the loop's state") : named(at);
    if (seen.size() >= 2 || !seen.insert(name).second) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return isOutput(look, value) ? "the program's result" : "nothing";
  return names;
}

Rows rowsOf(const Look& look, const std::vector<const Copy*>& copies) {
  std::set<int32_t> ids;
  for (const Copy* copy : copies)
    for (const report::SimulatedRow* row : withWait(look, *copy->row)) ids.insert(row->row.id);
  return pick(look.evidence, [&](const report::SimulatedRow& row) { return ids.count(row.row.id) > 0; });
}

}  // namespace sublane::findings
