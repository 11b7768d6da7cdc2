#include "report/simulate.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/paths.h"
#include "modules.h"
#include "report/class_error.h"
#include "report/event_lines.h"
#include "report/program_inputs.h"
#include "report/simulated_rows.h"

namespace sublane::report {
namespace {

using events::Cause;

events::CauseCycles causes(std::initializer_list<std::pair<Cause, int64_t>> cycles) {
  events::CauseCycles all{};
  for (const auto& [cause, count] : cycles) all[static_cast<size_t>(cause)] = count;
  return all;
}

// ---- joining a run to the schedule

/// x -> copy-start, copy-done, "mul" in layer 3.
llo::HloModule smallModule() {
  HloWriter hlo;
  const std::string in = bf16({1024, 1024}, kTiled), out = bf16({1024, 1024}, kTiledVmem);
  const auto entry = hlo.computation(
      "main",
      {parameter(1, "x", in, 0), instruction(2, "copy-start", "copy-start", tuple({out, in, s32({})}), {1}),
       instruction(3, "copy-done", "copy-done", out, {2}),
       instruction(4, "mul", "multiply", out, {3, 3}, opName("layer.3/mlp.up/mul") + estimate(1000))},
      4);
  return read(hlo.module(entry));
}

struct Joined {
  llo::Program program;
  SimulatedStep step;
};
Joined joined(const sim::Run& run) {
  Joined result;
  result.program.module = smallModule();
  result.program.traced = {{"copy-start", 1, 0}, {"copy-done", 2, 0}, {"mul", 3, 0}, {"inner", -1, -1}};
  auto priced = costOf(result.program.module, v6e());
  EXPECT_TRUE(priced.ok());
  priced->name = "small";
  sim::ChipModel model;
  model.clock_hz = 1e9;
  result.step = simulatedStep(run, result.program, *priced, v6e(), model);
  return result;
}

sim::Run smallRun() {
  sim::Run run;
  run.cycles = 4000;
  run.us = 4.5;  // 0.5 of launch at 1 GHz
  run.bundles = 100;
  run.hbm_read_bytes = 2 << 20;
  run.ops = {{.traced = 0, .executions = 1, .cycles = 10, .hbm_read_bytes = 2 << 20},
             {.traced = 1, .executions = 1, .cycles = 990},
             {.traced = 2, .executions = 3, .cycles = 2500},
             {.traced = 3, .executions = 1, .cycles = 100},
             {.traced = -1, .executions = 0, .cycles = 400}};
  run.ops[2].causes = causes({{Cause::kIssueVectorAlu, 2000}, {Cause::kDma, 500}});
  run.causes = run.ops[2].causes;
  return run;
}

TEST(SimulatedStep, RowsTakeTheirTimeFromTheRunAndTheirPlaceFromTheSchedule) {
  const SimulatedStep step = joined(smallRun()).step;
  ASSERT_EQ(step.rows.size(), 5u);
  const Row& mul = step.rows[2].row;
  EXPECT_EQ(mul.op, "mul");
  EXPECT_EQ(mul.place.layer, 3);
  EXPECT_EQ(mul.place.part, "mlp.up");
  EXPECT_EQ(mul.kind, "elementwise");
  EXPECT_EQ(mul.count, 3);
  EXPECT_EQ(mul.cycles, 2500);
  EXPECT_DOUBLE_EQ(mul.us, 2.5);
  EXPECT_EQ(mul.origin, Origin::kSimulated);
  EXPECT_EQ(*mul.flops, 3 * 1024 * 1024) << "of one execution, three times";
  EXPECT_EQ(step.rows[2].causes[static_cast<size_t>(Cause::kDma)], 500);
  EXPECT_EQ(step.rows[0].row.hbm_bytes, 2 << 20);
  EXPECT_EQ(step.rows[1].row.kind, "wait") << "explain prices a copy at its start";
  EXPECT_EQ(step.rows[1].row.place.part, "mlp.up");
  EXPECT_EQ(step.rows[3].row.op, "inner") << "an operation that the schedule does not know";
  EXPECT_EQ(step.rows[4].row.op, "(outside of operations)");
}

TEST(SimulatedStep, RowsAndLaunchAddUpToTheTotal) {
  const SimulatedStep step = joined(smallRun()).step;
  EXPECT_NEAR(step.launch_us, 0.5, 1e-9);
  double us = step.launch_us, share = 0;
  int64_t cycles = 0;
  for (const SimulatedRow& row : step.rows) {
    us += row.row.us;
    cycles += row.row.cycles;
    share += row.row.share;
  }
  EXPECT_NEAR(us, step.us, 1e-9);
  EXPECT_EQ(cycles, step.cycles);
  EXPECT_NEAR(share, 1, 1e-12);
}

TEST(SimulatedStep, LowerRungsSayWhichTheyAre) {
  Step priced = stepOf([] {
    HloWriter hlo;
    return hlo.module(hlo.computation(
        "main", {parameter(1, "x", f32({8}), 0), instruction(2, "op", "copy", f32({8}), {1}, estimate(10))},
        2));
  }());
  EXPECT_EQ(estimatedStep(priced, "because", "do").rung, Rung::kCompiler);
  EXPECT_EQ(estimatedStep(priced, "because", "do").reason, "because");
  EXPECT_EQ(estimatedStep(priced, "", "").us, priced.total.us);
  priced.total.compiler_us = 0;
  EXPECT_EQ(estimatedStep(priced, "", "").rung, Rung::kRoofline);
  EXPECT_EQ(estimatedStep(priced, "", "").origin(), Origin::kDatasheet);
}

// ---- errors of classes

constexpr const char* kModel = R"({"fitted": {"residuals": [
    {"class": "GEMM", "points": 63, "median": 0.03, "p90": 0.12, "held_out_median": 0.05},
    {"class": "flash attention", "points": 10, "median": 0.02, "p90": 0.01, "held_out_median": 0.2},
    {"class": "KV update", "points": 4, "median": 0.02, "p90": 0.1},
    {"points": 9}, 7]}})";

