// A whole file, read-only, on a memory map.
//
// Checkpoints are read through it, so that a tensor is a span of the file and never a copy. The pages come
// in as they are touched. A file that another program cuts short while it is mapped raises SIGBUS, as with
// any map: files in the cache are replaced by renaming, never rewritten.
//
//   SUBLANE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open("model.gguf"));
//   std::span<const std::byte> header = file->bytes().first(4);
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace sublane {

class MappedFile {
 public:
  /// Errors (input): missing, unreadable, not a regular file, empty. A map that the machine refuses is a
  /// machine error.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}
  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace sublane
