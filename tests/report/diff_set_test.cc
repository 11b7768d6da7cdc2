#include "report/diff_set.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modules.h"
#include "schema_keys.h"

namespace sublane::report {
namespace {

Simulation of(double gather_us, double matmul_us) {
  Simulation made{.subject = "m", .chip = &v6e(), .clock_hz = 1e6};
  SimulatedStep step{.name = "decode"};
  for (const auto& [part, kind, us] :
       {std::tuple{"attention.core", "gather", gather_us}, std::tuple{"mlp.up", "matmul", matmul_us}}) {
    SimulatedRow row{.row = {.place = {.layer = 0, .part = part}, .kind = kind}};
    row.row.us = us;
    row.row.cycles = static_cast<int64_t>(us);
    step.us += us;
    step.rows.push_back(row);
  }
  made.steps = {step};
  return made;
}

SetDiff usual() {
  SetDiff set{.before = "libtpu 0.0.51", .after = "libtpu 0.0.52", .chip = "v6e"};
  set.programs.push_back(programDiff("faster.mlir", of(60, 40), of(10, 40)));
  set.programs.push_back(programDiff("slower.mlir", of(60, 40), of(160, 40)));
  set.programs.push_back(programDiff("same.mlir", of(60, 40), of(60, 40)));
  set.programs.push_back(programDiff("gone.mlir", of(1, 1), machineError("libtpu: does not fit")));
  set.programs.push_back(programDiff("new.mlir", inputError("unknown op"), of(1, 1)));
  return set;
}

TEST(DiffSet, TellsTheMeanTheWorstAndTheBest) {
  const SetDiff set = usual();
  EXPECT_EQ(set.compared(), 3);
  EXPECT_DOUBLE_EQ(set.geometricMean(), 1) << "half and twice as long";
  const std::string text = toText(set, {});
  EXPECT_NE(text.find("5 programs on v6e: libtpu 0.0.52 against libtpu 0.0.51"), std::string::npos) << text;
  EXPECT_NE(text.find("worst slower.mlir +100.0%, best faster.mlir -50.0%"), std::string::npos) << text;
  EXPECT_NE(text.find("attention.core gather +100.00 us"), std::string::npos) << text;
  EXPECT_NE(text.find("same.mlir"), std::string::npos);
  EXPECT_NE(text.find("unchanged"), std::string::npos);
}

TEST(DiffSet, WhatNoLongerCompilesSaysWhy) {
  const std::string text = toText(usual(), {});
  EXPECT_NE(text.find("gone.mlir no longer compiles or runs with libtpu 0.0.52\n    libtpu: does not fit"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("new.mlir compiles and runs with libtpu 0.0.52 only\n    unknown op"),
            std::string::npos)
      << text;
  const auto document = nlohmann::json::parse(toJson(usual()));
  EXPECT_EQ(document["schema"], "sublane.diff_set/1");
  EXPECT_EQ(document["programs"].size(), 5u);
  EXPECT_EQ(document["programs"][0]["program"], "slower.mlir");
  EXPECT_EQ(document["programs"][3]["error_after"], "libtpu: does not fit");
}

TEST(DiffSet, TheSchemaNamesEveryField) {
  const auto schema = schemaOf("diff_set-1");
  const auto json = nlohmann::json::parse(toJson(usual()));
  expectKeys(json, schema);
  expectKeys(json["programs"][0], schema["$defs"]["compared"]);
  expectKeys(json["programs"][0]["steps"][0], schema["$defs"]["compared"]["properties"]["steps"]["items"]);
  expectKeys(json["programs"][3], schema["$defs"]["failed"]);
  expectKeys(json["parts"][0], schema["$defs"]["part"]);
}

TEST(DiffSet, AddsUpPartsOverPrograms) {
  const std::vector<PartChange> parts = partChanges(usual());
  ASSERT_EQ(parts.size(), 1u) << "what did not change is no line";
  EXPECT_EQ(parts[0].place, "attention.core");
  EXPECT_DOUBLE_EQ(parts[0].before_us, 180);
  EXPECT_DOUBLE_EQ(parts[0].after_us, 230);
  EXPECT_EQ(parts[0].programs, 2);
}

TEST(DiffSet, OfNothing) {
  SetDiff set;
  EXPECT_DOUBLE_EQ(set.geometricMean(), 1);
  set.programs.push_back(programDiff("a", inputError("x"), inputError("y")));
  EXPECT_NE(toText(set, {}).find("a compiles or runs with neither\n    y\n"), std::string::npos)
      << toText(set, {});
}

}  // namespace
}  // namespace sublane::report
