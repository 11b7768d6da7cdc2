#include "base/paths.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

namespace sublane {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Error writeError(const std::string& path, const char* what) {
  const int code = errno;
  Error error = machineError("{}: cannot {}: {}", path, what, std::strerror(code));
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) {
    return std::move(error).hint("free some disk space, or point XDG_CACHE_HOME at another disk");
  }
  if (code == EACCES || code == EROFS || code == EPERM) {
    return std::move(error).hint("point XDG_CACHE_HOME at a folder that you may write to");
  }
  return error;
}

std::string parentOf(const std::string& path) {
  std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

Result<std::string> cacheDirectory() {
  const std::string xdg = environment("XDG_CACHE_HOME");
  if (!xdg.empty() && xdg[0] == '/') return xdg + "/sublane";
  const std::string home = environment("HOME");
  if (!home.empty()) return home + "/.cache/sublane";
  return machineError("cache folder: neither XDG_CACHE_HOME nor HOME is set")
      .hint("set XDG_CACHE_HOME to a folder that you may write to");
}

Status createDirectories(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (!code) return Ok{};
  errno = code.value();
  return writeError(path, "create the folder");
}

Result<std::string> readFile(const std::string& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return inputError("{}: cannot open: {}", path, std::strerror(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return machineError("{}: cannot stat: {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return inputError("{}: is not a regular file", path);
  std::string content;
  char buffer[1 << 16];
  while (true) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return machineError("{}: cannot read: {}", path, std::strerror(errno));
    if (n == 0) return content;
    content.append(buffer, static_cast<size_t>(n));
  }
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  struct stat there;
  if (::lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    // A device, a pipe or a link stays what it is: it is written through.
    FileDescriptor through(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!through.valid()) return writeError(path, "open");
    return AtomicFile(path, "", std::move(through));
  }
  std::string temporary = path + ".tmp-XXXXXX";
  FileDescriptor fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return writeError(path, "create");
  return AtomicFile(path, std::move(temporary), std::move(fd));
}

AtomicFile::~AtomicFile() {
  if (fd_.valid() && !temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AtomicFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return writeError(path_, "write");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return Ok{};
}

Status AtomicFile::append(std::string_view text) {
  return append(std::as_bytes(std::span(text.data(), text.size())));
}

Status AtomicFile::commit() {
  if (temporary_.empty()) {
    fd_.reset();
    return Ok{};
  }
  mode_t mask = ::umask(0);
  ::umask(mask);
  fchmod(fd_.get(), 0666 & ~mask);  // mkostemp made it 0600
  if (fsync(fd_.get()) != 0) return writeError(path_, "write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return writeError(path_, "rename into place");
  fd_.reset();  // from here on the destructor removes nothing
  FileDescriptor parent(::open(parentOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.valid()) fsync(parent.get());
  return Ok{};
}

Status writeFileAtomically(const std::string& path, std::string_view content) {
  SUBLANE_TRY(AtomicFile file, AtomicFile::create(path));
  SUBLANE_CHECK_OK(file.append(content));
  return file.commit();
}

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& parent, const std::string& prefix) {
  std::string base = parent;
  if (base.empty()) base = environment("TMPDIR");
  if (base.empty()) base = "/tmp";
  std::string path = base + "/" + prefix + "XXXXXX";
  if (!mkdtemp(path.data())) return writeError(base, "create a temporary folder");
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<FileLock> FileLock::acquire(const std::string& path, const std::function<void()>& waiting,
                                   const std::atomic<bool>* cancel) {
  FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.valid()) return writeError(path, "create the lock file");
  bool said = false;
  // Asked again and again rather than slept on, so that a raised `cancel` is never missed.
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return machineError("{}: cannot lock: {}", path, std::strerror(errno));
    }
    if (cancel && cancel->load()) return machineError("{}: interrupted while waiting for the lock", path);
    if (!said && waiting) waiting();
    said = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return FileLock(std::move(fd));
}

}  // namespace sublane
