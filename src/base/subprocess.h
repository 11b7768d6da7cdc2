// Runs another program and says how it ended. Never through a shell.
//
// The child gets its own process group. It is killed when it overstays, when `cancel` is raised, and by the
// kernel when we die, so that no compile outlives Ctrl-C (what the child itself started may, if we are killed
// outright). Output is read while it runs, and only its last bytes are kept, so that a chatty child costs
// bounded memory.
//
//   Subprocess child{.argv = {"python3", "-m", "pip", "--version"}, .timeout_seconds = 10};
//   SUBLANE_TRY(SubprocessResult result, run(child));
//   if (!result.succeeded()) return machineError("pip: {}", result.describe()).hint(result.lastWords());
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane {

struct Subprocess {
  std::vector<std::string> argv = {};                   // argv[0] is looked up in PATH
  std::map<std::string, std::string> environment = {};  // added to ours, replacing what is there
  std::string directory = {};                           // to run in; empty: ours
  std::string input = {};                               // its whole stdin
  double timeout_seconds = 0;                           // 0: none
  size_t output_limit = size_t{1} << 30;                // last bytes of stdout to keep
  size_t error_limit = size_t{64} << 10;                // last bytes of stderr to keep
  const std::atomic<bool>* cancel = nullptr;  // raised by a signal handler: kill the child and return
  std::function<void(std::string_view)> on_error_bytes = {};  // sees stderr as it comes
  std::function<void()> on_tick = {};                         // about ten times a second, for progress
};

struct SubprocessResult {
  enum class End { kExited, kSignalled, kTimedOut, kCancelled };
  End end = End::kExited;
  int code = 0;               // exit code, if it exited
  int signal = 0;             // if a signal ended it
  std::string output;         // of stdout, the last output_limit bytes
  std::string errors;         // of stderr, the last error_limit bytes
  size_t output_dropped = 0;  // bytes of stdout before those
  double seconds = 0;

  bool succeeded() const { return end == End::kExited && code == 0; }
  /// "exited with code 3", "killed by signal 6 (Aborted)", "did not end within 30 s"
  std::string describe() const;
  /// The last lines of stderr (of stdout, if stderr is empty), without blank ones.
  std::string lastWords(size_t lines = 8) const;
};

/// Errors (machine): the program is not found or cannot be started. How it ended is in the result.
Result<SubprocessResult> run(const Subprocess& subprocess);

}  // namespace sublane
