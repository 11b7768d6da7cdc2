// Our own programs, compiled by libtpu and executed for values, against XLA's CPU plugin.
//
// The bounds stand here, before any run: they follow from types, lengths of sums and the inputs' ranges.
// Most inputs are multiples of a power of two, so that sums of products are exact in any order and the bound
// is 0.
#include "sim/values_compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <ostream>

#include "../lower/on_cpu.h"
#include "artifact/compile_cache.h"
#include "base/paths.h"
#include "models/models.h"
#include "passes/passes.h"
#include "pjrt/worker.h"
#include "sim/layout.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

using llo::ElementType;

/// Whole numbers in [low, high], divided.
struct Fill {
  int64_t low = 0, high = 0;
  double divisor = 1;
  std::vector<double> values{};  // instead, where they are given
};

/// Same bytes everywhere: splitmix64.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

graph::Type typeOf(const llo::Shape& shape) {
  using formats::DType;
  static const std::map<ElementType, DType> types = {
      {ElementType::kF32, DType::kF32}, {ElementType::kBF16, DType::kBF16},
      {ElementType::kS32, DType::kI32}, {ElementType::kU32, DType::kU32},
      {ElementType::kS8, DType::kI8},   {ElementType::kPred, DType::kBool}};
  return {types.at(shape.type), shape.dims};
}

