#include "models/layers/decoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "models/layers/keys.h"
#include "models/layers/layers.h"
#include "models/layers/rotary.h"
#include "models/layers/sampler.h"
#include "models/layers/weights.h"

namespace sublane::models {
namespace {

using graph::Place;
using graph::Role;
using graph::Shape;
using graph::Type;

constexpr int32_t kNoWindow = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostIndex = std::numeric_limits<int32_t>::max();

Status checkShape(const DecoderConfig& config, const StepShape& shape) {
  std::vector<std::string> faults;
  auto positive = [&](const char* name, int64_t value) {
    if (value < 1 || value > kMostIndex) faults.push_back(fmt::format("{} is {}", name, value));
  };
  positive("tokens", shape.tokens);
  positive("sequences", shape.sequences);
  positive("queries", shape.queries);
  positive("pages_per_sequence", shape.pages_per_sequence);
  positive("page_size", shape.page_size);
  positive("pages", shape.pages);
  if (shape.state_slots < 0 || shape.state_slots > kMostIndex)
    faults.push_back(fmt::format("state_slots is {}", shape.state_slots));
  if (faults.empty()) {
    if (shape.queries > shape.tokens)
      faults.push_back(fmt::format("queries {} exceed tokens {}", shape.queries, shape.tokens));
    if (shape.pages_per_sequence > kMostIndex / shape.page_size)
      faults.push_back(fmt::format("{} pages of {} tokens exceed 32-bit positions", shape.pages_per_sequence,
                                   shape.page_size));
    if (shape.pages > kMostIndex / shape.page_size / config.layers)
      faults.push_back(fmt::format("{} layers of {} pages of {} tokens exceed 32-bit slots", config.layers,
                                   shape.pages, shape.page_size));
  }
  if (faults.empty()) return Ok{};
  return inputError("{} step: {}", config.model, fmt::join(faults, "; "));
}

bool isFloat(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16; }

/// One small integer a layer, as a constant of the graph.
template <class T>
ValueId byLayer(Builder& b, const std::vector<T>& values) {
  std::vector<ValueId> runs;
  for (size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    while (end < values.size() && values[end] == values[begin]) ++end;
    runs.push_back(
        b.splat({DType::kI32, {static_cast<int64_t>(end - begin)}}, static_cast<double>(values[begin])));
  }
  return runs.size() == 1 ? runs[0] : b.concatenate(runs, 0);
}

bool allLayersAlike(const DecoderConfig& config) {
  return std::ranges::all_of(config.layer_kinds,
                             [&](const LayerKind& kind) { return kind == config.layer_kinds[0]; });
}

class DecoderBuilder {
 public:
  DecoderBuilder(const Model& model, const DecoderConfig& config, const StepShape& shape,
                 const StepOptions& options, io::Container container)
      : model_(model),
        config_(config),
        shape_(shape),
        options_(options),
        container_(container),
        b_(program_.graph) {}

  StepProgram build() {
    declareInputs();
    declareWeights();
    declareCaches();
    takeRotaryRows();
    ValueId x = embed();
    x = options_.layers_in_loop ? layersInLoop(x) : layersUnrolled(x);
    ValueId logits = head(x);
    ValueId sampled = sample(logits);
    b_.output("sampled", sampled);
    if (options_.return_logits) b_.output("logits", logits);
    for (const Caches& layer : caches_)
      for (size_t i = 0; i < layer.names.size(); ++i)
        b_.outputInPlace(layer.names[i], layer.out[i], layer.in[i]);
    return std::move(program_);
  }

 private:
  /// Of one layer, or of all in a loop.
  struct Caches {
    std::vector<std::string> names;
    std::vector<ValueId> in, out;
  };

  ValueId input(const char* name, DType dtype, Shape shape) {
    return b_.parameter(name, {dtype, std::move(shape)}, Role::kInput);
  }

