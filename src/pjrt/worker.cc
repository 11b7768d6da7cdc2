#include "pjrt/worker.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/paths.h"
#include "base/subprocess.h"
#include "pjrt/dump.h"
#include "pjrt/messages.h"

namespace sublane::pjrt {
namespace {

std::string& chosenWorkerProgram() {
  static std::string program;
  return program;
}

/// The program whose verb `worker` answers. Never "whatever runs now": a test program started as its own
/// worker would run its tests again, and start itself again.
Result<std::string> workerProgram() {
  const char* program = std::getenv("SUBLANE_WORKER");
  if (program != nullptr && *program != '\0') return std::string(program);
  if (!chosenWorkerProgram().empty()) return chosenWorkerProgram();
  return machineError("compile: no worker program is set").hint("set SUBLANE_WORKER to build/sublane");
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

/// A CHECK failure is followed by a stack of addresses, which would push its own line out of the last five.
bool isStackLine(const std::string& line) {
  const std::string_view text = std::string_view(line).substr(line.find_first_not_of(' '));
  return text.starts_with("@ ") || text.starts_with("PC: @") ||
         text.starts_with("*** Check failure stack trace");
}

std::string lastWords(const std::string& errors) {
  static constexpr size_t kLines = 5, kLineBytes = 400;
  std::vector<std::string> lines;
  for (std::string& line : linesOf(errors)) {
    if (!isStackLine(line)) lines.push_back(std::move(line));
  }
  std::string words;
  for (size_t i = lines.size() > kLines ? lines.size() - kLines : 0; i < lines.size(); ++i) {
    words += "\n  | " + lines[i].substr(0, kLineBytes);
  }
  return words.empty() ? "; it said nothing" : "; its last words:" + words;
}

Error workerError(const AheadOfTimeRequest& request, const std::string& how, const std::string& errors) {
  return machineError("compile for {}: the compiler's process {}{}", request.topology, how, lastWords(errors))
      .hint(request.want_profile ? "libtpu's static profile can end its own process: compile without it"
                                 : "the fault is inside libtpu: try the program without custom calls or "
                                   "without extra flags");
}

std::string seconds(double value) { return fmt::format("{:.{}f} s", value, value < 10 ? 1 : 0); }

Result<AheadOfTimeResult> readReply(const AheadOfTimeRequest& request, const SubprocessResult& child) {
  using End = SubprocessResult::End;
  if (child.end == End::kCancelled) return machineError("compile for {}: interrupted", request.topology);
  if (child.end == End::kTimedOut) {
    const std::string how = fmt::format("was stopped after {}: it had not finished within the limit of {}",
                                        seconds(child.seconds), seconds(request.timeout_seconds));
    return machineError("compile for {}: the compiler's process {}{}", request.topology, how,
                        lastWords(child.errors))
        .hint("allow more time, or compile a smaller program");
  }
  if (!child.succeeded()) return workerError(request, child.describe(), child.errors);
  Result<std::string_view> payload = decodeFrame(child.output);
  if (!payload.ok()) {
    return workerError(request, "sent no proper reply (" + payload.error().message() + ")", child.errors);
  }
  return decodeReply(*payload);
}

/// Memory, where there is plenty of it: a listing is written once and read once. Else, and where the user
/// names a place, the usual one.
std::string dumpFolder() {
  constexpr const char* kMemory = "/dev/shm";
  constexpr uint64_t kPlenty = uint64_t{2} << 30;
  struct statvfs room{};
  const bool named = std::getenv("TMPDIR") != nullptr;
  if (named || access(kMemory, W_OK) != 0 || statvfs(kMemory, &room) != 0) return "";
  return uint64_t{room.f_bavail} * room.f_frsize >= kPlenty ? kMemory : "";
}

}  // namespace

void setWorkerProgram(std::string path) { chosenWorkerProgram() = std::move(path); }

Result<AheadOfTimeResult> compileAheadOfTime(const AheadOfTimeRequest& request) {
  AheadOfTimeRequest sent = request;
  if (sent.libtpu_path.empty()) {
    SUBLANE_TRY(sent.libtpu_path, pluginPath("libtpu"));
  }
  // Killed with us by the kernel: by the thread that starts it, which is this one, waiting in run().
  Subprocess worker;
  SUBLANE_TRY(std::string program, workerProgram());
  worker.argv = {std::move(program), "worker"};
  worker.input = encodeFrame(encodeRequest(sent));
  worker.timeout_seconds = request.timeout_seconds;
  worker.cancel = request.cancel;
  // Ours, so that it goes however the child ends. libtpu leaves logs in $TMPDIR, whatever TPU_LOG_DIR says.
  Result<TemporaryDirectory> folder = TemporaryDirectory::create(dumpFolder(), "sublane-compile-");
  if (!folder.ok() && wantsDump(request)) return std::move(folder).error();
  if (folder.ok()) {
    worker.environment["TMPDIR"] = folder->path();
    worker.environment[kDumpFolderVariable] = folder->path();
  }
  worker.output_limit = size_t{4} << 30;
  Result<SubprocessResult> child = run(worker);
  if (!child.ok()) return std::move(child).error().at("compile for " + request.topology);
  return readReply(request, *child);
}

}  // namespace sublane::pjrt