TEST(ClassErrors, AreReadFromTheFit) {
  const ClassErrors errors = readClassErrors(kModel);
  ASSERT_EQ(errors.size(), 2u) << "four points say nothing of others";
  EXPECT_EQ(errors.at("GEMM").points, 63);
  EXPECT_DOUBLE_EQ(errors.at("GEMM").p90, 0.12);
  EXPECT_DOUBLE_EQ(errors.at("flash attention").p90, 0.2) << "never better than held-out points";
  for (const char* text : {"", "{}", "not json", R"({"fitted": {}})", R"({"fitted": {"residuals": 3}})"})
    EXPECT_TRUE(readClassErrors(text).empty()) << text;
}

TEST(ClassErrors, HostTimesStandInForDeviceTimes) {
  const std::string begin =
      R"json({"fitted": {"residuals": [{"class": "GEMM (host-timed)", "points": 10, "p90": 0.04})json";
  EXPECT_DOUBLE_EQ(readClassErrors(begin + "]}}").at("GEMM").p90, 0.04);
  const ClassErrors both =
      readClassErrors(begin + R"json(, {"class": "GEMM", "points": 6, "p90": 0.3}]}})json");
  EXPECT_DOUBLE_EQ(both.at("GEMM").p90, 0.3);
}

Row rowOf(const std::string& kind, const std::string& kernel, double us, int64_t hbm_bytes = 0) {
  Row row;
  row.kind = kind;
  row.kernel = kernel;
  row.us = us;
  row.hbm_bytes = hbm_bytes;
  return row;
}

