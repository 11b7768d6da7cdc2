#include "llo/listing_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sublane::llo {
namespace {

struct Entry {
  std::string_view text;
  Unit unit;
};
constexpr Entry kOperations[] = {
#define SUBLANE_OPERATION(enumerator, text, unit) {text, Unit::unit},
#include "llo/operations.inc"
#undef SUBLANE_OPERATION
};

constexpr std::string_view kUnits[] = {"pseudo", "scalar",  "vector alu", "vector load", "vector store",
                                       "eup",    "xlu",     "mxu",        "pop",         "dma",
                                       "sync",   "control", "misc"};
constexpr std::string_view kSpaces[] = {"none",  "smem", "vmem", "hbm",
                                        "sflag", "cmem", "host", "sparse_core"};

struct NamedRole {
  std::string_view text;
  Role role;
};
constexpr NamedRole kRoles[] = {
    {"vm", Role::kVectorMask},
    {"on_true_vy", Role::kOnTrue},
    {"on_false_vx", Role::kOnFalse},
    {"on_true", Role::kOnTrue},
    {"on_false", Role::kOnFalse},
    {"predicate", Role::kPredicate},
    {"vst_source", Role::kStoreSource},
    {"sx", Role::kStoreSource},
    {"hbm", Role::kHbm},
    {"vmem", Role::kVmem},
    {"smem", Role::kSmem},
    {"cmem", Role::kCmem},
    {"size_in_granules", Role::kSizeInGranules},
    {"dst_syncflagno", Role::kDstSyncFlag},
    {"dst_syncflagno_1", Role::kDstSyncFlag1},
    {"src_syncflagno", Role::kSrcSyncFlag},
    {"src_stride", Role::kSrcStride},
    {"dst_stride", Role::kDstStride},
    {"steps_per_stride", Role::kStepsPerStride},
    {"src_address", Role::kSrcAddress},
    {"src", Role::kSrcAddress},
    {"dst_address", Role::kDstAddress},
    {"dst", Role::kDstAddress},
    {"host_iova_low", Role::kHostLow},
    {"host_iova_high", Role::kHostHigh},
    {"stridedescaddr", Role::kStrideDescriptor},
    {"overrides", Role::kOverrides},
    {"width", Role::kWidth},
    {"vx", Role::kVx},
    {"rhs_vx", Role::kVx},
    {"vy", Role::kVy},
    {"lhs_vy", Role::kVy},
    {"pattern", Role::kPattern},
    {"source", Role::kSource},
};

std::optional<Op> operationNamed(std::string_view text) {
  // Sorted once: the order of operations.inc is the reader's.
  static const std::vector<uint16_t> sorted = [] {
    std::vector<uint16_t> order(std::size(kOperations));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint16_t>(i);
    std::sort(order.begin(), order.end(),
              [](uint16_t a, uint16_t b) { return kOperations[a].text < kOperations[b].text; });
    return order;
  }();
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), text,
                                      [](uint16_t i, std::string_view t) { return kOperations[i].text < t; });
  if (found == sorted.end() || kOperations[*found].text != text) return std::nullopt;
  return static_cast<Op>(*found);
}

/// 1 for "mxu1"; -1 if the part names no unit.
int8_t unitIndex(std::string_view part) {
  if (part.size() < 4 || part.size() > 5) return -1;
  const std::string_view unit = part.substr(0, 3);
  if (unit != "mxu" && unit != "xlu" && unit != "iar") return -1;
  int index = -1;
  const auto [rest, error] = std::from_chars(part.data() + 3, part.data() + part.size(), index);
  return error == std::errc{} && rest == part.data() + part.size() ? static_cast<int8_t>(index) : int8_t{-1};
}

}  // namespace

std::string_view name(Unit unit) { return kUnits[static_cast<size_t>(unit)]; }
std::string_view name(Op op) { return kOperations[static_cast<size_t>(op)].text; }
Unit unitOf(Op op) { return kOperations[static_cast<size_t>(op)].unit; }
std::string_view name(Space space) { return kSpaces[static_cast<size_t>(space)]; }

std::optional<Word> resolveWord(std::string_view text) {
  // Programs with many operations in loops call what others inline. The listing of what is called is the
  // same.
  if (text == "call") return Word{.op = Op::kInlinedCall, .form = "call"};
  Word word;
  size_t known = text.size();
  std::optional<Op> op;
  while (!(op = operationNamed(text.substr(0, known)))) {
    known = text.rfind('.', known == 0 ? 0 : known - 1);
    if (known == std::string_view::npos || known == 0) return std::nullopt;
  }
  word.op = *op;
  for (size_t at = known; at < text.size();) {
    const size_t end = std::min(text.find('.', at + 1), text.size());
    const std::string_view part = text.substr(at + 1, end - at - 1);
    if (const int8_t index = unitIndex(part); index >= 0 && word.unit_index < 0)
      word.unit_index = index;
    else
      word.form.append(word.form.empty() ? "" : ".").append(part);
    at = end;
  }
  return word;
}

Role roleNamed(std::string_view text) {
  for (const NamedRole& role : kRoles)
    if (role.text == text) return role.role;
  return Role::kOther;
}

Space spaceNamed(std::string_view text) {
  if (text.starts_with("sparse_core_")) return Space::kSparseCore;
  for (size_t i = 1; i < std::size(kSpaces); ++i)
    if (kSpaces[i] == text) return static_cast<Space>(i);
  return Space::kNone;
}

Register registerNamed(std::string_view text) {
  RegisterFile file = RegisterFile::kNone;
  unsigned count = 0, index = 0;
  size_t letters = 1;
  if (text.starts_with("vm")) {
    file = RegisterFile::kMask, count = 16, letters = 2;
  } else if (text.starts_with("v")) {
    file = RegisterFile::kVector, count = 64;
  } else if (text.starts_with("s")) {
    file = RegisterFile::kScalar, count = 32;
  } else if (text.starts_with("p")) {
    file = RegisterFile::kPredicate, count = 16;
  } else {
    return {};
  }
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + letters, end, index);
  if (error != std::errc{} || rest != end || index >= count) return {};
  return {.file = file, .index = static_cast<uint8_t>(index)};
}

std::string name(Register reg) {
  constexpr std::string_view kFiles[] = {"", "s", "p", "v", "vm"};
  return reg ? fmt::format("{}{}", kFiles[static_cast<size_t>(reg.file)], reg.index) : "";
}

}  // namespace sublane::llo
