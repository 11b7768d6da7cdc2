// Text and JSON of a small step that was made by hand.
#include "views/views.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/paths.h"
#include "report/read_report.h"
#include "report/redact.h"

namespace sublane::views {
namespace {

using events::Cause;
using report::SimulatedRow;
using report::SimulatedStep;

const chips::Chip& v6e() { return **chips::findChip("v6e"); }
constexpr double kClock = 1.75e9;

SimulatedRow row(int32_t id, report::RowPlace place, const char* kind, int64_t cycles) {
  SimulatedRow made;
  made.row.id = id;
  made.row.place = std::move(place);
  made.row.kind = kind;
  made.row.op = std::string(kind) + "." + std::to_string(id);
  made.row.cycles = cycles;
  made.row.us = 1e6 * static_cast<double>(cycles) / kClock;
  made.row.origin = Origin::kSimulated;
  made.row.hbm_bytes = made.hbm_read_bytes = 4096 * (id + 1);
  made.row.hbm_us = 0.5 * made.row.us;
  made.row.shape = "bf16[8,576]";
  made.row.source = "model.py:" + std::to_string(10 + id);
  made.causes[static_cast<size_t>(Cause::kIssueVectorAlu)] = cycles - cycles / 4;
  made.causes[static_cast<size_t>(Cause::kDma)] = cycles / 4;
  made.issued[static_cast<size_t>(report::Unit::kVectorAlu)] = 2 * cycles;
  return made;
}

/// Two layers, a head, and what is outside of operations.
SimulatedStep step() {
  SimulatedStep made{.name = "decode", .bucket = "8 sequences", .launch_us = 2};
  made.rows = {row(0, {0, "attention.core"}, "gather", 4000),
               row(1, {0, "mlp.up"}, "matmul", 1000),
               row(2, {1, "attention.core"}, "gather", 4000),
               row(3, {1, "mlp.up"}, "matmul", 1000),
               row(4, {report::RowPlace::kNone, "head"}, "matmul", 500),
               row(5, {report::RowPlace::kNone, ""}, "start, end", 100)};
  made.us = made.launch_us;
  for (const SimulatedRow& each : made.rows) {
    made.cycles += each.row.cycles;
    made.us += each.row.us;
    made.hbm_read_bytes += each.hbm_read_bytes;
    for (size_t c = 0; c < made.causes.size(); ++c) made.causes[c] += each.causes[c];
  }
  made.transfers = 3;
  made.memory = report::HbmUse{.code = 1000, .arguments = 64000, .outputs = 10, .argument_data = 60000};
  report::Anatomy& anatomy = made.anatomy;
  for (size_t u = 0; u < report::kUnits; ++u)
    anatomy.units.push_back(
        {.unit = name(static_cast<report::Unit>(u)), .issued = 100, .slots = 2, .cycles = made.cycles});
  anatomy.limits = {{.limit = "hbm", .amount = 1 << 20, .per_second = 1.6e12, .us = 1, .share = 0.2},
                    {.limit = "mxu", .amount = 1 << 20, .per_second = 9e14, .us = 1, .share = 0.1}};
  report::KernelUse kernel{
      .name = "fusion.1", .rows = {0, 2}, .cycles = 8000, .vmem_bytes = 4096, .spill_bytes = 512};
  kernel.causes[static_cast<size_t>(Cause::kSpill)] = 8000;
  kernel.loops = {{.parent = -1, .first = 1, .last = 3, .iterations = 10, .cycles = 7000},
                  {.parent = 0, .first = 2, .last = 2, .iterations = 100, .cycles = 5000}};
  kernel.bundles = {
      {.executions = 2, .text = "s1 = sadd.s32 s2, 4"},
      {.executions = 10, .loop = 0},
      {.executions = 100, .waited = 50, .cause = Cause::kIssueMatrix, .loop = 1, .text = "vmatmul@0"},
      {.executions = 10, .loop = 0}};
  anatomy.kernels = {kernel};
  anatomy.transfers = {{.row = 0,
                        .kernel = 0,
                        .bundle = 2,
                        .from = "hbm",
                        .to = "vmem",
                        .count = 3,
                        .bytes = 12288,
                        .pieces = 6,
                        .flight_cycles = 900,
                        .waited_cycles = 300}};
  anatomy.schedule = {"parameter.0", "gather.0", "matmul.1"};
  anatomy.buffers = {{.op = "parameter.0",
                      .shape = "bf16[8,576]",
                      .memory = "hbm",
                      .what = "argument",
                      .bytes = 16384,
                      .data_bytes = 9216,
                      .first = 0,
                      .last = 2},
                     {.op = "gather.0",
                      .shape = "f32[8]",
                      .memory = "vmem",
                      .what = "temporary",
                      .bytes = 4096,
                      .data_bytes = 32,
                      .first = 1,
                      .last = 2}};
  anatomy.timeline = {{.row = 0, .begin = 0, .end = 4000}, {.row = -1, .begin = 4000, .end = 4100}};
  made.module = std::make_shared<const llo::HloModule>(llo::HloModule{.computations = {{}}});
  return made;
}

report::Simulation example() {
  report::Simulation simulation;
  simulation.chip = &v6e();
  simulation.subject = "a-model";
  simulation.compiler = "libtpu of a test";
  simulation.model_hash = std::string(64, 'a');
  simulation.clock_hz = kClock;
  simulation.steps = {step()};
  return simulation;
}

Report reportFor(const report::Simulation& simulation) {
  findings::Finding finding{.rule = "row-by-row",
                            .what = "gathers take 9 us",
                            .cure = "a kernel",
                            .ops = {"gather.0"},
                            .savings = {{.row = 0, .us = 5}},
                            .us = 9,
                            .gain_us = 5};
  return {.simulation = simulation, .findings = {{finding}}};
}

std::string textOf(const ViewOptions& options) {
  const report::Simulation simulation = example();
  Result<std::string> text = toText(reportFor(simulation), options);
  return text.ok() ? *text : text.error().text();
}
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Views, FindingsComeFirst) {
  const std::string text = textOf({});
  EXPECT_LT(text.find("Look first at"), text.find("hbm 20.0 % of 1.60 TB/s")) << text;
  EXPECT_LT(text.find("hbm 20.0 %"), text.find("where its cycles went"));
  EXPECT_TRUE(holds(text, "executed by " + std::string(sim::kSimulatorVersion)));
}

TEST(Views, EachFitsAHundredColumnsAndSaysSomething) {
  for (const View* view : allViews()) {
    for (const int64_t top : {int64_t{0}, int64_t{2}, int64_t{20}}) {
      const std::string text = textOf({.views = {std::string(view->name)}, .top = top});
      EXPECT_GT(text.size(), textOf({.views = {"findings"}, .top = 1}).size() / 2) << view->name;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 100u) << view->name << ": " << line;
        EXPECT_TRUE(line.empty() || line.back() != ' ') << view->name << ": '" << line << "'";
      }
    }
  }
}

