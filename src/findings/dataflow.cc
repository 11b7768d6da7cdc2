#include "findings/dataflow.h"

#include <algorithm>
#include <set>

#include "report/kind.h"

namespace sublane::findings {
namespace {

using llo::Computation;
using llo::Instruction;

constexpr int kDeepest = 200;  // steps back from a value: foreign programs may be deep

/// Bodies of loops begin anew with each iteration; what a fusion computes is asked of the fusion.
bool isArgument(const llo::HloModule& module, int32_t computation, const Instruction& at) {
  return at.is("parameter") && computation == module.entry;
}

}  // namespace

Dataflow::Dataflow(const llo::HloModule& module) : module_(module) {
  depends_.resize(module.computations.size());
  users_.resize(module.computations.size());
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const Computation& in = module.computations[c];
    users_[c].resize(in.instructions.size());
    depends_[c].resize(in.instructions.size());
    for (size_t i = 0; i < in.instructions.size(); ++i) {
      const Instruction& at = in.instructions[i];
      const Spot spot{static_cast<int32_t>(c), static_cast<int32_t>(i)};
      if (!in.is_fusion) spots_.try_emplace(at.name, spot);
      if (at.is("while") && at.called.size() == 2 && at.operands.size() == 1) loops_[at.called[0]] = spot;
      // Parameters stand for whatever the caller gives; of what is called or drawn anew nothing is known.
      bool depends = at.is("parameter") || at.is("rng") || at.is("rng-bit-generator") || at.is("infeed") ||
                     at.is("custom-call") || at.is("call") || at.is("while") || at.is("conditional") ||
                     at.opcode.starts_with("async");
      for (int32_t operand : at.operands) {
        depends |= depends_[c][static_cast<size_t>(operand)];
        std::vector<int32_t>& users = users_[c][static_cast<size_t>(operand)];
        if (users.empty() || users.back() != spot.instruction) users.push_back(spot.instruction);
      }
      depends_[c][i] = depends;
    }
  }
}

Spot Dataflow::spotOf(const std::string& op) const {
  const auto found = spots_.find(op);
  return found == spots_.end() ? Spot{} : found->second;
}

std::vector<Spot> Dataflow::users(Spot spot) const {
  std::vector<Spot> users;
  for (int32_t user : users_[static_cast<size_t>(spot.computation)][static_cast<size_t>(spot.instruction)])
    users.push_back({spot.computation, user});
  return users;
}

/// The operand that an operation only hands on.
std::optional<size_t> Dataflow::passedOperand(Spot spot) const {
  const Instruction& one = at(spot);
  if (one.operands.empty()) return std::nullopt;
  if (one.is("bitcast") || one.is("copy-done") || one.is("async-done") || one.is("async-update") ||
      one.is("opt-barrier") || report::isMark(one))
    return 0;
  if (one.is("get-tuple-element")) {
    const Instruction& from = at(operand(spot, 0));
    if (!from.is("while") && !from.is("parameter") && !from.is("tuple")) return 0;
  }
  return std::nullopt;
}

/// The operand whose buffer an operation writes into: of an update in place, fused or not.
std::optional<size_t> Dataflow::updatedOperand(Spot spot) const {
  const Instruction& one = at(spot);
  if (one.operands.empty()) return std::nullopt;
  if (one.is("dynamic-update-slice") || one.is("scatter")) return 0;
  for (const llo::OutputAlias& alias : one.aliases) {
    if (alias.output_index.empty() && alias.operand_index.empty() && alias.operand >= 0 &&
        alias.operand < std::ssize(one.operands))
      return static_cast<size_t>(alias.operand);
  }
  if (!one.is("fusion") || one.called.size() != 1 || one.shape.isTuple()) return std::nullopt;
  const Computation& inner = module_.at(one.called[0]);
  int32_t value = inner.root;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const Instruction& step = inner.at(value);
    if (step.is("parameter")) {
      const auto number = static_cast<size_t>(step.parameter_number);
      if (depth == 0 || number >= one.operands.size()) return std::nullopt;
      return number;
    }
    const bool through = step.is("dynamic-update-slice") || step.is("scatter") || step.is("bitcast");
    if (!through || step.operands.empty()) return std::nullopt;
    value = step.operands[0];
  }
  return std::nullopt;
}

