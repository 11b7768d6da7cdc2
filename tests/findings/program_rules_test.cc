// Rules over compiled programs, on modules written by hand and priced by the compiler's rung: for each rule
// one that has the fault, and one that is nearly the same and has not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "chips/chips.h"
#include "findings/dataflow.h"
#include "findings/findings.h"
#include "report/cost.h"
#include "report/simulated_rows.h"

namespace sublane::findings {
namespace {

using llo::ElementType;
using llo::Instruction;
using llo::Shape;

const chips::Chip& v6e() { return **chips::findChip("v6e"); }

/// An array, row-major unless an order is given; space 1 is the VMEM.
Shape array(ElementType type, std::vector<int64_t> dims, std::vector<int64_t> order = {}, int64_t space = 0) {
  Shape shape{.type = type, .dims = std::move(dims)};
  shape.layout.minor_to_major = std::move(order);
  for (size_t i = shape.dims.size(); shape.layout.minor_to_major.size() < shape.dims.size(); --i)
    shape.layout.minor_to_major.push_back(static_cast<int64_t>(i - 1));
  shape.layout.memory_space = space;
  return shape;
}
Shape bf16(std::vector<int64_t> dims, std::vector<int64_t> order = {}) {
  return array(ElementType::kBF16, std::move(dims), std::move(order));
}
Shape f32(std::vector<int64_t> dims) { return array(ElementType::kF32, std::move(dims)); }
Shape s32() { return array(ElementType::kS32, {}); }
Shape tupleOf(std::vector<Shape> elements) {
  return {.type = ElementType::kTuple, .elements = std::move(elements)};
}

/// A computation that is written line by line.
struct Lines {
  llo::Computation computation;

  int32_t add(std::string name, std::string opcode, Shape shape, std::vector<int32_t> operands = {},
              std::vector<int32_t> called = {}) {
    const auto index = static_cast<int32_t>(computation.instructions.size());
    computation.instructions.push_back({.name = std::move(name),
                                        .opcode = std::move(opcode),
                                        .shape = std::move(shape),
                                        .operands = std::move(operands),
                                        .called = std::move(called)});
    computation.schedule.push_back(index);
    computation.root = index;
    return index;
  }
  int32_t parameter(int64_t number, Shape shape) {
    const int32_t index = add("p" + std::to_string(number), "parameter", std::move(shape));
    computation.instructions.back().parameter_number = number;
    return index;
  }
  int32_t element(Shape shape, int32_t of, int64_t index) {
    const int32_t at = add("gte." + std::to_string(computation.instructions.size()), "get-tuple-element",
                           std::move(shape), {of});
    computation.instructions.back().tuple_index = index;
    return at;
  }
};

struct Module {
  llo::HloModule module;
  int32_t fusion(Lines lines) {
    lines.computation.is_fusion = true;
    return computation(std::move(lines));
  }
  int32_t computation(Lines lines) {
    module.computations.push_back(std::move(lines.computation));
    return module.entry = static_cast<int32_t>(module.computations.size()) - 1;
  }
};

report::SimulatedStep stepOf(const Module& made) {
  Result<report::Step> priced = report::costOf(made.module, v6e());
  EXPECT_TRUE(priced.ok()) << (priced.ok() ? "" : priced.error().text());
  report::SimulatedStep step =
      report::estimatedStep(priced.ok() ? *priced : report::Step{}, "there is no simulator here", "");
  step.module = std::make_shared<const llo::HloModule>(made.module);
  return step;
}

std::vector<Finding> found(const report::SimulatedStep& step) {
  std::vector<Finding> findings = findingsOf({step, v6e(), v6e().clock_hz});
  double gain = 0;
  for (const Finding& finding : findings) gain += finding.gain_us;
  EXPECT_LE(gain, 1.000001 * step.us) << "gains are more than the step";
  return findings;
}

const Finding* findingOf(const std::vector<Finding>& findings, std::string_view rule) {
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [&](const Finding& finding) { return finding.rule == rule; });
  return at == findings.end() ? nullptr : &*at;
}
bool fires(const Module& made, std::string_view rule) {
  return findingOf(found(stepOf(made)), rule) != nullptr;
}

// ---- buffers

/// A cache of 8 MB: a row is written into it, after a copy.
Module cacheUpdate(bool donated) {
  Module made;
  Lines main;
  const int32_t cache = main.parameter(0, bf16({2048, 2048})), row = main.parameter(1, bf16({1, 2048}));
  const int32_t at = main.parameter(2, s32());
  const int32_t copy = main.add("copy.1", "copy", bf16({2048, 2048}), {cache});
  const int32_t update =
      main.add("update.1", "dynamic-update-slice", bf16({2048, 2048}), {copy, row, at, at});
  main.add("result", "tuple", tupleOf({bf16({2048, 2048})}), {update});
  made.computation(std::move(main));
  if (donated) made.module.aliases.push_back({.output_index = {0}, .parameter = 0});
  return made;
}

TEST(ProgramRules, AnArgumentThatIsUpdatedAndNotDonated) {
  const std::vector<Finding> findings = found(stepOf(cacheUpdate(false)));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "missed-donation");
  ASSERT_TRUE(findings[0].edit.has_value());
  EXPECT_EQ(*findings[0].edit, (Edit{.kind = EditKind::kDonate, .argument = 0, .output = 0}));
  EXPECT_EQ(findings[0].ops, std::vector<std::string>{"copy.1"});
  EXPECT_EQ(findingOf(findings, "whole-copies"), nullptr) << "its cause is said already";
}

