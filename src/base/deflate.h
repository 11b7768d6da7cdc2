// Bytes packed and unpacked with zlib's deflate: compile results on disk, entries of zip files, data in a
// page.
//
//   std::string packed = deflated(bytes);
//   SUBLANE_TRY(std::string same, inflated(packed, bytes.size(), DeflateForm::kZlib));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sublane {

/// With zlib's head and checksum, as zip files hold it, or with gzip's head and checksum.
enum class DeflateForm : uint8_t { kZlib, kRaw, kGzip };

/// As a zlib stream, at zlib's fastest level.
std::string deflated(std::string_view bytes);

/// As a gzip stream without name and time, at a good level: for what is kept and sent.
std::string gzipped(std::string_view bytes);

/// Errors (input): malformed bytes, or more or fewer than `size` come out, or something follows. Memory
/// grows with what comes out, so a false `size` costs nothing.
Result<std::string> inflated(std::string_view packed, uint64_t size, DeflateForm form);

/// As zip files have it.
uint32_t crc32Of(std::string_view bytes);

}  // namespace sublane
