#include "cli/doctor_checks.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <thread>

#include "base/paths.h"
#include "base/subprocess.h"
#include "io/known_checkpoints.h"
#include "io/verified_file.h"
#include "pjrt/ahead_of_time.h"
#include "pjrt/parts.h"
#include "pjrt/worker.h"

namespace sublane::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kProbeSeconds = 60;
constexpr double kCompileSeconds = 180;

constexpr std::string_view kOneAddition =
    "module @doctor {\n  func.func @main(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {\n"
    "    %y = stablehlo.add %x, %x : tensor<8x128xf32>\n    return %y : tensor<8x128xf32>\n  }\n}\n";

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The version in the METADATA of the wheel that `file` was unpacked from: NAME.dist-info in a folder above
/// it.
std::string packageVersion(const std::string& file) {
  fs::path folder = fs::path(file).parent_path();
  for (int levels = 0; levels < 3 && folder.has_relative_path(); ++levels, folder = folder.parent_path()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() != ".dist-info") continue;
      const Result<std::string> metadata = readFile(entry.path() / "METADATA");
      if (!metadata.ok()) continue;
      const size_t begin = metadata.value().find("\nVersion: ");
      if (begin == std::string::npos) continue;
      return firstLine(metadata.value().substr(begin + 10));
    }
  }
  return "";
}

/// Another version of the part beside the pinned one's place: the folder part-<digit>...
bool hasOtherVersion(std::string_view part) {
  const Result<std::string> cache = cacheDirectory();
  if (!cache.ok()) return false;
  const std::string prefix = std::string(part) + "-";
  std::error_code error;
  const fs::directory_iterator folders(cache.value() + "/parts", error);
  return std::any_of(begin(folders), end(folders), [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename();
    return name.starts_with(prefix) && name.size() > prefix.size() && std::isdigit(name[prefix.size()]) != 0;
  });
}

void fail(Check& check, std::string state, const Error& error) {
  check.good = false;
  check.state = std::move(state);
  check.problem = error.message();
  check.fix = error.hint();
}

/// The variable that names another library than the pinned one, if it is set.
bool isOverridden(const pjrt::Part& part) {
  const char* chosen = part.override.empty() ? nullptr : std::getenv(std::string(part.override).c_str());
  return chosen != nullptr && *chosen != '\0';
}

std::string reinstall(const Check& check, const pjrt::Part& part) {
  if (isOverridden(part)) return fmt::format("unset {}", part.override);
  return fmt::format("remove the folder of {} {} in the cache's parts/, then run tools/setup.sh", check.name,
                     check.pinned);
}

/// Starts the plugin in a child and fills pjrt_api and says.
void probe(Check& check, const pjrt::Part& part, bool execute) {
  Subprocess child;
  child.argv = {"/proc/self/exe", "doctor", execute ? "--probe" : "--probe-compiler", check.file};
  child.timeout_seconds = kProbeSeconds;
  const Result<SubprocessResult> ended = run(child);
  if (!ended.ok()) return fail(check, "cannot load", ended.error());
  if (!ended->succeeded()) {
    return fail(check, "cannot load",
                machineError("{}: {}\n{}", check.file, ended->describe(), ended->lastWords(4))
                    .hint(reinstall(check, part)));
  }
  check.pjrt_api = firstLine(ended->output);
  check.says = firstLine(ended->output.substr(std::min(ended->output.size(), check.pjrt_api.size() + 1)));
}

void tryCompile(Check& check) {
  pjrt::AheadOfTimeRequest request;
  request.stablehlo = kOneAddition;
  request.topology = "v6e:1x1";
  request.libtpu_path = check.file;
  request.timeout_seconds = kCompileSeconds;
  const Result<pjrt::AheadOfTimeResult> compiled = pjrt::compileAheadOfTime(request);
  if (!compiled.ok()) return fail(check, "cannot compile", compiled.error());
  check.says = fmt::format("compiled an addition for {} in a child process", compiled->device_kind);
}

