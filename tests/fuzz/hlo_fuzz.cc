// Feeds any bytes to the reader of compiled HLO. What it accepts must be sound: operands before their users,
// called computations before their callers. It is then priced, for the sanitizers.
#include <cstdint>
#include <cstdlib>

#include "chips/chips.h"
#include "llo/llo.h"
#include "report/cost.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sublane;
  auto module = llo::readHloModule(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!module.ok()) return require(!module.error().message().empty()), 0;
  for (size_t c = 0; c < module->computations.size(); ++c) {
    const llo::Computation& computation = module->computations[c];
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      for (int32_t operand : computation.instructions[i].operands)
        require(operand >= 0 && operand < static_cast<int32_t>(i));
      for (int32_t called : computation.instructions[i].called)
        require(called >= 0 && called < static_cast<int32_t>(c));
    }
  }
  auto step = report::costOf(*module, chips::allChips()[0]);
  if (!step.ok()) return require(!step.error().message().empty()), 0;
  double us = 0;
  for (const report::Row& row : step->rows) us += row.us;
  require(us == step->total.us);
  return 0;
}
