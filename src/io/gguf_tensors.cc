#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>

#include "base/text.h"
#include "io/gguf_parts.h"
#include "io/tensor_faults.h"

namespace sublane::io {
namespace {

using formats::Packing;

constexpr uint32_t kMostDimensions = 4;

// Tensor types by their number in the file. Those without a packing are refused by their name; numbers that
// were given up (4, 5, 31-33, 36-38) have none.
struct TensorType {
  std::string_view name;
  std::optional<Packing> packing;
};
const TensorType kTensorTypes[] = {
    {"F32", Packing::kF32},
    {"F16", Packing::kF16},
    {"Q4_0", Packing::kQ4_0},
    {"Q4_1", Packing::kQ4_1},
    {"", {}},
    {"", {}},
    {"Q5_0", Packing::kQ5_0},
    {"Q5_1", Packing::kQ5_1},
    {"Q8_0", Packing::kQ8_0},
    {"Q8_1", {}},
    {"Q2_K", Packing::kQ2_K},
    {"Q3_K", Packing::kQ3_K},
    {"Q4_K", Packing::kQ4_K},
    {"Q5_K", Packing::kQ5_K},
    {"Q6_K", Packing::kQ6_K},
    {"Q8_K", Packing::kQ8_K},
    {"IQ2_XXS", {}},
    {"IQ2_XS", {}},
    {"IQ3_XXS", {}},
    {"IQ1_S", {}},
    {"IQ4_NL", {}},
    {"IQ3_S", {}},
    {"IQ2_S", {}},
    {"IQ4_XS", {}},
    {"I8", Packing::kI8},
    {"I16", Packing::kI16},
    {"I32", Packing::kI32},
    {"I64", Packing::kI64},
    {"F64", Packing::kF64},
    {"IQ1_M", {}},
    {"BF16", Packing::kBF16},
    {"", {}},
    {"", {}},
    {"", {}},
    {"TQ1_0", {}},
    {"TQ2_0", {}},
    {"", {}},
    {"", {}},
    {"", {}},
    {"MXFP4", Packing::kMXFP4},
    {"NVFP4", {}},
    {"Q1_0", {}},
};

std::string_view whyNot(std::string_view type) {
  if (type.starts_with("IQ")) return "its values come from tables that are not read";
  if (type.starts_with("TQ")) return "ternary types are not read";
  if (type == "Q8_1")
    return "it is an intermediate of computing, and its published block sizes disagree (36 and 40)";
  return "it is not read";
}

// A tensor as the header describes it, before anything is believed.
struct Description {
  std::string_view name;
  std::vector<uint64_t> dimensions;  // innermost first, as stored
  uint32_t type = 0;
  uint64_t offset = 0;  // from the start of the data section
};

Result<Description> readDescription(ByteReader& reader, uint64_t index, uint64_t count) {
  reader.setPlace(fmt::format("tensor {} of {}", index + 1, count));
  Description tensor;
  SUBLANE_TRY(tensor.name, reader.readString("its name"));
  reader.setPlace("tensor " + inQuotes(tensor.name));
  SUBLANE_TRY(uint32_t dimensions, reader.read<uint32_t>("its number of dimensions"));
  if (dimensions > kMostDimensions) {
    return reader.error("it has {} dimensions, but at most {} are allowed", dimensions, kMostDimensions);
  }
  for (uint32_t i = 0; i < dimensions; ++i) {
    SUBLANE_TRY(uint64_t size, reader.read<uint64_t>("its dimensions"));
    tensor.dimensions.push_back(size);
  }
  SUBLANE_TRY(tensor.type, reader.read<uint32_t>("its type"));
  SUBLANE_TRY(tensor.offset, reader.read<uint64_t>("its offset"));
  return tensor;
}

std::optional<Packing> packingOf(const Description& tensor, TensorFaults& faults) {
  std::string_view name = tensor.type < std::size(kTensorTypes) ? kTensorTypes[tensor.type].name : "";
  if (name.empty()) {
    faults.add(tensor.name, "unknown tensor type {}", tensor.type);
    return std::nullopt;
  }
  if (!kTensorTypes[tensor.type].packing) {
    faults.add(tensor.name, "tensor type {} is not supported: {}", name, whyNot(name));
    faults.hint(
        "supported: F32, F16, BF16, F64, integers, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, Q8_K, MXFP4: "
        "take the file in one of these, or requantise from F16");
  }
  return kTensorTypes[tensor.type].packing;
}

// Bytes of the tensor, with every product checked.
std::optional<uint64_t> sizeOf(const Description& tensor, Packing packing, TensorFaults& faults) {
  const formats::PackingInfo& block = formats::info(packing);
  uint64_t elements = 1;
  for (size_t i = 0; i < tensor.dimensions.size(); ++i) {
    if (tensor.dimensions[i] == 0) {
      faults.add(tensor.name, "dimension {} is 0", i);
      return std::nullopt;
    }
    // 2^59 elements of at most 8 bytes stay far from 2^63, whatever is added later.
    if (__builtin_mul_overflow(elements, tensor.dimensions[i], &elements) || elements > (uint64_t{1} << 59)) {
      faults.add(tensor.name, "its shape [{}] has more than 2^59 elements",
                 fmt::join(tensor.dimensions, ", "));
      return std::nullopt;
    }
  }
  const uint64_t row = tensor.dimensions.empty() ? 1 : tensor.dimensions[0];
  const uint64_t block_elements = static_cast<uint64_t>(block.block_elements);
  if (row % block_elements != 0) {
    faults.add(tensor.name, "its rows of {} values are not whole {} blocks of {}", row, block.name,
               block_elements);
    return std::nullopt;
  }
  return elements / block_elements * static_cast<uint64_t>(block.block_bytes);
}

// The data section of the file.
struct DataSection {
  std::span<const std::byte> file;
  uint64_t start = 0;  // may lie past the end, if the file is cut
  uint64_t alignment = 32;
};

std::optional<Tensor> place(const Description& tensor, const DataSection& data, TensorFaults& faults) {
  std::optional<Packing> packing = packingOf(tensor, faults);
  if (!packing) return std::nullopt;
  std::optional<uint64_t> bytes = sizeOf(tensor, *packing, faults);
  if (!bytes) return std::nullopt;
  if (tensor.offset % data.alignment != 0) {
    faults.add(tensor.name, "its offset {} is not a multiple of the alignment {}", tensor.offset,
               data.alignment);
    return std::nullopt;
  }
  uint64_t begin = 0, end = 0;
  const bool overflow = __builtin_add_overflow(data.start, tensor.offset, &begin) ||
                        __builtin_add_overflow(begin, *bytes, &end);
  if (overflow || end > data.file.size()) {
    const uint64_t there = overflow || begin >= data.file.size() ? 0 : data.file.size() - begin;
    faults.add(tensor.name,
               "needs {} bytes at offset {} of the data, which starts at byte {}, but the file of {} "
               "bytes holds {} of them",
               *bytes, tensor.offset, data.start, data.file.size(), there);
    faults.hint("the file is cut short or damaged: fetch or copy it again");
    return std::nullopt;
  }
  Tensor placed{.name = std::string(tensor.name),
                .shape = {},
                .packing = *packing,
                .bytes = data.file.subspan(begin, *bytes),
                .file_offset = begin};
  for (auto size = tensor.dimensions.rbegin(); size != tensor.dimensions.rend(); ++size) {
    placed.shape.push_back(static_cast<int64_t>(*size));
  }
  return placed;
}

void findOverlaps(const std::vector<Tensor>& tensors, TensorFaults& faults) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(tensors[a].file_offset, a) < std::pair(tensors[b].file_offset, b);
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const Tensor& before = tensors[order[i - 1]];
    const Tensor& after = tensors[order[i]];
    const uint64_t end = before.file_offset + before.bytes.size();
    if (end <= after.file_offset) continue;
    faults.add(after.name, "starts at byte {} of the file, inside tensor {}, which ends at {}",
               after.file_offset, inQuotes(before.name), end);
  }
}

}  // namespace

Result<std::vector<Tensor>> readGgufTensors(ByteReader& reader, uint64_t count, uint64_t alignment,
                                            std::span<const std::byte> file, const std::string& source) {
  reader.setPlace("header");
  SUBLANE_CHECK_OK(reader.expect(count, 8 + 4 + 4 + 8, "tensor descriptions"));
  std::vector<Description> descriptions;
  TensorFaults faults(source);
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < count; ++i) {
    SUBLANE_TRY(Description tensor, readDescription(reader, i, count));
    if (!names.insert(tensor.name).second) faults.add(tensor.name, "the name occurs twice");
    descriptions.push_back(std::move(tensor));
  }
  const uint64_t start = (reader.offset() + alignment - 1) / alignment * alignment;
  const DataSection data{.file = file, .start = start, .alignment = alignment};
  std::vector<Tensor> tensors;
  for (const Description& description : descriptions) {
    if (std::optional<Tensor> tensor = place(description, data, faults))
      tensors.push_back(std::move(*tensor));
  }
  findOverlaps(tensors, faults);
  if (faults.any()) return faults.error();
  return tensors;
}

}  // namespace sublane::io
