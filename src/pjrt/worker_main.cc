#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pjrt/ahead_of_time.h"
#include "pjrt/dump.h"
#include "pjrt/messages.h"

namespace sublane::pjrt {
namespace {

std::string readAll(int fd) {
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) bytes.append(buffer, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return bytes;
  }
}

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

/// Keeps the reply's pipe for us: what the compiler prints on stdout goes to stderr.
int takeReplyChannel() {
  const int channel = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return channel;
}

/// Faults on demand, so that tests see a real abort, exit, hang and garbage.
void misbehaveIfTold(int channel) {
  const char* told = std::getenv("SUBLANE_WORKER_TEST");
  if (told == nullptr) return;
  const std::string_view fault(told);
  if (fault == "abort") {
    for (int i = 0; i < 20; ++i) std::fprintf(stderr, "line %d before the end\n", i);
    std::fputs(
        "F0101 00:00:00.000000 1 test.cc:1] Check failed: told to abort\n*** Check failure stack trace: "
        "***\n",
        stderr);
    for (int i = 0; i < 20; ++i) std::fputs("    @     0x7f0000000000  (unknown)\n", stderr);
    std::abort();
  }
  if (fault == "exit") {
    std::fputs("unknown flag: told to exit\n", stderr);
    std::exit(1);
  }
  if (fault == "hang") {
    for (;;) pause();
  }
  if (fault == "garbage") {
    writeAll(channel, "this is not a frame, but it is long enough");
    std::exit(0);
  }
  if (fault == "truncated") {
    writeAll(channel, std::string_view(encodeFrame("a reply that is cut short")).substr(0, 20));
    std::exit(0);
  }
  if (fault == "noise") std::puts("the compiler chats on stdout");
}

Result<AheadOfTimeResult> answer(const std::string& input) {
  SUBLANE_TRY(std::string_view payload, decodeFrame(input));
  SUBLANE_TRY(AheadOfTimeRequest request, decodeRequest(payload));
  if (!wantsDump(request)) {
    setCompileEnvironment(request.init_args);
    return compileInThisProcess(request);
  }
  const char* folder = std::getenv(kDumpFolderVariable);
  if (folder == nullptr) return machineError("worker: ${} names no folder", kDumpFolderVariable);
  setCompileEnvironment(dumpFlags(request, folder));
  SUBLANE_TRY(AheadOfTimeResult result, compileInThisProcess(request));
  result.dump = readDump(folder);
  return result;
}

}  // namespace

int workerMain() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);  // an abort of libtpu would leave a gigabyte
  const int channel = takeReplyChannel();
  const std::string input = readAll(STDIN_FILENO);
  misbehaveIfTold(channel);
  const bool sent = writeAll(channel, encodeFrame(encodeReply(answer(input))));
  std::fflush(nullptr);
  // Not exit(): libtpu's exit handlers have nothing to save, and can hang or crash.
  _exit(sent ? 0 : 3);
}

}  // namespace sublane::pjrt