TEST(ProgramRules, ACopyOfACacheThatIsDonated) {
  const std::vector<Finding> findings = found(stepOf(cacheUpdate(true)));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "whole-copies");
  EXPECT_EQ(findings[0].rows(), std::vector<int32_t>{0});
  ASSERT_EQ(findings[0].evidence.size(), 1u);
  EXPECT_NE(findings[0].evidence[0].find("copy.1 copies bf16[2048,2048]{1,0} of argument 0"),
            std::string::npos)
      << findings[0].evidence[0];
}

TEST(ProgramRules, ACopyThatTookNoTimeIsNotReported) {
  report::SimulatedStep step = stepOf(cacheUpdate(true));
  step.rung = report::Rung::kBundles;
  for (report::SimulatedRow& row : step.rows)
    if (row.row.op == "copy.1") row.row.us = 0;  // it may alias, and did
  EXPECT_EQ(findingOf(found(step), "whole-copies"), nullptr);
}

Module weightReturned(bool returned) {
  Module made;
  Lines main;
  const int32_t weight = main.parameter(0, bf16({2048, 2048})), x = main.parameter(1, bf16({2048, 2048}));
  const int32_t sum = main.add("add.1", "add", bf16({2048, 2048}), {weight, x});
  const int32_t other = returned ? main.add("copy.1", "copy", bf16({2048, 2048}), {weight})
                                 : main.add("mul.1", "multiply", bf16({2048, 2048}), {weight, x});
  main.add("result", "tuple", tupleOf({bf16({2048, 2048}), bf16({2048, 2048})}), {sum, other});
  made.computation(std::move(main));
  return made;
}

TEST(ProgramRules, ResultsThatAreArguments) {
  const std::vector<Finding> findings = found(stepOf(weightReturned(true)));
  const Finding* finding = findingOf(findings, "unused-outputs");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(*finding->edit, (Edit{.kind = EditKind::kDropOutput, .output = 1}));
  EXPECT_NE(finding->what.find("is argument 0, unchanged"), std::string::npos) << finding->what;
  EXPECT_FALSE(fires(weightReturned(false), "unused-outputs"));
}

TEST(ProgramRules, ArgumentsThatAreReadTwice) {
  // Both operations of weightReturned(false) read both arguments whole.
  EXPECT_TRUE(fires(weightReturned(false), "read-twice"));
  EXPECT_FALSE(fires(cacheUpdate(true), "read-twice"));
}

/// Two kernels that are given the same cache; each has a result of 8 MB that nothing reads.
Module kernels(bool in_place) {
  Module made;
  Lines main;
  const Shape cache = bf16({2048, 2048}), both = tupleOf({bf16({8, 128}), cache});
  const int32_t x = main.parameter(0, cache);
  std::vector<int32_t> parts;
  for (const char* name : {"kernel.1", "kernel.2"}) {
    const int32_t kernel = main.add(name, "custom-call", both, {x});
    main.computation.instructions.back().custom_call_target = "tpu_custom_call";
    if (in_place) main.computation.instructions.back().aliases.push_back({.output_index = {1}, .operand = 0});
    parts.push_back(main.element(bf16({8, 128}), kernel, 0));
  }
  main.add("add.1", "add", bf16({8, 128}), {parts[0], parts[1]});
  made.computation(std::move(main));
  return made;
}