TEST(ClassOf, KernelsByTheirNamesOthersByWhatTheyDo) {
  EXPECT_EQ(classOf(rowOf("kernel", "flash_attention", 1)), "flash attention");
  EXPECT_EQ(classOf(rowOf("kernel", "RPA-bq_32", 1)), "ragged paged attention");
  EXPECT_EQ(classOf(rowOf("kernel", "pallas_mosaic_tpu_ragged_dot", 1)), "grouped matmul");
  EXPECT_EQ(classOf(rowOf("kernel", "my_own", 1)), "");
  EXPECT_EQ(classOf(rowOf("matmul", "", 1)), "GEMM");
  EXPECT_EQ(classOf(rowOf("copy", "", 1, 100)), "HBM copy and elementwise");
  EXPECT_EQ(classOf(rowOf("elementwise", "", 1, 0)), "") << "it moves nothing";
  EXPECT_EQ(classOf(rowOf("sort", "", 1, 100)), "");
}

SimulatedStep stepWith(const std::vector<Row>& rows) {
  SimulatedStep step;
  for (const Row& row : rows) step.rows.push_back({.row = row});
  return step;
}

TEST(SetError, TakesTheClassOfMostOfTheTime) {
  SimulatedStep step = stepWith({rowOf("matmul", "", 90), rowOf("sort", "", 10)});
  setError(step, readClassErrors(kModel));
  ASSERT_TRUE(step.error);
  EXPECT_EQ(step.error->name, "GEMM");
  EXPECT_EQ(step.error->points, 63);
  EXPECT_DOUBLE_EQ(step.error->relative, 0.12);
  EXPECT_DOUBLE_EQ(step.error->covered, 0.9);
  EXPECT_DOUBLE_EQ(*step.rows[0].row.error, 0.12);
  EXPECT_FALSE(step.rows[1].row.error);
}

TEST(SetError, WeighsClassesByTheirTime) {
  SimulatedStep step = stepWith({rowOf("matmul", "", 50), rowOf("kernel", "flash_attention", 50)});
  setError(step, readClassErrors(kModel));
  ASSERT_TRUE(step.error);
  EXPECT_EQ(step.error->name, "2 classes");
  EXPECT_EQ(step.error->points, 73);
  EXPECT_DOUBLE_EQ(step.error->relative, 0.16);
}

TEST(SetError, SaysNothingOfWhatHasNoPoints) {
  SimulatedStep step = stepWith({rowOf("matmul", "", 40), rowOf("kernel", "kv_cache_update", 60)});
  setError(step, readClassErrors(kModel));
  EXPECT_FALSE(step.error);
  EXPECT_EQ(step.unknown_class, "KV update");
}

TEST(NameKernels, ByTheLineThatARowComesFrom) {
  const std::string two =
      "module\n custom_call {kernel_name = \"gmm\"}\n custom_call {kernel_name = \"flash_attention\"}";
  Row first = rowOf("kernel", "tpu_custom_call", 1), second = first, nowhere = first;
  first.source = "p.mlir:2", second.source = "p.mlir:3", nowhere.source = "model.py:2";
  SimulatedStep step = stepWith({first, second, nowhere, rowOf("sort", "", 1)});
  nameKernels(step, "p.mlir", two);
  EXPECT_EQ(step.rows[0].row.kernel, "gmm");
  EXPECT_EQ(step.rows[1].row.kernel, "flash_attention");
  EXPECT_EQ(step.rows[2].row.kernel, "tpu_custom_call") << "either could be meant";
  EXPECT_EQ(step.rows[3].row.kernel, "");
  nameKernels(step, "p.mlir", "{kernel_name = \"only\"}");
  EXPECT_EQ(step.rows[2].row.kernel, "only");
}

TEST(SetError, NamesTheKernelThatIsOfNoClass) {
  Row kernel = rowOf("kernel", "my_own", 60);
  SimulatedStep step = stepWith({rowOf("matmul", "", 30), kernel});
  setError(step, readClassErrors(kModel));
  EXPECT_FALSE(step.error);
  EXPECT_EQ(step.unknown_class, "kernel my_own");
}

// ---- inputs

