#include "report/calibrate.h"

#include <gtest/gtest.h>
#include <simdjson.h>
#include <nlohmann/json.hpp>

#include "report/class_error.h"

namespace sublane::report {
namespace {

constexpr std::string_view kHeader =
    "key,chip,class,kernel,timing,source,measured_us,scope,program,inputs,options\n";

TEST(CalibrationPoints, AreReadByTheNamesOfTheirColumns) {
  const std::string text = std::string(kHeader) +
                           "v5e/GEMM/2,v5e,GEMM (host-timed),GEMM pallas,host,a.csv,297.5,,p.mlir,,\n"
                           "v6e/KV/3,v6e,KV update,KV,device,b.csv,5.2,kv_,q.mlir,i.npz,xla_x=1 xla_y=on\r\n";
  Result<std::vector<CalibrationPoint>> points = parsePoints(text, "p.csv");
  ASSERT_TRUE(points.ok()) << points.error().text();
  ASSERT_EQ(points->size(), 2u);
  EXPECT_TRUE((*points)[0].host_timed);
  EXPECT_EQ((*points)[0].kind, "GEMM (host-timed)");
  EXPECT_DOUBLE_EQ((*points)[0].measured_us, 297.5);
  EXPECT_EQ((*points)[1].scope, "kv_");
  EXPECT_EQ((*points)[1].inputs, "i.npz");
  EXPECT_EQ((*points)[1].options, "xla_x=1 xla_y=on");
}

std::string errorOf(const std::string& text) {
  Result<std::vector<CalibrationPoint>> points = parsePoints(text, "p.csv");
  return points.ok() ? "" : points.error().text();
}

TEST(CalibrationPoints, ErrorsNameTheLine) {
  EXPECT_NE(errorOf(std::string(kHeader) + "a,b\n").find("p.csv:2: 2 fields, the header has 11"),
            std::string::npos);
  EXPECT_NE(errorOf(std::string(kHeader) + "k,v6e,c,k,device,s,-1,,p,,\n").find("measured_us -1"),
            std::string::npos);
  EXPECT_NE(errorOf(std::string(kHeader) + "k,v6e,c,k,wall,s,1,,p,,\n").find("timing wall"),
            std::string::npos);
  EXPECT_NE(errorOf("key,chip\n").find("no column \"class\""), std::string::npos);
}

TEST(CalibrationParameters, StartAtTheChipsFile) {
  Result<sim::ChipModel> base = sim::chipModel("v6e");
  ASSERT_TRUE(base.ok());
  const sim::ChipModel same = withParameters(*base, {1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(same.hbm_efficiency, base->hbm_efficiency);
  EXPECT_DOUBLE_EQ(same.read_latency_cycles, base->read_latency_cycles);
  const sim::ChipModel other = withParameters(*base, {0.5, 0.9, 2, 0.5});
  EXPECT_DOUBLE_EQ(other.hbm_efficiency, 0.5 * base->hbm_efficiency);
  EXPECT_DOUBLE_EQ(other.hbm_run_overhead_bytes, 2 * base->hbm_run_overhead_bytes);
  EXPECT_DOUBLE_EQ(other.small_latency_cycles, std::round(0.5 * base->small_latency_cycles));
  EXPECT_DOUBLE_EQ(other.extra.at("hbm_mixed_efficiency"), 0.9 * base->extra.at("hbm_mixed_efficiency"));
  EXPECT_LE(withParameters(*base, {2, 1, 1, 1}).hbm_efficiency, 1);
  EXPECT_LE(withParameters(*base, {1, 2, 1, 1}).extra.at("hbm_mixed_efficiency"), 1);
}

TEST(Calibrate, AParameterThatIsNotThereCannotBeFixed) {
  Result<Calibration> found = calibrate({}, {.chip = "v6e", .fixed = {"hbm_eficiency"}});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().text().find("--fix hbm_eficiency: no such parameter"), std::string::npos);
  EXPECT_NE(found.error().hint().find("hbm_efficiency"), std::string::npos);
}

TEST(Calibrate, AChipWithoutPointsIsAnError) {
  Result<Calibration> found = calibrate({}, {.chip = "v6e"});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().text().find("the file has none of this chip"), std::string::npos);
}

Calibration madeUp() {
  Calibration c{.chip = "v6e", .date = "2026-11-30", .data = "points.csv", .model_hash = "0123456789abcdef"};
  c.points = {{.key = "a", .kind = "GEMM", .measured_us = 10}, {.key = "b", .kind = "", .measured_us = 5}};
  c.left_out = {{"c", "a trap"}};
  c.fit.parameters = {{.name = "hbm_efficiency",
                       .value = 0.9,
                       .standard_error = 0.01,
                       .points = 9,
                       .kernels = 3,
                       .fitted = true},
                      {.name = "hbm_mixed_efficiency",
                       .value = 0.9,
                       .standard_error = 0.02,
                       .points = 7,
                       .kernels = 2,
                       .fitted = true},
                      {.name = "hbm_run_overhead_bytes", .value = 1, .points = 1, .kernels = 1},
                      {.name = "dma_latency",
                       .value = 1.1,
                       .standard_error = 0.1,
                       .points = 9,
                       .kernels = 3,
                       .fitted = true}};
  c.fit.predicted = {11, 5};
  c.fit.error = {0.1, 0};
  c.fit.held_out_error = {0.12, 0};
  c.fit.residuals = {{.group = "GEMM",
                      .points = 6,
                      .start_median = 0.2,
                      .median = 0.04,
                      .p90 = 0.1,
                      .worst = 0.12,
                      .held_out_median = 0.05,
                      .paired = {.pairs = 15, .p90 = 0.07},
                      .paired_between_kernels = {.pairs = 4, .p90 = 0.3}}};
  c.fitted = {.chip = "v6e",
              .hbm_efficiency = 0.81,
              .hbm_run_overhead_bytes = 64,
              .read_latency_cycles = 600,
              .write_latency_cycles = 500,
              .small_latency_cycles = 800,
              .extra = {{"hbm_mixed_efficiency", 0.855}}};
  return c;
}

TEST(CalibrationView, TextSaysWhatWasFittedKeptAndLeftOut) {
  const std::string text = toText(madeUp());
  EXPECT_NE(text.find("kept: too few points"), std::string::npos) << text;
  EXPECT_NE(text.find("c: a trap"), std::string::npos);
  EXPECT_EQ(text.find("  b "), std::string::npos);  // a point without a class is no error
}

TEST(CalibrationView, TheFitIsWhatTheModelsFileAndTheErrorBarsRead) {
  const std::string json = fitJson(madeUp());
  std::string file(sim::chipModelText("v6e"));
  file = file.substr(0, file.find("\"fitted\"")) + "\"fitted\": " + json + "}";
  Result<sim::ChipModel> model = sim::readChipModel(file, "v6e.json");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_DOUBLE_EQ(model->hbm_efficiency, 0.81);
  EXPECT_DOUBLE_EQ(model->read_latency_cycles, 600);
  EXPECT_DOUBLE_EQ(model->extra.at("hbm_mixed_efficiency"), 0.855);
  const ClassErrors errors = readClassErrors(file);
  ASSERT_TRUE(errors.contains("GEMM"));
  EXPECT_EQ(errors.at("GEMM").points, 6);
  EXPECT_DOUBLE_EQ(errors.at("GEMM").p90, 0.1);
  EXPECT_DOUBLE_EQ(errors.at("GEMM").paired_p90, 0.07);
  EXPECT_EQ(errors.at("GEMM").paired_between_p90, 0) << "four pairs say nothing of others";
  // What was not fitted stays with its source.
  EXPECT_EQ(json.find("hbm_run_overhead_bytes"), std::string::npos);
}

TEST(CalibrationView, JsonTellsTheSameWithEveryPoint) {
  const auto document = nlohmann::json::parse(toJson({madeUp(), madeUp()}));
  EXPECT_EQ(document["schema"], "sublane.calibrate/1");
  ASSERT_EQ(document["chips"].size(), 2u);
  const auto& chip = document["chips"][0];
  EXPECT_EQ(chip["fit"], nlohmann::json::parse(fitJson(madeUp())));
  EXPECT_EQ(chip["points"].size(), madeUp().points.size());
  EXPECT_EQ(chip["points"][0]["measured"]["origin"], "measured");
  EXPECT_EQ(chip["left_out"][0]["why"], "a trap");
}

}  // namespace
}  // namespace sublane::report