TEST(Views, TheTreeAddsUp) {
  const std::string text = textOf({.views = {"tree"}, .top = 0});
  EXPECT_TRUE(holds(text, "     6.06")) << text;  // decode: all rows
  EXPECT_TRUE(holds(text, "layer 1")) << text;
  EXPECT_TRUE(holds(text, "gather.2 (gather)")) << text;
  EXPECT_TRUE(holds(textOf({.views = {"tree"}}), "all layers"));
}

TEST(Views, ShowWhatIsInFocus) {
  EXPECT_TRUE(
      holds(textOf({.focus = "layer.1"}), "focus layer.1: 2 operations, 2.86 us (35.5 % of the step)"));
  EXPECT_TRUE(holds(textOf({.focus = "layer.*.attention"}), "focus layer.*.attention: 2 operations"));
  EXPECT_TRUE(holds(textOf({.focus = "attention"}), "2 operations"));
  EXPECT_TRUE(holds(textOf({.focus = "matmul"}), "3 operations"));
  EXPECT_TRUE(holds(textOf({.focus = "gather.2"}), "1 operations"));
  EXPECT_EQ(textOf({.focus = "layer.7"}),
            "--focus layer.7: none of 6 operations of decode is there\n  hint: there are: layers 0 to 1, "
            "attention.core, head, mlp.up");
  EXPECT_TRUE(holds(textOf({.focus = "atten"}), "none of 6 operations"));
  EXPECT_TRUE(
      holds(textOf({.views = {"nothing"}}), "--view nothing: no such view\n  hint: one of all, bundles"));
}

TEST(Views, TransfersAreHiddenOrWaitedFor) {
  const std::string text = textOf({.views = {"transfers"}});
  EXPECT_TRUE(holds(text, "       300   66.7%        3   12.3 k   2.05 k   4.10 k hbm->vmem")) << text;
}

/// Keys of `object` and the names that the schema requires of it: the same, both ways.
void expectKeys(const nlohmann::json& object, const nlohmann::json& schema) {
  std::set<std::string> has, required;
  for (const auto& [key, value] : object.items()) has.insert(key);
  for (const auto& key : schema["required"]) required.insert(key.get<std::string>());
  EXPECT_EQ(has, required);
}