  void declareInputs() {
    int64_t T = shape_.tokens, S = shape_.sequences, Q = shape_.queries, P = shape_.pages_per_sequence;
    tokens_ = input("tokens", DType::kI32, {T});
    in_.positions = input("positions", DType::kI32, {T});
    in_.token_sequence = input("token_sequence", DType::kI32, {T});
    in_.token_column = input("token_column", DType::kI32, {T});
    in_.query_token = input("query_token", DType::kI32, {S, Q});
    in_.kv_slots = input("kv_slots", DType::kI32, {T});
    in_.page_table = input("page_table", DType::kI32, {S, P});
    in_.lengths = input("lengths", DType::kI32, {S});
    logit_token_ = input("logit_token", DType::kI32, {S});
    if (hasRecurrentLayer(config_)) in_.state_slots = input("state_slots", DType::kI32, {S});
    if (options_.sampling != Sampling::kFull) return;
    sampler_.temperature = input("temperature", DType::kF32, {S});
    sampler_.top_k = input("top_k", DType::kI32, {S});
    sampler_.top_p = input("top_p", DType::kF32, {S});
    sampler_.seed = input("seed", DType::kU32, {S});
  }

  ValueId weight(std::string name, Type type, std::variant<std::vector<TensorSource>, Computed> from) {
    ValueId value = b_.parameter(name, type, Role::kWeight);
    program_.weights.push_back({std::move(name), std::move(type), std::move(from)});
    return value;
  }
  Type weightType(const WeightName& name) const {
    graph::Shape shape = weightShape(config_, name.parameter);
    // Gains, biases, convolutions and the router stay float32.
    const bool exact = shape.size() == 1 || name.parameter == "experts.router.weight" ||
                       name.parameter.ends_with(".bias") || name.parameter.ends_with(".conv.weight");
    return {exact ? DType::kF32 : options_.weights, shape};
  }

  void declareWeights() {
    for (const WeightName& name : globalWeights(model_, config_))
      globals_[std::string(name.parameter)] =
          weight(std::string(name.parameter), weightType(name), tensorSources(name, config_, container_, -1));
    if (options_.layers_in_loop) {
      for (const WeightName& name : layerWeights(model_, config_, 0)) declareStacked(name);
    } else {
      layers_.resize(static_cast<size_t>(config_.layers));
      for (int64_t layer = 0; layer < config_.layers; ++layer)
        for (const WeightName& name : layerWeights(model_, config_, layer))
          layers_[static_cast<size_t>(layer)][std::string(name.parameter)] =
              weight(fmt::format("layer.{}.{}", layer, name.parameter), weightType(name),
                     tensorSources(name, config_, container_, layer));
    }
    int64_t positions = shape_.pages_per_sequence * shape_.page_size;
    for (size_t i = 0; i < config_.rotaries.size(); ++i) {
      const Rotary& rotary = config_.rotaries[i];
      Type type{DType::kF32, {positions, rotary.dim / 2}};
      for (auto [table, suffix, rows] :
           {std::tuple{RotaryTable::kCos, "cos", &cos_}, {RotaryTable::kSin, "sin", &sin_}})
        rows->push_back(weight(fmt::format("rope.{}.{}", i, suffix), type,
                               Computed([rotary, table = table](std::span<float> out) {
                                 fillRotaryTable(rotary, table, out);
                               })));
    }
  }

  void declareStacked(const WeightName& name) {
    std::vector<TensorSource> sources;
    for (int64_t layer = 0; layer < config_.layers; ++layer)
      std::ranges::copy(tensorSources(name, config_, container_, layer), std::back_inserter(sources));
    Type type = weightType(name);
    type.shape.insert(type.shape.begin(), config_.layers);
    stacked_.push_back(weight(fmt::format("layers.{}", name.parameter), type, std::move(sources)));
  }

  void declareCaches() {
    auto declare = [&](int64_t layer, const std::string& suffix, int64_t pages) {
      Caches caches;
      StepShape shape = shape_;
      shape.pages = pages;
      for (LayerCache& cache : layerCaches(config_, layerKind(config_, layer), options_.cache, shape)) {
        caches.names.push_back("cache." + cache.name + suffix);
        caches.in.push_back(b_.parameter(caches.names.back(), std::move(cache.type), Role::kState));
      }
      caches_.push_back(std::move(caches));
    };
    if (options_.layers_in_loop) return declare(0, "", config_.layers * shape_.pages);
    for (int64_t layer = 0; layer < config_.layers; ++layer)
      declare(layer, fmt::format(".{}", layer), shape_.pages);
  }

  /// From tables of all positions to this step's tokens, once for all layers.
  void takeRotaryRows() {
    auto scope = b_.at({Place::kNoLayer, "attention.rotary"});
    for (auto* tables : {&cos_, &sin_})
      for (ValueId& table : *tables) table = b_.takeRows(table, in_.positions);
  }

