#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/doctor_checks.h"

namespace sublane::cli {
namespace {

/// "0.0.52, PJRT 0.117"
std::string versionText(const Check& check) {
  std::string text = check.version;
  if (!check.pjrt_api.empty()) text += (text.empty() ? "PJRT " : ", PJRT ") + check.pjrt_api;
  return text.empty() ? "-" : text;
}

/// `text` with every line but the first moved in, under "name: ".
std::string indented(std::string text) {
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "    ");
  return text;
}

void printText(const Machine& machine, const std::vector<Check>& checks) {
  fmt::print("Linux x86-64, {} cores, {} of memory; {} free in {}\n\n", machine.cores,
             formatBinaryBytes(machine.memory_bytes),
             formatBytes(static_cast<double>(machine.cache_free_bytes)), machine.cache);
  fmt::print("{:<20}{:<20}{:<28}{}\n", "part", "for", "version", "state");
  for (const Check& check : checks) {
    fmt::print("{:<20}{:<20}{:<28}{}\n", check.name, check.purpose, versionText(check), check.state);
  }
  fmt::print("\n");
  for (const Check& check : checks) {
    if (!check.file.empty()) fmt::print("{}: {}\n", check.name, check.file);
    if (!check.says.empty()) fmt::print("    {}\n", check.says);
  }
  for (const Check& check : checks) {
    if (check.good) continue;
    fmt::print("\n{}: {}{}\n", check.needed ? "PROBLEM" : "note", check.name,
               check.needed ? "" : " (not needed)");
    fmt::print("    {}\n    fix: {}\n", indented(check.problem), check.fix);
  }
}

nlohmann::ordered_json toJson(const Check& check) {
  nlohmann::ordered_json json;
  json["name"] = check.name;
  json["purpose"] = check.purpose;
  json["needed"] = check.needed;
  json["good"] = check.good;
  json["state"] = check.state;
  auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  add("version", check.version);
  add("pinned", check.pinned);
  add("pjrt_api", check.pjrt_api);
  add("says", check.says);
  add("file", check.file);
  add("problem", check.problem);
  add("fix", check.fix);
  return json;
}

void printDocument(const Machine& machine, const std::vector<Check>& checks, bool good) {
  auto document = jsonDocument("sublane.doctor/1");
  document["good"] = good;
  document["machine"] = {{"cores", machine.cores},
                         {"memory_bytes", machine.memory_bytes},
                         {"cache", machine.cache},
                         {"cache_free_bytes", machine.cache_free_bytes}};
  document["checks"] = nlohmann::ordered_json::array();
  for (const Check& check : checks) document["checks"].push_back(toJson(check));
  printJson(document);
}

Status examine(const std::string& format) {
  SUBLANE_TRY(const Machine machine, lookAtMachine());
  const std::vector<Check> checks = runChecks();
  std::string broken;
  for (const Check& check : checks) {
    if (check.needed && !check.good)
      broken += fmt::format("{}{} ({})", broken.empty() ? "" : ", ", check.name, check.state);
  }
  if (format == "json") {
    printDocument(machine, checks, broken.empty());
  } else {
    printText(machine, checks);
    if (broken.empty()) fmt::print("\nAll that run and explain need is here.\n");
  }
  if (broken.empty()) return Ok{};
  return machineError("doctor: needed, and not usable: {}", broken).hint("each one's fix is in the report");
}

}  // namespace

extern const Command cmd_doctor;
const Command cmd_doctor{
    "doctor", "What is installed, which plugins and versions, what would fail, and the fix",
    [](CLI::App& verb) -> Action {
      auto format = std::make_shared<std::string>("text");
      auto plugin = std::make_shared<std::string>();
      auto compiler = std::make_shared<std::string>();
      verb.add_option("--format", *format, "text or json")->check(CLI::IsMember({"text", "json"}));
      verb.add_flag_callback("--json", [format] { *format = "json"; }, "Short for --format json");
      // The child's side: see doctor_checks.h.
      verb.add_option("--probe", *plugin)->group("");
      verb.add_option("--probe-compiler", *compiler)->group("");
      return [format, plugin, compiler]() -> Status {
        if (!plugin->empty()) return probePlugin(*plugin, true);
        if (!compiler->empty()) return probePlugin(*compiler, false);
        return examine(*format);
      };
    }};

}  // namespace sublane::cli