std::vector<std::byte> filled(const llo::Shape& shape, const Fill& fill, uint64_t seed) {
  std::vector<double> values(static_cast<size_t>(llo::elementCount(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t span = static_cast<uint64_t>(fill.high - fill.low + 1);
    const int64_t whole = fill.low + static_cast<int64_t>(mixed(seed * 1000003 + i) % span);
    values[i] =
        fill.values.empty() ? static_cast<double>(whole) / fill.divisor : fill.values[i % fill.values.size()];
  }
  return graph::arrayOf(typeOf(shape), values).data;
}

struct Executed {
  std::vector<llo::Shape> parameters, results;
  std::vector<std::vector<std::byte>> arguments, outputs;  // row-major
  Run run;
};

constexpr const char* kTopologies[][2] = {{"v5e", "v5e:1x1"}, {"v6e", "v6e:1x1"}, {"tpu7x", "tpu7x:1x1x1"}};

/// Compiles for a chip and executes for values. `fill` gives an argument's contents by its number.
Result<Executed> execute(const std::string& stablehlo, const std::string& chip,
                         const std::function<Fill(int64_t)>& fill) {
  pjrt::AheadOfTimeRequest request{.stablehlo = stablehlo};
  for (const auto& [name, topology] : kTopologies)
    if (chip == name) request.topology = topology;
  request.want_listings = true;
  SUBLANE_TRY(pjrt::AheadOfTimeResult compiled, artifact::compileCached(request));
  SUBLANE_TRY(llo::HloModule module, llo::readHloModule(compiled.optimized_hlo));
  SUBLANE_TRY(llo::Program program, llo::readProgram(compiled.dump, std::move(module),
                                                     {.chip = chip, .compiler = compiled.platform_version}));
  SUBLANE_TRY(ChipModel model, chipModel(chip));
  Executed executed;
  Options options{.values = true};
  const llo::Computation& entry = program.module.entryComputation();
  for (int64_t p = 0; entry.parameter(p) >= 0; ++p) {
    const llo::Shape& shape = entry.at(entry.parameter(p)).shape;
    executed.parameters.push_back(shape);
    executed.arguments.push_back(filled(shape, fill(p), static_cast<uint64_t>(p + 1)));
    SUBLANE_TRY(options.inputs.arguments[static_cast<int32_t>(p)],
                toDevice(shape, executed.arguments.back()));
  }
  const auto start = std::chrono::steady_clock::now();
  SUBLANE_TRY(executed.run, simulate(program, model, options));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("[ measured ] %s: %lld bundles, %.3g s\n", chip.c_str(),
              static_cast<long long>(executed.run.bundles), seconds);
  llo::forEachArray(entry.at(entry.root).shape,
                    [&](const llo::Shape& shape) { executed.results.push_back(shape); });
  for (size_t i = 0; i < executed.results.size(); ++i) {
    SUBLANE_TRY(std::vector<std::byte> host,
                toHost(executed.results[i], executed.run.outputs[static_cast<int32_t>(i)]));
    executed.outputs.push_back(std::move(host));
  }
  return executed;
}

Result<std::vector<std::vector<std::byte>>> onCpu(const std::string& stablehlo, const Executed& executed) {
  SUBLANE_TRY(pjrt::Executable program, lower::cpu().compile(stablehlo, {}));
  std::vector<pjrt::Buffer> buffers;
  std::vector<pjrt::Buffer*> pointers;
  for (size_t p = 0; p < executed.arguments.size(); ++p) {
    SUBLANE_TRY(pjrt::Buffer buffer,
                lower::cpu().toDevice(typeOf(executed.parameters[p]), executed.arguments[p]));
    buffers.push_back(std::move(buffer));
  }
  for (pjrt::Buffer& buffer : buffers) pointers.push_back(&buffer);
  SUBLANE_TRY(std::vector<pjrt::Buffer> outputs, program.execute(pointers));
  std::vector<std::vector<std::byte>> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.emplace_back(static_cast<size_t>(hostBytes(executed.results[i])));
    SUBLANE_CHECK_OK(outputs[i].toHost(results.back()));
  }
  return results;
}

void expectEqual(const Executed& executed, const std::vector<std::vector<std::byte>>& want,
                 const std::vector<Bound>& bounds) {
  ASSERT_EQ(want.size(), executed.outputs.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const llo::Shape& shape = executed.results[i];
    const Bound& bound = bounds[std::min(i, bounds.size() - 1)];
    const Result<Comparison> c = compareValues(shape, executed.outputs[i], want[i], bound);
    ASSERT_TRUE(c.ok()) << c.error().text();
    EXPECT_TRUE(c->equal()) << "output " << i << ": " << describe(shape, *c);
    std::printf("[ measured ]   output %zu: worst %.3g, bound %.3g + %.3g of the value\n", i, c->worst,
                bound.absolute, bound.relative);
  }
}

struct Case {
  const char* name;
  std::vector<Fill> fills;    // the last holds for further arguments
  std::vector<Bound> bounds;  // the last holds for further outputs
  int64_t least_bundles = 0;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Fill kHalves{-8, 8, 8};         // exact in bf16; products are multiples of 1/64
const Fill kFine{-4095, 4095, 2048};  // in [-2, 2], not exact in bf16

std::vector<Case> cases() {
  const auto f32 = [](Arithmetic a) { return boundOf(a); };
  const Bound exact{};
  // Softmax: exp of a difference of at most 4, a sum of positive terms, a division; all relative.
  const auto softmax = [&](int64_t length) {
    Bound bound = boundOf({.functions = 4});
    bound.relative += 2 * static_cast<double>(length) * 0x1p-24;
    return bound;
  };
  // The mean of 768 values of at most 2, a difference, and its square; the result is at most 8.
  const Bound norm = f32({.terms = 768, .magnitude = 8, .functions = 2});
  // Six steps of tanh(h w): an error of one step grows by at most sqrt(256) / 8 / sqrt(3) in each further
  // one. Roundings to bf16 are of either sign: eight times their deviation.
  double grown = 0;
  for (int k = 0; k < 6; ++k) grown += std::pow(256.0 / 64 / 3, k);
  const Bound scan{.absolute = 8 * 0x1p-9 / std::sqrt(3.0) * std::sqrt(grown)};
  return {
      {"elementwise_f32", {kFine}, {f32({.terms = 2, .magnitude = 6})}},
      {"elementwise_bf16", {kHalves}, {exact}},
      {"integers", {{-100000, 100000}, {1, 1000}}, {exact}},
      {"transcendental", {kFine}, {f32({.terms = 1, .magnitude = 4, .functions = 2})}},
      {"reductions", {kFine}, {exact}},
      {"softmax", {kFine}, {softmax(1000)}},
      {"layer_norm", {kFine}, {norm}},
      {"matmul_bf16", {kHalves}, {exact}},
      // Operands that bf16 holds: how the hardware rounds others is an assumption.
      {"matmul_f32", {{-255, 255, 256}}, {exact}},
      {"matmul_transposed", {kHalves}, {exact}},
      {"matmul_int8", {{-128, 127}}, {exact}},
      {"unpack_int8",
       {kHalves, {-100, 100}, kHalves},
       {boundOf({.type = ElementType::kBF16, .roundings = 2})}},
      {"transpose", {kFine}, {exact}},
      {"gather", {kHalves, {0, 999}}, {exact}},
      {"sort", {{-8388607, 8388607, 4194304}}, {exact}},
      {"loop", {{60000, 60000}, kFine}, {exact}, 1000000},
      {"until", {{6000000, 6000000}, {0, 2}}, {exact}, 1000000},
      {"permutations", {kHalves}, {exact}, 1000000},
      {"scan", {kHalves, {-128, 128, 1024}}, {scan}},
      // Probabilities and the result are rounded to bf16; values are at most 1.
      {"flash", {{-8, 8, 32}, {-8, 8, 32}, kHalves}, {{.absolute = 3 * 0x1p-8}}},
      {"paged", {{0, 15}, {1, 4}, kHalves, kHalves}, {exact}},
  };
}

std::string source(const std::string& name) {
  Result<std::string> text =
      readFile(std::string(SUBLANE_SOURCE_DIR) + "/tests/sim/programs/" + name + ".mlir");
  return text.ok() ? *text : "";
}

class Values : public testing::TestWithParam<std::tuple<std::string, Case>> {};

TEST_P(Values, EqualTheCpu) {
  const auto& [chip, c] = GetParam();
  const std::string text = source(c.name);
  ASSERT_FALSE(text.empty());
  const auto fill = [&](int64_t p) { return c.fills[std::min(static_cast<size_t>(p), c.fills.size() - 1)]; };
  const Result<Executed> executed = execute(text, chip, fill);
  ASSERT_TRUE(executed.ok()) << executed.error().text();
  EXPECT_GE(executed->run.bundles, c.least_bundles);
  const std::string reference = source(std::string(c.name) + ".reference");
  const auto want = onCpu(reference.empty() ? text : reference, *executed);
  ASSERT_TRUE(want.ok()) << want.error().text();
  expectEqual(*executed, *want, c.bounds);
}

std::string nameOf(const testing::TestParamInfo<std::tuple<std::string, Case>>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(, Values,
                         testing::Combine(testing::Values("v6e", "tpu7x", "v5e"), testing::ValuesIn(cases())),
                         nameOf);

/// One layer of SmolLM2-135M with its embedding, paged attention and head: a decode step of four sequences.
TEST(ValuesOfAModel, ADecodeLayerEqualsTheCpu) {
  models::DecoderConfig config{.model = "llama",
                               .vocabulary = 2048,
                               .hidden = 576,
                               .layers = 1,
                               .heads = 9,
                               .kv_heads = 3,
                               .head_dim = 64,
                               .feed_forward = 1536,
                               .context = 2048,
                               .tied_embedding = true,
                               .attention_scale = 0.125};
  config.rotaries.resize(1);
  config.rotaries[0].dim = 64;
  config.layer_rotary = {0};
  config.layer_window = {0};
  const models::StepShape shape{
      .tokens = 4, .sequences = 4, .queries = 1, .pages_per_sequence = 4, .page_size = 16, .pages = 16};
  models::StepOptions options;
  options.return_logits = true;
  auto step = models::buildStep(config, shape, options, io::Container::kHuggingFace);
  ASSERT_TRUE(step.ok()) << step.error().text();
  ASSERT_TRUE(passes::runPipeline(step->graph).ok());
  const auto text = lower::toStableHlo(step->graph);
  ASSERT_TRUE(text.ok()) << text.error().text();
  const std::map<std::string, std::vector<double>> inputs = {
      {"tokens", {5, 600, 1999, 77}},
      {"positions", {40, 12, 63, 0}},
      {"token_sequence", {0, 1, 2, 3}},
      {"token_column", {0, 0, 0, 0}},
      {"query_token", {0, 1, 2, 3}},
      {"kv_slots", {40, 76, 191, 192}},
      {"page_table", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
      {"lengths", {41, 13, 64, 1}},
      {"logit_token", {0, 1, 2, 3}}};
  const auto fill = [&](int64_t p) -> Fill {
    const std::string& name = step->graph.parameters[static_cast<size_t>(p)].name;
    if (const auto input = inputs.find(name); input != inputs.end()) return {.values = input->second};
    if (name.find("norm") != std::string::npos) return {192, 320, 256};
    if (name.starts_with("rope")) return {-128, 128, 128};
    return {-128, 128, 2048};  // weights and cache: in [-1/16, 1/16]
  };
  const Result<Executed> executed = execute(*text, "v6e", fill);
  ASSERT_TRUE(executed.ok()) << executed.error().text();
  const auto want = onCpu(*text, *executed);
  ASSERT_TRUE(want.ok()) << want.error().text();
  // About 32 roundings to bf16 lie between the embedding and a logit, each of half a unit and of either sign:
  // their error has 2^-9 sqrt(32 / 3) of a logit's own deviation, sqrt(576) / 16 / sqrt(3); eight of these.
  const double logits = 8 * 0x1p-9 * std::sqrt(32.0 / 3) * std::sqrt(576.0) / 16 / std::sqrt(3.0);
  std::vector<Bound> bounds;
  for (const llo::Shape& result : executed->results)
    bounds.push_back(result.type == ElementType::kS32 ? Bound{.absolute = 2048}
                     // the chosen token may be another
                     : result.type == ElementType::kF32 ? Bound{.absolute = logits}
                                                        : Bound{.absolute = logits, .relative = 0x1p-6});
  expectEqual(*executed, *want, bounds);
}

}  // namespace
}  // namespace sublane::sim
