// The parts of a step's text that several views share: lines of at most 100 columns.
//
//   text = headerText(simulation);
//   for (const SimulatedStep& step : simulation.steps) text += headlineText(step, simulation) +
//   rowsText(step, 20);
#pragma once

#include <string>

#include "report/simulate.h"
#include "report/text_parts.h"

namespace sublane::report {

/// Subject, chip, compiler, simulator, flags and assumptions.
std::string headerText(const Simulation& simulation);
/// The step's name and bucket, and "1399 us ± 12 % (attention, v6e, 63 points)"; why it was not executed.
std::string headlineText(const SimulatedStep& step, const Simulation& simulation);
/// Rows that differ in their layer only are one line; the slowest `top` lines (0: all) and the rest.
std::string rowsText(const SimulatedStep& step, int64_t top);
/// Causes, bundles, bytes, rooflines, notes, outputs.
std::string totalsText(const SimulatedStep& step, const chips::Chip& chip);
/// "mxu 40, dma 22": the largest causes with their percent, until `width` is full.
std::string causesText(const events::CauseCycles& causes, int64_t cycles, size_t width);

}  // namespace sublane::report
