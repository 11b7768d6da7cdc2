// The scan finds every NaN and infinity, whatever the packing, the place and the number of threads.
#include "io/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace sublane::io {
namespace {

using formats::Packing;

struct Bytes {
  std::string name;
  Packing packing;
  std::vector<std::byte> bytes;
};

Checkpoint checkpointOf(const std::vector<Bytes>& tensors) {
  Checkpoint checkpoint;
  for (const Bytes& tensor : tensors) {
    checkpoint.tensors.push_back(
        {.name = tensor.name,
         .shape = {formats::packedElements(tensor.packing, static_cast<int64_t>(tensor.bytes.size()))},
         .packing = tensor.packing,
         .bytes = tensor.bytes});
  }
  return checkpoint;
}

template <class T>
void put(std::vector<std::byte>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

TEST(Scan, PlainFloats) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = INFINITY;
  std::vector<float> values(10001, 1.0f);
  values[0] = kNan;
  values[4096] = -kInf;
  values[10000] = -kNan;
  values[17] = std::numeric_limits<float>::max();
  values[18] = std::numeric_limits<float>::denorm_min();
  const auto bytes = std::as_bytes(std::span(values));
  const CheckpointScan scan =
      scanCheckpoint(checkpointOf({{"clean", Packing::kF32, std::vector<std::byte>(400)},
                                   {"t", Packing::kF32, {bytes.begin(), bytes.end()}}}));
  EXPECT_EQ(scan.bytes, 40404);
  EXPECT_EQ(scan.nans, 2);
  EXPECT_EQ(scan.infinities, 1);
  ASSERT_EQ(scan.findings.size(), 1u);
  EXPECT_EQ(scan.findings[0].tensor, "t");
  EXPECT_EQ(scan.findings[0].nans, 2);
  EXPECT_EQ(scan.findings[0].infinities, 1);
}

// All 2^16 values of a half: exactly those that are NaN or infinite are counted.
TEST(Scan, EveryHalf) {
  std::vector<std::byte> bytes(2 * 65536);
  for (uint32_t i = 0; i < 65536; ++i) put(bytes, 2 * i, static_cast<uint16_t>(i));
  CheckpointScan f16 = scanCheckpoint(checkpointOf({{"t", Packing::kF16, bytes}}));
  EXPECT_EQ(f16.nans, 2 * 1023);
  EXPECT_EQ(f16.infinities, 2);
  CheckpointScan bf16 = scanCheckpoint(checkpointOf({{"t", Packing::kBF16, bytes}}));
  EXPECT_EQ(bf16.nans, 2 * 127);
  EXPECT_EQ(bf16.infinities, 2);
}

// A run of nothing but NaN must not wrap a 16-bit counter.
TEST(Scan, AllNan) {
  const CheckpointScan scan =
      scanCheckpoint(checkpointOf({{"t", Packing::kBF16, std::vector<std::byte>(1 << 20, std::byte{0xff})}}));
  EXPECT_EQ(scan.nans, 1 << 19);
  EXPECT_EQ(scan.infinities, 0);
}

TEST(Scan, F64AndIntegers) {
  const std::vector<double> values = {1.0, std::numeric_limits<double>::quiet_NaN(), -INFINITY};
  const auto bytes = std::as_bytes(std::span(values));
  const CheckpointScan scan =
      scanCheckpoint(checkpointOf({{"f", Packing::kF64, {bytes.begin(), bytes.end()}},
                                   {"i", Packing::kI32, std::vector<std::byte>(64, std::byte{0xff})}}));
  EXPECT_EQ(scan.nans, 1);
  EXPECT_EQ(scan.infinities, 1);
  EXPECT_EQ(scan.bytes, 24 + 64);
}

// All codes of each eight-bit float, and enough of them to fill more than one run.
TEST(Scan, EveryCodeOfEightBits) {
  std::vector<std::byte> bytes(1000 * 256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  struct {
    Packing packing;
    int64_t nans, infinities;
  } const kExpected[] = {{Packing::kF8_E4M3, 2, 0}, {Packing::kF8_E5M2, 6, 2}, {Packing::kF8_E8M0, 1, 0},
                         {Packing::kF4, 0, 0},      {Packing::kU8, 0, 0},      {Packing::kBool, 0, 0}};
  for (const auto& [packing, nans, infinities] : kExpected) {
    const CheckpointScan scan = scanCheckpoint(checkpointOf({{"t", packing, bytes}}), 1);
    EXPECT_EQ(scan.nans, 1000 * nans) << formats::info(packing).name;
    EXPECT_EQ(scan.infinities, 1000 * infinities) << formats::info(packing).name;
  }
}

// Where everything is NaN no counter may wrap.
TEST(Scan, NothingButNan) {
  for (Packing packing : {Packing::kF64, Packing::kF32, Packing::kBF16, Packing::kF8_E4M3, Packing::kF8_E5M2,
                          Packing::kF8_E8M0}) {
    const std::vector<std::byte> bytes(1 << 20, std::byte{0xff});
    const CheckpointScan scan = scanCheckpoint(checkpointOf({{"t", packing, bytes}}), 1);
    EXPECT_EQ(scan.nans, formats::packedElements(packing, 1 << 20)) << formats::info(packing).name;
    EXPECT_EQ(scan.infinities, 0);
  }
}

// In block formats only the scales count, wherever they lie; other bytes may hold anything.
TEST(Scan, ScalesOfBlocks) {
  const std::pair<Packing, std::vector<size_t>> kFields[] = {
      {Packing::kQ4_0, {0}},    {Packing::kQ4_1, {0, 2}},   {Packing::kQ5_0, {0}},   {Packing::kQ5_1, {0, 2}},
      {Packing::kQ8_0, {0}},    {Packing::kQ2_K, {80, 82}}, {Packing::kQ3_K, {108}}, {Packing::kQ4_K, {0, 2}},
      {Packing::kQ5_K, {0, 2}}, {Packing::kQ6_K, {208}}};
  for (const auto& [packing, fields] : kFields) {
    const size_t block = static_cast<size_t>(formats::info(packing).block_bytes);
    std::vector<std::byte> bytes(1000 * block, std::byte{0xff});
    for (size_t i = 0; i < 1000; ++i) {
      for (size_t field : fields) put<uint16_t>(bytes, i * block + field, 0x3c00);
    }
    EXPECT_TRUE(scanCheckpoint(checkpointOf({{"t", packing, bytes}})).findings.empty())
        << formats::info(packing).name;
    for (size_t field : fields) {
      put<uint16_t>(bytes, 999 * block + field, 0x7e00);
      put<uint16_t>(bytes, 500 * block + field, 0xfc00);
    }
    const CheckpointScan scan = scanCheckpoint(checkpointOf({{"t", packing, bytes}}));
    EXPECT_EQ(scan.nans, static_cast<int64_t>(fields.size())) << formats::info(packing).name;
    EXPECT_EQ(scan.infinities, static_cast<int64_t>(fields.size())) << formats::info(packing).name;
  }
}

TEST(Scan, ScalesOfOtherTypes) {
  std::vector<std::byte> q8_k(1000 * 292, std::byte{0xff}), mxfp4(1000 * 17, std::byte{0xff});
  for (size_t i = 0; i < 1000; ++i) {
    put<float>(q8_k, i * 292, i == 7 ? INFINITY : i == 900 ? NAN : 1.0f);
    put<uint8_t>(mxfp4, i * 17, i == 999 ? 0xff : 0xfe);
  }
  const CheckpointScan scan =
      scanCheckpoint(checkpointOf({{"a", Packing::kQ8_K, q8_k}, {"b", Packing::kMXFP4, mxfp4}}));
  ASSERT_EQ(scan.findings.size(), 2u);
  EXPECT_EQ(scan.findings[0].nans, 1);
  EXPECT_EQ(scan.findings[0].infinities, 1);
  EXPECT_EQ(scan.findings[1].nans, 1);
  EXPECT_EQ(scan.findings[1].infinities, 0);
}

// The checksum covers every byte and does not depend on how the work was shared out.
TEST(Scan, ThreadsChangeNothingAndEveryByteCounts) {
  std::mt19937_64 random(1);
  std::vector<Bytes> tensors = {{"a", Packing::kQ6_K, std::vector<std::byte>(210 * 30001)},
                                {"b", Packing::kF32, std::vector<std::byte>(4 * 1000003)},
                                {"c", Packing::kQ4_0, std::vector<std::byte>(18 * 7)}};
  uint64_t expected = 0;
  for (Bytes& tensor : tensors) {
    for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(random() & 0x7f);
    for (size_t i = 0; i < tensor.bytes.size(); ++i)
      expected ^= static_cast<uint64_t>(tensor.bytes[i]) << (8 * (i % 8));
  }
  const CheckpointScan one = scanCheckpoint(checkpointOf(tensors), 1);
  EXPECT_EQ(one.checksum, expected);
  for (int threads : {2, 3, 16}) {
    const CheckpointScan many = scanCheckpoint(checkpointOf(tensors), threads);
    EXPECT_EQ(many.checksum, one.checksum);
    EXPECT_EQ(many.nans, one.nans);
    EXPECT_EQ(many.infinities, one.infinities);
    EXPECT_EQ(many.findings.size(), one.findings.size());
    EXPECT_EQ(many.threads, threads);
  }
}

TEST(Scan, NothingToScan) {
  const CheckpointScan scan = scanCheckpoint(Checkpoint{}, 4);
  EXPECT_EQ(scan.bytes, 0);
  EXPECT_EQ(scan.checksum, 0u);
}

}  // namespace
}  // namespace sublane::io
