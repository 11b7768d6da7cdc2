// What a module that was read must be, whatever the bytes: operands before their users, called computations
// before their callers. It is then priced, for the sanitizers.
#pragma once

#include <cstdlib>

#include "chips/chips.h"
#include "llo/llo.h"
#include "report/cost.h"

namespace sublane::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void requireSound(const Result<llo::HloModule>& module) {
  if (!module.ok()) return require(!module.error().message().empty());
  for (size_t c = 0; c < module->computations.size(); ++c) {
    const llo::Computation& computation = module->computations[c];
    const auto count = static_cast<int32_t>(computation.instructions.size());
    require(computation.root >= 0 && computation.root < count);
    for (int32_t i = 0; i < count; ++i) {
      for (int32_t operand : computation.at(i).operands) require(operand >= 0 && operand < i);
      for (int32_t before : computation.at(i).control_predecessors) require(before >= 0 && before < count);
      for (int32_t called : computation.at(i).called)
        require(called >= 0 && called < static_cast<int32_t>(c));
    }
  }
  const Result<report::Step> step = report::costOf(*module, chips::allChips()[0]);
  if (!step.ok()) return require(!step.error().message().empty());
  double us = 0;
  for (const report::Row& row : step->rows) us += row.us;
  require(us == step->total.us);
}

}  // namespace sublane::fuzz
