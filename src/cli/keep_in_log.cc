#include "cli/keep_in_log.h"

#include <fmt/format.h>

#include <cstdio>

namespace sublane::cli {

void keepInLog(const std::string& note, gate::LogEntry entry) {
  if (!gate::logHere()) return;
  entry.note = note;
  entry.time = gate::nowUtc();
  const Status kept = gate::appendLog(gate::kLogFile, entry);
  if (!kept.ok()) fmt::print(stderr, "sublane: the log was not written: {}\n", kept.error().text());
}

}  // namespace sublane::cli
