// What `sublane doctor` looks at: the parts that set-up fetched, the checkpoints, python3 for `fetch`.
//
// Each plugin is started in a child process, since a broken one may abort, hang or crash; libtpu also
// compiles a program of one addition, which is what `explain` will ask of it.
//
//   for (const Check& check : runChecks()) fmt::print("{}: {}\n", check.name, check.state);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sublane::cli {

/// One thing that is there, or not.
struct Check {
  std::string name{};     // "libtpu"
  std::string purpose{};  // "explain"
  bool needed = false;    // run or explain fails without it
  bool good = false;
  std::string state{};     // ok, missing, wrong version, cannot load, cannot compile, not fetched, damaged
  std::string version{};   // that is there, as its package says; empty if unknown
  std::string pinned{};    // that Sublane wants; empty if any will do
  std::string pjrt_api{};  // "0.115"
  std::string says{};      // the plugin's own words about itself
  std::string file{};
  std::string problem{};  // empty if good
  std::string fix{};
};

/// What the machine has to offer; no check, only facts.
struct Machine {
  unsigned cores = 0;
  int64_t memory_bytes = 0;
  int64_t cache_free_bytes = 0;
  std::string cache{};
};

Result<Machine> lookAtMachine();
std::vector<Check> runChecks();

/// Body of `doctor --probe FILE` in the child: loads one plugin and prints "MAJOR.MINOR" and, of a plugin
/// that can execute, its platform and version.
Status probePlugin(const std::string& file, bool execute);

}  // namespace sublane::cli
