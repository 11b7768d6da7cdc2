#include "base/deflate.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"

namespace sublane {
namespace {

constexpr size_t kPiece = size_t{1} << 20;  // of output at a time

/// zlib counts in 32 bits: what is left goes in piece by piece.
void feed(z_stream& stream, std::string_view& rest) {
  if (stream.avail_in != 0) return;
  const size_t size = std::min(rest.size(), size_t{1} << 30);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(size);
  rest.remove_prefix(size);
}

void makeRoom(z_stream& stream, std::string& out, size_t piece) {
  const size_t used = out.size();
  out.resize(used + piece);
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
  stream.avail_out = static_cast<uInt>(piece);
}

void dropRoom(z_stream& stream, std::string& out) {
  out.resize(out.size() - stream.avail_out);
  stream.avail_out = 0;
}

int windowOf(DeflateForm form) {
  switch (form) {
    case DeflateForm::kRaw:
      return -MAX_WBITS;
    case DeflateForm::kGzip:
      return MAX_WBITS + 16;  // zlib's way to ask for it
    case DeflateForm::kZlib:
      break;
  }
  return MAX_WBITS;
}

struct Inflater {
  z_stream stream{};
  bool good;
  explicit Inflater(DeflateForm form) { good = inflateInit2(&stream, windowOf(form)) == Z_OK; }
  ~Inflater() { inflateEnd(&stream); }
};

std::string packed(std::string_view bytes, int level, DeflateForm form) {
  z_stream stream{};
  constexpr int kMemory = 8;  // zlib's default
  SUBLANE_CHECK(deflateInit2(&stream, level, Z_DEFLATED, windowOf(form), kMemory, Z_DEFAULT_STRATEGY) == Z_OK,
                "zlib cannot start");
  std::string out;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    feed(stream, bytes);
    makeRoom(stream, out, kPiece);
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    dropRoom(stream, out);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string deflated(std::string_view bytes) { return packed(bytes, Z_BEST_SPEED, DeflateForm::kZlib); }

// Level 7: 100,000 bundles of listings (18 MB) take 1.7 s and 2.74 MB; level 9 takes 4.7 s and 2.72 MB.
std::string gzipped(std::string_view bytes) { return packed(bytes, 7, DeflateForm::kGzip); }

Result<std::string> inflated(std::string_view packed, uint64_t size, DeflateForm form) {
  Inflater inflater(form);
  if (!inflater.good) return machineError("zlib: cannot start");
  z_stream& stream = inflater.stream;
  std::string out;
  int status = Z_OK;
  while (status == Z_OK && out.size() <= size) {
    feed(stream, packed);
    makeRoom(stream, out, std::min<uint64_t>(kPiece, size - out.size() + 1));  // one more shows a surplus
    status = inflate(&stream, Z_NO_FLUSH);
    dropRoom(stream, out);
  }
  if (status == Z_STREAM_END && stream.avail_in + packed.size() > 0) {
    return inputError("packed bytes: {} follow their end", stream.avail_in + packed.size());
  }
  if (status == Z_STREAM_END && out.size() == size) return out;
  if (out.size() > size) return inputError("packed bytes: more than the {} bytes that were said", size);
  if (status == Z_STREAM_END) return inputError("packed bytes: {} bytes, {} were said", out.size(), size);
  return inputError("packed bytes: malformed after {} of {} bytes", out.size(), size);
}

uint32_t crc32Of(std::string_view bytes) {
  uLong crc = crc32_z(0, nullptr, 0);
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return static_cast<uint32_t>(crc);
}

}  // namespace sublane
