// Feeds a config.json and a safetensors file (cut at the first NUL) to the joining of quantised matrices.
// What comes out must keep the contract: shapes that agree, and rows that can be read, whole and in slices.
#include "io/quantised.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "io/config_json.h"
#include "io/safetensors.h"

namespace {

using namespace sublane;

void require(bool holds) {
  if (!holds) std::abort();
}

void checkMatrix(const io::Tensor& tensor) {
  const formats::QuantisedMatrix& matrix = *tensor.quantised;
  require(formats::verify(matrix).ok());
  require(!tensor.shape.empty() && tensor.shape.back() == matrix.columns);
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) rows *= tensor.shape[i];
  require(rows == matrix.rows && rows > 0 && matrix.columns > 0);
  require(!tensor.parts.empty());
  std::vector<float> whole(static_cast<size_t>(matrix.columns));
  for (const int64_t row : {int64_t{0}, matrix.rows - 1}) {
    require(formats::dequantize(matrix, {row, row + 1}, whole).ok());
    const int64_t middle = matrix.columns / 2;
    auto half = formats::slice(matrix, {row, row + 1}, {middle, matrix.columns});
    require(half.ok());
    std::vector<float> part(static_cast<size_t>(matrix.columns - middle));
    require(formats::dequantize(*half, {0, 1}, part).ok());
    require(part.empty() ||
            std::memcmp(part.data(), whole.data() + middle, part.size() * sizeof(float)) == 0);
  }
  require(!formats::describe(matrix).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const void* nul = size == 0 ? nullptr : std::memchr(data, 0, size);
  if (!nul) return 0;
  const size_t cut = static_cast<size_t>(static_cast<const uint8_t*>(nul) - data);
  auto config = io::parseConfig({reinterpret_cast<const char*>(data), cut}, "fuzz");
  auto file = io::parseSafetensors(bytes.subspan(cut + 1), "fuzz");
  if (!config.ok() || !file.ok()) return 0;
  auto joined = io::joinQuantised(config->metadata, file->tensors, "fuzz");
  if (!joined.ok()) return require(!joined.error().message().empty()), 0;
  size_t stored = 0;
  for (const io::Tensor& tensor : joined->tensors) {
    if (tensor.quantised) checkMatrix(tensor);
    stored += tensor.quantised ? tensor.parts.size() : 1;
  }
  require(stored == file->tensors.size());
  return 0;
}
