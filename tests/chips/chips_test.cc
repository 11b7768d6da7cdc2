#include "chips/chips.h"

#include <gtest/gtest.h>

namespace sublane::chips {
namespace {

TEST(Chips, AllFiveAreThereOldestFirst) {
  std::vector<std::string> names;
  for (const Chip& chip : allChips()) names.push_back(chip.name);
  EXPECT_EQ(names, (std::vector<std::string>{"v4", "v5e", "v5p", "v6e", "tpu7x"}));
}

TEST(Chips, EveryNumberHasASourceAndAPlausibleValue) {
  for (const Chip& chip : allChips()) {
    SCOPED_TRACE(chip.name);
    for (const auto& [key, number] : chip.numbers) {
      EXPECT_FALSE(number.source.empty()) << key;
      EXPECT_FALSE(number.unit.empty()) << key;
      EXPECT_GT(number.value, 0) << key;
    }
    EXPECT_GT(chip.bf16_flops, 1e14);
    EXPECT_LT(chip.bf16_flops, 1e16);
    EXPECT_GT(chip.clock_hz, 0.5e9);
    EXPECT_LT(chip.clock_hz, 4e9);
    EXPECT_LT(chip.hbm_usable_bytes, chip.hbm_bytes);
    EXPECT_GT(chip.hbm_usable_bytes, 0.9 * chip.hbm_bytes);
    EXPECT_EQ(chip.topology.substr(0, chip.name.size() + 1), chip.name + ":");
  }
}

TEST(Chips, ADeviceOfTpu7xIsHalfAChip) {
  auto chip = findChip("tpu7x");
  ASSERT_TRUE(chip.ok());
  EXPECT_EQ((*chip)->devices_per_chip, 2);
  EXPECT_DOUBLE_EQ((*chip)->bf16_flops, 1155e12);
  EXPECT_DOUBLE_EQ((*chip)->hbm_bytes_per_second, 3700e9);
  EXPECT_DOUBLE_EQ((*chip)->hbm_bytes, 96.0 * (1 << 30));
}

TEST(Chips, OldChipsJoinTwoCores) {
  for (const char* name : {"v4", "v5p"}) {
    auto chip = findChip(name);
    ASSERT_TRUE(chip.ok());
    EXPECT_EQ((*chip)->devices_per_chip, 1);
    EXPECT_EQ((*chip)->cores_per_device, 2);
  }
  auto v4 = findChip("v4");
  EXPECT_EQ((*v4)->topology_options.at("chip_config_name"), "megacore");
}

TEST(Chips, AnUnknownChipListsAll) {
  auto chip = findChip("v9");
  ASSERT_FALSE(chip.ok());
  EXPECT_EQ(chip.error().fault(), Fault::kInput);
  EXPECT_EQ(chip.error().text(), "--chip v9: no such chip\n  hint: chips: v4, v5e, v5p, v6e, tpu7x");
}

std::string file(const std::string& number) {
  return R"({"schema": "sublane.chip/1", "name": "x", "title": "X", "device_kind": "X", "topology": "x:1",
             "devices_per_chip": 1, "cores_per_device": 1, "numbers": {)" +
         number + "}}";
}

TEST(ReadChip, SaysWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"{", "x.json: not JSON: "},
      {R"({"schema": "other"})", "x.json: schema \"other\" is not sublane.chip/1"},
      {R"({"schema": "sublane.chip/1"})", "x.json: \"name\" is missing or not a string"},
      {file(""), "x.json: number \"bf16_flops\" is missing"},
      {file(R"("bf16_flops": {"value": 1, "unit": "FLOP/s", "origin": "datasheet"})"),
       "x.json: bf16_flops: \"source\" is missing or not a string"},
      {file(R"("bf16_flops": {"value": 0, "unit": "FLOP/s", "origin": "datasheet", "source": "s"})"),
       "x.json: bf16_flops: \"value\" is missing or not above 0"},
      {file(R"("bf16_flops": {"value": 1, "unit": "FLOP/s", "origin": "hearsay", "source": "s"})"),
       "x.json: bf16_flops: origin \"hearsay\" is not one of measured, compiler, datasheet, assumed"},
  };
  for (const auto& [json, message] : cases) {
    auto chip = readChip(json, "x.json");
    ASSERT_FALSE(chip.ok()) << json;
    EXPECT_EQ(chip.error().message().substr(0, message.size()), message);
  }
}

}  // namespace
}  // namespace sublane::chips
