// What libtpu answered, kept on disk under a hash of everything that could change the answer.
//
// An entry is one file, written beside its place and renamed into it, with a checksum inside: readers see
// a whole entry or none, and a damaged one is compiled again. Any number of processes may share the folder.
//
//   bool from_cache = false;
//   SUBLANE_TRY(pjrt::AheadOfTimeResult result, artifact::compileCached(request, &from_cache));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pjrt/worker.h"

namespace sublane::artifact {

struct CompileCacheOptions {
  std::string directory{};                // empty: cacheDirectory()/compiles
  int64_t most_bytes = int64_t{2} << 30;  // of all entries; the ones not used for longest go first
  std::function<Result<pjrt::AheadOfTimeResult>(const pjrt::AheadOfTimeRequest&)> compile =
      pjrt::compileAheadOfTime;
};

/// The stored answer, or a fresh one, which is then stored. `from_cache` (may be null) says which; the
/// answer's `seconds` are those of the compile that made it. Errors: as compileAheadOfTime; they are not
/// stored. A cache that cannot be read or written is never an error, only slower.
Result<pjrt::AheadOfTimeResult> compileCached(const pjrt::AheadOfTimeRequest& request,
                                              bool* from_cache = nullptr,
                                              const CompileCacheOptions& options = {});

/// SHA-256 over each field of the request but its timeout, the libtpu file (path, size, time of change)
/// and the version of our own messages. Error: there is no libtpu.
Result<std::string> compileKey(const pjrt::AheadOfTimeRequest& request);

// ---- an entry's bytes, for tests

std::string encodeEntry(const std::string& key, const pjrt::AheadOfTimeResult& result);
/// Nothing if a single bit differs from what encodeEntry wrote for this key.
std::optional<pjrt::AheadOfTimeResult> decodeEntry(const std::string& key, std::string_view bytes);

}  // namespace sublane::artifact