  ValueId embed() {
    auto scope = b_.at({Place::kNoLayer, "embed"});
    ValueId x = b_.convert(b_.takeRows(globals_.at("embed.weight"), tokens_), options_.activations);
    if (config_.embedding_scale == 1.0) return x;
    return b_.multiply(x, b_.constant(options_.activations, config_.embedding_scale));
  }

  static LayerState layer(Builder& b, const LayerInputs& in, const LayerWeights& weights, LayerState state) {
    state = mix(b, in, weights, std::move(state));
    state.x = feedForward(b, in, weights, state.x);
    return state;
  }

  ValueId layersUnrolled(ValueId x) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      auto index = static_cast<int32_t>(i);
      LayerInputs in{config_, options_, index, layerKind(config_, index),
                     in_,     -1,       -1,    windowConstant(b_, index, i)};
      if (const int32_t rotary = config_.layer_rotary[i]; rotary >= 0) {
        in.cos = cos_[static_cast<size_t>(rotary)];
        in.sin = sin_[static_cast<size_t>(rotary)];
      }
      LayerState out = layer(b_, in, layers_[i], {x, caches_[i].in});
      caches_[i].out = std::move(out.caches);
      x = out.x;
    }
    return x;
  }

  ValueId windowConstant(Builder& b, int32_t place, size_t layer) const {
    auto scope = b.at({place, "attention.core"});
    return b.constant(DType::kI32, static_cast<double>(effectiveWindow(layer)));
  }
  int64_t effectiveWindow(size_t layer) const {
    int64_t window = config_.layer_window[layer];
    return window == 0 ? kNoWindow : window;
  }

  // In the loop, what differs between layers is data: stacked weights, one window and one rotary index a
  // layer.
  ValueId layersInLoop(ValueId x) {
    auto scope = b_.at({Place::kEveryLayer, "layers"});
    std::vector<ValueId> invariants = {in_.positions, in_.token_sequence, in_.token_column, in_.query_token,
                                       in_.kv_slots,  in_.page_table,     in_.lengths};
    invariants.insert(invariants.end(), cos_.begin(), cos_.end());
    invariants.insert(invariants.end(), sin_.begin(), sin_.end());
    std::vector<ValueId> stacked = stacked_;
    std::vector<int64_t> windows;
    for (size_t i = 0; i < config_.layer_window.size(); ++i) windows.push_back(effectiveWindow(i));
    stacked.push_back(byLayer(b_, windows));
    stacked.push_back(byLayer(b_, config_.layer_rotary));
    std::vector<ValueId> carried = {x};
    carried.insert(carried.end(), caches_[0].in.begin(), caches_[0].in.end());
    std::vector<ValueId> results =
        b_.loop(config_.layers, carried, invariants, stacked,
                [this](Builder& body, ValueId index, const auto& carried, const auto& fixed,
                       const auto& slices) { return loopBody(body, index, carried, fixed, slices); });
    caches_[0].out.assign(results.begin() + 1, results.end());
    return results[0];
  }

  std::vector<ValueId> loopBody(Builder& b, ValueId index, const std::vector<ValueId>& carried,
                                const std::vector<ValueId>& fixed, const std::vector<ValueId>& slices) const {
    LayerWeights weights;
    const std::vector<WeightName> names = layerWeights(model_, config_, 0);
    for (size_t i = 0; i < names.size(); ++i) weights[std::string(names[i].parameter)] = slices[i];
    ValueId window = slices[names.size()], rotary = slices[names.size() + 1];
    TokenInputs tokens{fixed[0], fixed[1], fixed[2], fixed[3], fixed[4], fixed[5], fixed[6], -1};
    size_t count = config_.rotaries.size();
    std::span<const ValueId> tables(fixed);
    offsetIntoLayer(b, index, tokens);
    LayerInputs in{config_,
                   options_,
                   Place::kEveryLayer,
                   layerKind(config_, 0),
                   tokens,
                   choose(b, rotary, tables.subspan(7, count)),
                   choose(b, rotary, tables.subspan(7 + count, count)),
                   window};
    LayerState out = layer(b, in, weights, {carried[0], {carried.begin() + 1, carried.end()}});
    std::vector<ValueId> next = {out.x};
    next.insert(next.end(), out.caches.begin(), out.caches.end());
    return next;
  }

