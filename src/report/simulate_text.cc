#include "report/step_text.h"

namespace sublane::report {

std::string toText(const Simulation& simulation, const TextOptions& options,
                   const std::function<std::string(const SimulatedStep&)>& after_step) {
  std::string text = headerText(simulation);
  for (const SimulatedStep& step : simulation.steps) {
    text += headlineText(step, simulation) + rowsText(step, options.top) + totalsText(step, *simulation.chip);
    if (after_step) text += after_step(step);
  }
  return text;
}

}  // namespace sublane::report
