#include "report/whole_buffers.h"

namespace sublane::report {

using llo::Computation;
using llo::Instruction;

WholeBuffers::WholeBuffers(const llo::HloModule& module) : module_(module) {
  const Computation& entry = module.entryComputation();
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    if (entry.instructions[i].is("parameter")) values_[{module.entry, i}] = WholeBuffer::kArgument;
  }
  for (const llo::InputOutputAlias& alias : module.aliases) {
    const int32_t parameter = entry.parameter(alias.parameter);
    if (parameter >= 0) values_[{module.entry, parameter}] = WholeBuffer::kState;
  }
}

WholeBuffer WholeBuffers::of(int32_t computation, int32_t instruction) const {
  auto found = values_.find({computation, instruction});
  return found == values_.end() ? WholeBuffer::kNo : found->second;
}

void WholeBuffers::enterLoop(int32_t computation, const Instruction& loop) {
  if (loop.called.size() != 2 || loop.operands.size() != 1) return;
  const Instruction& start = module_.at(computation).at(loop.operands[0]);
  if (!start.is("tuple")) return;
  for (size_t k = 0; k < start.operands.size(); ++k) {
    state_elements_[{loop.called[0], k}] = of(computation, start.operands[k]);
  }
}

/// Of a loop's state, inside the loop and after it.
WholeBuffer WholeBuffers::ofElement(int32_t computation, const Instruction& element) const {
  const Instruction& from = module_.at(computation).at(element.operands[0]);
  int64_t body = computation;
  if (from.is("while") && from.called.size() == 2) {
    body = from.called[0];
  } else if (!from.is("parameter")) {
    return WholeBuffer::kNo;
  }
  auto found = state_elements_.find({body, element.tuple_index});
  return found == state_elements_.end() ? WholeBuffer::kNo : found->second;
}

WholeBuffer WholeBuffers::ofUpdate(int32_t computation, const Instruction& at) const {
  for (int32_t operand : at.operands) {
    const bool same_size =
        llo::logicalBytes(module_.at(computation).at(operand).shape) == llo::logicalBytes(at.shape);
    if (same_size && of(computation, operand) == WholeBuffer::kState) return WholeBuffer::kState;
  }
  return WholeBuffer::kNo;
}

void WholeBuffers::visit(int32_t computation, int32_t instruction, const std::string& kind) {
  const Instruction& at = module_.at(computation).at(instruction);
  if (at.operands.empty() || at.is("parameter")) return;
  WholeBuffer whole = WholeBuffer::kNo;
  const WholeBuffer first = of(computation, at.operands[0]);
  if (at.is("get-tuple-element")) {
    whole = ofElement(computation, at);
  } else if (at.is("bitcast")) {
    whole = first;
  } else if (kind == "copy" || at.is("copy-start") || at.is("copy-done")) {
    whole = first == WholeBuffer::kState ? first : WholeBuffer::kNo;
  } else if (kind == "update slice" || kind == "scatter") {
    whole = ofUpdate(computation, at);
  }
  if (whole != WholeBuffer::kNo) values_[{computation, instruction}] = whole;
}

}  // namespace sublane::report
