#include "io/scan_bytes.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace sublane::io {
namespace {

using formats::Packing;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A float type by its bit patterns: what is left of a value without its sign, its largest finite magnitude,
// and whether an infinity comes before the NaNs.
template <class Bits>
struct FloatType {
  Bits magnitude, largest;
  bool has_infinity;
};
constexpr FloatType<uint64_t> kF64{~uint64_t{0} >> 1, 0x7fefffffffffffffu, true};
constexpr FloatType<uint32_t> kF32{0x7fffffffu, 0x7f7fffffu, true};
constexpr FloatType<uint16_t> kF16{0x7fff, 0x7bff, true};
constexpr FloatType<uint16_t> kBF16{0x7fff, 0x7f7f, true};
constexpr FloatType<uint8_t> kF8E5M2{0x7f, 0x7b, true};
constexpr FloatType<uint8_t> kF8E4M3{0x7f, 0x7e, false};
constexpr FloatType<uint8_t> kF8E8M0{0xff, 0xfe, false};

// Counts by comparing magnitudes as integers, which the compiler turns into vector compares. The counters are
// as wide as the value, so that lanes stay whole; a run is short enough not to overflow them.
template <class Bits>
void countPlain(FloatType<Bits> type, std::span<const std::byte> bytes, PieceCounts& counts) {
  constexpr size_t kRun = sizeof(Bits) == 1 ? 255 : 4096;
  const size_t count = bytes.size() / sizeof(Bits);
  const Bits infinity = static_cast<Bits>(type.largest + (type.has_infinity ? 1 : 0));
  for (size_t begin = 0; begin < count; begin += kRun) {
    const size_t run = count - begin < kRun ? count - begin : kRun;
    const std::byte* from = bytes.data() + begin * sizeof(Bits);
    Bits nans = 0, not_finite = 0;
    for (size_t i = 0; i < run; ++i) {
      const Bits magnitude = static_cast<Bits>(load<Bits>(from + i * sizeof(Bits)) & type.magnitude);
      nans = static_cast<Bits>(nans + (magnitude > infinity ? 1 : 0));
      not_finite = static_cast<Bits>(not_finite + (magnitude > type.largest ? 1 : 0));
    }
    counts.nans += static_cast<int64_t>(nans);
    counts.infinities += static_cast<int64_t>(not_finite) - static_cast<int64_t>(nans);
  }
}

// The scales of blocks: numbers of one type at fixed places of each block.
template <auto kType, size_t kBlockBytes, size_t... kFields>
void countScales(std::span<const std::byte> bytes, PieceCounts& counts) {
  using Bits = decltype(kType.magnitude);
  constexpr Bits kInfinity = static_cast<Bits>(kType.largest + (kType.has_infinity ? 1 : 0));
  uint32_t nans = 0, not_finite = 0;
  for (const std::byte* block = bytes.data(); block != bytes.data() + bytes.size(); block += kBlockBytes) {
    for (size_t field : {kFields...}) {
      const Bits magnitude = static_cast<Bits>(load<Bits>(block + field) & kType.magnitude);
      nans += magnitude > kInfinity ? 1 : 0;
      not_finite += magnitude > kType.largest ? 1 : 0;
    }
  }
  counts.nans += nans;
  counts.infinities += static_cast<int64_t>(not_finite) - nans;
}

uint64_t checksumOf(std::span<const std::byte> bytes) {
  uint64_t sum = 0;
  const size_t words = bytes.size() / 8;
  for (size_t i = 0; i < words; ++i) sum ^= load<uint64_t>(bytes.data() + 8 * i);
  uint64_t last = 0;
  if (bytes.size() % 8 != 0) std::memcpy(&last, bytes.data() + 8 * words, bytes.size() % 8);
  return sum ^ last;
}

void count(Packing packing, std::span<const std::byte> bytes, PieceCounts& counts) {
  switch (packing) {
    case Packing::kF32:
      return countPlain(kF32, bytes, counts);
    case Packing::kF16:
      return countPlain(kF16, bytes, counts);
    case Packing::kBF16:
      return countPlain(kBF16, bytes, counts);
    case Packing::kF64:
      return countPlain(kF64, bytes, counts);
    case Packing::kF8_E4M3:
      return countPlain(kF8E4M3, bytes, counts);
    case Packing::kF8_E5M2:
      return countPlain(kF8E5M2, bytes, counts);
    case Packing::kF8_E8M0:
      return countPlain(kF8E8M0, bytes, counts);
    case Packing::kQ4_0:
      return countScales<kF16, 18, 0>(bytes, counts);
    case Packing::kQ4_1:
      return countScales<kF16, 20, 0, 2>(bytes, counts);
    case Packing::kQ5_0:
      return countScales<kF16, 22, 0>(bytes, counts);
    case Packing::kQ5_1:
      return countScales<kF16, 24, 0, 2>(bytes, counts);
    case Packing::kQ8_0:
      return countScales<kF16, 34, 0>(bytes, counts);
    case Packing::kQ2_K:
      return countScales<kF16, 84, 80, 82>(bytes, counts);
    case Packing::kQ3_K:
      return countScales<kF16, 110, 108>(bytes, counts);
    case Packing::kQ4_K:
      return countScales<kF16, 144, 0, 2>(bytes, counts);
    case Packing::kQ5_K:
      return countScales<kF16, 176, 0, 2>(bytes, counts);
    case Packing::kQ6_K:
      return countScales<kF16, 210, 208>(bytes, counts);
    case Packing::kQ8_K:
      return countScales<kF32, 292, 0>(bytes, counts);
    case Packing::kMXFP4:
      return countScales<kF8E8M0, 17, 0>(bytes, counts);
    case Packing::kF4:
    case Packing::kBool:
    case Packing::kI8:
    case Packing::kI16:
    case Packing::kI32:
    case Packing::kI64:
    case Packing::kU8:
    case Packing::kU16:
    case Packing::kU32:
    case Packing::kU64:
      return;  // every code is finite
  }
}

}  // namespace

PieceCounts scanPiece(Packing packing, std::span<const std::byte> bytes) {
  // Short runs, so that the second reading comes out of the nearest cache: whole blocks and whole words.
  const size_t unit = 8 * static_cast<size_t>(formats::info(packing).block_bytes);
  const size_t run_bytes = (16 << 10) / unit * unit;
  PieceCounts counts;
  for (size_t begin = 0; begin < bytes.size(); begin += run_bytes) {
    std::span<const std::byte> run = bytes.subspan(begin, std::min(run_bytes, bytes.size() - begin));
    counts.checksum ^= checksumOf(run);
    count(packing, run, counts);
  }
  return counts;
}

}  // namespace sublane::io
