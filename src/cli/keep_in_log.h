// Keeps a result in the project's log, where there is one. Private to the folder.
//
//   keepInLog(model.note, {.verb = "simulate", .sides = {gate::sideOf(simulation)}});
#pragma once

#include <string>

#include "gate/log.h"

namespace sublane::cli {

/// Fills in time and note. A log that cannot be written is a warning: the result was printed.
void keepInLog(const std::string& note, gate::LogEntry entry);

}  // namespace sublane::cli
