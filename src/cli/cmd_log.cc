#include "cli/cli.h"
#include "gate/log.h"

namespace sublane::cli {
namespace {

struct LogVerb {
  std::string action = "list";
  int64_t number = 0;
  bool json = false;
};

Status list(const LogVerb& verb, gate::Log log) {
  if (verb.action == "show") {
    std::erase_if(log.entries, [&](const auto& entry) { return entry.first != verb.number; });
    log.damaged.clear();
    if (log.entries.empty())
      return inputError("log show {}: there is no such entry", verb.number).hint("sublane log lists them");
    if (!verb.json) return writeOutput(gate::toText(verb.number, log.entries[0].second));
  }
  return writeOutput(verb.json ? gate::toJson(log) : gate::toText(log));
}

Status run(const LogVerb& verb) {
  if ((verb.action == "show") != (verb.number > 0))
    return inputError("log {}: {}", verb.action,
                      verb.action == "show" ? "say which entry" : "takes no number")
        .hint("sublane log show 3");
  if (verb.action == "init") {
    SUBLANE_CHECK_OK(gate::initLog());
    return writeOutput(fmt::format("explain, simulate, diff and check are now kept in {}\n", gate::kLogFile));
  }
  if (!gate::logHere())
    return inputError("log: there is none in this folder").hint("sublane log init makes one");
  Result<gate::Log> log = gate::readLog(gate::kLogFile);
  if (!log.ok()) {
    std::error_code ignored;
    if (std::filesystem::exists(gate::kLogFile, ignored)) return std::move(log).error();
    log = gate::Log{};  // made, and nothing kept yet
  }
  return list(verb, std::move(*log));
}

Action addLog(CLI::App& app) {
  auto verb = std::make_shared<LogVerb>();
  app.add_option("ACTION", verb->action, "list; show N; or init, which makes the log of this folder")
      ->check(CLI::IsMember({"list", "show", "init"}))
      ->capture_default_str();
  app.add_option("N", verb->number, "An entry's number")->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_flag("--json", verb->json, "Print one JSON document");
  return [verb] { return run(*verb); };
}

}  // namespace

extern const Command cmd_log;
const Command cmd_log{"log", "What explain, simulate, diff and check found in this folder", addLog};

}  // namespace sublane::cli
