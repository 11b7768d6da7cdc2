#include "sim/needed_values.h"

#include <algorithm>
#include <tuple>

namespace sublane::sim {

namespace {

/// An array of floats, or a tuple of nothing else.
bool isFloat(const llo::Shape& shape) {
  bool all = true;
  llo::forEachArray(shape, [&](const llo::Shape& array) { all = all && llo::isFloat(array.type); });
  return all;
}

}  // namespace

bool ValueSlice::add(const std::string& name) {
  // Scalars are mostly computed from integers; floats (the logits of an argmax) follow if that is not enough.
  for (const bool integers_only : {true, false}) {
    integers_only_ = integers_only;
    if (addOnce(name)) return true;
    if (integers_only) seen_.clear();
  }
  return false;
}

bool ValueSlice::addOnce(const std::string& name) {
  const size_t before = names_.size();
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    if (module_.computations[c].is_fusion) continue;
    const std::vector<llo::Instruction>& instructions = module_.computations[c].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].name == name) visit(static_cast<int32_t>(c), static_cast<int32_t>(i), -1);
    }
  }
  names_.insert(name);
  return names_.size() > before;
}

void ValueSlice::visit(int32_t computation, int32_t index, int64_t element) {
  if (!seen_.emplace(computation, index, element).second) return;
  const llo::Instruction& instruction = module_.at(computation).at(index);
  const auto operand = [&](size_t i, int64_t e) {
    if (i < instruction.operands.size()) visit(computation, instruction.operands[i], e);
  };
  if (instruction.is("parameter")) return visitParameter(computation, instruction.parameter_number, element);
  if (instruction.is("get-tuple-element")) return operand(0, instruction.tuple_index);
  if (instruction.is("tuple") && element >= 0) return operand(static_cast<size_t>(element), -1);
  if (instruction.is("while")) {
    operand(0, element);
    if (!instruction.called.empty()) {
      // The carried value is also what the body makes of it; which of the two called is the body does not
      // matter, for a condition's root is a predicate.
      for (const int32_t called : instruction.called) visit(called, module_.at(called).root, element);
    }
    return;
  }
  names_.insert(instruction.name);
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (integers_only_ && isFloat(module_.at(computation).at(instruction.operands[i]).shape)) continue;
    operand(i, -1);
  }
  if (instruction.is("call") || instruction.is("conditional") || instruction.is("async-start")) {
    for (const int32_t called : instruction.called) visit(called, module_.at(called).root, element);
  }
}

void ValueSlice::visitParameter(int32_t computation, int64_t number, int64_t element) {
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    if (module_.computations[c].is_fusion) continue;
    const std::vector<llo::Instruction>& instructions = module_.computations[c].instructions;
    for (const llo::Instruction& caller : instructions) {
      if (std::find(caller.called.begin(), caller.called.end(), computation) == caller.called.end()) continue;
      if (caller.is("while")) {
        visit(static_cast<int32_t>(c), caller.operands.front(), element);
        for (const int32_t called : caller.called) visit(called, module_.at(called).root, element);
      } else if (number < static_cast<int64_t>(caller.operands.size())) {
        visit(static_cast<int32_t>(c), caller.operands[static_cast<size_t>(number)], element);
      }
    }
  }
}

}  // namespace sublane::sim
