// Maps, atomic files, temporary folders, locks, hashes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/sha256.h"

namespace sublane {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = TemporaryDirectory::create();
    ASSERT_TRUE(made.ok()) << made.error().text();
    folder_.emplace(std::move(made).value());
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_->path()), {}));
  }
  std::optional<TemporaryDirectory> folder_;
};

TEST_F(Files, MapsAWholeFile) {
  ASSERT_TRUE(writeFileAtomically(path("f"), "hello").ok());
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path("f"));
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ((*file)->path(), path("f"));
  std::span<const std::byte> bytes = (*file)->bytes();
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "hello");
}

TEST_F(Files, MapErrors) {
  auto errorOf = [](const std::string& path) { return MappedFile::open(path).error().text(); };
  EXPECT_EQ(errorOf(path("none")), path("none") + ": cannot open: No such file or directory");
  EXPECT_EQ(errorOf(folder_->path()), folder_->path() + ": is a directory, not a file");
  ASSERT_TRUE(writeFileAtomically(path("empty"), "").ok());
  EXPECT_EQ(errorOf(path("empty")), path("empty") + ": the file is empty (0 bytes)");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(errorOf(path("pipe")),
            path("pipe") + ": is not a regular file");  // and does not wait for a writer
}

TEST_F(Files, WritesReplaceWholeFiles) {
  ASSERT_TRUE(writeFileAtomically(path("f"), "first").ok());
  ASSERT_TRUE(writeFileAtomically(path("f"), "second").ok());
  EXPECT_EQ(*readFile(path("f")), "second");
  EXPECT_EQ(entries(), 1u);
  struct stat status;
  ASSERT_EQ(stat(path("f").c_str(), &status), 0);
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST_F(Files, AnUnfinishedFileLeavesNothing) {
  ASSERT_TRUE(writeFileAtomically(path("f"), "old").ok());
  {
    Result<AtomicFile> file = AtomicFile::create(path("f"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->append("new").ok());
    EXPECT_EQ(entries(), 2u);
    EXPECT_EQ(*readFile(path("f")), "old");
  }
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(*readFile(path("f")), "old");
}

// A full disk, as a limit on the size of files: in a child, since the limit stays.
TEST_F(Files, AFullDiskIsAnErrorAndLeavesNothing) {
  auto fill = [this] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Status status = writeFileAtomically(path("f"), std::string(5000, 'x'));
    std::fputs(status.ok() ? "no error" : status.error().text().c_str(), stderr);
    _exit(entries() == 0 ? 42 : 1);
  };
  EXPECT_EXIT(
      fill(), testing::ExitedWithCode(42),
      "/f: cannot write: File too large\n  hint: free some disk space, or point XDG_CACHE_HOME at another");
}

TEST_F(Files, CannotCreate) {
  EXPECT_EQ(writeFileAtomically(path("no/f"), "x").error().text(),
            path("no/f") + ": cannot create: No such file or directory");
  EXPECT_EQ(readFile(path("no")).error().text(), path("no") + ": cannot open: No such file or directory");
  ASSERT_TRUE(createDirectories(path("a/b/c")).ok());
  ASSERT_TRUE(createDirectories(path("a/b/c")).ok());
  ASSERT_TRUE(writeFileAtomically(path("a/file"), "x").ok());
  EXPECT_EQ(createDirectories(path("a/file/d")).error().text(),
            path("a/file/d") + ": cannot create the folder: Not a directory");
}

TEST_F(Files, TemporaryDirectoryGoesWithItsContent) {
  std::string made;
  {
    Result<TemporaryDirectory> inner = TemporaryDirectory::create(folder_->path(), "work-");
    ASSERT_TRUE(inner.ok());
    made = inner->path();
    TemporaryDirectory moved = std::move(inner).value();
    ASSERT_TRUE(createDirectories(made + "/deep/er").ok());
    ASSERT_TRUE(writeFileAtomically(made + "/deep/f", "x").ok());
    EXPECT_TRUE(fs::exists(made));
  }
  EXPECT_FALSE(fs::exists(made));
  EXPECT_EQ(TemporaryDirectory::create(path("none")).error().text(),
            path("none") + ": cannot create a temporary folder: No such file or directory");
}

TEST_F(Files, LockKeepsOthersOut) {
  Result<FileLock> first = FileLock::acquire(path("lock"));
  ASSERT_TRUE(first.ok());
  std::atomic<bool> cancel{true};
  bool waited = false;
  Result<FileLock> second = FileLock::acquire(path("lock"), [&] { waited = true; }, &cancel);
  EXPECT_EQ(second.error().text(), path("lock") + ": interrupted while waiting for the lock");
  std::optional<FileLock> held(std::move(first).value());
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    held.reset();
  });
  EXPECT_TRUE(FileLock::acquire(path("lock"), [&] { waited = true; }).ok());
  EXPECT_TRUE(waited);
}

TEST_F(Files, Sha256) {
  EXPECT_EQ(sha256Of({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hash;
  hash.update(std::as_bytes(std::span("ab", 2)));
  hash.update(std::as_bytes(std::span("c", 1)));
  EXPECT_EQ(hash.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  ASSERT_TRUE(writeFileAtomically(path("f"), "abc").ok());
  EXPECT_EQ(*sha256OfFile(path("f")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(CacheDirectory, FollowsTheEnvironment) {
  const char* home = std::getenv("HOME");
  const std::string old_home = home ? home : "/";
  setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(*cacheDirectory(), "/x/sublane");
  setenv("HOME", "/h", 1);
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(*cacheDirectory(), "/h/.cache/sublane");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(*cacheDirectory(), "/h/.cache/sublane");
  unsetenv("HOME");
  EXPECT_EQ(cacheDirectory().error().text(),
            "cache folder: neither XDG_CACHE_HOME nor HOME is set\n"
            "  hint: set XDG_CACHE_HOME to a folder that you may write to");
  setenv("HOME", old_home.c_str(), 1);
}

TEST(AtomicFile, WhatIsNoRegularFileIsWrittenThroughAndStaysWhatItIs) {
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  const std::string target = folder.path() + "/target", link = folder.path() + "/link";
  ASSERT_TRUE(writeFileAtomically(target, "old").ok());
  std::filesystem::create_symlink(target, link);
  ASSERT_TRUE(writeFileAtomically(link, "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(readFile(target).value(), "new");
  EXPECT_TRUE(writeFileAtomically("/dev/null", "x").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Status full = writeFileAtomically("/dev/full", "x");
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().message().find("No space left"), std::string::npos) << full.error().message();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace sublane
