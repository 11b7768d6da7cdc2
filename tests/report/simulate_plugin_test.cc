// Simulation of what libtpu really compiles: the rows, the ladder, inputs, events.
#include "report/simulate.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "artifact/compile_cache.h"
#include "base/paths.h"
#include "modules.h"

namespace sublane::report {
namespace {

std::string file(const std::string& name) { return SUBLANE_SOURCE_DIR "/tests/report/stablehlo/" + name; }

class Simulate : public testing::Test {
 protected:
  void SetUp() override {
    setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0);
    Result<TemporaryDirectory> folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_->path() + "/" + name) << text;
    return folder_->path() + "/" + name;
  }
  std::optional<TemporaryDirectory> folder_;
};

Simulation simulated(const std::string& path, const CompileRequest& common,
                     const SimulateOptions& options = {}) {
  Result<Simulation> simulation = simulateFile(path, common, options);
  EXPECT_TRUE(simulation.ok()) << (simulation.ok() ? "" : simulation.error().text());
  if (simulation.ok()) return std::move(*simulation);
  Simulation none;
  none.chip = &v6e();
  none.steps.resize(1);
  return none;
}

/// What holds of every step that was executed.
void expectSound(const SimulatedStep& step) {
  ASSERT_EQ(step.rung, Rung::kBundles) << step.reason;
  EXPECT_GT(step.us, 0);
  EXPECT_GT(step.bundles, 0);
  EXPECT_GT(step.hbm_read_bytes, 0);
  double us = step.launch_us;
  int64_t cycles = 0;
  events::CauseCycles causes{};
  for (const SimulatedRow& row : step.rows) {
    us += row.row.us;
    cycles += row.row.cycles;
    EXPECT_EQ(events::total(row.causes), row.row.cycles) << row.row.op;
    for (size_t i = 0; i < causes.size(); ++i) causes[i] += row.causes[i];
  }
  EXPECT_NEAR(us, step.us, 1e-6 * step.us);
  EXPECT_EQ(cycles, step.cycles);
  EXPECT_EQ(causes, step.causes);
}

class SimulateEachChip : public Simulate, public testing::WithParamInterface<const char*> {};

TEST_P(SimulateEachChip, ALoopIsExecutedTwentyFourTimes) {
  const Simulation simulation = simulated(file("scan_24.mlir"), {.chip = GetParam()});
  expectSound(simulation.steps[0]);
  int64_t most = 0;
  for (const SimulatedRow& row : simulation.steps[0].rows) most = std::max(most, row.row.count);
  EXPECT_EQ(most, 24);
  EXPECT_GE(simulation.steps[0].hbm_read_bytes, 24 * 512 * 512 * 2) << "each weight is read";
  EXPECT_EQ(simulation.model_hash.size(), 64u);
}