Check checkPart(const pjrt::Part& part) {
  const bool is_libtpu = part.name == "libtpu", is_cpu = part.name == "cpu";
  Check check;
  check.name = part.name;
  check.purpose = is_libtpu ? "explain" : is_cpu ? "run" : "tests of the client";
  check.needed = is_libtpu || is_cpu;
  check.pinned = part.version;
  const Result<std::string> path = pjrt::pluginPath(check.name);
  if (!path.ok()) {
    fail(check, !isOverridden(part) && hasOtherVersion(part.name) ? "wrong version" : "missing",
         path.error());
    if (!check.needed) check.fix = "run tools/setup.sh test";  // make demo leaves these out
    return check;
  }
  check.good = true;
  check.state = "ok";
  check.file = *path;
  check.version = packageVersion(check.file);
  if (!isOverridden(part) && check.version != check.pinned) {
    fail(check, "wrong version",
         machineError("{}: its package says version {}, Sublane needs {}", check.file,
                      check.version.empty() ? "nothing" : check.version, check.pinned)
             .hint(reinstall(check, part)));
    return check;
  }
  if (isOverridden(part)) check.state = fmt::format("ok, by ${}", part.override);
  probe(check, part, !is_libtpu);
  if (check.good && is_libtpu) tryCompile(check);
  return check;
}

Check checkPython() {
  Check check{.name = "python3 with pip", .purpose = "fetch"};
  Subprocess child;
  child.argv = {"python3", "-c",
                "import sys, pip; print('%d.%d.%d' % sys.version_info[:3], 'pip', pip.__version__)"};
  child.timeout_seconds = kProbeSeconds;
  const Result<SubprocessResult> ended = run(child);
  check.good = ended.ok() && ended->succeeded();
  check.state = check.good ? "ok" : "missing";
  if (check.good) {
    check.version = firstLine(ended->output);
  } else {
    check.problem = ended.ok() ? "python3 has no pip: " + ended->lastWords(1) : ended.error().message();
    check.fix = "apt-get install python3 python3-pip";
  }
  return check;
}

Check checkCheckpoint(const io::KnownCheckpoint& known) {
  Check check{.name = std::string(known.name), .purpose = "a model to run"};
  const Result<std::string> path = io::cachedPath(known);
  std::error_code error;
  if (!path.ok() || !fs::is_regular_file(*path, error)) {
    check.state = "not fetched";
    check.fix = fmt::format("sublane fetch {}", known.name);
    check.problem = path.ok() ? "no file " + *path : path.error().message();
    return check;
  }
  check.file = *path;
  const Result<bool> whole = io::isVerified(*path, known.bytes, known.sha256);
  check.good = whole.ok() && *whole;
  check.state = check.good ? "ok" : "damaged";
  if (!check.good) {
    check.problem = whole.ok() ? fmt::format("{}: {} bytes, and its sha256 is not {}", check.file,
                                             fs::file_size(*path, error), known.sha256)
                               : whole.error().message();
    check.fix = fmt::format("sublane fetch {}", known.name);
  }
  return check;
}

}  // namespace

Result<Machine> lookAtMachine() {
  Machine machine;
  machine.cores = std::thread::hardware_concurrency();
  machine.memory_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  SUBLANE_TRY(machine.cache, cacheDirectory());
  SUBLANE_CHECK_OK(createDirectories(machine.cache));
  struct statvfs disk = {};
  if (statvfs(machine.cache.c_str(), &disk) == 0) {
    machine.cache_free_bytes = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  }
  return machine;
}

std::vector<Check> runChecks() {
  std::vector<Check> checks;
  for (const pjrt::Part& part : pjrt::parts()) checks.push_back(checkPart(part));
  checks.push_back(checkPython());
  for (const io::KnownCheckpoint& known : io::knownCheckpoints()) checks.push_back(checkCheckpoint(known));
  return checks;
}

Status probePlugin(const std::string& file, bool execute) {
  if (!execute) pjrt::setCompileEnvironment({});  // else libtpu looks for a TPU's host on the network
  SUBLANE_TRY(pjrt::Plugin plugin, pjrt::Plugin::load(file));
  std::string text = fmt::format("{}.{}\n", plugin.major(), plugin.minor());
  if (execute) {
    SUBLANE_TRY(pjrt::Client client, pjrt::Client::create(plugin, {{"cpu_device_count", int64_t{1}}}));
    text += fmt::format("started; its platform is {}\n", client.platformName());
  }
  fmt::print("{}", text);
  return Ok{};
}

}  // namespace sublane::cli