std::vector<Spot> Dataflow::consumers(Spot spot) const {
  std::vector<Spot> found, open = {spot};
  std::set<Spot> seen;
  while (!open.empty()) {
    const Spot value = open.back();
    open.pop_back();
    for (const Spot user : users(value)) {
      if (!seen.insert(user).second) continue;
      const bool passes = passedOperand(user).has_value() || at(user).is("copy-start");
      (passes ? open : found).push_back(user);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Spot Dataflow::producer(Spot spot) const {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto passed = passedOperand(spot);
    if (!passed && !at(spot).is("copy-start")) break;
    spot = operand(spot, passed.value_or(0));
  }
  return spot;
}

/// Whether a loop hands its state's element from one iteration to the next: itself, or updated in place.
bool Dataflow::isCarried(int32_t body, int64_t element) const {
  const Computation& loop = module_.at(body);
  const Instruction& next = loop.at(loop.root);
  if (!next.is("tuple") || element < 0 || element >= std::ssize(next.operands)) return false;
  Spot value{body, next.operands[static_cast<size_t>(element)]};
  for (int depth = 0; depth < kDeepest; ++depth) {
    const Instruction& one = at(value);
    if (one.is("get-tuple-element") && at(operand(value, 0)).is("parameter"))
      return one.tuple_index == element;
    if (const auto passed = passedOperand(value)) {
      value = operand(value, *passed);
    } else if (const auto updated = updatedOperand(value)) {
      value = operand(value, *updated);
    } else if ((one.is("copy") || one.is("copy-start")) && !one.operands.empty()) {
      value = operand(value, 0);
    } else {
      return false;
    }
  }
  return false;
}

WholeArgument Dataflow::ofLoopElement(int32_t body, int64_t element, int depth) const {
  const auto loop = loops_.find(body);
  if (loop == loops_.end() || !isCarried(body, element)) return {};
  const Spot start = operand(loop->second, 0);
  if (!at(start).is("tuple") || element >= std::ssize(at(start).operands)) return {};
  WholeArgument whole = trace(operand(start, static_cast<size_t>(element)), depth);
  const Computation& in = module_.at(body);
  const Spot next{body, in.at(in.root).operands[static_cast<size_t>(element)]};
  whole.updated |= !at(next).is("get-tuple-element");
  return whole;
}

WholeArgument Dataflow::wholeArgument(Spot spot) const {
  const auto known = whole_.find(spot);
  if (known != whole_.end()) return known->second;
  return whole_[spot] = trace(spot, 0);
}

WholeArgument Dataflow::trace(Spot spot, int depth) const {
  if (depth > kDeepest) return {};
  const Instruction& one = at(spot);
  if (isArgument(module_, spot.computation, one)) return {.argument = one.parameter_number};
  if (one.is("get-tuple-element") && !one.operands.empty()) {
    const Spot from = operand(spot, 0);
    if (at(from).is("parameter")) return ofLoopElement(from.computation, one.tuple_index, depth + 1);
    if (at(from).is("while") && at(from).called.size() == 2)
      return ofLoopElement(at(from).called[0], one.tuple_index, depth + 1);
    if (at(from).is("tuple") && one.tuple_index >= 0 && one.tuple_index < std::ssize(at(from).operands))
      return trace(operand(from, static_cast<size_t>(one.tuple_index)), depth + 1);
    return {};
  }
  if (const auto passed = passedOperand(spot)) return trace(operand(spot, *passed), depth + 1);
  WholeArgument whole;
  if (const auto updated = updatedOperand(spot)) {
    whole = trace(operand(spot, *updated), depth + 1);
    whole.updated = true;
  } else if ((one.is("copy") || one.is("copy-start") || one.is("async-start")) && !one.operands.empty()) {
    whole = trace(operand(spot, 0), depth + 1);
    whole.copied = true;
  } else if (one.is("fusion") && one.operands.size() == 1 &&
             report::kindOf(module_, computation(spot), one) == "copy") {
    whole = trace(operand(spot, 0), depth + 1);
    whole.copied = true;
  }
  return whole;
}

bool Dataflow::dependsOnArguments(Spot spot) const {
  return depends_[static_cast<size_t>(spot.computation)][static_cast<size_t>(spot.instruction)];
}

bool Dataflow::needs(Spot later, Spot earlier) const {
  if (later.computation != earlier.computation) return true;  // not known
  std::vector<int32_t> open = {later.instruction};
  std::set<int32_t> seen;
  while (!open.empty()) {
    const int32_t value = open.back();
    open.pop_back();
    if (value == earlier.instruction) return true;
    if (value < earlier.instruction || !seen.insert(value).second) continue;  // operands stand before users
    for (int32_t operand : module_.at(later.computation).at(value).operands) open.push_back(operand);
  }
  return false;
}

int64_t Dataflow::donatedTo(int64_t argument) const {
  for (const llo::InputOutputAlias& alias : module_.aliases) {
    if (alias.parameter == argument) return alias.output_index.empty() ? 0 : alias.output_index[0];
  }
  return -1;
}

std::vector<Spot> Dataflow::outputs() const {
  if (module_.computations.empty()) return {};
  const Computation& entry = module_.entryComputation();
  if (entry.instructions.empty()) return {};
  const Spot root{module_.entry, entry.root};
  if (!at(root).is("tuple")) return {root};
  std::vector<Spot> outputs;
  for (int32_t operand : at(root).operands) outputs.push_back({module_.entry, operand});
  return outputs;
}

Spot Dataflow::parameter(int64_t number) const {
  const int32_t index = module_.entryComputation().parameter(number);
  return index < 0 ? Spot{} : Spot{module_.entry, index};
}

}  // namespace sublane::findings
