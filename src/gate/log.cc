#include "gate/log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "gate/log_json.h"

namespace sublane::gate {
namespace {

/// Longer lines are not ours.
constexpr size_t kMostLine = size_t{1} << 20;

template <class Steps>
std::string programHash(const Steps& steps) {
  Sha256 hash;
  bool any = false;
  for (const auto& step : steps) {
    any |= !step.fingerprint.empty();
    const std::string text = step.name + "\n" + step.fingerprint + "\n";
    hash.update(std::as_bytes(std::span(text)));
  }
  return any ? hash.hex().substr(0, 16) : "";
}

Error refused(const std::string& path) { return machineError("{}: {}", path, std::strerror(errno)); }

bool endsInNewline(int fd, off_t size) {
  char last = '\n';
  return size == 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n';
}

}  // namespace

LogSide sideOf(const report::Simulation& simulation) {
  LogSide side{.subject = simulation.subject,
               .chip = simulation.chip->name,
               .compiler = simulation.compiler,
               .program = programHash(simulation.steps),
               .model = simulation.model_hash.substr(0, 16),
               .flags = simulation.flags};
  for (const std::string& without : simulation.without) side.flags.push_back("without " + without);
  for (const report::SimulatedStep& step : simulation.steps)
    side.steps.push_back({step.name, std::string(name(step.origin())), step.us});
  return side;
}

std::string nowUtc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool logHere() {
  std::error_code ignored;
  return std::filesystem::is_directory(kLogFolder, ignored);
}

Status initLog() { return createDirectories(kLogFolder); }

Status appendLog(const std::string& path, const LogEntry& entry) {
  std::string line = jsonOf(entry).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  FileDescriptor fd(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (fd.get() < 0) return refused(path);
  if (flock(fd.get(), LOCK_EX) != 0) return refused(path);  // let go when the file is closed
  const off_t size = lseek(fd.get(), 0, SEEK_END);
  if (size > 0 && !endsInNewline(fd.get(), size)) line.insert(line.begin(), '\n');
  for (size_t done = 0; done < line.size();) {
    const ssize_t wrote = write(fd.get(), line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return refused(path);
    done += static_cast<size_t>(wrote);
  }
  return Ok{};
}

Log parseLog(std::string_view text) {
  Log log;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    if (line.size() > kMostLine) {
      log.damaged.push_back(
          {number, fmt::format("{} bytes are more than the {} of a line", line.size(), kMostLine)});
      continue;
    }
    Result<LogEntry> entry = readEntry(line);
    if (entry.ok()) {
      log.entries.emplace_back(number, std::move(*entry));
    } else {
      log.damaged.push_back({number, entry.error().message()});
    }
  }
  return log;
}

Result<Log> readLog(const std::string& path) {
  SUBLANE_TRY(const std::string text, readFile(path));
  return parseLog(text);
}

}  // namespace sublane::gate
