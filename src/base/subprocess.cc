#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/file_descriptor.h"

extern char** environ;

namespace sublane {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  FileDescriptor read, write;
};

Result<Pipe> makePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return machineError("cannot make a pipe: {}", std::strerror(errno));
  return Pipe{FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// The last `limit` bytes of a stream. Trimmed only when twice too long, so that each byte moves once.
class Tail {
 public:
  explicit Tail(size_t limit) : limit_(limit) {}
  void append(std::string_view bytes) {
    text_ += bytes;
    if (text_.size() / 2 > limit_) trim();
  }
  std::string take() {
    if (text_.size() > limit_) trim();
    return std::move(text_);
  }
  size_t dropped() const { return dropped_; }

 private:
  void trim() {
    dropped_ += text_.size() - limit_;
    text_.erase(0, text_.size() - limit_);
  }
  size_t limit_;
  std::string text_;
  size_t dropped_ = 0;
};

// All that the child needs, made before fork: after it only async-signal-safe calls are allowed.
struct Launch {
  std::vector<std::string> environment_strings;
  std::vector<char*> argv, environment;

  explicit Launch(const Subprocess& subprocess) {
    for (const std::string& argument : subprocess.argv) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    for (char** entry = environ; *entry; ++entry) {
      std::string name(*entry, std::strcspn(*entry, "="));
      if (!subprocess.environment.count(name)) environment_strings.emplace_back(*entry);
    }
    for (const auto& [name, value] : subprocess.environment)
      environment_strings.push_back(name + "=" + value);
    for (std::string& entry : environment_strings) environment.push_back(entry.data());
    environment.push_back(nullptr);
  }
};

struct ChildPipes {
  Pipe input, output, errors, failure;
};

// What went wrong between fork and exec, sent through the failure pipe.
struct StartFailure {
  int code;
  bool in_directory;
};

[[noreturn]] void becomeChild(const Subprocess& subprocess, const Launch& launch, const ChildPipes& pipes,
                              pid_t parent) {
  auto fail = [&](bool in_directory) {
    StartFailure failure{errno, in_directory};
    (void)!::write(pipes.failure.write.get(), &failure, sizeof failure);
    _exit(127);
  };
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl
  setpgid(0, 0);
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(pipes.input.read.get(), 0);
  dup2(pipes.output.write.get(), 1);
  dup2(pipes.errors.write.get(), 2);
  if (!subprocess.directory.empty() && chdir(subprocess.directory.c_str()) != 0) fail(true);
  execvpe(launch.argv[0], launch.argv.data(), launch.environment.data());
  fail(false);
  _exit(127);
}

// Moves bytes between us and a running child until it is gone.
class Conversation {
 public:
  Conversation(const Subprocess& subprocess, pid_t pid, ChildPipes pipes)
      : subprocess_(subprocess),
        pid_(pid),
        pipes_(std::move(pipes)),
        output_(subprocess.output_limit),
        errors_(subprocess.error_limit) {
    for (int fd : {pipes_.input.write.get(), pipes_.output.read.get(), pipes_.errors.read.get()}) {
      fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    if (subprocess_.input.empty()) pipes_.input.write.reset();
  }

  SubprocessResult finish() {
    while (!ended()) {
      exchange();
      if (subprocess_.on_tick) subprocess_.on_tick();
      killIfOver();
    }
    drain();
    result_.seconds = elapsed();
    result_.output = output_.take();
    result_.output_dropped = output_.dropped();
    result_.errors = errors_.take();
    return std::move(result_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  bool ended() {
    int status = 0;
    pid_t reaped = waitpid(pid_, &status, WNOHANG);
    if (reaped == 0 || (reaped < 0 && errno == EINTR)) return false;
    using End = SubprocessResult::End;
    if (result_.end == End::kTimedOut || result_.end == End::kCancelled) return true;
    if (WIFSIGNALED(status)) {
      result_.end = End::kSignalled;
      result_.signal = WTERMSIG(status);
    } else {
      result_.code = WEXITSTATUS(status);
    }
    return true;
  }

  void killIfOver() {
    const bool late = subprocess_.timeout_seconds > 0 && elapsed() > subprocess_.timeout_seconds;
    const bool cancelled = subprocess_.cancel && subprocess_.cancel->load();
    if ((!late && !cancelled) || result_.end != SubprocessResult::End::kExited) return;
    result_.end = cancelled ? SubprocessResult::End::kCancelled : SubprocessResult::End::kTimedOut;
    kill(-pid_, SIGKILL);  // the group: what the child started goes too
    kill(pid_, SIGKILL);   // in case it had not made its group yet
  }

  void exchange() {
    pollfd fds[] = {{pipes_.output.read.get(), POLLIN, 0},
                    {pipes_.errors.read.get(), POLLIN, 0},
                    {pipes_.input.write.get(), POLLOUT, 0}};
    // With both outputs closed the child is about to go: look often. poll ignores descriptors below 0.
    const bool silent = fds[0].fd < 0 && fds[1].fd < 0;
    if (poll(fds, 3, silent ? 2 : 50) <= 0) return;
    if (fds[0].revents) read(pipes_.output.read, output_, nullptr);
    if (fds[1].revents) read(pipes_.errors.read, errors_, &subprocess_.on_error_bytes);
    if (fds[2].revents) writeInput();
  }

  // Reads what is there; closes the pipe at its end. False if nothing came.
  bool read(FileDescriptor& fd, Tail& tail, const std::function<void(std::string_view)>* listener) {
    if (!fd.valid()) return false;
    const ssize_t n = ::read(fd.get(), buffer_, sizeof buffer_);
    if (n < 0) {
      if (errno != EAGAIN && errno != EINTR) fd.reset();
      return false;
    }
    if (n == 0) {
      fd.reset();
      return false;
    }
    std::string_view bytes(buffer_, static_cast<size_t>(n));
    tail.append(bytes);
    if (listener && *listener) (*listener)(bytes);
    return true;
  }

  void writeInput() {
    const std::string& input = subprocess_.input;
    const ssize_t n = ::write(pipes_.input.write.get(), input.data() + written_, input.size() - written_);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) written_ += static_cast<size_t>(n);
    if (n < 0 || written_ == input.size()) pipes_.input.write.reset();  // a child may stop reading: its right
  }

  // What the dead child left in the pipes; a grandchild that holds them open is not waited for.
  void drain() {
    while (read(pipes_.output.read, output_, nullptr)) {
    }
    while (read(pipes_.errors.read, errors_, &subprocess_.on_error_bytes)) {
    }
  }

  const Subprocess& subprocess_;
  pid_t pid_;
  ChildPipes pipes_;
  Tail output_, errors_;
  SubprocessResult result_;
  size_t written_ = 0;
  Clock::time_point start_ = Clock::now();
  char buffer_[1 << 16];
};

// Writing to a child that has closed its stdin must be an error code, not our death.
void ignoreBrokenPipes() {
  struct sigaction action;
  if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
    std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

Result<SubprocessResult> run(const Subprocess& subprocess) {
  if (subprocess.argv.empty()) return machineError("subprocess: no program given");
  const std::string& program = subprocess.argv[0];
  ChildPipes pipes;
  for (Pipe* pipe : {&pipes.input, &pipes.output, &pipes.errors, &pipes.failure}) {
    SUBLANE_TRY(*pipe, makePipe());
  }
  ignoreBrokenPipes();
  const Launch launch(subprocess);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return machineError("{}: cannot fork: {}", program, std::strerror(errno));
  if (pid == 0) becomeChild(subprocess, launch, pipes, parent);

  pipes.input.read.reset();
  pipes.output.write.reset();
  pipes.errors.write.reset();
  pipes.failure.write.reset();
  StartFailure failure;
  ssize_t n;  // 0 bytes: exec closed the pipe, so the program runs
  while ((n = ::read(pipes.failure.read.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (n == sizeof failure) {
    waitpid(pid, nullptr, 0);
    return machineError("{}: cannot {}: {}", program,
                        failure.in_directory ? "enter " + subprocess.directory : "start",
                        std::strerror(failure.code));
  }
  return Conversation(subprocess, pid, std::move(pipes)).finish();
}

std::string SubprocessResult::describe() const {
  switch (end) {
    case End::kExited:
      return fmt::format("exited with code {}", code);
    case End::kSignalled:
      return fmt::format("killed by signal {} ({})", signal, strsignal(signal));
    case End::kTimedOut:
      return fmt::format("did not end within {:.0f} s and was killed", seconds);
    case End::kCancelled:
      return "was interrupted";
  }
  return "ended";
}

std::string SubprocessResult::lastWords(size_t lines) const {
  const std::string& text = errors.find_first_not_of(" \r\n") == std::string::npos ? output : errors;
  std::string words;
  size_t end = text.size(), found = 0;
  while (end > 0 && found < lines) {
    const size_t newline = text.rfind('\n', end - 1);
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    std::string line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r\n") != std::string::npos) {
      words = words.empty() ? line : line + "\n" + words;
      ++found;
    }
    end = newline == std::string::npos ? 0 : newline;
  }
  return words;
}

}  // namespace sublane
