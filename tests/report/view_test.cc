#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "modules.h"
#include "report/findings.h"
#include "report/report.h"

namespace sublane::report {
namespace {

/// A step of 40 layers with rows of every kind that a view may meet.
Explanation example() {
  Explanation explanation;
  explanation.chip = &v6e();
  explanation.subject = "some-model-with-a-rather-long-name-that-someone-chose";
  explanation.detail = "llama, 40 layers unrolled, bf16 weights and cache, greedy sampling, shapes only";
  explanation.compiler =
      "libtpu 0.0.52 (a very long description of the platform, its build and its change list)";
  explanation.assumptions = {
      "something that the configuration does not say, written out at such length that it wraps"};
  Step step;
  step.name = "decode";
  step.bucket = "8 sequences, a token each, context 1024, 512 pages of 16";
  for (int32_t i = 0; i < 120; ++i) {
    Row row;
    row.id = i;
    row.place = {i % 40, i % 3 == 0   ? "attention.core.of.an.unusually.long.name"
                         : i % 3 == 1 ? "mlp.up"
                                      : ""};
    row.kind = i % 3 == 1 ? "matmul" : "elementwise";
    row.op = "fusion." + std::to_string(i);
    row.cycles = 1234 * (i + 1);
    row.us = static_cast<double>(row.cycles) / 1750;
    row.origin = i % 2 ? Origin::kCompiler : Origin::kDatasheet;
    row.hbm_bytes = 1'000'000 * i;
    row.hbm_us = static_cast<double>(row.hbm_bytes) / 1.64e6;
    row.flops = i == 7 ? std::optional<int64_t>() : 1000 * i;
    row.memory = "HBM+VMEM+SMEM -> HBM+VMEM";
    row.shape = "f32[8,128]";
    if (i % 5 == 0) row.flags = {Flag::kBelowHbmBound, Flag::kWholeState};
    step.rows.push_back(row);
  }
  sumRows(step, v6e());
  HbmUse memory{.code = 33'000'000,
                .arguments = 779'000'000,
                .outputs = 503'000'000,
                .aliased = 503'000'000,
                .temporaries = 700'000'000,
                .argument_data = 458'000'000,
                .state = 503'000'000,
                .largest_state = 7'000'000};
  step.memory = memory;
  step.findings = findingsOf(step, v6e(), true);
  explanation.steps = {step, step};
  explanation.steps[1].name = "prefill";
  return explanation;
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(TextView, FitsAHundredColumns) {
  for (int64_t top : {0, 3, 20}) {
    for (const std::string& line : linesOf(toText(example(), {.top = top}))) {
      EXPECT_LE(line.size(), 100u) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    }
  }
}

TEST(TextView, ShownLinesAndTheRestAreTheTotal) {
  for (int64_t top : {0, 3}) {
    double sum = 0, total = 0;
    bool rows = false;
    for (const std::string& line : linesOf(toText(example(), {.top = top}))) {
      if (line.find("share cycles") != std::string::npos) {
        rows = true;
        sum = 0;
        continue;
      }
      if (!rows) continue;
      if (line.find("total: the sum of 120 operations") != std::string::npos) {
        total = std::stod(line);
        rows = false;
        EXPECT_NEAR(sum, total, 1.0);  // each line is rounded to 0.1
        continue;
      }
      sum += std::stod(line);
    }
    EXPECT_GT(total, 0);
  }
}

TEST(TextView, SaysOriginsMemoryAndFlags) {
  const std::string text = toText(example(), {});
  for (const char* part :
       {"compiler", "datasheet", "clock 1.75 GHz (assumed)", "HBM roofline", "MXU roofline",
        "<  the compiler's estimate is below the row's own HBM bound", "NOTE: temporaries of 700 MB",
        "nothing here was measured", "Look first at", "(none)", "free of the usable 33.5 GB (compiler)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(JsonView, HasTheFieldsOfTheInterface) {
  const auto json = nlohmann::json::parse(toJson(example()));
  EXPECT_EQ(json["schema"], "sublane.explain/1");
  ASSERT_EQ(json["steps"].size(), 2u);
  const auto& step = json["steps"][0];
  ASSERT_EQ(step["rows"].size(), 120u);
  for (const char* key : {"id", "layer", "part", "kind", "op", "kernel", "count", "cycles", "us", "error",
                          "origin", "hbm_bytes", "flops", "bound", "share", "source"}) {
    EXPECT_TRUE(step["rows"][0].contains(key)) << key;
  }
  EXPECT_TRUE(step["rows"][7]["flops"].is_null());
  EXPECT_TRUE(step["rows"][2]["part"].is_null());
  double us = 0;
  int64_t cycles = 0;
  for (const auto& row : step["rows"]) {
    us += row["us"].get<double>();
    cycles += row["cycles"].get<int64_t>();
  }
  EXPECT_EQ(us, step["total"]["us"].get<double>());  // as printed and read back: exactly
  EXPECT_EQ(cycles, step["total"]["cycles"].get<int64_t>());
  EXPECT_TRUE(step["total"]["memory"]["whole_state_temporary"].get<bool>());
  EXPECT_EQ(toJson(example()), toJson(example()));
}

/// Keys of `object` and the names that the schema requires of it: the same, both ways.
void expectKeys(const nlohmann::json& object, const nlohmann::json& schema) {
  std::set<std::string> has, required;
  for (const auto& [key, value] : object.items()) has.insert(key);
  for (const auto& key : schema["required"]) required.insert(key.get<std::string>());
  EXPECT_EQ(has, required);
}

TEST(JsonView, TheSchemaNamesEveryField) {
  std::ifstream file(SUBLANE_SOURCE_DIR "/docs/schemas/explain-1.schema.json");
  const auto schema = nlohmann::json::parse(file);
  const auto json = nlohmann::json::parse(toJson(example()));
  expectKeys(json, schema);
  expectKeys(json["steps"][0], schema["$defs"]["step"]);
  expectKeys(json["steps"][0]["rows"][0], schema["$defs"]["row"]);
  expectKeys(json["steps"][0]["total"], schema["$defs"]["total"]);
  expectKeys(json["steps"][0]["total"]["memory"],
             schema["$defs"]["total"]["properties"]["memory"]["oneOf"][1]);
  std::set<std::string> flags;
  for (const auto& flag : schema["$defs"]["row"]["properties"]["flags"]["items"]["enum"]) flags.insert(flag);
  for (int flag = 0; flag <= static_cast<int>(Flag::kOtherProgram); ++flag) {
    EXPECT_TRUE(flags.count(std::string(name(static_cast<Flag>(flag))))) << flag;
  }
}

TEST(Findings, AreThreeAndCarryNumbersAndAHint) {
  const Explanation explanation = example();
  const auto& findings = explanation.steps[0].findings;
  ASSERT_EQ(findings.size(), 3u);
  for (const Finding& finding : findings) {
    EXPECT_NE(finding.what.find_first_of("0123456789"), std::string::npos) << finding.what;
    EXPECT_FALSE(finding.hint.empty());
  }
  EXPECT_GE(findings[0].us, findings[1].us);
  EXPECT_GE(findings[1].us, findings[2].us);
  EXPECT_NE(findings[0].what.find("copy a whole donated buffer (cache)"), std::string::npos)
      << findings[0].what;
  EXPECT_NE(findings[0].hint.find("--layers unrolled"), std::string::npos);
}

TEST(Findings, AnEmptyStepHasNone) {
  Step step;
  sumRows(step, v6e());
  EXPECT_TRUE(findingsOf(step, v6e(), false).empty());
}

}  // namespace
}  // namespace sublane::report
