#include "base/subprocess.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/paths.h"

namespace sublane {
namespace {

using End = SubprocessResult::End;

SubprocessResult runShell(const std::string& script, Subprocess child = {}) {
  child.argv = {"sh", "-c", script};
  Result<SubprocessResult> result = run(child);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return std::move(result).value();
}

TEST(Subprocess, CapturesBothStreamsAndTheCode) {
  SubprocessResult result = runShell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 3);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.describe(), "exited with code 3");
}

TEST(Subprocess, TellsASignalFromACode) {
  SubprocessResult result = runShell("echo last words >&2; kill -ABRT $$");
  EXPECT_EQ(result.end, End::kSignalled);
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.describe(), "killed by signal 6 (Aborted)");
  EXPECT_EQ(result.lastWords(), "last words");
}

TEST(Subprocess, GivesInputOfAnySize) {
  Subprocess child{.argv = {"cat"}, .input = std::string(3'000'000, 'x')};
  Result<SubprocessResult> result = run(child);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, child.input);
}

// A child that reads nothing of a large input must be neither a hang nor our death by SIGPIPE.
TEST(Subprocess, SurvivesAChildThatDoesNotRead) {
  SubprocessResult result = runShell("exec 0<&-; sleep 0.1; exit 4", {.input = std::string(3'000'000, 'x')});
  EXPECT_EQ(result.code, 4);
}

TEST(Subprocess, KeepsTheTail) {
  SubprocessResult result =
      runShell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done", {.output_limit = 20});
  EXPECT_LE(result.output.size(), 20u);
  EXPECT_EQ(result.output.substr(result.output.size() - 10), "line 1999\n");
  EXPECT_EQ(result.output_dropped + result.output.size(), 10u * 7 + 90u * 8 + 900u * 9 + 1000u * 10);
}

TEST(Subprocess, KillsAChildThatOverstays) {
  SubprocessResult result = runShell("echo started; sleep 100 & wait", {.timeout_seconds = 0.3});
  EXPECT_EQ(result.end, End::kTimedOut);
  EXPECT_EQ(result.output, "started\n");
  EXPECT_LT(result.seconds, 50);
  EXPECT_NE(result.describe().find("did not end within"), std::string::npos);
}

TEST(Subprocess, StopsWhenCancelled) {
  std::atomic<bool> cancel{false};
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  SubprocessResult result = runShell("sleep 100", {.cancel = &cancel});
  EXPECT_EQ(result.end, End::kCancelled);
  EXPECT_EQ(result.describe(), "was interrupted");
}

// A grandchild that keeps the pipes open is not waited for.
TEST(Subprocess, DoesNotWaitForGrandchildren) {
  SubprocessResult result = runShell("sleep 60 & echo done");
  EXPECT_EQ(result.output, "done\n");
  EXPECT_LT(result.seconds, 30);
}

TEST(Subprocess, SetsEnvironmentAndDirectory) {
  setenv("SUBLANE_TEST_KEPT", "kept", 1);
  setenv("SUBLANE_TEST_REPLACED", "old", 1);
  SubprocessResult result = runShell(
      "echo $SUBLANE_TEST_KEPT $SUBLANE_TEST_REPLACED $SUBLANE_TEST_NEW; pwd",
      {.environment = {{"SUBLANE_TEST_REPLACED", "new"}, {"SUBLANE_TEST_NEW", "x y"}}, .directory = "/"});
  EXPECT_EQ(result.output, "kept new x y\n/\n");
}

TEST(Subprocess, CannotStart) {
  EXPECT_EQ(run({.argv = {"no-such-program-here"}}).error().text(),
            "no-such-program-here: cannot start: No such file or directory");
  EXPECT_EQ(run({.argv = {"true"}, .directory = "/no/such/folder"}).error().text(),
            "true: cannot enter /no/such/folder: No such file or directory");
  EXPECT_EQ(run({}).error().text(), "subprocess: no program given");
}

TEST(Subprocess, LastWordsSkipBlankLines) {
  SubprocessResult result;
  result.errors = "one\n\ntwo\n   \nthree\n";
  EXPECT_EQ(result.lastWords(2), "two\nthree");
  result.errors = " \n";
  result.output = "only output";
  EXPECT_EQ(result.lastWords(), "only output");
}

// When we die, so does the child: a process of ours starts one, tells its id, and is killed.
TEST(Subprocess, ChildDiesWithUs) {
  int ids[2];
  ASSERT_EQ(pipe(ids), 0);
  const pid_t middle = fork();
  if (middle == 0) {
    Subprocess child{.argv = {"sh", "-c", "echo $$ >&2; exec sleep 100"}};
    child.on_error_bytes = [&](std::string_view text) { (void)!write(ids[1], text.data(), text.size()); };
    (void)run(child).ok();
    _exit(0);
  }
  char text[32] = {};
  ASSERT_GT(read(ids[0], text, sizeof text - 1), 0);
  const pid_t child = std::atoi(text);
  ASSERT_GT(child, 1);
  ASSERT_EQ(kill(child, 0), 0);
  kill(middle, SIGKILL);
  waitpid(middle, nullptr, 0);
  // The child is reaped by whoever adopted it; a zombie counts as dead.
  bool dead = false;
  for (int i = 0; i < 500 && !dead; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Result<std::string> state = readFile(fmt::format("/proc/{}/stat", child));
    dead = !state.ok() || state->find(") Z ") != std::string::npos;
  }
  EXPECT_TRUE(dead);
}

}  // namespace
}  // namespace sublane
