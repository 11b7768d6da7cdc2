#include "formats/formats.h"

#include <cassert>
#include <iterator>

namespace sublane::formats {
namespace {

struct DTypeInfo {
  std::string_view name;
  int64_t bytes;
};
constexpr DTypeInfo kDTypes[] = {
    {"f32", 4}, {"bf16", 2}, {"f16", 2}, {"i32", 4},  {"u32", 4},
    {"i8", 1},  {"u8", 1},   {"i64", 8}, {"bool", 1},
};
static_assert(std::size(kDTypes) == static_cast<size_t>(DType::kBool) + 1);

constexpr PackingInfo kPackings[] = {
    {"F32", 1, 4},      {"F16", 1, 2},      {"BF16", 1, 2},     {"F64", 1, 8},      {"F8_E4M3", 1, 1},
    {"F8_E5M2", 1, 1},  {"F8_E8M0", 1, 1},  {"F4", 2, 1},       {"BOOL", 1, 1},     {"I8", 1, 1},
    {"I16", 1, 2},      {"I32", 1, 4},      {"I64", 1, 8},      {"U8", 1, 1},       {"U16", 1, 2},
    {"U32", 1, 4},      {"U64", 1, 8},      {"Q4_0", 32, 18},   {"Q4_1", 32, 20},   {"Q5_0", 32, 22},
    {"Q5_1", 32, 24},   {"Q8_0", 32, 34},   {"Q2_K", 256, 84},  {"Q3_K", 256, 110}, {"Q4_K", 256, 144},
    {"Q5_K", 256, 176}, {"Q6_K", 256, 210}, {"Q8_K", 256, 292}, {"MXFP4", 32, 17},
};
static_assert(std::size(kPackings) == kPackingCount);

}  // namespace

int64_t bytesPerElement(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].bytes; }
std::string_view name(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }

const PackingInfo& info(Packing packing) { return kPackings[static_cast<size_t>(packing)]; }
bool isInteger(Packing packing) { return packing >= Packing::kBool && packing <= Packing::kU64; }

int64_t packedBytes(Packing packing, int64_t elements) {
  const PackingInfo& block = info(packing);
  assert(elements % block.block_elements == 0);
  return elements / block.block_elements * block.block_bytes;
}

int64_t packedElements(Packing packing, int64_t bytes) {
  const PackingInfo& block = info(packing);
  assert(bytes % block.block_bytes == 0);
  return bytes / block.block_bytes * block.block_elements;
}

}  // namespace sublane::formats
