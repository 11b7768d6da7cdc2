// Feeds any bytes to the safetensors reader. What it accepts must keep the contract: every byte of the data
// belongs to exactly one tensor, as long as its shape says. It is then scanned and unpacked, for the
// sanitizers.
#include "io/safetensors.h"

#include <cstdint>
#include <cstdlib>

#include "io/scan_bytes.h"

namespace {

using namespace sublane;

void require(bool holds) {
  if (!holds) std::abort();
}

uint64_t checkTensor(const io::Tensor& tensor, std::span<const std::byte> file) {
  int64_t elements = 1;
  for (int64_t size : tensor.shape) elements *= size;
  require(elements >= 0);
  require(static_cast<int64_t>(tensor.bytes.size()) == formats::packedBytes(tensor.packing, elements));
  require(tensor.file_offset + tensor.bytes.size() <= file.size());
  require(tensor.bytes.data() == file.data() + tensor.file_offset);
  io::scanPiece(tensor.packing, tensor.bytes);
  std::vector<float> values(static_cast<size_t>(elements));
  (void)formats::dequantize(tensor.packing, tensor.bytes, values).ok();
  return tensor.bytes.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  auto parsed = io::parseSafetensors(file, "fuzz");
  if (!parsed.ok()) return require(!parsed.error().message().empty()), 0;
  uint64_t bytes = 0, header = 0;
  for (size_t i = 0; i < 8; ++i) header |= static_cast<uint64_t>(data[i]) << (8 * i);
  for (const io::Tensor& tensor : parsed->tensors) bytes += checkTensor(tensor, file);
  require(8 + header + bytes == size);
  return 0;
}
