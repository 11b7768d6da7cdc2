// Remembers that a file had the right hash, so that it need not be read again: "<path>.verified" holds the
// hash with the file's size and times of change. `sublane doctor` asks it, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sublane::io {

/// Is there a file of this size and hash at `path`? Reads it only if the note does not fit it, and then
/// notes what it found (a folder that can't be written stays without a note).
Result<bool> isVerified(const std::string& path, uint64_t bytes, std::string_view sha256);

/// Notes that `path`, as it is now, has this hash.
Status noteVerified(const std::string& path, std::string_view sha256);

}  // namespace sublane::io