llo::HloModule twoArguments() {
  HloWriter hlo;
  const auto entry = hlo.computation("main",
                                     {parameter(1, "n.1", s32({2}), 0), parameter(2, "Arg_1.2", bf16({3}), 1),
                                      instruction(3, "op", "copy", s32({2}), {1})},
                                     3);
  return read(hlo.module(entry));
}

io::NpyArray array(const std::string& name, const std::string& dtype, std::vector<int64_t> shape,
                   size_t bytes) {
  return {name, dtype, 0, std::move(shape), std::vector<std::byte>(bytes, std::byte{1})};
}

TEST(ProgramInputs, AreFoundByNumberAndByName) {
  for (const char* name : {"0", "arg0", "arr_0", "n", "n.1"}) {
    const auto inputs = inputsOf({array(name, "<i4", {2}, 8)}, twoArguments(), "f.npz");
    ASSERT_TRUE(inputs.ok()) << inputs.error().text();
    ASSERT_EQ(inputs->arguments.size(), 1u) << name;
    EXPECT_GE(inputs->arguments.at(0).size(), 8u);
  }
  EXPECT_TRUE(inputsOf({array("arg1", "|V2", {3}, 6)}, twoArguments(), "f.npz").ok()) << "bfloat16";
}

TEST(ProgramInputs, WhatDoesNotFitIsSaidWithBoth) {
  const auto message = [](const std::vector<io::NpyArray>& arrays) {
    return inputsOf(arrays, twoArguments(), "f.npz").error().text();
  };
  EXPECT_EQ(message({array("n", "<i4", {3}, 12)}), "f.npz: array \"n\" is s32[3], argument 0 is s32[2]");
  EXPECT_EQ(message({array("n", "<f4", {2}, 8)}), "f.npz: array \"n\" is f32[2], argument 0 is s32[2]");
  EXPECT_EQ(message({array("1", "<f2", {3}, 6)}), "f.npz: array \"1\" is f16[3], argument 1 is bf16[3]");
  EXPECT_EQ(message({array("q", "<i4", {2}, 8)}),
            "f.npz: array \"q\": the program has no such argument\n"
            "  hint: by number (arg0) or by name; its arguments are 0 (n.1: s32[2]), 1 (Arg_1.2: bf16[3])");
  EXPECT_NE(message({array("2", "<i4", {2}, 8)}).find("no such argument"), std::string::npos);
  EXPECT_EQ(message({array("n", "<i4", {2}, 8), array("arg0", "<i4", {2}, 8)}),
            "f.npz: array \"arg0\": argument 0 is given twice");
}

TEST(ProgramInputs, MissingOnesAreListed) {
  EXPECT_EQ(missingIntegers(twoArguments(), {}), "an argument is not given: 0 (n.1: s32[2])");
  EXPECT_EQ(missingArguments(twoArguments(), {}),
            "arguments are not given: 0 (n.1: s32[2]), 1 (Arg_1.2: bf16[3])");
  sim::Inputs both;
  both.arguments[0] = both.arguments[1] = {};
  EXPECT_EQ(missingArguments(twoArguments(), both), "");
}

TEST(ProgramInputs, ValuesOfAStepGoByNumber) {
  const auto inputs = inputsOf({{0, {5, 7}}}, twoArguments());
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->arguments.at(0)[4], std::byte{7});
  const auto wrong = inputsOf({{0, {5, 7, 9}}}, twoArguments());
  EXPECT_FALSE(wrong.ok());
}

// ---- events

