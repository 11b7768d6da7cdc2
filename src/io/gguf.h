// The GGUF container, versions 2 and 3, little-endian, in one file.
//
// Layout: magic "GGUF", version, counts; metadata keys with typed values; tensor descriptions; then, from
// the next multiple of general.alignment (32 unless said), the tensors' bytes. The parser takes bytes, so
// that it can be fuzzed, and never trusts a number in them: see ByteReader. Format description:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
//   SUBLANE_TRY(Checkpoint checkpoint, parseGguf(file->bytes(), file->path()));
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "io/checkpoint.h"

namespace sublane::io {

/// Tensors point into `bytes`. Errors name `source`; faults of tensors are reported all together.
Result<Checkpoint> parseGguf(std::span<const std::byte> bytes, const std::string& source);

/// parseGguf over a map of the file, which the checkpoint keeps.
Result<Checkpoint> openGguf(const std::string& path);

}  // namespace sublane::io
