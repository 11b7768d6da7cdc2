// The programs of the tests of values, what they are given, and how far a result may be from the CPU's.
//
// The bounds stand here, before any run: they follow from types, lengths of sums and the inputs' ranges. Most
// inputs are multiples of a power of two, so that sums of products are exact in any order and the bound is 0.
#pragma once

#include <cmath>
#include <ostream>

#include "base/paths.h"
#include "models/models.h"
#include "passes/passes.h"
#include "sim/values_compare.h"
#include "values_programs.h"

namespace sublane::sim {

struct Case {
  const char* name;
  std::vector<Fill> fills;    // the last holds for further arguments
  std::vector<Bound> bounds;  // the last holds for further outputs
  int64_t least_bundles = 0;
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline const Fill kHalves{-8, 8, 8};         // exact in bf16; products are multiples of 1/64
inline const Fill kFine{-4095, 4095, 2048};  // in [-2, 2], not exact in bf16

inline std::vector<Case> cases() {
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
  // A matrix unit rounds both operands, of [-2, 2], to bf16: the products of 384 have a deviation of 4 / 3
  // each, and a relative error of 2^-9 sqrt(2 / 3); eight deviations of the sum.
  const Bound rounded{.absolute = 8 * 0x1p-9 * std::sqrt(2.0 / 3) * 4 / 3 * std::sqrt(384.0)};
  // Six steps of tanh(h w): an error of one step grows by at most sqrt(256) / 8 / sqrt(3) in each further
  // one. Roundings to bf16 are of either sign: eight times their deviation.
  double grown = 0;
  for (int k = 0; k < 6; ++k) grown += std::pow(256.0 / 64 / 3, k);
  const Bound scan{.absolute = 8 * 0x1p-9 / std::sqrt(3.0) * std::sqrt(grown)};
  return {
      {"elementwise_f32", {kFine}, {f32({.terms = 2, .magnitude = 6})}},
      {"elementwise_bf16", {kHalves}, {exact}},
      {"integers", {{-100000, 100000}, {1, 1000}}, {exact}},
      {"rotations", {{-2000000000, 2000000000}, {-2000000000, 2000000000}}, {exact}},
      {"transcendental", {kFine}, {f32({.terms = 1, .magnitude = 4, .functions = 2})}},
      {"reductions", {kFine}, {exact}},
      {"softmax", {kFine}, {softmax(1000)}},
      {"layer_norm", {kFine}, {norm}},
      // The largest, the sum of 1000 terms; the sum of 768 terms of at most 2, of squares of at most 16.
      {"softmax_parts", {kFine}, {exact, softmax(1000), softmax(1000)}},
      {"layer_norm_parts",
       {kFine},
       {f32({.terms = 768, .magnitude = 768 * 2.0}), f32({.terms = 768, .magnitude = 768 * 16.0}), norm}},
      {"matmul_bf16", {kHalves}, {exact}},
      // Operands that bf16 holds: how the hardware rounds others is an assumption.
      {"matmul_f32", {{-255, 255, 256}}, {exact}},
      {"matmul_f32_rounded", {kFine}, {rounded}},
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

/// A case with its text, ready to compile.
struct Subject {
  std::string name, stablehlo, reference;  // the reference is what the CPU executes
  std::function<Fill(int64_t)> fill;
  std::function<Bound(const llo::Shape&, size_t)> bound;
  int64_t least_bundles = 0;
};

inline Result<Subject> subjectOf(const Case& c) {
  const std::string folder = std::string(SUBLANE_SOURCE_DIR) + "/tests/sim/programs/" + c.name;
  Subject subject{.name = c.name, .least_bundles = c.least_bundles};
  SUBLANE_TRY(subject.stablehlo, readFile(folder + ".mlir"));
  const Result<std::string> reference = readFile(folder + ".reference.mlir");
  subject.reference = reference.ok() ? *reference : subject.stablehlo;
  subject.fill = [c](int64_t p) { return c.fills[std::min(static_cast<size_t>(p), c.fills.size() - 1)]; };
  subject.bound = [c](const llo::Shape&, size_t i) { return c.bounds[std::min(i, c.bounds.size() - 1)]; };
  return subject;
}

/// About 32 roundings to bf16 lie between the embedding and a logit, each of half a unit and of either sign:
/// their error has 2^-9 sqrt(32 / 3) of a logit's own deviation, sqrt(576) / 16 / sqrt(3); eight of these.
inline Bound decodeBound(const llo::Shape& result) {
  const double logits = 8 * 0x1p-9 * std::sqrt(32.0 / 3) * std::sqrt(576.0) / 16 / std::sqrt(3.0);
  if (result.type == ElementType::kS32) return {.absolute = 2048};  // the chosen token may be another
  return {.absolute = logits, .relative = result.type == ElementType::kF32 ? 0 : 0x1p-6};
}

/// One layer of SmolLM2-135M with its embedding, paged attention and head: a decode step of four sequences.
inline Result<Subject> decodeLayer() {
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
  SUBLANE_TRY(models::StepProgram step,
              models::buildStep(config, shape, options, io::Container::kHuggingFace));
  SUBLANE_CHECK_OK(passes::runPipeline(step.graph));
  SUBLANE_TRY(std::string text, lower::toStableHlo(step.graph));
  static const std::map<std::string, std::vector<double>> inputs = {
      {"tokens", {5, 600, 1999, 77}},
      {"positions", {40, 12, 63, 0}},
      {"token_sequence", {0, 1, 2, 3}},
      {"token_column", {0, 0, 0, 0}},
      {"query_token", {0, 1, 2, 3}},
      {"kv_slots", {40, 76, 191, 192}},
      {"page_table", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
      {"lengths", {41, 13, 64, 1}},
      {"logit_token", {0, 1, 2, 3}}};
  std::vector<std::string> names;
  for (const auto& parameter : step.graph.parameters) names.push_back(parameter.name);
  Subject subject{.name = "decode_layer", .stablehlo = text, .reference = text};
  subject.fill = [names](int64_t p) -> Fill {
    const std::string& name = names[static_cast<size_t>(p)];
    if (const auto input = inputs.find(name); input != inputs.end()) return {.values = input->second};
    if (name.find("norm") != std::string::npos) return {192, 320, 256};
    if (name.starts_with("rope")) return {-128, 128, 128};
    return {-128, 128, 2048};  // weights and cache: in [-1/16, 1/16]
  };
  subject.bound = [](const llo::Shape& result, size_t) { return decodeBound(result); };
  return subject;
}

/// One of cases(), or "decode_layer".
inline Result<Subject> subjectNamed(const std::string& name) {
  if (name == "decode_layer") return decodeLayer();
  for (const Case& c : cases())
    if (c.name == name) return subjectOf(c);
  return inputError("no program of that name: {}", name);
}

}  // namespace sublane::sim