TEST(EventLines, AreJsonOneALine) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/events.jsonl";
  llo::Program program;
  program.traced = {{"fusion \"1\"", 0, 0}};
  program.listings.resize(1);
  program.listings[0].function = "TLP";
  {
    Result<EventLines> lines = EventLines::create(path);
    ASSERT_TRUE(lines.ok());
    const auto sink = lines->sinkFor("decode", program);
    sink({.cycle = 3, .duration = 2, .cause = Cause::kIssueMatrix, .op = 0, .listing = 0, .bundle = 17});
    sink({.cycle = 5,
          .kind = events::Kind::kIssued,
          .cause = Cause::kDma,
          .op = 9,
          .bytes = 512,
          .transfer = 4,
          .from = events::Memory::kHbm,
          .to = events::Memory::kVmem});
    sink({.cycle = 90, .kind = events::Kind::kDone, .transfer = 4, .first_byte = 60, .last_byte = 80});
    EXPECT_FALSE(std::ifstream(path).good()) << "nothing half";
    ASSERT_TRUE(lines->finish().ok());
  }
  std::ifstream file(path);
  std::string text;
  ASSERT_TRUE(std::getline(file, text));
  auto event = nlohmann::json::parse(text);
  EXPECT_EQ(event["step"], "decode");
  EXPECT_EQ(event["what"], "cycles");
  EXPECT_EQ(event["cycle"], 3);
  EXPECT_EQ(event["duration"], 2);
  EXPECT_EQ(event["unit"], "mxu");
  EXPECT_EQ(event["cause"], "issue:mxu");
  EXPECT_EQ(event["op"], "fusion \"1\"");
  EXPECT_EQ(event["kernel"], "TLP");
  EXPECT_EQ(event["bundle"], 17);
  EXPECT_TRUE(event["transfer"].is_null());
  ASSERT_TRUE(std::getline(file, text));
  event = nlohmann::json::parse(text);
  EXPECT_TRUE(event["op"].is_null()) << "an index that the program does not have";
  EXPECT_EQ(event["bytes"], 512);
  EXPECT_EQ(event["transfer"], 4);
  EXPECT_EQ(event["what"], "issued");
  EXPECT_EQ(event["from"], "hbm");
  EXPECT_EQ(event["to"], "vmem");
  EXPECT_EQ(event["link"], false);
  ASSERT_TRUE(std::getline(file, text));
  event = nlohmann::json::parse(text);
  EXPECT_EQ(event["what"], "done");
  EXPECT_EQ(event["first_byte"], 60);
  EXPECT_EQ(event["last_byte"], 80);
  EXPECT_FALSE(std::getline(file, text));
}

TEST(EventLines, AFolderThatIsNotThereIsNamed) {
  EXPECT_NE(EventLines::create("/no/such/folder/e").error().message().find("/no/such/folder/e"),
            std::string::npos);
}

// ---- views

Simulation example() {
  Simulation simulation;
  simulation.chip = &v6e();
  simulation.subject = "a-model";
  simulation.compiler = "libtpu of a test";
  simulation.model_hash = std::string(64, 'a');
  simulation.clock_hz = 1.75e9;
  simulation.assumptions = {"something"};
  simulation.steps = {joined(smallRun()).step};
  SimulatedStep& step = simulation.steps[0];
  step.error = StepError{.relative = 0.12, .name = "attention", .points = 63, .covered = 0.7};
  step.notes = {"a note"};
  step.outputs = {{.number = 0, .shape = "f32[2]", .sha256 = std::string(64, 'b'), .elements = 2}};
  return simulation;
}

std::string textOf(const Simulation& simulation) { return toText(simulation, {}); }
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SimulateText, SaysTimeErrorAndWhatItStandsOn) {
  Simulation simulation = example();
  simulation.steps[0].us = 1399.4;
  EXPECT_TRUE(holds(textOf(simulation), "1399 us ± 12 % (attention, v6e, 63 points)")) << textOf(simulation);
  EXPECT_TRUE(
      holds(textOf(simulation), std::string(sim::kSimulatorVersion) + ", model of v6e aaaaaaaaaaaa,"));
  EXPECT_TRUE(holds(textOf(simulation), "valu 80, dma 20"));
  EXPECT_TRUE(holds(textOf(simulation), "of the 70 % of the time that is in classes with measured points"));
  simulation.steps[0].error.reset();
  simulation.steps[0].unknown_class = "KV update";
  EXPECT_TRUE(
      holds(textOf(simulation), "(simulated; error unknown: no measured points of KV update on v6e)"));
  simulation.mode = sim::Mode::kScoreboard;
  EXPECT_TRUE(holds(textOf(simulation), "1399 us (simulated, stalls by the scoreboard)"));
  EXPECT_TRUE(holds(textOf(simulation), "mode scoreboard: "));
  simulation.without = {"dma"};
  EXPECT_TRUE(holds(textOf(simulation), "1399 us (simulated, counterfactual)"));
}

