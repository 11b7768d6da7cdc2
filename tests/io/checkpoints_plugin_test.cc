// The two real checkpoints: needs `sublane fetch smollm2-135m` and `sublane fetch gemma3-270m`.
#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "io/checkpoint.h"
#include "io/known_checkpoints.h"

namespace sublane::io {
namespace {

using formats::Packing;

std::map<std::string, int> countByPacking(const Checkpoint& checkpoint) {
  std::map<std::string, int> counts;
  for (const Tensor& tensor : checkpoint.tensors) ++counts[std::string(formats::info(tensor.packing).name)];
  return counts;
}

int64_t parameters(const Checkpoint& checkpoint) {
  int64_t sum = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    int64_t elements = 1;
    for (int64_t size : tensor.shape) elements *= size;
    sum += elements;
  }
  return sum;
}

TEST(RealCheckpoint, SmolLm2Opens) {
  Result<Checkpoint> opened = openCheckpoint("smollm2-135m");
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->architecture, "llama");
  EXPECT_EQ(opened->tensors.size(), 272u);
  EXPECT_EQ(countByPacking(*opened), (std::map<std::string, int>{{"F32", 61}, {"Q4_1", 210}, {"Q8_0", 1}}));
  EXPECT_EQ(parameters(*opened), 134515008);
  const Tensor* embedding = opened->find("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->shape, (std::vector<int64_t>{49152, 576}));
  EXPECT_EQ(embedding->packing, Packing::kQ8_0);
  EXPECT_EQ(std::get<int64_t>(opened->metadata.at("llama.block_count").value), 30);
  EXPECT_EQ(std::get<std::vector<std::string>>(opened->metadata.at("tokenizer.ggml.tokens").value).size(),
            49152u);
  EXPECT_EQ(opened->find("no.such.tensor"), nullptr);
}

TEST(RealCheckpoint, Gemma3Opens) {
  Result<Checkpoint> opened = openCheckpoint("gemma3-270m");
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->architecture, "gemma3");
  EXPECT_EQ(opened->tensors.size(), 236u);
  EXPECT_EQ(
      countByPacking(*opened),
      (std::map<std::string, int>{{"F32", 109}, {"Q4_K", 27}, {"Q5_0", 81}, {"Q6_K", 9}, {"Q8_0", 10}}));
  EXPECT_EQ(std::get<std::vector<double>>(opened->metadata.at("tokenizer.ggml.scores").value).size(),
            262144u);
  EXPECT_FALSE(std::get<bool>(opened->metadata.at("tokenizer.ggml.add_eos_token").value));
}

// Tensors are spans of the map: none is copied, and all of them lie in the file.
TEST(RealCheckpoint, TensorsLieInTheMap) {
  Result<Checkpoint> opened = openCheckpoint("smollm2-135m");
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  std::span<const std::byte> file = opened->files[0]->bytes();
  for (const Tensor& tensor : opened->tensors) {
    EXPECT_EQ(tensor.bytes.data(), file.data() + tensor.file_offset) << tensor.name;
    EXPECT_LE(tensor.file_offset + tensor.bytes.size(), file.size()) << tensor.name;
  }
}

}  // namespace
}  // namespace sublane::io
