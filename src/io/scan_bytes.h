// The inner loops of the scan: one piece of one tensor. Private to the scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/formats.h"

namespace sublane::io {

struct PieceCounts {
  int64_t nans = 0;
  int64_t infinities = 0;
  uint64_t checksum = 0;
};

/// `bytes` are whole blocks of `packing`, and start at a multiple of 8 bytes within their tensor.
PieceCounts scanPiece(formats::Packing packing, std::span<const std::byte> bytes);

}  // namespace sublane::io
