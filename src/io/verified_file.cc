#include "io/verified_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/paths.h"
#include "base/sha256.h"

namespace sublane::io {
namespace {

std::string noteOf(const struct stat& status, std::string_view sha256) {
  // The second time can't be set back by those who set back the first.
  return fmt::format("sha256 {}\nbytes {}\nmtime {}.{:09}\nctime {}.{:09}\n", sha256, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                     status.st_ctim.tv_nsec);
}

std::string notePath(const std::string& path) { return path + ".verified"; }

}  // namespace

Result<bool> isVerified(const std::string& path, uint64_t bytes, std::string_view sha256) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) || static_cast<uint64_t>(status.st_size) != bytes) return false;
  Result<std::string> note = readFile(notePath(path));
  if (note.ok() && *note == noteOf(status, sha256)) return true;
  SUBLANE_TRY(std::string found, sha256OfFile(path));
  if (found != sha256) return false;
  (void)noteVerified(path, sha256);  // else it is read again the next time
  return true;
}

Status noteVerified(const std::string& path, std::string_view sha256) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    return machineError("{}: cannot stat: {}", path, std::strerror(errno));
  }
  return writeFileAtomically(notePath(path), noteOf(status, sha256));
}

}  // namespace sublane::io
