#include "artifact/compile_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/deflate.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "pjrt/messages.h"

namespace sublane::artifact {

namespace fs = std::filesystem;

static std::string sha256(std::string_view text) { return sha256Of(std::as_bytes(std::span(text))); }

// ---- keys

Result<std::string> compileKey(const pjrt::AheadOfTimeRequest& request) {
  pjrt::AheadOfTimeRequest resolved = request;
  if (resolved.libtpu_path.empty()) {
    SUBLANE_TRY(resolved.libtpu_path, pjrt::pluginPath("libtpu"));
  }
  struct stat file{};
  if (stat(resolved.libtpu_path.c_str(), &file) != 0) {
    return machineError("libtpu: no file {}", resolved.libtpu_path).hint("run `make demo` or tools/setup.sh");
  }
  // Size and time of change stand for its bytes: hashing half a gigabyte would cost more than a compile.
  return sha256(fmt::format("compile {} libtpu {} {}.{:09}\n", pjrt::kMessageVersion, file.st_size,
                            file.st_mtim.tv_sec, file.st_mtim.tv_nsec) +
                pjrt::encodeRequest(resolved));
}

// ---- entries

static constexpr std::string_view kEntryMagic = "sublane compile 2\n";
static constexpr size_t kHashDigits = 64;

// magic, the hash of all that follows, the key, the result's size (8 bytes, little endian), the result
// packed: the listings of a transformer block are 40 MB of text
std::string encodeEntry(const std::string& key, const pjrt::AheadOfTimeResult& result) {
  const std::string message = pjrt::encodeResult(result);
  std::string body = key;
  for (int shift = 0; shift < 64; shift += 8)
    body.push_back(static_cast<char>(uint64_t{message.size()} >> shift));
  body += deflated(message);
  return std::string(kEntryMagic) + sha256(body) + body;
}

std::optional<pjrt::AheadOfTimeResult> decodeEntry(const std::string& key, std::string_view bytes) {
  if (!bytes.starts_with(kEntryMagic)) return std::nullopt;
  bytes.remove_prefix(kEntryMagic.size());
  if (bytes.size() < kHashDigits) return std::nullopt;
  const std::string_view hash = bytes.substr(0, kHashDigits);
  const std::string_view body = bytes.substr(kHashDigits);
  if (!body.starts_with(key) || sha256(body) != hash) return std::nullopt;
  const std::string_view packed = body.substr(key.size());
  if (packed.size() < 8) return std::nullopt;
  uint64_t size = 0;
  for (size_t i = 0; i < 8; ++i) size |= uint64_t{static_cast<unsigned char>(packed[i])} << (8 * i);
  const Result<std::string> message = inflated(packed.substr(8), size, DeflateForm::kZlib);
  if (!message.ok()) return std::nullopt;
  Result<pjrt::AheadOfTimeResult> result = pjrt::decodeResult(*message);
  if (!result.ok()) return std::nullopt;
  return std::move(*result);
}

// ---- the folder

static std::optional<pjrt::AheadOfTimeResult> load(const std::string& path, const std::string& key) {
  const Result<std::string> bytes = readFile(path);
  if (!bytes.ok()) return std::nullopt;
  std::optional<pjrt::AheadOfTimeResult> result = decodeEntry(key, *bytes);
  std::error_code ignored;
  if (result) fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // used: stays longest
  return result;
}

namespace {
struct Entry {
  fs::path path;
  int64_t bytes;
  fs::file_time_type used;
};
}  // namespace

/// Removes the entries unused for longest until the rest fits. What other processes remove meanwhile is fine.
static void shrink(const std::string& directory, int64_t most_bytes) {
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (auto it = fs::directory_iterator(directory, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    std::error_code gone;
    const auto bytes = static_cast<int64_t>(it->file_size(gone));
    const auto used = it->last_write_time(gone);
    if (gone) continue;
    // A file being written is not an entry yet; one that was left an hour ago is a dead process's.
    const bool unfinished = it->path().filename().string().size() != kHashDigits;
    if (unfinished && now - used > std::chrono::hours(1)) fs::remove(it->path(), gone);
    if (unfinished) continue;
    entries.push_back({it->path(), bytes, used});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  for (const Entry& entry : entries) {
    if (total <= most_bytes) break;
    std::error_code gone;
    fs::remove(entry.path, gone);
    total -= entry.bytes;
  }
}

static Status store(const std::string& directory, const std::string& key,
                    const pjrt::AheadOfTimeResult& result, int64_t most_bytes) {
  SUBLANE_CHECK_OK(createDirectories(directory));
  SUBLANE_CHECK_OK(writeFileAtomically(directory + "/" + key, encodeEntry(key, result)));
  shrink(directory, most_bytes);
  return Ok{};
}

Result<pjrt::AheadOfTimeResult> compileCached(const pjrt::AheadOfTimeRequest& request, bool* from_cache,
                                              const CompileCacheOptions& options) {
  if (from_cache != nullptr) *from_cache = false;
  SUBLANE_TRY(const std::string key, compileKey(request));
  std::string directory = options.directory;
  if (directory.empty()) {
    SUBLANE_TRY(directory, cacheDirectory());
    directory += "/compiles";
  }
  if (std::optional<pjrt::AheadOfTimeResult> stored = load(directory + "/" + key, key)) {
    if (from_cache != nullptr) *from_cache = true;
    return std::move(*stored);
  }
  SUBLANE_TRY(pjrt::AheadOfTimeResult result, options.compile(request));
  const Status kept = store(directory, key, result, options.most_bytes);
  if (!kept.ok()) fmt::print(stderr, "sublane: this compile is not kept: {}\n", kept.error().message());
  return result;
}

}  // namespace sublane::artifact
