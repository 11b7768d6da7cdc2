#include "io/safetensors.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "io/byte_reader.h"
#include "io/json_text.h"
#include "io/tensor_faults.h"

namespace sublane::io {
namespace {

using formats::Packing;
using simdjson::dom::element;

constexpr uint64_t kMostHeaderBytes = 100'000'000;  // the format's own limit
constexpr size_t kMostDimensions = 16;
// 2^59 elements of at most 8 bytes stay far from 2^63, whatever is added later.
constexpr uint64_t kMostElements = uint64_t{1} << 59;

struct DtypeName {
  std::string_view name;
  Packing packing;
};
constexpr DtypeName kDtypes[] = {
    {"F64", Packing::kF64},         {"F32", Packing::kF32},         {"F16", Packing::kF16},
    {"BF16", Packing::kBF16},       {"F8_E4M3", Packing::kF8_E4M3}, {"F8_E5M2", Packing::kF8_E5M2},
    {"F8_E8M0", Packing::kF8_E8M0}, {"F4", Packing::kF4},           {"I64", Packing::kI64},
    {"I32", Packing::kI32},         {"I16", Packing::kI16},         {"I8", Packing::kI8},
    {"U64", Packing::kU64},         {"U32", Packing::kU32},         {"U16", Packing::kU16},
    {"U8", Packing::kU8},           {"BOOL", Packing::kBool},
};

std::optional<Packing> packingOf(std::string_view dtype) {
  auto found = std::ranges::find(kDtypes, dtype, &DtypeName::name);
  if (found == std::end(kDtypes)) return std::nullopt;
  return found->packing;
}

// A tensor as the header describes it, before anything is believed.
struct Description {
  std::string_view name;
  std::string_view dtype;
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  // in the data
};

/// Whole numbers, none below 0.
std::optional<std::vector<uint64_t>> sizesOf(const element& value) {
  simdjson::dom::array array;
  if (value.get(array)) return std::nullopt;
  std::vector<uint64_t> sizes;
  for (element member : array) {
    uint64_t size = 0;
    if (member.get(size)) return std::nullopt;
    sizes.push_back(size);
  }
  return sizes;
}

std::optional<Description> describe(std::string_view name, const element& value, TensorFaults& faults) {
  Description tensor{.name = name};
  simdjson::dom::object fields;
  if (value.get(fields)) return faults.add(name, "its description is not an object"), std::nullopt;
  bool has_dtype = false, has_shape = false, has_offsets = false;
  for (auto [key, field] : fields) {
    bool* seen = key == "dtype"          ? &has_dtype
                 : key == "shape"        ? &has_shape
                 : key == "data_offsets" ? &has_offsets
                                         : nullptr;
    if (!seen)
      return faults.add(name, "its description has a key {}, which the format doesn't know", inQuotes(key)),
             std::nullopt;
    if (*seen) return faults.add(name, "its description has {} twice", key), std::nullopt;
    *seen = true;
    if (key == "dtype") {
      if (field.get(tensor.dtype)) return faults.add(name, "its dtype is not a string"), std::nullopt;
      continue;
    }
    std::optional<std::vector<uint64_t>> sizes = sizesOf(field);
    if (!sizes) return faults.add(name, "its {} is not an array of whole numbers", key), std::nullopt;
    if (key == "shape") {
      tensor.shape = std::move(*sizes);
    } else if (sizes->size() == 2) {
      tensor.begin = (*sizes)[0], tensor.end = (*sizes)[1];
    } else {
      return faults.add(name, "its data_offsets are {} numbers, not 2", sizes->size()), std::nullopt;
    }
  }
  if (has_dtype && has_shape && has_offsets) return tensor;
  faults.add(name, "its description has no {}", !has_dtype ? "dtype" : !has_shape ? "shape" : "data_offsets");
  return std::nullopt;
}

std::string shapeText(const std::vector<uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

/// Bytes that its dtype and shape ask for, with every product checked.
std::optional<uint64_t> sizeOf(const Description& tensor, Packing packing, TensorFaults& faults) {
  if (tensor.shape.size() > kMostDimensions) {
    faults.add(tensor.name, "it has {} dimensions, but at most {} are read", tensor.shape.size(),
               kMostDimensions);
    return std::nullopt;
  }
  uint64_t elements = 1;
  for (uint64_t size : tensor.shape) {
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMostElements ||
        size > kMostElements) {
      faults.add(tensor.name, "its shape {} has more than 2^59 elements", shapeText(tensor.shape));
      return std::nullopt;
    }
  }
  const formats::PackingInfo& block = formats::info(packing);
  if (elements % static_cast<uint64_t>(block.block_elements) == 0)
    return static_cast<uint64_t>(formats::packedBytes(packing, static_cast<int64_t>(elements)));
  faults.add(tensor.name, "{} values of {} are not whole bytes ({} values a byte)", elements, block.name,
             block.block_elements);
  return std::nullopt;
}

struct Data {
  std::span<const std::byte> bytes;
  uint64_t file_offset = 0;  // of its first byte
};

std::optional<Tensor> place(const Description& tensor, const Data& data, TensorFaults& faults) {
  std::optional<Packing> packing = packingOf(tensor.dtype);
  if (!packing) {
    faults.add(tensor.name, "dtype {} is not supported", inQuotes(tensor.dtype, 24));
    std::string names;
    for (const DtypeName& known : kDtypes) names += (names.empty() ? "" : " ") + std::string(known.name);
    faults.hint("supported: " + names);
    return std::nullopt;
  }
  std::optional<uint64_t> bytes = sizeOf(tensor, *packing, faults);
  if (!bytes) return std::nullopt;
  if (tensor.begin > tensor.end || tensor.end > data.bytes.size()) {
    faults.add(tensor.name, "its data_offsets [{}, {}] are not within the {} bytes of data", tensor.begin,
               tensor.end, data.bytes.size());
    faults.hint("the file is cut short or damaged: fetch or copy it again");
    return std::nullopt;
  }
  if (tensor.end - tensor.begin != *bytes) {
    faults.add(tensor.name, "{} {} is {} bytes, but its data_offsets [{}, {}] are {}", tensor.dtype,
               shapeText(tensor.shape), *bytes, tensor.begin, tensor.end, tensor.end - tensor.begin);
    return std::nullopt;
  }
  Tensor placed{.name = std::string(tensor.name),
                .packing = *packing,
                .bytes = data.bytes.subspan(tensor.begin, *bytes),
                .file_offset = data.file_offset + tensor.begin};
  for (uint64_t size : tensor.shape) placed.shape.push_back(static_cast<int64_t>(size));
  return placed;
}

/// Every byte of the data belongs to exactly one tensor.
void checkCover(const std::vector<Tensor>& tensors, const Data& data, TensorFaults& faults) {
  uint64_t end = data.file_offset;
  for (const Tensor& tensor : tensors) {
    if (tensor.file_offset != end) {
      faults.add(tensor.name, "starts at byte {} of the file, but the tensor before it ends at {}",
                 tensor.file_offset, end);
    }
    end = std::max<uint64_t>(end, tensor.file_offset + tensor.bytes.size());
  }
  const uint64_t whole = data.file_offset + data.bytes.size();
  if (end == whole || faults.any()) return;
  faults.add(tensors.empty() ? "" : tensors.back().name,
             "ends at byte {}, but the file has {} bytes: {} belong to no tensor", end, whole, whole - end);
  faults.hint("the file holds bytes that its header doesn't name: damaged, or two files in one");
}

Status readMetadata(const element& value, const std::string& source,
                    std::map<std::string, std::string>& out) {
  simdjson::dom::object members;
  if (value.get(members)) return inputError("{}: \"__metadata__\" is not an object of strings", source);
  for (auto [key, member] : members) {
    std::string_view text;
    if (member.get(text))
      return inputError("{}: \"__metadata__\": the value of {} is not a string", source, inQuotes(key));
    if (!out.emplace(key, text).second)
      return inputError("{}: \"__metadata__\": {} occurs twice", source, inQuotes(key));
  }
  return Ok{};
}

Result<std::string_view> readHeader(ByteReader& reader) {
  SUBLANE_TRY(uint64_t bytes, reader.read<uint64_t>("the length of the header"));
  if (bytes > kMostHeaderBytes) {
    return reader.error("a header of {} bytes, but at most {} are allowed", bytes, kMostHeaderBytes)
        .hint("this is no safetensors file, or its first bytes are damaged");
  }
  SUBLANE_TRY(std::span<const std::byte> taken, reader.take(bytes, "the header"));
  const std::string_view text(reinterpret_cast<const char*>(taken.data()), taken.size());
  if (text.empty() || text.front() != '{') return reader.error("it doesn't start with \"{{\"");
  return text;
}

}  // namespace

Result<Safetensors> parseSafetensors(std::span<const std::byte> bytes, const std::string& source) {
  ByteReader reader(bytes, source);
  SUBLANE_TRY(std::string_view header, readHeader(reader));
  const Data data{.bytes = bytes.subspan(reader.offset()), .file_offset = reader.offset()};
  simdjson::dom::parser parser;
  SUBLANE_TRY(simdjson::dom::object root, parseJsonObject(parser, header, source + ": header"));
  Safetensors file;
  TensorFaults faults(source);
  std::set<std::string_view> names;
  for (auto [name, value] : root) {
    if (!names.insert(name).second) {
      faults.add(name, "the name occurs twice");
    } else if (name == "__metadata__") {
      SUBLANE_CHECK_OK(readMetadata(value, source, file.metadata));
    } else if (std::optional<Description> described = describe(name, value, faults)) {
      if (std::optional<Tensor> tensor = place(*described, data, faults))
        file.tensors.push_back(std::move(*tensor));
    }
  }
  std::ranges::sort(file.tensors, [](const Tensor& a, const Tensor& b) {
    return std::tuple(a.file_offset, a.bytes.size(), std::string_view(a.name)) <
           std::tuple(b.file_offset, b.bytes.size(), std::string_view(b.name));
  });
  if (!faults.any()) checkCover(file.tensors, data, faults);
  if (faults.any()) return faults.error();
  return file;
}

Result<SafetensorsIndex> parseSafetensorsIndex(std::string_view text, const std::string& source) {
  simdjson::dom::parser parser;
  SUBLANE_TRY(simdjson::dom::object root, parseJsonObject(parser, text, source));
  SafetensorsIndex index;
  simdjson::dom::object map;
  if (root.at_key("weight_map").get(map)) return inputError("{}: \"weight_map\" is not an object", source);
  for (auto [tensor, value] : map) {
    std::string_view file;
    if (value.get(file))
      return inputError("{}: tensor {}: its file is not a string", source, inQuotes(tensor));
    if (!index.file_of.emplace(tensor, file).second)
      return inputError("{}: tensor {} occurs twice", source, inQuotes(tensor));
  }
  // Some files say it as a float; it is checked by nobody, and so a note at most.
  double total = 0;
  if (!root.at_pointer("/metadata/total_size").get(total) && total >= 0 && total < 0x1p62)
    index.total_size = static_cast<int64_t>(total);
  return index;
}

}  // namespace sublane::io