  /// Pages and slots count within a layer; the loop's cache holds the layers one after the other. A slot that
  /// no layer has must not land in the next one.
  void offsetIntoLayer(Builder& b, ValueId index, TokenInputs& tokens) const {
    using graph::Comparison;
    auto scope = b.at({Place::kEveryLayer, "attention.cache"});
    auto constant = [&](int64_t value) { return b.constant(DType::kI32, static_cast<double>(value)); };
    ValueId pages = b.multiply(index, constant(shape_.pages));
    tokens.page_table = b.add(tokens.page_table, pages);
    ValueId slot = tokens.kv_slots;
    ValueId valid = b.bitAnd(b.compare(Comparison::kGreaterEqual, slot, constant(0)),
                             b.compare(Comparison::kLess, slot, constant(shape_.pages * shape_.page_size)));
    tokens.kv_slots =
        b.select(valid, b.add(slot, b.multiply(pages, constant(shape_.page_size))), constant(-1));
  }

  static ValueId choose(Builder& b, ValueId index, std::span<const ValueId> candidates) {
    auto scope = b.at({Place::kEveryLayer, "attention.rotary"});
    ValueId chosen = candidates[0];
    for (size_t i = 1; i < candidates.size(); ++i) {
      ValueId is =
          b.compare(graph::Comparison::kEqual, index, b.constant(DType::kI32, static_cast<double>(i)));
      chosen = b.select(is, candidates[i], chosen);
    }
    return chosen;
  }

  /// Only of the tokens that are sampled from.
  ValueId head(ValueId x) {
    ValueId h;
    {
      auto scope = b_.at({Place::kNoLayer, "final_norm"});
      h = rmsNorm(b_, b_.takeRows(x, logit_token_), globals_.at("final_norm.weight"), config_.norm_epsilon);
      h = b_.convert(h, options_.activations);
    }
    auto scope = b_.at({Place::kNoLayer, "head"});
    ValueId weight = globals_.at(config_.tied_embedding ? "embed.weight" : "head.weight");
    ValueId logits = linear(b_, h, weight);
    if (config_.head_bias) {
      const ValueId bias = globals_.at("head.bias");
      logits = b_.add(logits, b_.broadcast(bias, b_.type(logits).shape, {1}));
    }
    if (config_.logits_divisor != 1.0)
      logits = b_.divide(logits, b_.constant(DType::kF32, config_.logits_divisor));
    return softCap(b_, logits, config_.final_soft_cap);
  }

  /// Rows without tokens give token 0.
  ValueId sample(ValueId logits) {
    auto scope = b_.at({Place::kNoLayer, "sample"});
    sampler_.logits = logits;
    sampler_.position = in_.lengths;  // the place that the drawn token takes in its sequence
    ValueId token =
        options_.sampling == Sampling::kFull ? buildSampler(b_, sampler_) : buildGreedySampler(b_, logits);
    ValueId zero = b_.constant(DType::kI32, 0);
    return b_.select(b_.compare(graph::Comparison::kGreater, in_.lengths, zero), token, zero);
  }

  const Model& model_;
  const DecoderConfig& config_;
  const StepShape& shape_;
  const StepOptions& options_;
  io::Container container_;
  StepProgram program_;
  Builder b_;
  ValueId tokens_ = -1, logit_token_ = -1;
  TokenInputs in_{};
  SamplerInputs sampler_{};
  LayerWeights globals_;
  std::vector<LayerWeights> layers_;  // unrolled
  std::vector<ValueId> stacked_;      // in a loop
  std::vector<ValueId> cos_, sin_;    // by rotary
  std::vector<Caches> caches_;
};

}  // namespace

Result<StepProgram> buildDecoder(const Model& model, const DecoderConfig& config, const StepShape& shape,
                                 const StepOptions& options, io::Container container) {
  SUBLANE_CHECK_OK(checkConfig(config));
  SUBLANE_CHECK_OK(checkShape(config, shape));
  if (options.layers_in_loop && !allLayersAlike(config))
    return inputError("{}: its layers are of several kinds, which no loop holds", config.model)
        .hint("unroll them: --layers unrolled");
  if (options.layers_in_loop && (hasRecurrentLayer(config) || config.rotaries.empty()))
    return inputError("{}: layers with a state of their own, or without rotation, are in no loop",
                      config.model)
        .hint("unroll them: --layers unrolled");
  for (DType dtype : {options.weights, options.activations, options.cache})
    if (!isFloat(dtype))
      return inputError("{} step: {} is not a float type", config.model, formats::name(dtype));
  return DecoderBuilder(model, config, shape, options, container).build();
}

}  // namespace sublane::models