/// The same, executed: of the cache so many bytes were read and written.
report::SimulatedStep executedKernels(bool in_place, int64_t bytes) {
  report::SimulatedStep step = stepOf(kernels(in_place));
  step.rung = report::Rung::kBundles;
  for (report::SimulatedRow& row : step.rows) {
    if (row.row.kind != "kernel") continue;
    row.hbm_read_bytes = row.hbm_write_bytes = bytes;
    row.row.hbm_bytes = 2 * bytes;
  }
  return step;
}

TEST(ProgramRules, KernelsReadAndWriteWhatTheyDidAndNotWhatTheyAreGiven) {
  const int64_t whole = 2048 * 2048 * 2;
  EXPECT_NE(findingOf(found(executedKernels(false, whole)), "read-twice"), nullptr);
  EXPECT_EQ(findingOf(found(executedKernels(false, whole / 10)), "read-twice"), nullptr) << "pages of it";
  EXPECT_EQ(findingOf(found(stepOf(kernels(false))), "read-twice"), nullptr) << "not known";
  EXPECT_NE(findingOf(found(executedKernels(false, whole)), "unused-outputs"), nullptr);
  EXPECT_EQ(findingOf(found(executedKernels(false, whole / 10)), "unused-outputs"), nullptr);
  EXPECT_EQ(findingOf(found(executedKernels(true, whole)), "unused-outputs"), nullptr) << "in place";
}

TEST(ProgramRules, ResultsOfAKernelThatAreTheProgramsAreUsed) {
  Module made;
  Lines main;
  const int32_t x = main.parameter(0, bf16({2048, 2048}));
  main.add("kernel.1", "custom-call", tupleOf({bf16({2048, 2048}), bf16({2048, 2048})}), {x});
  main.computation.instructions.back().custom_call_target = "tpu_custom_call";
  made.computation(std::move(main));
  EXPECT_FALSE(fires(made, "unused-outputs"));
}

// ---- layouts

Module relayout(std::vector<int64_t> order) {
  Module made;
  Lines main;
  const int32_t x = main.parameter(0, bf16({2048, 2048})), y = main.parameter(1, bf16({2048, 2048}));
  const int32_t sum = main.add("add.1", "add", bf16({2048, 2048}), {x, y});
  const int32_t copy = main.add("copy.1", "copy", bf16({2048, 2048}, std::move(order)), {sum});
  main.add("negate.1", "negate", bf16({2048, 2048}, {0, 1}), {copy});
  made.computation(std::move(main));
  return made;
}

TEST(ProgramRules, WhoGivesALayoutAndWhoWantsAnother) {
  const std::vector<Finding> findings = found(stepOf(relayout({0, 1})));
  const Finding* finding = findingOf(findings, "relayouts");
  ASSERT_NE(finding, nullptr);
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(
      finding->evidence[0],
      "copy.1: bf16[2048,2048]{1,0} as add.1 gives it, bf16[2048,2048]{0,1} as negate.1 wants it (compiler)");
  EXPECT_FALSE(fires(relayout({1, 0}), "relayouts")) << "the same layout";
}

Module padded(int64_t minor) {
  Module made;
  Lines main;
  Shape shape = f32({4096, minor});
  shape.layout.tiles = {{8, 128}};
  const int32_t x = main.parameter(0, shape);
  main.add("exp.1", "negate", shape, {x});
  made.computation(std::move(main));
  return made;
}

TEST(ProgramRules, TilesThatArePadded) {
  const std::vector<Finding> findings = found(stepOf(padded(130)));
  const Finding* finding = findingOf(findings, "tile-padding");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->evidence.at(0).find("f32[4096,130]"), std::string::npos);
  EXPECT_NEAR(finding->gain_us / finding->us, 126.0 / 256, 0.01);
  EXPECT_FALSE(fires(padded(256), "tile-padding"));
}

// ---- types

Module product(ElementType weights, bool exact) {
  Module made;
  Lines main;
  const int32_t x = main.parameter(0, array(weights, {64, 2048}));
  const int32_t w = main.parameter(1, array(weights, {2048, 4096}));
  main.add("dot.1", "dot", array(weights, {64, 4096}), {x, w});
  main.computation.instructions.back().dot = {.lhs_contract = {1}, .rhs_contract = {0}};
  if (exact)
    main.computation.instructions.back().precision = {llo::Precision::kHighest, llo::Precision::kHighest};
  made.computation(std::move(main));
  return made;
}

