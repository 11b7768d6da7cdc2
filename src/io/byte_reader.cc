#include "io/byte_reader.h"

namespace sublane::io {

static constexpr const char* kDamagedHint = "the file is cut short or damaged: fetch or copy it again";

Error ByteReader::tooShort(std::string_view what, uint64_t needed) const {
  return error("{} needs {} bytes at offset {}, but {} are left of {}", what, needed, offset_, left(),
               bytes_.size())
      .hint(kDamagedHint);
}

Status ByteReader::expect(uint64_t count, uint64_t least_bytes, std::string_view what) const {
  if (count <= left() / least_bytes) return Ok{};
  return error("{} {} need at least {} bytes each, but {} are left of {}", count, what, least_bytes, left(),
               bytes_.size())
      .hint(kDamagedHint);
}

}  // namespace sublane::io
