// Wrong use of every verb: its exit code, its message, and that nothing is printed as if it were a result.
#include <gtest/gtest.h>

#include "base/paths.h"
#include "base/subprocess.h"

namespace sublane {
namespace {

SubprocessResult sublane(const std::vector<std::string>& arguments) {
  Subprocess child;
  child.argv = {SUBLANE_BINARY_DIR "/sublane"};
  child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
  return run(child).value();
}

/// What is said of a wrong use, which must end with code 2.
std::string refused(const std::vector<std::string>& arguments) {
  const SubprocessResult result = sublane(arguments);
  EXPECT_EQ(result.code, 2) << result.errors;
  EXPECT_EQ(result.output, "");
  return result.errors;
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

const char* const kVerbs[] = {"calibrate", "check", "chips", "diff",     "doctor",   "explain", "fetch",
                              "inspect",   "log",   "run",   "simulate", "template", "tokenize"};

TEST(Usage, HelpIsNoError) {
  EXPECT_EQ(sublane({"--help"}).code, 0);
  EXPECT_TRUE(has(sublane({"--version"}).output, "sublane "));
  const std::string all = sublane({"--help"}).output;
  for (const char* verb : kVerbs) {
    const SubprocessResult help = sublane({verb, "--help"});
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_TRUE(has(help.output, "--json")) << verb << " has no --json";
    EXPECT_TRUE(has(all, verb)) << verb;
  }
}

TEST(Usage, UnknownVerbsAndFlags) {
  EXPECT_TRUE(has(refused({"expalin"}), "there is no verb \"expalin\"\n  hint: the verbs are "));
  refused({});
  for (const char* verb : kVerbs) {
    const std::string said = refused({verb, "--no-such-flag"});
    EXPECT_TRUE(has(said, verb)) << said;
    EXPECT_TRUE(has(said, std::string("hint: sublane ") + verb + " --help")) << said;
  }
}

TEST(Usage, ValuesOutsideTheirRange) {
  struct Case {
    const char *flag, *value;
  };
  for (const Case& c :
       {Case{"--max-tokens", "0"}, Case{"--max-tokens", "1.5"}, Case{"--temperature", "-1"},
        Case{"--top-p", "2"}, Case{"--context", "-1"}, Case{"--dtype", "f64"}, Case{"--layers", "rolled"}}) {
    const std::string said = refused({"run", "m.gguf", "--prompt", "x", c.flag, c.value});
    EXPECT_TRUE(has(said, c.flag)) << said;
    EXPECT_TRUE(has(said, c.value)) << said;
  }
}

TEST(Usage, PromptsOfRun) {
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  EXPECT_TRUE(has(refused({"run", "m.gguf"}), "no prompt: give --prompt TEXT or --prompt-file FILE"));
  EXPECT_TRUE(has(refused({"run", "m.gguf", "--prompt", ""}), "--prompt is empty"));
  EXPECT_TRUE(has(refused({"run", "m.gguf", "--prompt", "x", "--prompt-file", "y"}), "both given"));
  EXPECT_TRUE(has(refused({"run", "m.gguf", "--prompt", "x", "--system", "y"}), "--system needs --chat"));
  EXPECT_TRUE(has(refused({"run", folder.path() + "/m.gguf", "--prompt", "x"}), "no such file or folder"));
}

TEST(Usage, ResultsThatNobodyReadsAreAFailure) {
  Subprocess child;
  child.argv = {"/bin/sh", "-c", SUBLANE_BINARY_DIR "/sublane chips > /dev/full"};
  const SubprocessResult result = run(child).value();
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(has(result.errors, "standard output: No space left on device")) << result.errors;
  // What is written before the reader is gone lies in the pipe, and nobody is told.
  child.argv = {"/bin/bash", "-o", "pipefail", "-c",
                "{ sleep 0.5; " SUBLANE_BINARY_DIR "/sublane chips; } | true"};
  EXPECT_EQ(run(child)->code, 141);
}

TEST(Usage, AFileThatShrinksIsAnErrorNotACrash) {
  // What the kernel sends when a mapped page is gone, to one that waits for a file that nobody writes.
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  Subprocess child;
  child.argv = {
      "/bin/bash", "-c",
      fmt::format("mkfifo {0}/p && {{ {1} explain {0}/p --chip v6e & sleep 1; kill -BUS $!; wait $!; }}",
                  folder.path(), SUBLANE_BINARY_DIR "/sublane")};
  const SubprocessResult result = run(child).value();
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(has(result.errors, "a file became shorter while it was read")) << result.errors;
}

}  // namespace
}  // namespace sublane