TEST(ProgramRules, WeightsThatTheMxuRounds) {
  EXPECT_TRUE(fires(product(ElementType::kF32, false), "wide-weights"));
  EXPECT_FALSE(fires(product(ElementType::kBF16, false), "wide-weights"));
  EXPECT_FALSE(fires(product(ElementType::kF32, true), "wide-weights")) << "more than bf16 is asked for";
}

Module converted(ElementType from) {
  Module made;
  Lines inner;
  const int32_t a = inner.parameter(0, bf16({64, 2048})), b = inner.parameter(1, array(from, {2048, 4096}));
  const int32_t narrow = inner.add("convert.1", "convert", bf16({2048, 4096}), {b});
  inner.add("dot.1", "dot", bf16({64, 4096}), {a, narrow});
  inner.computation.instructions.back().dot = {.lhs_contract = {1}, .rhs_contract = {0}};
  const int32_t fused = made.fusion(std::move(inner));
  Lines main;
  const int32_t x = main.parameter(0, bf16({64, 2048})), w = main.parameter(1, array(from, {2048, 4096}));
  main.add("fusion.1", "fusion", bf16({64, 4096}), {x, w}, {fused});
  made.computation(std::move(main));
  return made;
}

TEST(ProgramRules, WeightsThatAreConvertedAtEachStep) {
  EXPECT_TRUE(fires(converted(ElementType::kF32), "converted-weights"));
  EXPECT_FALSE(fires(converted(ElementType::kS8), "converted-weights")) << "narrow weights save bytes";
  EXPECT_FALSE(fires(converted(ElementType::kF32), "wide-weights")) << "the other rule says it";
}

Module wideResult(bool rounded) {
  Module made;
  Lines main;
  const int32_t x = main.parameter(0, f32({2048, 2048}));
  const int32_t y = main.add("exp.1", "exponential", f32({2048, 2048}), {x});
  if (rounded) main.add("convert.1", "convert", bf16({2048, 2048}), {y});
  if (!rounded) main.add("negate.1", "negate", f32({2048, 2048}), {y});
  made.computation(std::move(main));
  return made;
}

TEST(ProgramRules, ResultsThatEveryReaderRounds) {
  EXPECT_TRUE(fires(wideResult(true), "wide-results"));
  EXPECT_FALSE(fires(wideResult(false), "wide-results"));
}

// ---- work

Module table(bool of_argument) {
  Module made;
  Lines main;
  const int32_t x = main.parameter(0, f32({2048, 2048}));
  const int32_t iota = main.add("iota.1", "iota", f32({2048, 2048}));
  const int32_t cosine = main.add("cosine.1", "cosine", f32({2048, 2048}), {of_argument ? x : iota});
  main.add("mul.1", "multiply", f32({2048, 2048}), {x, cosine});
  made.computation(std::move(main));
  if (of_argument) made.module.computations.back().instructions[1].shape = f32({8, 128});
  return made;
}

TEST(ProgramRules, ValuesThatAreTheSameAtEachStep) {
  const std::vector<Finding> findings = found(stepOf(table(false)));
  const Finding* finding = findingOf(findings, "recomputed-constants");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(std::find(finding->ops.begin(), finding->ops.end(), "cosine.1"), finding->ops.end());
  EXPECT_FALSE(fires(table(true), "recomputed-constants"));
}

/// A loop over four layers; each is cut out of the stacked caches, a row of it is written, and it is put
/// back; or the row is written in place.
Module layers(bool cut) {
  Module made;
  const Shape stacked = bf16({4, 1024, 1024}), layer = bf16({1, 1024, 1024}), row = bf16({1, 1, 1024});
  const Shape state = tupleOf({s32(), stacked, row});
  Lines body;
  const int32_t in = body.parameter(0, state);
  const int32_t i = body.element(s32(), in, 0), caches = body.element(stacked, in, 1),
                rows = body.element(row, in, 2);
  int32_t next = 0;
  if (cut) {
    const int32_t one = body.add("slice.1", "dynamic-slice", layer, {caches, i, i, i});
    const int32_t updated = body.add("update.1", "dynamic-update-slice", layer, {one, rows, i, i, i});
    next = body.add("update.2", "dynamic-update-slice", stacked, {caches, updated, i, i, i});
  } else {
    next = body.add("update.1", "dynamic-update-slice", stacked, {caches, rows, i, i, i});
  }
  body.add("next", "tuple", state, {i, next, rows});
  const int32_t loop = made.computation(std::move(body));
  Lines test;
  test.parameter(0, state);
  test.add("true", "constant", array(ElementType::kPred, {}));
  const int32_t condition = made.computation(std::move(test));
  Lines main;
  const int32_t zero = main.add("zero", "constant", s32());
  const int32_t p0 = main.parameter(0, stacked), p1 = main.parameter(1, row);
  const int32_t start = main.add("start", "tuple", state, {zero, p0, p1});
  const int32_t end = main.add("while.1", "while", state, {start}, {loop, condition});
  main.computation.instructions.back().backend_config = R"({"known_trip_count": {"n": "4"}})";
  const int32_t result = main.element(stacked, end, 1);
  main.add("result", "tuple", tupleOf({stacked}), {result});
  made.computation(std::move(main));
  made.module.aliases.push_back({.output_index = {0}, .parameter = 0});
  return made;
}

