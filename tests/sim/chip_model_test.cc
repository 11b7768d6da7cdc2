#include <gtest/gtest.h>

#include <string>

#include "sim/sim.h"

namespace sublane::sim {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The file as its sources have it, without what a fit found.
std::string unfitted() {
  const std::string text(chipModelText("v6e"));
  return text.substr(0, text.find("\"fitted\"")) + "\"fitted\": {}}";
}

TEST(ChipModel, EveryChipHasOneThatIsWithinReason) {
  for (const char* chip : {"v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    const Result<ChipModel> model = chipModel(chip);
    ASSERT_TRUE(model.ok()) << model.error().text();
    EXPECT_EQ(model->chip, chip);
    EXPECT_EQ(model->hash.size(), 64u);
    EXPECT_GT(model->read_latency_cycles / model->clock_hz, 1e-7);
    EXPECT_LT(model->read_latency_cycles / model->clock_hz, 2e-6);
    EXPECT_GT(model->hbm_efficiency, 0.5);
  }
  EXPECT_EQ(chipModel("v6e")->branch_delay_slots, 4);
  EXPECT_EQ(chipModel("tpu7x")->branch_delay_slots, 6);
  EXPECT_FALSE(chipModel("v3").ok());
}

TEST(ChipModel, TheHashFollowsTheFile) {
  const std::string text(chipModelText("v6e"));
  const ChipModel one = *readChipModel(text, "x");
  EXPECT_EQ(one.hash, chipModel("v6e")->hash);
  EXPECT_NE(readChipModel(replaced(text, "0.9", "0.8"), "x")->hash, one.hash);
}

TEST(ChipModel, FittedNumbersOverride) {
  const std::string fitted = R"("fitted": {"date": "2026-11-30", "parameters": {"hbm_efficiency":
      {"value": 0.7, "unit": "share of the peak", "origin": "measured", "source": "data/x.csv"}}})";
  const ChipModel model = *readChipModel(replaced(unfitted(), "\"fitted\": {}", fitted), "x");
  EXPECT_EQ(model.hbm_efficiency, 0.7);
  EXPECT_EQ(model.clock_hz, 1.75e9);
}

TEST(ChipModel, FaultsAreNamed) {
  const std::string text = unfitted();
  const auto message = [](const std::string& json) {
    const Result<ChipModel> model = readChipModel(json, "here.json");
    return model.ok() ? "ok" : model.error().message();
  };
  EXPECT_EQ(message(replaced(text, "\"clock_hz\"", "\"clock\"")),
            "here.json: parameter \"clock_hz\" is missing");
  EXPECT_EQ(message(replaced(text, "\"value\": 0.9", "\"value\": 1.5")),
            "here.json: hbm_efficiency is 1.5, not within 0.01 and 1");
  EXPECT_EQ(message(replaced(text, "\"unit\": \"Hz\", ", "")), "here.json: clock_hz: \"unit\" is missing");
  EXPECT_EQ(message(replaced(text, "chip_model/1", "chip_model/9")),
            "here.json: schema \"sublane.chip_model/9\" is not sublane.chip_model/1");
}

}  // namespace
}  // namespace sublane::sim
