#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <system_error>

#include "cli/cli.h"
#include "pjrt/worker.h"

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

/// A verb that does not exist, before CLI11 only says that one is required.
static Status checkVerb(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return Ok{};
  std::string verbs;
  for (const Command* command : kCommands) {
    if (command->name == argv[1]) return Ok{};
    if (!command->hidden) verbs += (verbs.empty() ? "" : ", ") + std::string(command->name);
  }
  return inputError("there is no verb \"{}\"", argv[1]).hint("the verbs are " + verbs);
}

Status writeOutput(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Ok{};
  if (errno == EPIPE) std::_Exit(128 + SIGPIPE);  // its reader has what it wants
  return machineError("standard output: {}", std::strerror(errno == 0 ? EIO : errno));
}

/// CLI11's message, with the verb that it is about and where to read more.
static Error wrongUse(const CLI::App& app, const CLI::ParseError& error) {
  std::string verb;
  for (const CLI::App* chosen : app.get_subcommands()) verb = chosen->get_name();
  return inputError("{}{}", verb.empty() ? "" : verb + ": ", error.what())
      .hint("sublane" + (verb.empty() ? "" : " " + verb) + " --help");
}

static int run(int argc, char** argv) {
  if (Status known = checkVerb(argc, argv); !known.ok()) return report(known.error());
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
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report(wrongUse(app, error));
  }
  Status status = actions.at(app.get_subcommands().front())();
  if (status.ok()) status = writeOutput("");  // a verb that did not look: output that is lost is a failure
  return status.ok() ? 0 : report(status.error());
}

/// What libraries throw ends here. A reader that went away (`sublane chips | head`) is not an error to talk
/// about.
static int runGuarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE) std::_Exit(128 + SIGPIPE);
    // Of fmt::print, which only says "file".
    return report(machineError("standard output: {}", error.code().message()));
  } catch (const std::bad_alloc&) {
    return report(machineError("out of memory"));
  } catch (const std::exception& error) {
    return report(machineError("a bug in Sublane: {}", error.what()));
  }
}
}  // namespace sublane::cli

/// A mapped file that shrinks while it is read takes its pages away.
extern "C" void sayThatAFileShrank(int) {
  constexpr std::string_view kText =
      "sublane: a file became shorter while it was read, or its disk failed\n"
      "  hint: let whatever writes it finish, then run it again\n";
  (void)!write(STDERR_FILENO, kText.data(), kText.size());
  _exit(3);
}

int main(int argc, char** argv) {
  std::signal(SIGBUS, sayThatAFileShrank);
  std::signal(SIGPIPE,
              SIG_IGN);  // a child that dies while we write to it is an error of the call, not our end
  sublane::pjrt::setWorkerProgram("/proc/self/exe");
  return sublane::cli::runGuarded(argc, argv);
}
