// Feeds any bytes to the reader of .npz files, and to that of .npy files. What they accept must be as long as
// its shape says.
#include <cstdint>
#include <cstdlib>

#include "io/npz.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void checkArray(const sublane::io::NpyArray& array) {
  int64_t bytes = array.element_bytes;
  for (const int64_t size : array.shape) bytes *= size;
  require(bytes >= 0 && static_cast<size_t>(bytes) == array.bytes.size());
  require(!sublane::io::describe(array).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const auto arrays = sublane::io::parseNpz(file, "fuzz");
  if (arrays.ok()) {
    for (const sublane::io::NpyArray& array : *arrays) checkArray(array);
  } else {
    require(!arrays.error().message().empty());
  }
  if (const auto array = sublane::io::parseNpy(file, "fuzz"); array.ok()) checkArray(*array);
  return 0;
}