TEST(SimulateText, ALowerRungNamesItselfAndTheReason) {
  Simulation simulation = example();
  simulation.steps[0].rung = Rung::kCompiler;
  simulation.steps[0].reason = "no listing";
  simulation.steps[0].hint = "try this";
  EXPECT_TRUE(holds(textOf(simulation), "(compiler: libtpu's estimates; NOT executed)"));
  EXPECT_TRUE(holds(textOf(simulation), "the bundles were not executed: no listing\n"));
  EXPECT_TRUE(holds(textOf(simulation), "hint: try this\n"));
  simulation.steps[0].rung = Rung::kRoofline;
  EXPECT_TRUE(holds(textOf(simulation), "(datasheet: a roofline; NOT executed)"));
}

TEST(SimulateText, FitsAHundredColumns) {
  Simulation simulation = example();
  for (SimulatedRow& row : simulation.steps[0].rows) {
    row.row.op += std::string(60, 'x');
    for (int64_t& cycles : row.causes) cycles = 100;
  }
  std::istringstream lines(textOf(simulation));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size() - static_cast<size_t>(std::count(line.begin(), line.end(), '\xc2')), 100u) << line;
}

void expectKeys(const nlohmann::json& object, const nlohmann::json& schema) {
  std::set<std::string> has, required;
  for (const auto& [key, value] : object.items()) has.insert(key);
  for (const auto& key : schema["required"]) required.insert(key.get<std::string>());
  EXPECT_EQ(has, required);
}

TEST(SimulateJson, TheSchemaNamesEveryField) {
  std::ifstream file(SUBLANE_SOURCE_DIR "/docs/schemas/simulate-1.schema.json");
  const auto schema = nlohmann::json::parse(file);
  const auto json = nlohmann::json::parse(toJson(example()));
  expectKeys(json, schema);
  expectKeys(json["steps"][0], schema["$defs"]["step"]);
  expectKeys(json["steps"][0]["error"], schema["$defs"]["step"]["properties"]["error"]["oneOf"][1]);
  expectKeys(json["steps"][0]["outputs"][0], schema["$defs"]["step"]["properties"]["outputs"]["items"]);
  expectKeys(json["ops"][0], schema["$defs"]["op"]);
}

TEST(SimulateJson, TheModeIsThereUnlessItIsPacked) {
  Simulation simulation = example();
  EXPECT_FALSE(nlohmann::json::parse(toJson(simulation)).contains("mode"));
  simulation.mode = sim::Mode::kScoreboard;
  EXPECT_EQ(nlohmann::json::parse(toJson(simulation))["mode"], "scoreboard");
}

TEST(SimulateJson, TotalsAndCausesAddUpAsPrinted) {
  const auto json = nlohmann::json::parse(toJson(example()));
  EXPECT_EQ(json["schema"], "sublane.simulate/1");
  EXPECT_EQ(json["total_us"], 4.5);
  EXPECT_EQ(json["ops"].size(), 5u);
  EXPECT_EQ(json["ops"][2]["causes"], (nlohmann::json{{"issue:valu", 2000}, {"dma", 500}}));
  EXPECT_EQ(json["ops"][2]["layer"], 3);
  EXPECT_EQ(json["ops"][2]["step"], "small");
  EXPECT_EQ(json["steps"][0]["rung"], "bundles");
  EXPECT_EQ(json["steps"][0]["origin"], "simulated");
  EXPECT_EQ(toJson(example()), toJson(example()));
}

}  // namespace
}  // namespace sublane::report
