// .sublane/log.jsonl: what explain, simulate, diff and check found, one JSON object a line, so that a claim
// can be traced to the program, flags, libtpu and chip model that it was made with. Kept only where somebody
// made the folder (`sublane log init`); nothing is written elsewhere.
//
//   if (logHere()) SUBLANE_CHECK_OK(appendLog(kLogFile, {.verb = "simulate", .time = nowUtc(), ...}));
//   SUBLANE_TRY(const Log log, readLog(kLogFile));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "report/simulate.h"

namespace sublane::gate {

inline constexpr const char* kLogFolder = ".sublane";
inline constexpr const char* kLogFile = ".sublane/log.jsonl";

struct LogStep {
  std::string name, origin;
  double us = 0;
};
/// A program that was looked at.
struct LogSide {
  std::string subject, chip, compiler;
  std::string program;  // a hash of the compiler's fingerprints of its steps; empty: it gives none
  std::string model;    // of the chip's model and the simulator; empty: not executed
  std::vector<std::string> flags;
  std::vector<LogStep> steps;
};
struct LogEntry {
  std::string verb, time;  // "diff", "2026-11-30T21:20:00Z"
  std::vector<LogSide> sides;
  std::string outcome;  // "decode -12.1 us", "passed"; empty: the steps say it all
  std::string note;
};

LogSide sideOf(const report::Simulation& simulation);
std::string nowUtc();

/// Is there a folder for it in the current directory?
bool logHere();
/// Makes the folder. Error: the disk refuses.
Status initLog();
/// One line, whole, also where several processes write at once. A line that another left unfinished stays a
/// line of its own.
Status appendLog(const std::string& path, const LogEntry& entry);

struct DamagedLine {
  int64_t number = 0;  // in the file, from 1
  std::string what;
};
struct Log {
  std::vector<std::pair<int64_t, LogEntry>> entries;  // line, entry
  std::vector<DamagedLine> damaged;
};
/// A line that is not understood does not keep the others from being read. Error: the file cannot be read.
Result<Log> readLog(const std::string& path);
Log parseLog(std::string_view text);

std::string toText(const Log& log);
/// Schema "sublane.log/1".
std::string toJson(const Log& log);
/// All that the line holds.
std::string toText(int64_t number, const LogEntry& entry);

}  // namespace sublane::gate
