// Where Sublane keeps what it fetched and made, and how it writes files there: whole, or not at all.
//
//   SUBLANE_TRY(std::string cache, cacheDirectory());
//   SUBLANE_CHECK_OK(writeFileAtomically(cache + "/note.txt", "hello\n"));
//
//   SUBLANE_TRY(AtomicFile out, AtomicFile::create(path));      // path + ".tmp-XXXXXX" in the same folder
//   SUBLANE_CHECK_OK(out.append(bytes));
//   SUBLANE_CHECK_OK(out.commit());                             // fsync, rename; without it, nothing stays
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace sublane {

/// $XDG_CACHE_HOME/sublane, else $HOME/.cache/sublane (not created). A relative or empty XDG_CACHE_HOME is
/// ignored, as the XDG specification asks. Error: neither is set.
Result<std::string> cacheDirectory();

/// Makes `path` and its parents; fine if they exist.
Status createDirectories(const std::string& path);

/// The file's bytes. Errors as MappedFile::open, except that an empty file is an empty string.
Result<std::string> readFile(const std::string& path);

/// A file being written beside its final place. What is no regular file (a device, a pipe, a link) is written
/// through instead.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&&) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  /// Removes the unfinished file.
  ~AtomicFile();

  Status append(std::span<const std::byte> bytes);
  Status append(std::string_view text);
  /// Flushes to the disk and takes the final name, replacing what was there.
  Status commit();

 private:
  AtomicFile(std::string path, std::string temporary, FileDescriptor fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}
  std::string path_;
  std::string temporary_;
  FileDescriptor fd_;
};

Status writeFileAtomically(const std::string& path, std::string_view content);

/// A fresh folder, removed with all that is in it when the object goes.
class TemporaryDirectory {
 public:
  /// Makes `parent`/`prefix`XXXXXX; parent must exist. Empty parent: $TMPDIR, else /tmp.
  static Result<TemporaryDirectory> create(const std::string& parent = "",
                                           const std::string& prefix = "sublane-");
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Keeps other processes out of what `path` (created if missing) stands for, until the object goes.
class FileLock {
 public:
  /// Waits for the lock. `waiting` is called once if another process holds it. Error: cannot create or lock
  /// the file, or `cancel` was raised while waiting.
  static Result<FileLock> acquire(const std::string& path, const std::function<void()>& waiting = nullptr,
                                  const std::atomic<bool>* cancel = nullptr);

 private:
  explicit FileLock(FileDescriptor fd) : fd_(std::move(fd)) {}
  FileDescriptor fd_;
};

}  // namespace sublane
