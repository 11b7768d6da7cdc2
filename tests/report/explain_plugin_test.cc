// What libtpu makes of the StableHLO files that JAX wrote and of SmolLM2, for every chip, by its estimates.
#include "report/simulate.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "modules.h"

namespace sublane::report {
namespace {

std::string file(const std::string& name) { return SUBLANE_SOURCE_DIR "/tests/report/stablehlo/" + name; }

class Explain : public testing::Test {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }
};

const SimulateOptions kEstimates{.estimates = true};

Simulation explained(const std::string& path, const std::string& chip) {
  Result<Simulation> explanation = simulateFile(path, {.chip = chip}, kEstimates);
  EXPECT_TRUE(explanation.ok()) << (explanation.ok() ? "" : explanation.error().text());
  return explanation.ok() ? std::move(*explanation) : Simulation{};
}

struct Sums {
  double us = 0, placed_us = 0;
  int64_t cycles = 0, hbm_bytes = 0, matmul_flops = 0;
};
Sums sumsOf(const SimulatedStep& step) {
  Sums sums;
  for (const SimulatedRow& each : step.rows) {
    const Row& row = each.row;
    sums.us += row.us;
    if (!row.place.part.empty()) sums.placed_us += row.us;
    sums.cycles += row.cycles;
    sums.hbm_bytes += row.hbm_bytes;
    sums.matmul_flops += row.matmul_flops;
  }
  return sums;
}

/// What holds of every step, whatever the program.
void expectSound(const SimulatedStep& step, const chips::Chip& chip) {
  double share = 0;
  ASSERT_FALSE(step.rows.empty());
  EXPECT_NE(step.rung, Rung::kBundles);
  EXPECT_EQ(step.reason, "estimates are asked for");
  for (const SimulatedRow& each : step.rows) {
    const Row& row = each.row;
    share += row.share;
    if (row.origin == Origin::kDatasheet) {
      EXPECT_DOUBLE_EQ(row.us, std::max(row.hbm_us, row.mxu_us)) << row.op;
    } else {
      const bool flagged = std::count(row.flags.begin(), row.flags.end(), Flag::kBelowHbmBound) > 0;
      EXPECT_EQ(flagged, row.us < row.hbm_us) << row.op;
    }
    EXPECT_GE(row.count, 1);
    EXPECT_FALSE(row.kind.empty());
  }
  EXPECT_EQ(step.us, sumsOf(step).us);
  EXPECT_EQ(step.cycles, sumsOf(step).cycles);
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_LE(step.mxu_us, step.us);
  ASSERT_TRUE(step.memory);
  EXPECT_GT(step.memory->arguments, 0);
  EXPECT_GE(step.memory->arguments, step.memory->argument_data);
  EXPECT_LT(step.memory->used(), chip.hbm_usable_bytes);
}

class EachChip : public Explain, public testing::WithParamInterface<const char*> {};

// Public report 56: 24 times 256x512 @ 512x512, as a loop and written out, is 3,221,225,472 operations.
TEST_P(EachChip, ALoopCountsItsOperationsTwentyFourTimes) {
  for (const char* name : {"scan_24.mlir", "unrolled_24.mlir"}) {
    const Simulation explanation = explained(file(name), GetParam());
    ASSERT_EQ(explanation.steps.size(), 1u) << name;
    expectSound(explanation.steps[0], *explanation.chip);
    EXPECT_EQ(sumsOf(explanation.steps[0]).matmul_flops, 3'221'225'472) << name;
    EXPECT_GE(sumsOf(explanation.steps[0]).hbm_bytes, 24 * 512 * 512 * 2) << "each weight is read";
  }
}

TEST_P(EachChip, AnMlpHasItsPlacesBytesAndOperations) {
  const Simulation explanation = explained(file("mlp_softmax.mlir"), GetParam());
  ASSERT_EQ(explanation.steps.size(), 1u);
  const SimulatedStep& step = explanation.steps[0];
  expectSound(step, *explanation.chip);
  EXPECT_EQ(sumsOf(step).matmul_flops, 2LL * 64 * 1024 * 4096 + 2LL * 64 * 4096 * 2048);
  EXPECT_GE(sumsOf(step).placed_us, 0.98 * step.us);
  EXPECT_GE(sumsOf(step).hbm_bytes, (64 * 1024 + 1024 * 4096 + 4096 * 2048) * 2 + 64 * 2048 * 4);
  bool matmul_in_layer = false;
  for (const SimulatedRow& each : step.rows)
    matmul_in_layer |= each.row.kind == "matmul" && each.row.place.layer == 0;
  EXPECT_TRUE(matmul_in_layer);
}

TEST_P(EachChip, ACacheDonatedToALoop) {
  const Simulation explanation = explained(file("scan_cache.mlir"), GetParam());
  ASSERT_EQ(explanation.steps.size(), 1u);
  expectSound(explanation.steps[0], *explanation.chip);
  EXPECT_EQ(explanation.steps[0].memory->state, 8LL * 16 * 4096 * 128 * 2);
  EXPECT_EQ(explanation.steps[0].memory->aliased, explanation.steps[0].memory->state);
}

INSTANTIATE_TEST_SUITE_P(All, EachChip, testing::Values("v4", "v5e", "v5p", "v6e", "tpu7x"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Explain, ShowsTheCopyOfACacheInALoop) {
  const Simulation explanation = explained(file("scan_cache.mlir"), "v6e");
  ASSERT_EQ(explanation.steps.size(), 1u);
  const SimulatedStep& step = explanation.steps[0];
  EXPECT_TRUE(step.memory->holdsWholeState());
  int64_t copies = 0;
  for (const SimulatedRow& row : step.rows)
    copies += std::count(row.row.flags.begin(), row.row.flags.end(), Flag::kWholeState);
  EXPECT_EQ(copies, 2) << "into the loop's layout and back";
}

TEST_F(Explain, TwoFreshCompilesPrintTheSameBytes) {
  const CompileRequest fresh{.chip = "v6e", .compile = pjrt::compileAheadOfTime};
  auto first = simulateFile(file("mlp_softmax.mlir"), fresh, kEstimates),
       second = simulateFile(file("mlp_softmax.mlir"), fresh, kEstimates);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(toText(*first, {}), toText(*second, {}));
  EXPECT_EQ(toJson(*first), toJson(*second));
}

class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    path_ =
        (std::filesystem::temp_directory_path() / ("sublane-explain-" + std::to_string(getpid()) + ".mlir"))
            .string();
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string faultOf(const std::string& path, const std::string& chip) {
  auto explanation = simulateFile(path, {.chip = chip}, kEstimates);
  return explanation.ok() ? "no fault" : explanation.error().text();
}

TEST_F(Explain, SaysWhatIsWrongWithAProgram) {
  const TextFile broken(
      "module @m {\n  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
      "    %0 = stablehlo.add %x, %y : tensor<8xf32>\n    return %0 : tensor<8xf32>\n  }\n}\n");
  const std::string name = std::filesystem::path(broken.path()).filename().string();
  EXPECT_EQ(faultOf(broken.path(), "v6e").find(name + ":3:28: use of undeclared SSA value name\n  hint: "),
            0u);
  const TextFile huge(
      "module @m {\n  func.func public @main(%x: tensor<200000x1000000xbf16>) -> tensor<200000x1000000xbf16> "
      "{\n"
      "    %0 = stablehlo.add %x, %x : tensor<200000x1000000xbf16>\n"
      "    return %0 : tensor<200000x1000000xbf16>\n  }\n}\n");
  EXPECT_EQ(faultOf(huge.path(), "v6e"),
            name +
                " on v6e: does not fit in HBM: the program needs 745.11GiB, a device has 31.24GiB\n"
                "  hint: a smaller program, or another --chip");
  const TextFile empty("");
  EXPECT_NE(faultOf(empty.path(), "v6e").find(": an empty file"), std::string::npos);
  EXPECT_NE(faultOf("/nonexistent/x.mlir", "v6e").find("/nonexistent/x.mlir: cannot open"),
            std::string::npos);
  EXPECT_EQ(faultOf(file("scan_24.mlir"), "v9"),
            "--chip v9: no such chip\n  hint: chips: v4, v5e, v5p, v6e, tpu7x");
}

constexpr const char* kSharded =
    "module @m attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @mesh = <[\"x\"=8]>\n"
    "  func.func public @main(%x: tensor<256x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
    "{\"x\"}]>},\n"
    "      %w: tensor<1024x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}) -> "
    "tensor<256x512xbf16> {\n"
    "    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
    "(tensor<256x1024xbf16>, tensor<1024x512xbf16>) -> tensor<256x512xbf16>\n"
    "    return %0 : tensor<256x512xbf16>\n  }\n}\n";

TEST_F(Explain, AMeshIsForProgramsWithShardings) {
  const TextFile sharded(kSharded);
  auto on = [&](const std::string& mesh) {
    return simulateFile(sharded.path(), {.chip = "v6e", .mesh = mesh}, kEstimates);
  };
  auto explanation = on("2x4");
  ASSERT_TRUE(explanation.ok()) << explanation.error().text();
  int64_t flops = 0, collectives = 0;
  for (const SimulatedRow& row : explanation->steps.at(0).rows) {
    flops += row.row.matmul_flops;
    collectives += row.row.kind == "collective";
  }
  EXPECT_EQ(flops, 2 * 256 * 1024 * 512 / 8) << "one device of eight multiplies an eighth";
  EXPECT_GE(collectives, 1);
  EXPECT_NE(on("").error().text().find("made for 8 devices, --mesh is not given (1 device)"),
            std::string::npos);
  EXPECT_NE(on("1x2").error().text().find("--mesh 1x2: 2 devices of v6e, but "), std::string::npos);
  EXPECT_NE(on("two").error().text().find("--mesh two: not a shape of chips"), std::string::npos);
  EXPECT_NE(on("2x2x2").error().text().find("--mesh 2x2x2: 3 axes, but a slice of v6e has 2"),
            std::string::npos);
  EXPECT_NE(on("32x32").error().text().find("--mesh 32x32: 1024 chips, but a slice of v6e has 256 at most"),
            std::string::npos);
  auto v4 = simulateFile(sharded.path(), {.chip = "v4", .mesh = "2x2"}, kEstimates);
  EXPECT_NE(v4.error().text().find("--mesh 2x2: 2 axes, but a slice of v4 has 3"), std::string::npos);
  auto model = simulateModel({.model = "smollm2-135m", .common = {.chip = "v6e", .mesh = "2x4"}}, kEstimates);
  EXPECT_NE(model.error().text().find("built for one device so far"), std::string::npos);
}

TEST_F(Explain, ShapesMustBeKnown) {
  const TextFile dynamic(
      "module {\n  func.func @main(%a: tensor<?x8xf32>) -> tensor<?x8xf32> {\n    return %a\n  }\n}\n");
  EXPECT_NE(faultOf(dynamic.path(), "v6e").find(":2: tensor<?x... has a size that is not known"),
            std::string::npos);
}

TEST_F(Explain, ADeadCompilerIsAnError) {
  auto explanation = simulateFile(
      file("scan_24.mlir"),
      {.chip = "v6e",
       .compile =
           [](const auto&) { return machineError("compile: the compiler's process killed by signal 6"); }},
      kEstimates);
  ASSERT_FALSE(explanation.ok());
  EXPECT_EQ(explanation.error().fault(), Fault::kMachine);
  EXPECT_NE(explanation.error().message().find("scan_24.mlir on v6e: compile: the compiler's process killed"),
            std::string::npos);
}

TEST_F(Explain, SmolLm2InALoopIsPlaced) {
  auto explanation =
      simulateModel({.model = "smollm2-135m", .layers_in_loop = true, .common = {.chip = "v6e"}}, kEstimates);
  ASSERT_TRUE(explanation.ok()) << explanation.error().text();
  ASSERT_EQ(explanation->steps.size(), 2u);
  EXPECT_EQ(explanation->steps[0].name, "decode");
  EXPECT_EQ(explanation->steps[1].name, "prefill");
  for (const SimulatedStep& step : explanation->steps) {
    expectSound(step, *explanation->chip);
    EXPECT_GE(sumsOf(step).placed_us, 0.98 * step.us);
  }
  // Every weight of a layer and the head take part in each token: 2 operations a weight and sequence, at
  // least.
  EXPECT_GT(sumsOf(explanation->steps[0]).matmul_flops, 2LL * 8 * 134'000'000);
  EXPECT_GT(sumsOf(explanation->steps[0]).hbm_bytes, 2 * 134'000'000);
  EXPECT_TRUE(explanation->steps[1].memory->holdsWholeState()) << "a loop keeps a copy of the cache";
}

TEST_F(Explain, AConfigIsEnough) {
  ModelRequest request{.config = SUBLANE_SOURCE_DIR "/tests/report/configs/llama3_8b.json",
                       .common = {.chip = "v6e"}};
  auto programs = buildPrograms(request);
  ASSERT_TRUE(programs.ok()) << programs.error().text();
  ASSERT_EQ(programs->steps.size(), 2u);
  EXPECT_NE(programs->detail.find("32 layers unrolled"), std::string::npos);
  request.context = 100000;
  auto refused = simulateModel(request, kEstimates);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(),
            "--context 100000: the model was made for 8192 tokens\n  hint: at most --context 8192");
}

}  // namespace
}  // namespace sublane::report
