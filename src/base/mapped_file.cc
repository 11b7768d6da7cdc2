#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/file_descriptor.h"

namespace sublane {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // Non-blocking, so that opening a pipe by mistake is an error and not a wait.
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return inputError("{}: cannot open: {}", path, std::strerror(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return machineError("{}: cannot stat: {}", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return inputError("{}: is a directory, not a file", path);
  if (!S_ISREG(status.st_mode)) return inputError("{}: is not a regular file", path);
  if (status.st_size == 0) return inputError("{}: the file is empty (0 bytes)", path);
  const size_t size = static_cast<size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) {
    return machineError("{}: cannot map {} bytes: {}", path, size, std::strerror(errno));
  }
  std::span<const std::byte> bytes(static_cast<const std::byte*>(address), size);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, bytes));
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

}  // namespace sublane
