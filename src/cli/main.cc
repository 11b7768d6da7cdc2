#include <csignal>
#include <cstdio>
#include <map>

#include "cli/cli.h"

namespace sublane::cli {
#define SUBLANE_ENTRY(command) extern const Command command;
#include "commands.inc"
#undef SUBLANE_ENTRY

static const Command* const kCommands[] = {
#define SUBLANE_ENTRY(command) &command,
#include "commands.inc"
#undef SUBLANE_ENTRY
};

static int report(const Error& error) {
  std::fprintf(stderr, "sublane: %s\n", error.text().c_str());
  return static_cast<int>(error.fault());
}

static int run(int argc, char** argv) {
  CLI::App app{"Sublane: a TPU inference compiler, runtime and performance workbench", "sublane"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "sublane 0.1.0");
  std::map<const CLI::App*, Action> actions;
  for (const Command* command : kCommands) {
    CLI::App* verb = app.add_subcommand(std::string(command->name), std::string(command->summary));
    if (command->hidden) verb->group("");
    actions[verb] = command->add(*verb);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(Fault::kInput);
  }
  Status status = actions.at(app.get_subcommands().front())();
  return status.ok() ? 0 : report(status.error());
}
}  // namespace sublane::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return sublane::cli::run(argc, argv);
}
