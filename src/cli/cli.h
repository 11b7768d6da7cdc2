// The command line: one file cmd_<verb>.cc a verb, each defining the constant `cmd_<verb>`.
//
// A command adds its options to its CLI11 subcommand and returns what to run. Errors are printed once, in
// main.cc, and their Fault is the exit code (0 done, 1 a check failed, 2 wrong use or input, 3 the machine).
//
//   const Command cmd_chips{"chips", "List the chips", [](CLI::App& verb) -> Action {
//     auto json = std::make_shared<bool>(false);
//     verb.add_flag("--json", *json, "Print JSON");
//     return [json]() -> Status { ... return Ok{}; };
//   }};
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace sublane::cli {

using Action = std::function<Status()>;

struct Command {
  std::string_view name;
  std::string_view summary;
  Action (*add)(CLI::App& verb);
  bool hidden = false;
};

/// What a MODEL argument may be (io::openCheckpoint).
inline constexpr const char* kModelHelp =
    "A fetched name, a .gguf file, a Hugging Face folder, or hf:org/name in the hub's cache";

/// Writes to standard output and flushes. Error: what was written did not reach its reader.
Status writeOutput(std::string_view text);

}  // namespace sublane::cli
