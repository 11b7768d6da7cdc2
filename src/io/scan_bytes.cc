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

// Counts by comparing magnitudes as integers, which the compiler turns into vector compares. `Count` is as
// wide as the value, so that lanes stay whole; `count` must not overflow it.
template <class Bits, Bits kInfinity>
void countPlain(const std::byte* from, size_t count, PieceCounts& counts) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  constexpr size_t kRun = 4096;  // below 2^16: a lane's counter can't wrap
  for (size_t begin = 0; begin < count; begin += kRun) {
    const size_t run = count - begin < kRun ? count - begin : kRun;
    Bits nans = 0, not_finite = 0;
    for (size_t i = 0; i < run; ++i) {
      const Bits magnitude = load<Bits>(from + (begin + i) * sizeof(Bits)) & kMagnitude;
      nans = static_cast<Bits>(nans + (magnitude > kInfinity ? 1 : 0));
      not_finite = static_cast<Bits>(not_finite + (magnitude >= kInfinity ? 1 : 0));
    }
    counts.nans += static_cast<int64_t>(nans);
    counts.infinities += static_cast<int64_t>(not_finite) - static_cast<int64_t>(nans);
  }
}

// Half-precision fields at fixed places of each block.
template <size_t kBlockBytes, size_t... kFields>
void countScales(std::span<const std::byte> bytes, PieceCounts& counts) {
  uint32_t nans = 0, not_finite = 0;
  for (const std::byte* block = bytes.data(); block != bytes.data() + bytes.size(); block += kBlockBytes) {
    for (size_t field : {kFields...}) {
      const uint16_t magnitude = load<uint16_t>(block + field) & 0x7fff;
      nans += magnitude > 0x7c00 ? 1 : 0;
      not_finite += magnitude >= 0x7c00 ? 1 : 0;
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
      return countPlain<uint32_t, 0x7f800000u>(bytes.data(), bytes.size() / 4, counts);
    case Packing::kF16:
      return countPlain<uint16_t, 0x7c00u>(bytes.data(), bytes.size() / 2, counts);
    case Packing::kBF16:
      return countPlain<uint16_t, 0x7f80u>(bytes.data(), bytes.size() / 2, counts);
    case Packing::kF64:
      return countPlain<uint64_t, 0x7ff0000000000000u>(bytes.data(), bytes.size() / 8, counts);
    case Packing::kQ4_0:
      return countScales<18, 0>(bytes, counts);
    case Packing::kQ4_1:
      return countScales<20, 0, 2>(bytes, counts);
    case Packing::kQ5_0:
      return countScales<22, 0>(bytes, counts);
    case Packing::kQ8_0:
      return countScales<34, 0>(bytes, counts);
    case Packing::kQ4_K:
      return countScales<144, 0, 2>(bytes, counts);
    case Packing::kQ6_K:
      return countScales<210, 208>(bytes, counts);
    case Packing::kI8:
    case Packing::kI16:
    case Packing::kI32:
    case Packing::kI64:
      return;
  }
}

}  // namespace

PieceCounts scanPiece(Packing packing, std::span<const std::byte> bytes) {
  // Short runs, so that the second reading comes out of the nearest cache: whole blocks and whole words.
  const size_t run_bytes = 64 * static_cast<size_t>(formats::info(packing).block_bytes) * 4;
  PieceCounts counts;
  for (size_t begin = 0; begin < bytes.size(); begin += run_bytes) {
    std::span<const std::byte> run = bytes.subspan(begin, std::min(run_bytes, bytes.size() - begin));
    counts.checksum ^= checksumOf(run);
    count(packing, run, counts);
  }
  return counts;
}

}  // namespace sublane::io
