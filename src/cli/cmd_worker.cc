#include <cstdlib>

#include "cli/cli.h"
#include "pjrt/worker.h"

namespace sublane::cli {
extern const Command cmd_worker;
const Command cmd_worker{
    "worker", "Compile one request from stdin (used by Sublane itself)",
    [](CLI::App&) -> Action { return []() -> Status { std::exit(pjrt::workerMain()); }; }, true};
}  // namespace sublane::cli