nlohmann::json jsonOf(const JsonOptions& options) {
  const report::Simulation simulation = example();
  return nlohmann::json::parse(*toJson(reportFor(simulation), options));
}

TEST(ExplainJson, TheSchemaNamesEveryField) {
  const auto schema =
      nlohmann::json::parse(*readFile(SUBLANE_SOURCE_DIR "/docs/schemas/explain-2.schema.json"));
  const auto json = jsonOf({.bundles = true});
  const auto& defs = schema["$defs"];
  expectKeys(json, schema);
  const auto& step = json["steps"][0];
  expectKeys(step, defs["step"]);
  expectKeys(step["ops"][0], defs["op"]);
  expectKeys(step["kernels"][0], defs["kernel"]);
  expectKeys(step["kernels"][0]["loops"][0], defs["loop"]);
  expectKeys(step["transfers"][0], defs["transfer"]);
  expectKeys(step["buffers"][0], defs["buffer"]);
  expectKeys(step["findings"][0], defs["finding"]);
  expectKeys(step["units"][0], defs["unit"]);
  expectKeys(step["limits"][0], defs["limit"]);
  expectKeys(step["memory"], defs["memory"]);
}

TEST(ExplainJson, SumsAreExact) {
  const auto json = jsonOf({});
  const auto& step = json["steps"][0];
  int64_t cycles = 0, causes = 0;
  double us = step["launch_us"];
  for (const auto& op : step["ops"]) {
    cycles += op["cycles"].get<int64_t>();
    us += op["us"].get<double>();
    for (const auto& [cause, count] : op["causes"].items()) causes += count.get<int64_t>();
  }
  EXPECT_EQ(cycles, step["cycles"]);
  EXPECT_EQ(causes, step["cycles"]);
  EXPECT_NEAR(us, step["total_us"], 1e-9);
  EXPECT_EQ(step["ops"][0]["kernel_id"], 0);
  EXPECT_TRUE(step["ops"][5]["kernel_id"].is_null());
}

TEST(ExplainJson, FocusAndBundlesChooseWhatIsWritten) {
  EXPECT_EQ(jsonOf({.focus = "layer.1"})["steps"][0]["ops"].size(), 2u);
  EXPECT_FALSE(jsonOf({})["steps"][0]["kernels"][0].contains("bundles"));
  EXPECT_EQ(jsonOf({.bundles = true})["steps"][0]["kernels"][0]["bundles"][2],
            (nlohmann::json{100, 50, "issue:mxu", 1, "vmatmul@0"}));
}

TEST(ExplainJson, IsReadBackForDiffs) {
  const report::Simulation made = example();
  Result<report::Simulation> read = report::parseReport(*toJson(reportFor(made), {}), "r.json");
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->steps.size(), 1u);
  EXPECT_DOUBLE_EQ(read->steps[0].us, made.steps[0].us);
  EXPECT_EQ(read->steps[0].rows.size(), made.steps[0].rows.size());
  EXPECT_EQ(read->steps[0].causes, made.steps[0].causes);
}

TEST(Redact, NoNameIsLeftInAnyView) {
  report::Simulation made = example();
  SimulatedStep& step = made.steps[0];
  made.subject = step.rows[0].row.op = step.rows[0].row.kernel = step.rows[0].row.place.part = "Zebra";
  step.rows[1].row.source = "/home/Zebra/model.py:3";
  step.anatomy.kernels[0].name = step.anatomy.kernels[0].source = "Zebra";
  step.anatomy.kernels[0].bundles[0].text = "(p0) s1 = sld smem[#Zebra], 2718 ; vmatmul@0 -> Zebra";
  step.anatomy.buffers[0].op = step.anatomy.schedule[1] = "Zebra";
  llo::HloModule module{.name = "Zebra", .computations = {{}}};
  module.computations[0].instructions = {
      {.name = "Zebra", .opcode = "add", .metadata = {"Zebra", "Zebra", 3}}};
  step.module = std::make_shared<const llo::HloModule>(module);
  report::Pseudonyms names;
  report::redact(made, names);
  const Report report{.simulation = made, .findings = {{}}};
  for (const std::string& view :
       {*toText(report, {.views = {"all"}, .top = 0}), *toJson(report, {.bundles = true})}) {
    EXPECT_EQ(view.find("Zebra"), std::string::npos) << view;
    EXPECT_EQ(view.find("2718"), std::string::npos) << view;
  }
  EXPECT_EQ(step.anatomy.kernels[0].bundles[0].text, "sld ; vmatmul@0");
  EXPECT_EQ(step.module->computations[0].instructions[0].name, step.rows[0].row.op)
      << "one name, one pseudonym";
}

}  // namespace
}  // namespace sublane::views
