// Feeds any bytes to the GGUF reader. What it accepts must keep the contract: every tensor inside the bytes,
// as long as its shape says. What it accepts is then scanned and its first blocks unpacked, for the
// sanitizers.
#include <cstdint>
#include <cstdlib>

#include "io/gguf.h"
#include "io/scan_bytes.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void checkTensor(const sublane::io::Tensor& tensor, std::span<const std::byte> file) {
  using namespace sublane;
  int64_t elements = 1;
  for (int64_t size : tensor.shape) elements *= size;
  require(elements > 0);
  require(static_cast<int64_t>(tensor.bytes.size()) == formats::packedBytes(tensor.packing, elements));
  require(tensor.file_offset + tensor.bytes.size() <= file.size());
  require(tensor.bytes.data() == file.data() + tensor.file_offset);
  io::scanPiece(tensor.packing, tensor.bytes);
  const formats::PackingInfo& block = formats::info(tensor.packing);
  std::vector<float> values(static_cast<size_t>(block.block_elements));
  (void)formats::dequantize(tensor.packing, tensor.bytes.first(static_cast<size_t>(block.block_bytes)),
                            values)
      .ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  auto parsed = sublane::io::parseGguf(file, "fuzz");
  if (!parsed.ok()) return require(!parsed.error().message().empty()), 0;
  require(!parsed->architecture.empty());
  for (const sublane::io::Tensor& tensor : parsed->tensors) checkTensor(tensor, file);
  return 0;
}
