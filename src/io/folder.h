// Files of a Hugging Face folder, opened by names that nobody has checked. Private to the folder.
//
// A name is one part of a path and never leads out: an index file that says "../../etc/passwd" is refused,
// and so is a link to it. The hub's own cache is the one place where links may leave the folder: a snapshot's
// files are links into the `blobs` of the same repository.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "base/result.h"

namespace sublane::io {

/// The path of `name` in `folder`; nullopt when nothing is there.
Result<std::optional<std::string>> pathInFolder(const std::string& folder, std::string_view name);

/// The file on a map; nullopt when nothing is there. Error: above `most_bytes`.
Result<std::shared_ptr<const MappedFile>> openInFolder(const std::string& folder, std::string_view name,
                                                       uint64_t most_bytes);

}  // namespace sublane::io
