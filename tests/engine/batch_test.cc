#include "engine/batch.h"

#include <gtest/gtest.h>

#include <bit>

namespace sublane::engine {
namespace {

using U = std::vector<uint32_t>;
constexpr uint32_t kNone = static_cast<uint32_t>(-1);

models::StepShape shape(int64_t tokens, int64_t sequences, int64_t queries) {
  return {.tokens = tokens,
          .sequences = sequences,
          .queries = queries,
          .pages_per_sequence = 3,
          .page_size = 4,
          .pages = 9};
}

TEST(PackBatch, PlacesAChunkAcrossPagesAndPadsTheRest) {
  Slice slice{.tokens = {11, 12, 13}, .first = 3, .pages = {7, 2}, .state_slot = 4, .draw = {}};
  Batch batch = packBatch(shape(5, 2, 4), std::vector{slice});
  EXPECT_EQ(batch["tokens"], (U{11, 12, 13, 0, 0}));
  EXPECT_EQ(batch["positions"], (U{3, 4, 5, 0, 0}));
  EXPECT_EQ(batch["token_sequence"], (U{0, 0, 0, 2, 2}));
  EXPECT_EQ(batch["token_column"], (U{0, 1, 2, 0, 0}));
  EXPECT_EQ(batch["query_token"], (U{0, 1, 2, kNone, kNone, kNone, kNone, kNone}));
  EXPECT_EQ(batch["kv_slots"], (U{7 * 4 + 3, 2 * 4, 2 * 4 + 1, kNone, kNone}));
  EXPECT_EQ(batch["page_table"], (U{7, 2, 0, 0, 0, 0}));
  EXPECT_EQ(batch["lengths"], (U{6, 0}));
  EXPECT_EQ(batch["state_slots"], (U{4, kNone}));
  EXPECT_EQ(batch["logit_token"], (U{2, 0}));
}

TEST(PackBatch, MixesAChunkAndASingleToken) {
  Slice chunk{.tokens = {5, 6}, .first = 0, .pages = {0}, .draw = {}};
  Slice single{.tokens = {9},
               .first = 8,
               .pages = {1, 2, 3},
               .draw = {.temperature = 0.5f, .top_k = 4, .top_p = 0.9f, .seed = 42}};
  Batch batch = packBatch(shape(3, 2, 2), std::vector{chunk, single});
  EXPECT_EQ(batch["token_sequence"], (U{0, 0, 1}));
  EXPECT_EQ(batch["query_token"], (U{0, 1, 2, kNone}));
  EXPECT_EQ(batch["kv_slots"], (U{0, 1, 3 * 4}));
  EXPECT_EQ(batch["lengths"], (U{2, 9}));
  EXPECT_EQ(batch["logit_token"], (U{1, 2}));
  EXPECT_EQ(batch["temperature"], (U{0, std::bit_cast<uint32_t>(0.5f)}));
  EXPECT_EQ(batch["top_k"], (U{0, 4}));
  EXPECT_EQ(batch["seed"], (U{0, 42}));
}

}  // namespace
}  // namespace sublane::engine
