#include "cli/dump_tensor.h"

#include <algorithm>

#include "base/paths.h"
#include "base/text.h"
#include "formats/quantised.h"
#include "io/npz.h"

namespace sublane::cli {
namespace {

using formats::Packing;

constexpr size_t kValuesAtOnce = 1 << 20;

// NumPy's name of a type that is written as it is; empty: unpacked to float32.
std::string_view ownType(Packing packing) {
  switch (packing) {
    case Packing::kF64:
      return "<f8";
    case Packing::kBool:
      return "|b1";
    case Packing::kI8:
      return "|i1";
    case Packing::kU8:
      return "|u1";
    case Packing::kI16:
      return "<i2";
    case Packing::kU16:
      return "<u2";
    case Packing::kI32:
      return "<i4";
    case Packing::kU32:
      return "<u4";
    case Packing::kI64:
      return "<i8";
    case Packing::kU64:
      return "<u8";
    default:
      return "";
  }
}

Status appendFloats(AtomicFile& file, const std::vector<float>& values, size_t count) {
  return file.append(std::as_bytes(std::span(values).first(count)));
}

Status appendBlocks(AtomicFile& file, const io::Tensor& tensor) {
  const formats::PackingInfo& block = formats::info(tensor.packing);
  const size_t blocks_at_once = kValuesAtOnce / static_cast<size_t>(block.block_elements);
  std::vector<float> values(kValuesAtOnce);
  std::span<const std::byte> rest = tensor.bytes;
  while (!rest.empty()) {
    const size_t bytes = std::min(rest.size(), blocks_at_once * static_cast<size_t>(block.block_bytes));
    const size_t count =
        static_cast<size_t>(formats::packedElements(tensor.packing, static_cast<int64_t>(bytes)));
    SUBLANE_CHECK_OK(formats::dequantize(tensor.packing, rest.first(bytes), std::span(values).first(count)));
    SUBLANE_CHECK_OK(appendFloats(file, values, count));
    rest = rest.subspan(bytes);
  }
  return Ok{};
}

Status appendRows(AtomicFile& file, const formats::QuantisedMatrix& matrix) {
  const int64_t at_once = std::max<int64_t>(1, static_cast<int64_t>(kValuesAtOnce) / matrix.columns);
  std::vector<float> values(static_cast<size_t>(at_once * matrix.columns));
  for (int64_t row = 0; row < matrix.rows; row += at_once) {
    const int64_t end = std::min(matrix.rows, row + at_once);
    const size_t count = static_cast<size_t>((end - row) * matrix.columns);
    SUBLANE_CHECK_OK(formats::dequantize(matrix, {row, end}, std::span(values).first(count)));
    SUBLANE_CHECK_OK(appendFloats(file, values, count));
  }
  return Ok{};
}

}  // namespace

Status dumpTensor(const io::Checkpoint& checkpoint, const std::string& name, const std::string& path) {
  const io::Tensor* tensor = checkpoint.find(name);
  if (!tensor) {
    return inputError("{}: no tensor {}", checkpoint.source, inQuotes(name))
        .hint("list them: sublane inspect MODEL --tensors");
  }
  const std::string_view own_type = tensor->quantised ? "" : ownType(tensor->packing);
  SUBLANE_TRY(AtomicFile file, AtomicFile::create(path));
  SUBLANE_CHECK_OK(file.append(io::npyHeader(own_type.empty() ? "<f4" : own_type, tensor->shape)));
  if (tensor->quantised) {
    SUBLANE_CHECK_OK(appendRows(file, *tensor->quantised));
  } else if (!own_type.empty()) {
    SUBLANE_CHECK_OK(file.append(tensor->bytes));
  } else {
    SUBLANE_CHECK_OK(appendBlocks(file, *tensor));
  }
  return file.commit();
}

}  // namespace sublane::cli
