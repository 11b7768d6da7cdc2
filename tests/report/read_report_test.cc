#include "report/read_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/paths.h"
#include "modules.h"
#include "mutations.h"
#include "report/diff.h"

namespace sublane::report {
namespace {

Simulation made() {
  Simulation simulation{
      .subject = "a.mlir", .chip = &v6e(), .compiler = "libtpu 0.0.52", .model_hash = "abc"};
  simulation.clock_hz = 1.75e9;
  simulation.flags = {"xla_a = 3"};
  SimulatedStep step{.name = "decode", .fingerprint = "\x01\xff", .us = 12.5, .launch_us = 2.5};
  step.hbm_read_bytes = 100;
  for (int32_t layer = 0; layer < 2; ++layer) {
    SimulatedRow row{
        .row = {.place = {.layer = layer, .part = "mlp.up"}, .kind = "matmul", .op = "fusion.1"}};
    row.row.us = 5;
    row.row.cycles = 8750;
    row.row.source = "model.py:42";
    row.row.origin = Origin::kSimulated;
    row.row.hbm_bytes = row.hbm_read_bytes = 50;
    row.error_class = "GEMM";
    row.causes[static_cast<size_t>(events::Cause::kDma)] = 8750;
    step.rows.push_back(row);
    step.cycles += 8750;
    step.causes[static_cast<size_t>(events::Cause::kDma)] += 8750;
  }
  simulation.steps = {step};
  return simulation;
}

std::string fault(const std::string& text) {
  const Result<Simulation> read = parseReport(text, "r.json");
  return read.ok() ? "none" : read.error().message();
}
std::string with(const std::string& pointer, const nlohmann::json& value) {
  nlohmann::json document = nlohmann::json::parse(toJson(made()));
  document[nlohmann::json::json_pointer(pointer)] = value;
  return document.dump();
}

TEST(ReadReport, ASimulationComesBackSoThatItsDifferenceIsNone) {
  const Result<Simulation> read = parseReport(toJson(made()), "r.json");
  ASSERT_TRUE(read.ok()) << read.error().text();
  const Difference difference = differenceOf(made(), *read).value();
  EXPECT_TRUE(difference.settings.empty());
  EXPECT_EQ(read->steps[0].fingerprint, made().steps[0].fingerprint);
  EXPECT_EQ(difference.steps[0].changeUs(), 0);
  EXPECT_EQ(difference.steps[0].error.changed_us, 0) << "every row has its twin";
  const Simulation before = made();
  Simulation after = *read;
  after.steps[0].rows[1].row.us = 4;
  after.steps[0].us = 11.5;
  EXPECT_EQ(toJson(differenceOf(before, after).value()), toJson(differenceOf(*read, after).value()));
}

TEST(ReadReport, WhatIsWrongSaysWhere) {
  EXPECT_EQ(fault("{\"schema\": "), "r.json: not JSON");
  EXPECT_EQ(fault("[]"), "r.json: not an object");
  EXPECT_EQ(fault("{}"), "r.json: schema: missing");
  EXPECT_EQ(fault("{\"schema\": \"sublane.chips/1\"}"),
            "r.json: schema \"sublane.chips/1\": neither sublane.simulate/1 nor sublane.explain/2");
  EXPECT_EQ(fault(with("/ops/1/us", "fast")), "r.json: ops[1].us: no number");
  EXPECT_EQ(fault(with("/ops/0/count", -1)), "r.json: ops[0].count: not within 0 and 4398046511104");
  EXPECT_EQ(fault(with("/ops/0/cycles", 18446744073709551615u)),
            "r.json: ops[0].cycles: not within 0 and 4398046511104");
  EXPECT_EQ(fault(with("/ops/0/step", "other")), "r.json: ops[0].step: there is no step \"other\"");
  EXPECT_EQ(fault(with("/ops/0/causes/luck", 3)), "r.json: ops[0].causes: there is no cause \"luck\"");
  EXPECT_EQ(fault(with("/ops/0/layer", 1.5)),
            "r.json: ops[0].layer: neither a layer's number, \"*\" nor null");
  EXPECT_EQ(fault(with("/ops/0/us", 6.0)),
            "r.json: steps: \"decode\": its rows take 13.500 us, its total is 12.500 us");
  EXPECT_EQ(fault(with("/steps/0/rung", "moon")), "r.json: steps[0].rung: there is no rung \"moon\"");
  EXPECT_NE(fault(with("/chip", "v9")).find("r.json: "), std::string::npos);
  EXPECT_EQ(fault(with("/steps", 3)), "r.json: steps: no list");
  EXPECT_EQ(fault(std::string(100000, '[')), "r.json: not JSON");
}

TEST(ReadReport, WrongBytesAreRefusedOrTaken) {
  const std::string text = toJson(made());
  int refused = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const Result<Simulation> read = parseReport(mutated(text, seed), "r.json");
    refused += !read.ok();
    if (!read.ok()) continue;
    EXPECT_TRUE(differenceOf(made(), *read).ok() || read->steps[0].name != "decode");
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 3000);
}

TEST(ReadReport, AReportIsKnownByItsFirstLetter) {
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  const std::string path = folder.path() + "/a";
  ASSERT_TRUE(writeFileAtomically(path, "\n {\"schema\"").ok());
  EXPECT_TRUE(isReport(path));
  ASSERT_TRUE(writeFileAtomically(path, "module {").ok());
  EXPECT_FALSE(isReport(path));
  EXPECT_FALSE(isReport(folder.path() + "/none"));
  EXPECT_FALSE(isReport(folder.path()));
}

}  // namespace
}  // namespace sublane::report