TEST(ProgramRules, LayersThatAreCutOutAndPutBack) {
  const report::SimulatedStep step = stepOf(layers(true));
  const std::vector<Finding> findings = findingsOf({step, v6e(), 1e9, /*layers_in_loop=*/true});
  const Finding* finding = findingOf(findings, "sliced-in-loop");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(std::set<std::string>(finding->ops.begin(), finding->ops.end()),
            (std::set<std::string>{"slice.1", "update.1", "update.2"}));
  EXPECT_EQ(*finding->edit, (Edit{.kind = EditKind::kModelOption, .option = "layers", .value = "unrolled"}));
  EXPECT_FALSE(fires(layers(false), "sliced-in-loop"));
}

TEST(ProgramRules, AnArgumentIsFollowedThroughALoop) {
  for (const bool cut : {false, true}) {
    const Module made = layers(cut);
    const Dataflow flow(made.module);
    const WholeArgument whole = flow.wholeArgument(flow.outputs().at(0));
    EXPECT_EQ(whole.argument, 0) << cut;
    EXPECT_TRUE(whole.updated) << cut;
  }
}

/// A copy into the VMEM that starts before or after an operation which it could pass behind.
report::SimulatedStep prefetch(bool late) {
  Module made;
  Lines main;
  const Shape fast = array(ElementType::kBF16, {2048, 2048}, {}, 1);
  const Shape copying = tupleOf({fast, bf16({2048, 2048}), s32()});
  const int32_t x = main.parameter(0, fast), w = main.parameter(1, bf16({2048, 2048}));
  int32_t start = 0;
  if (!late) start = main.add("copy-start.1", "copy-start", copying, {w});
  const int32_t work = main.add("tanh.1", "tanh", fast, {x});
  if (late) start = main.add("copy-start.1", "copy-start", copying, {w});
  const int32_t done = main.add("copy-done.1", "copy-done", fast, {start});
  main.add("add.1", "add", fast, {work, done});
  made.computation(std::move(main));
  report::SimulatedStep step = stepOf(made);
  step.rung = report::Rung::kBundles;
  step.rows.clear();
  const auto add = [&](const char* op, const char* kind, events::Cause cause, double us, double hbm_us) {
    report::SimulatedRow row;
    row.row.id = static_cast<int32_t>(step.rows.size());
    row.row.op = op;
    row.row.kind = kind;
    row.row.us = us;
    row.row.hbm_us = hbm_us;
    row.row.cycles = static_cast<int64_t>(1000 * us);
    row.causes[static_cast<size_t>(cause)] = row.row.cycles;
    step.rows.push_back(row);
    step.us += us;
  };
  step.us = 0;
  add("copy-start.1", "prefetch", events::Cause::kIssueScalar, 0.01, 5);
  add("tanh.1", "elementwise", events::Cause::kIssueMatrix, 20, 0);
  add("copy-done.1", "wait", events::Cause::kDma, 6, 0);
  return step;
}

TEST(ProgramRules, PrefetchesThatStartTooLate) {
  const report::SimulatedStep late = prefetch(true), early = prefetch(false);
  EXPECT_NE(findingOf(findingsOf({late, v6e(), 1e9}), "late-prefetch"), nullptr);
  EXPECT_EQ(findingOf(findingsOf({early, v6e(), 1e9}), "late-prefetch"), nullptr)
      << "it starts as early as it can";
}

TEST(ProgramRules, AnEmptyModuleGivesNothing) {
  report::SimulatedStep step;
  EXPECT_TRUE(findingsOf({step, v6e(), 1e9}).empty());
  step.module = std::make_shared<const llo::HloModule>();
  EXPECT_TRUE(findingsOf({step, v6e(), 1e9}).empty());
}

}  // namespace
}  // namespace sublane::findings
