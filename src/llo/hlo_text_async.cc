// Text writes an asynchronous operation shortly: "slice-start(%x), slice={[0:8]}" stands for an async-start
// that calls a computation with that slice in it. Here it becomes what the proto says.
#include <algorithm>
#include <array>

#include "llo/hlo_text_reader.h"

namespace sublane::llo {

/// Operations that are asynchronous in their own right.
static constexpr std::array<std::string_view, 7> kOwnStart = {
    "async", "copy", "all-reduce", "all-gather", "collective-permute", "send", "recv"};

void HloTextReader::unwrapAsync(Instruction& to) {
  const std::string_view opcode = to.opcode;
  for (const std::string_view ending : {"-start", "-update", "-done"}) {
    if (!opcode.ends_with(ending)) continue;
    const std::string_view base = opcode.substr(0, opcode.size() - ending.size());
    if (std::find(kOwnStart.begin(), kOwnStart.end(), base) != kOwnStart.end()) return;
    if (ending == "-start") return wrapStarted(to, std::string(base));
    to.opcode = "async" + std::string(ending);
    return;
  }
}

/// The shape of a start is ((operands), result, context...): the computation has those operands and result.
void HloTextReader::wrapStarted(Instruction& to, std::string_view opcode) {
  if (!to.shape.isTuple() || to.shape.elements.size() < 2 || !to.shape.elements[0].isTuple() ||
      to.shape.elements[0].elements.size() != to.operands.size()) {
    return cursor_.fail(fmt::format("the {} above has no shape of ((operands), result)", to.opcode));
  }
  Computation wrapped{.id = next_id_++, .name = to.name + ".wrapped"};
  Instruction inner = to;
  for (size_t i = 0; i < to.operands.size(); ++i) {
    Instruction parameter{.id = next_id_++, .name = fmt::format("param_{}", i), .opcode = "parameter"};
    parameter.shape = to.shape.elements[0].elements[i];
    parameter.parameter_number = static_cast<int64_t>(i);
    inner.operands[i] = static_cast<int32_t>(i);
    wrapped.instructions.push_back(std::move(parameter));
  }
  inner.id = next_id_++;
  inner.opcode = opcode;
  inner.shape = to.shape.elements[1];
  inner.backend_config.clear();  // the text has only the start's
  inner.cross_program_prefetch = false;
  wrapped.root = static_cast<int32_t>(wrapped.instructions.size());
  wrapped.instructions.push_back(std::move(inner));
  Instruction start{.id = to.id, .name = to.name, .opcode = "async-start"};
  start.shape = std::move(to.shape);
  start.operands = std::move(to.operands);
  start.metadata = std::move(to.metadata);
  start.backend_config = std::move(to.backend_config);
  start.cross_program_prefetch = to.cross_program_prefetch;
  start.called = {add(std::move(wrapped))};
  to = std::move(start);
}

}  // namespace sublane::llo