INSTANTIATE_TEST_SUITE_P(, SimulateEachChip, testing::Values("v5e", "v6e", "tpu7x"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Simulate, PlacesOfTheModelComeAlong) {
  const Simulation simulation = simulated(file("mlp_softmax.mlir"), {.chip = "v6e"});
  expectSound(simulation.steps[0]);
  double placed = 0;
  for (const SimulatedRow& row : simulation.steps[0].rows)
    placed += row.row.place.part.empty() ? 0 : row.row.us;
  EXPECT_GT(placed, 0.9 * simulation.steps[0].us);
}

TEST_F(Simulate, TheSameInputGivesTheSameBytes) {
  const std::string first = toJson(simulated(file("mlp_softmax.mlir"), {.chip = "v6e"}));
  EXPECT_TRUE(first == toJson(simulated(file("mlp_softmax.mlir"), {.chip = "v6e"})));
}

// ---- the steps of a model

TEST_F(Simulate, BothStepsOfAModelAreExecutedWithTheirPageTables) {
  for (const bool in_loop : {false, true}) {
    SCOPED_TRACE(in_loop ? "layers in a loop" : "layers unrolled");
    const Result<Simulation> simulation = simulateModel({.model = "smollm2-135m",
                                                         .batch = 2,
                                                         .context = 64,
                                                         .prefill_tokens = 32,
                                                         .layers_in_loop = in_loop,
                                                         .common = {.chip = "v6e"}},
                                                        {});
    ASSERT_TRUE(simulation.ok()) << simulation.error().text();
    ASSERT_EQ(simulation->steps.size(), 2u);
    for (const SimulatedStep& step : simulation->steps) {
      SCOPED_TRACE(step.name);
      expectSound(step);
      bool in_attention = false;
      for (const SimulatedRow& row : step.rows) in_attention |= row.row.place.part.starts_with("attention");
      EXPECT_TRUE(in_attention);
    }
  }
}

TEST_F(Simulate, AModelsStepCanBePickedAndTakesNoFile) {
  const ModelRequest request{.model = "smollm2-135m", .common = {.chip = "v6e"}};
  EXPECT_EQ(simulateModel(request, {.step = "middle"}).error().text(),
            "--step middle: the model has no such step\n  hint: one of decode, prefill");
  EXPECT_FALSE(simulateModel(request, {.inputs = "x.npz"}).ok());
  EXPECT_FALSE(simulateModel(request, {.values = true}).ok());
}

// ---- the ladder, with a compiler that gives less and less

using pjrt::AheadOfTimeRequest;
using pjrt::AheadOfTimeResult;

TEST_F(Simulate, WithoutOneOfTheDumpsItFallsToTheEstimates) {
  for (const char* label : {"packed-bundles-post-ra", "post-delay-converter", ""}) {
    SCOPED_TRACE(label);
    const auto compile = [label](const AheadOfTimeRequest& request) -> Result<AheadOfTimeResult> {
      SUBLANE_TRY(AheadOfTimeResult result, artifact::compileCached(request));
      std::erase_if(result.dump,
                    [&](const pjrt::DumpFile& dump) { return *label == '\0' || dump.label == label; });
      return result;
    };
    const Simulation simulation = simulated(file("scan_24.mlir"), {.chip = "v6e", .compile = compile});
    const SimulatedStep& step = simulation.steps[0];
    EXPECT_EQ(step.rung, Rung::kCompiler);
    EXPECT_FALSE(step.reason.empty());
    EXPECT_GT(step.us, 0);
    EXPECT_EQ(step.us, step.compiler_us);
    EXPECT_NE(toText(simulation, {}).find("NOT executed"), std::string::npos);
    const auto json = nlohmann::json::parse(toJson(simulation));
    EXPECT_EQ(json["steps"][0]["rung"], "compiler");
    EXPECT_EQ(json["steps"][0]["reason"], step.reason);
  }
}

TEST_F(Simulate, AListingThatIsNotUnderstoodIsNamed) {
  const auto compile = [](const AheadOfTimeRequest& request) -> Result<AheadOfTimeResult> {
    SUBLANE_TRY(AheadOfTimeResult result, artifact::compileCached(request));
    for (pjrt::DumpFile& dump : result.dump)
      if (dump.label == "packed-bundles-post-ra") dump.text += "\nno such line\n";
    return result;
  };
  const SimulatedStep step = simulated(file("scan_24.mlir"), {.chip = "v6e", .compile = compile}).steps[0];
  EXPECT_EQ(step.rung, Rung::kCompiler);
  EXPECT_NE(step.reason.find("no such line"), std::string::npos) << step.reason;
}

TEST_F(Simulate, ACompilerThatDiesOfTheDumpFlagsIsAskedWithoutThem) {
  int asked = 0;
  const auto compile = [&](const AheadOfTimeRequest& request) -> Result<AheadOfTimeResult> {
    ++asked;
    if (request.want_listings) return machineError("the compiler's process exited with code 1; unknown flag");
    return artifact::compileCached(request);
  };
  const Simulation simulation = simulated(file("scan_24.mlir"), {.chip = "v6e", .compile = compile});
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(simulation.steps[0].rung, Rung::kCompiler);
  EXPECT_NE(simulation.steps[0].reason.find("unknown flag"), std::string::npos);
}

TEST_F(Simulate, ARefusalIsAnErrorAtOnce) {
  int asked = 0;
  const auto compile = [&](const AheadOfTimeRequest&) -> Result<AheadOfTimeResult> {
    ++asked;
    return inputError("libtpu: refused");
  };
  const auto simulation = simulateFile(file("scan_24.mlir"), {.chip = "v6e", .compile = compile}, {});
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(asked, 1);
}

TEST_F(Simulate, WhereLibtpuEstimatesNothingARooflineIsLeft) {
  const auto compile = [](const AheadOfTimeRequest&) -> Result<AheadOfTimeResult> {
    HloWriter hlo;
    AheadOfTimeResult result;
    result.optimized_hlo = hlo.module(hlo.computation(
        "main", {parameter(1, "x", f32({1024}), 0), instruction(2, "op", "copy", f32({1024}), {1})}, 2));
    return result;
  };
  const Simulation simulation = simulated(file("scan_24.mlir"), {.chip = "v6e", .compile = compile});
  EXPECT_EQ(simulation.steps[0].rung, Rung::kRoofline);
  EXPECT_GT(simulation.steps[0].us, 0);
}

TEST_F(Simulate, WhatOnlyTheBundlesCanAnswerIsAnErrorWithoutThem) {
  const auto compile = [](const AheadOfTimeRequest& request) -> Result<AheadOfTimeResult> {
    SUBLANE_TRY(AheadOfTimeResult result, artifact::compileCached(request));
    result.dump.clear();
    return result;
  };
  SimulateOptions without;
  without.without = {sim::Without::kDma};
  SimulateOptions compiler;
  compiler.dma = sim::DmaTiming::kCompiler;
  SimulateOptions events;
  events.events = folder_->path() + "/events";
  for (const SimulateOptions& options : {without, compiler, events}) {
    EXPECT_FALSE(simulateFile(file("scan_24.mlir"), {.chip = "v6e", .compile = compile}, options).ok());
  }
  EXPECT_FALSE(std::ifstream(folder_->path() + "/events").good());
}

// ---- counterfactuals, events, inputs

TEST_F(Simulate, TakingTransfersAwayTakesTime) {
  const SimulatedStep whole = simulated(file("scan_24.mlir"), {.chip = "v6e"}).steps[0];
  SimulateOptions options;
  options.without = {sim::Without::kDma};
  options.without_names = {"dma"};
  const SimulatedStep less = simulated(file("scan_24.mlir"), {.chip = "v6e"}, options).steps[0];
  expectSound(less);
  EXPECT_LT(less.cycles, whole.cycles);
  EXPECT_FALSE(less.error) << "an error bar is of the program as it is";
}

TEST_F(Simulate, EventsCoverEveryCycle) {
  SimulateOptions options;
  options.events = folder_->path() + "/events.jsonl";
  const SimulatedStep step = simulated(file("scan_24.mlir"), {.chip = "v6e"}, options).steps[0];
  std::ifstream lines(options.events);
  int64_t count = 0, clock = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto event = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    ASSERT_FALSE(event.is_discarded()) << line;
    if (event["what"] != "cycles") continue;
    ASSERT_EQ(event["cycle"].get<int64_t>(), clock) << "without a gap: " << line;
    clock += event["duration"].get<int64_t>();
  }
  EXPECT_GT(count, 10);
  EXPECT_EQ(clock, step.cycles);
}

