// Models that don't fit one device are cut to some layers of each kind.
#include "report/fit_layers.h"

#include <gtest/gtest.h>

#include "report/request.h"

namespace sublane::report {
namespace {

models::DecoderConfig configOf(const std::string& name) {
  auto checkpoint =
      io::openConfig(std::string(SUBLANE_SOURCE_DIR) + "/tests/report/configs/" + name + ".json");
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().text();
  auto config = models::readConfig(*checkpoint);
  EXPECT_TRUE(config.ok()) << config.error().text();
  return *config;
}

TEST(CutToFit, LeavesWhatFits) {
  const models::DecoderConfig config = configOf("llama3_8b");
  const CutModel cut = cutToFit(config, 2, 24e9);
  EXPECT_EQ(cut.config.layers, 32);
  EXPECT_EQ(cut.note, "");
}

TEST(CutToFit, KeepsFourOfEachKind) {
  const CutModel cut = cutToFit(configOf("gemma3_27b"), 2, 24e9);
  EXPECT_EQ(cut.config.layers, 8);  // four with a window, four without: not the first eight
  EXPECT_EQ(std::count(cut.config.layer_window.begin(), cut.config.layer_window.end(), 0), 4);
  EXPECT_EQ(cut.config.layer_window.size(), cut.config.layer_rotary.size());
  EXPECT_NE(cut.note.find("the weights of 62 layers are"), std::string::npos) << cut.note;
  EXPECT_NE(cut.note.find("the step holds 8 of them, the first 4 of each kind"), std::string::npos)
      << cut.note;
}

TEST(CutToFit, KeepsBothMixersOfAHybrid) {
  const CutModel cut = cutToFit(configOf("qwen3_next_80b"), 2, 24e9);
  ASSERT_EQ(cut.config.layers, 6);  // every fourth is attention: not the first six
  for (size_t layer = 0; layer < 6; ++layer)
    EXPECT_EQ(cut.config.layer_kinds[layer].mixer,
              layer < 3 ? models::Mixer::kGatedDelta : models::Mixer::kAttention);
  EXPECT_EQ(cutToFit(configOf("granite4_h_1b"), 2, 24e9).note, "");
}

TEST(CutToFit, KeepsFewerOfLargeLayers) {
  const models::DecoderConfig config = configOf("deepseek_v3");
  const CutModel cut = cutToFit(config, 2, 24e9);
  EXPECT_EQ(cut.config.layers, 2);  // one dense, one with 256 experts
  EXPECT_EQ(cut.config.layer_kinds[0].feed_forward, models::FeedForward::kDense);
  EXPECT_EQ(cut.config.layer_kinds[1].feed_forward, models::FeedForward::kExperts);
  EXPECT_EQ(cutToFit(config, 2, 1).config.layers, 2);  // never less than one of each
}

}  // namespace
}  // namespace sublane::report