constexpr const char* kCounted = R"(module @counted {
  func.func public @main(%n: tensor<1xi32>, %x: tensor<8x128xf32>) -> tensor<8x128xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %limit = stablehlo.reshape %n : (tensor<1xi32>) -> tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<8x128xf32>
    cond {
      %more = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %b = stablehlo.tanh %a : tensor<8x128xf32>
      stablehlo.return %next, %b : tensor<i32>, tensor<8x128xf32>
    }
    return %0#1 : tensor<8x128xf32>
  }
})";

TEST_F(Simulate, SkippingLoopsAndTellingEveryEventGiveTheSame) {
  for (const char* name : {"scan_24.mlir", "mlp_softmax.mlir", "gather_top_k_sort.mlir"}) {
    // With events every iteration is executed.
    const Simulation fast = simulated(file(name), {.chip = "v6e"});
    const Simulation slow = simulated(file(name), {.chip = "v6e"}, {.events = folder_->path() + "/events"});
    EXPECT_EQ(toJson(fast), toJson(slow)) << name;
  }
}

TEST_F(Simulate, InputsDecideHowOftenALoopRuns) {
  const std::string program = write("counted.mlir", kCounted);
  int64_t before = 0;
  for (const int32_t trips : {1, 7, 300}) {
    std::vector<io::NpyArray> arrays(1);
    arrays[0] = {"arg0", "<i4", 4, {1}, std::vector<std::byte>(4)};
    std::memcpy(arrays[0].bytes.data(), &trips, 4);
    SimulateOptions options;
    options.inputs = folder_->path() + "/inputs.npz";
    ASSERT_TRUE(io::writeNpz(options.inputs, arrays).ok());
    const SimulatedStep step = simulated(program, {.chip = "v6e"}, options).steps[0];
    expectSound(step);
    int64_t most = 0;
    for (const SimulatedRow& row : step.rows) most = std::max(most, row.row.count);
    EXPECT_EQ(most, trips);
    EXPECT_GT(step.cycles, before);
    before = step.cycles;
  }
}

TEST_F(Simulate, WithoutInputsItSaysWhichAreMissing) {
  const SimulatedStep step = simulated(write("counted.mlir", kCounted), {.chip = "v6e"}).steps[0];
  EXPECT_EQ(step.rung, Rung::kCompiler);
  EXPECT_NE(step.hint.find("s32[1]"), std::string::npos) << step.hint;
  EXPECT_NE(step.hint.find("--inputs"), std::string::npos) << step.hint;
}

}  // namespace
}  // namespace sublane::report
