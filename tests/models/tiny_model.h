// Tiny models with weights from a hash (the formula of tools/reference/models/make_goldens.py), as a Hugging
// Face checkpoint or as the GGUF of the same model, and a Session that runs their step program on the
// interpreter with caches, pages and padding.
//
//   TinyModel tiny = hfModel("llama.json");
//   Session session(tiny.checkpoint, {.activations = DType::kF32, ...}, {.pages = 24, ...});
//   session.run({{.sequence = 0, .tokens = {5, 15, 39}}});
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "graph/interpreter.h"
#include "models/layers/rotary.h"
#include "models/layers/weights.h"
#include "models/models.h"

namespace sublane::models {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline std::string goldenPath(const std::string& name) {
  return std::string(SUBLANE_SOURCE_DIR) + "/tests/models/goldens/" + name;
}

/// Every goldens/*.json: a new model adds its files and nothing here.
inline std::vector<std::string> goldenNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(goldenPath("")))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// In [-1, 1), 24 bits.
inline double hashed(const std::string& name, uint32_t index) {
  uint32_t h = 2166136261u;
  for (unsigned char byte : name) h = (h ^ byte) * 16777619u;
  h += index * 0x9E3779B9u;
  h ^= h >> 16;
  h *= 0x85EBCA6Bu;
  h ^= h >> 13;
  h *= 0xC2B2AE35u;
  h ^= h >> 16;
  return static_cast<double>(h >> 8) / 8388608.0 - 1.0;
}

inline std::vector<float> tinyWeight(const std::string& hf_name, const graph::Shape& shape,
                                     bool stored_as_delta) {
  std::vector<float> values(static_cast<size_t>(graph::elementCount(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    double value = hashed(hf_name, static_cast<uint32_t>(i));
    if (hf_name.ends_with("A_log")) {  // of states that remember
      value = value - 1.5;
    } else if (shape.size() == 1) {
      const bool delta = stored_as_delta && hf_name.find("linear_attn") == std::string::npos;
      value = value * 0.25 + (delta ? 0.0 : 1.0);
    } else if (hf_name.find("embed") != std::string::npos) {
      value *= 2.0;
    } else {
      value *= 2.5 / std::sqrt(static_cast<double>(shape[1]));
    }
    values[i] = static_cast<float>(value);
  }
  return values;
}

struct TinyModel {
  io::Checkpoint checkpoint;
  std::deque<std::vector<float>> buffers;  // what the tensors point to

  void add(const std::string& name, graph::Shape shape, std::vector<float> values) {
    buffers.push_back(std::move(values));
    checkpoint.tensors.push_back({name, std::move(shape), formats::Packing::kF32,
                                  std::as_bytes(std::span<const float>(buffers.back())), 0});
  }
  std::vector<float>& values(const std::string& name) {
    for (size_t i = 0; i < checkpoint.tensors.size(); ++i)
      if (checkpoint.tensors[i].name == name) return buffers[i];
    ADD_FAILURE() << "no tensor " << name;
    return buffers.front();
  }
};

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().text();
    throw std::runtime_error(result.error().text());
  }
  return std::move(result).value();
}
inline void must(const Status& status) { ASSERT_TRUE(status.ok()) << status.error().text(); }

/// Every weight of the model: (name, layer), the global ones with layer -1.
inline std::vector<std::pair<WeightName, int64_t>> allWeights(const DecoderConfig& config) {
  std::vector<std::pair<WeightName, int64_t>> all;
  for (const WeightName& name : globalWeights(modelOf(config), config)) all.push_back({name, -1});
  for (int64_t layer = 0; layer < config.layers; ++layer)
    for (const WeightName& name : layerWeights(modelOf(config), config, layer)) all.push_back({name, layer});
  return all;
}

inline TinyModel hfModel(const std::string& config_file) {
  TinyModel tiny;
  tiny.checkpoint = must(io::openConfig(goldenPath(config_file)));
  DecoderConfig config = must(readConfig(tiny.checkpoint));
  for (const auto& [name, layer] : allWeights(config)) {
    for (const TensorSource& source : tensorSources(name, config, io::Container::kHuggingFace, layer)) {
      if (tiny.checkpoint.find(source.tensor) != nullptr) continue;  // a part of what is there
      graph::Shape shape = storedShape(name, config, io::Container::kHuggingFace);
      const bool delta =
          config.model.starts_with("gemma") || config.model == "qwen3_next" || config.model == "qwen3_5";
      tiny.add(source.tensor, shape, tinyWeight(source.tensor, shape, delta));
    }
  }
  return tiny;
}

inline io::MetadataValue number(double value) { return {value}; }
inline io::MetadataValue integer(int64_t value) { return {value}; }

/// "" where the container can't say what the configuration does.
inline std::string ggufArchitecture(const DecoderConfig& c) {
  if (modelOf(c).gguf_architectures.empty()) return "";
  const bool experts = c.experts.count > 0;
  const bool usual_scale =
      std::abs(c.attention_scale * std::sqrt(static_cast<double>(c.head_dim)) - 1) < 1e-9;
  if (!usual_scale || c.rotaries[0].scaling == Rotary::Scaling::kLinear) return "";
  if (c.model == "llama" && c.layer_window[0] != 0) return "";  // a Mistral with a window
  if (c.model == "gpt_oss") return "";                          // another form of the experts
  if (c.model == "qwen2" && c.layer_window.back() != 0) return "";
  if (c.model == "qwen3" && c.qkv_bias) return "";
  return c.model == "qwen3" && experts ? "qwen3moe" : c.model;
}

inline io::Metadata ggufMetadata(const DecoderConfig& c) {
  const std::string p = ggufArchitecture(c) + ".";
  io::Metadata m;
  m[p + "block_count"] = integer(c.layers);
  m[p + "context_length"] = integer(c.context);
  m[p + "embedding_length"] = integer(c.hidden);
  m[p + "feed_forward_length"] = integer(c.feed_forward);
  m[p + "attention.head_count"] = integer(c.heads);
  m[p + "attention.head_count_kv"] = integer(c.kv_heads);
  m[p + "attention.key_length"] = integer(c.head_dim);
  m[p + "attention.value_length"] = integer(c.head_dim);
  m[p + "attention.layer_norm_rms_epsilon"] = number(c.norm_epsilon);
  m[p + "rope.freq_base"] = number(c.rotaries[0].theta);
  m[p + "vocab_size"] = integer(c.vocabulary);
  m["general.architecture"] = {ggufArchitecture(c)};
  if (c.experts.count > 0) {
    m[p + "expert_count"] = integer(c.experts.count);
    m[p + "expert_used_count"] = integer(c.experts.per_token);
    if (c.model == "qwen3") m[p + "expert_feed_forward_length"] = integer(c.experts.feed_forward);
  }
  if (c.model == "phi3" || c.model == "gemma2")
    m[p + "attention.sliding_window"] = integer(c.layer_window[0]);
  if (c.model == "gemma2") {
    m[p + "attn_logit_softcapping"] = number(c.attention_soft_cap);
    m[p + "final_logit_softcapping"] = number(c.final_soft_cap);
  }
  if (c.model == "gemma3") {
    m[p + "attention.sliding_window"] = integer(c.layer_window[0]);
    m[p + "attention.sliding_window_pattern"] = integer(2);
    m[p + "rope.freq_base_swa"] = number(c.rotaries[1].theta);
  }
  return m;
}

/// The GGUF that a converter would write from the same model: q and k rows of llama interleaved, Gemma's
/// norms as gains, llama3 scaling as divisors.
inline TinyModel ggufModel(const std::string& config_file) {
  TinyModel hf = hfModel(config_file), gguf;
  DecoderConfig config = must(readConfig(hf.checkpoint));
  gguf.checkpoint.source = "tiny.gguf";
  gguf.checkpoint.architecture = ggufArchitecture(config);
  gguf.checkpoint.metadata = ggufMetadata(config);
  for (const auto& [name, layer] : allWeights(config)) {
    graph::Shape shape = storedShape(name, config, io::Container::kGguf);
    TensorSource target = tensorSources(name, config, io::Container::kGguf, layer)[0];
    if (gguf.checkpoint.find(target.tensor) != nullptr) continue;
    std::vector<float> stored;  // GGUF has the experts in one tensor
    for (const TensorSource& source : tensorSources(name, config, io::Container::kHuggingFace, layer)) {
      const std::vector<float>& part = hf.values(source.tensor);
      stored.insert(stored.end(), part.begin(), part.end());
    }
    std::vector<float> values = stored;
    if (isNorm(name.parameter) && config.model.starts_with("gemma"))
      for (float& value : values) value += 1.0f;
    bool q = name.parameter == "attention.q.weight", k = name.parameter == "attention.k.weight";
    if (config.model == "llama" && (q || k)) {
      int64_t width = config.head_dim, half = width / 2, columns = shape[1];
      for (int64_t row = 0; row < shape[0]; ++row) {  // the converter's formula, written anew
        int64_t head = row / width, pair = (row % width) / 2, side = row % 2;
        std::copy_n(stored.begin() + (head * width + side * half + pair) * columns, columns,
                    values.begin() + row * columns);
      }
    }
    gguf.add(target.tensor, shape, std::move(values));
  }
  if (config.rotaries[0].scaling == Rotary::Scaling::kLlama3) {
    Rotary plain = config.rotaries[0];
    plain.scaling = Rotary::Scaling::kNone;
    std::vector<double> before = rotaryFrequencies(plain), after = rotaryFrequencies(config.rotaries[0]);
    std::vector<float> divisors;
    for (size_t i = 0; i < before.size(); ++i) divisors.push_back(static_cast<float>(before[i] / after[i]));
    gguf.add("rope_freqs.weight", {config.head_dim / 2}, divisors);
  }
  return gguf;
}

/// Unrolled, and in a loop where all layers are of one kind (else that is refused, see step_test).
inline std::vector<bool> loops(const io::Checkpoint& checkpoint) {
  const std::vector<LayerKind> kinds = must(readConfig(checkpoint)).layer_kinds;
  const bool alike = std::ranges::all_of(kinds, [&](const LayerKind& kind) { return kind == kinds[0]; });
  return alike ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

/// GGUF knows no expert among dense layers, no norm of Mistral's name.
inline bool hasGguf(const TinyModel& tiny) {
  const DecoderConfig config = must(readConfig(tiny.checkpoint));
  return ggufArchitecture(config) != "" && loops(tiny.checkpoint).size() == 2;
}

/// Tokens that one sequence brings to a step; they follow what it brought before.
struct Piece {
  int sequence = 0;
  std::vector<int32_t> tokens;
};
/// What a row may ask of the sampler.
struct Settings {
  float temperature = 0;
  int32_t top_k = 0;
  float top_p = 1;
  uint32_t seed = 0;
};

/// A little engine: pages, slots, padding. Caches start as NaN, and so does everything that must not matter.
class Session {
 public:
  struct Options {
    int64_t pages = 24, page_size = 4, pages_per_sequence = 8, state_slots = 7;
    int64_t spare_tokens = 0, spare_rows = 0, spare_queries = 0;  // padding
    uint32_t page_seed = 0;                                       // order in which pages are given out
  };
  struct Row {
    int32_t token;
    std::vector<double> logits;
  };

  Session(const io::Checkpoint& checkpoint, StepOptions step) : Session(checkpoint, step, Options{}) {}
  Session(const io::Checkpoint& checkpoint, StepOptions step, Options options)
      : checkpoint_(checkpoint), step_(step), options_(options), config_(must(readConfig(checkpoint))) {
    step_.return_logits = true;
    for (int64_t i = 0; i < options_.pages; ++i) free_.push_back(static_cast<int32_t>(i));
    for (size_t i = free_.size(); options_.page_seed != 0 && i > 1; --i)
      std::swap(free_[i - 1], free_[(options_.page_seed * 2654435761u + i * 40503u) % i]);
    for (int64_t i = 0; i < options_.state_slots; ++i)
      free_slots_.push_back(static_cast<int32_t>((i * 3 + options_.page_seed) % options_.state_slots));
  }

  const DecoderConfig& config() const { return config_; }
  std::map<int, Settings> settings;  // by sequence
  /// Ends a sequence: another one takes its state slot, as it was left, and pages that were not used yet.
  void end(int sequence) {
    free_slots_.push_front(state_slots_.at(sequence));
    state_slots_.erase(sequence);
    pages_.erase(sequence);
    lengths_.erase(sequence);
  }
  /// What runs the program; another folder's test may put a compiled one here.
  std::function<Result<std::vector<graph::Array>>(const graph::Graph&, std::span<const graph::Array>)>
      execute = graph::interpret;

  /// One row a piece, in order.
  std::vector<Row> run(const std::vector<Piece>& pieces) {
    StepShape shape = shapeOf(pieces);
    StepProgram program = must(buildStep(config_, shape, step_, checkpoint_.container));
    Inputs in = inputsOf(pieces, shape);
    std::vector<graph::Array> arguments;
    for (const graph::Parameter& parameter : program.graph.parameters)
      arguments.push_back(argument(program, parameter, in));
    std::vector<graph::Array> results = must(execute(program.graph, arguments));
    std::vector<Row> rows(pieces.size());
    for (size_t i = 0; i < results.size(); ++i) keep(program.graph.outputs[i].name, results[i], rows);
    return rows;
  }

 private:
  using Inputs = std::map<std::string, std::vector<double>>;

  StepShape shapeOf(const std::vector<Piece>& pieces) const {
    StepShape shape{.pages_per_sequence = options_.pages_per_sequence,
                    .page_size = options_.page_size,
                    .pages = options_.pages,
                    .state_slots = options_.state_slots};
    shape.tokens = options_.spare_tokens;
    shape.queries = 1;
    for (const Piece& piece : pieces) {
      shape.tokens += static_cast<int64_t>(piece.tokens.size());
      shape.queries = std::max(shape.queries, static_cast<int64_t>(piece.tokens.size()));
    }
    shape.queries = std::min(shape.tokens, shape.queries + options_.spare_queries);
    shape.sequences = static_cast<int64_t>(pieces.size()) + options_.spare_rows;
    return shape;
  }

  int32_t slotOf(int sequence, int64_t position) {
    std::vector<int32_t>& pages = pages_[sequence];
    while (static_cast<int64_t>(pages.size()) * options_.page_size <= position) {
      pages.push_back(free_.at(used_++));
    }
    return static_cast<int32_t>(pages[static_cast<size_t>(position / options_.page_size)] *
                                    options_.page_size +
                                position % options_.page_size);
  }

  Inputs inputsOf(const std::vector<Piece>& pieces, const StepShape& shape) {
    auto filled = [](int64_t count, double value) {
      return std::vector<double>(static_cast<size_t>(count), value);
    };
    Inputs in;
    in["tokens"] = filled(shape.tokens, 100000);  // padding: anything
    in["positions"] = filled(shape.tokens, -77);
    in["token_sequence"] = filled(shape.tokens, static_cast<double>(shape.sequences));
    in["token_column"] = filled(shape.tokens, 12345);
    in["query_token"] = filled(shape.sequences * shape.queries, -1);
    in["kv_slots"] = filled(shape.tokens, -1);
    if (options_.spare_tokens > 1)  // a slot past the cache must be dropped as well
      in["kv_slots"].back() = static_cast<double>(shape.pages * shape.page_size + 1);
    in["page_table"] = filled(shape.sequences * shape.pages_per_sequence, 999999);
    in["lengths"] = filled(shape.sequences, 0);
    in["logit_token"] = filled(shape.sequences, -5);
    in["state_slots"] = filled(shape.sequences, -1);
    in["temperature"] = in["top_p"] = filled(shape.sequences, kNan);
    in["top_k"] = in["seed"] = filled(shape.sequences, 0);
    size_t token = 0;
    for (size_t row = 0; row < pieces.size(); ++row) placePiece(pieces[row], row, shape, token, in);
    return in;
  }

  void placePiece(const Piece& piece, size_t row, const StepShape& shape, size_t& token, Inputs& in) {
    size_t queries = static_cast<size_t>(shape.queries),
           pages = static_cast<size_t>(shape.pages_per_sequence);
    int64_t& length = lengths_[piece.sequence];
    for (size_t column = 0; column < piece.tokens.size(); ++column, ++token, ++length) {
      in["tokens"][token] = piece.tokens[column];
      in["positions"][token] = static_cast<double>(length);
      in["token_sequence"][token] = static_cast<double>(row);
      in["token_column"][token] = static_cast<double>(column);
      in["query_token"][row * queries + column] = static_cast<double>(token);
      in["kv_slots"][token] = slotOf(piece.sequence, length);
    }
    const std::vector<int32_t>& table = pages_[piece.sequence];
    std::copy(table.begin(), table.end(), in["page_table"].begin() + static_cast<ptrdiff_t>(row * pages));
    in["lengths"][row] = static_cast<double>(length);
    in["logit_token"][row] = static_cast<double>(token - 1);
    if (!state_slots_.contains(piece.sequence)) {
      state_slots_[piece.sequence] = free_slots_.at(0);
      free_slots_.pop_front();
    }
    in["state_slots"][row] = state_slots_[piece.sequence];
    const Settings& wanted = settings[piece.sequence];
    in["temperature"][row] = wanted.temperature;
    in["top_k"][row] = wanted.top_k;
    in["top_p"][row] = wanted.top_p;
    in["seed"][row] = wanted.seed;
  }

  graph::Array argument(const StepProgram& program, const graph::Parameter& parameter, const Inputs& in) {
    const graph::Type& type = program.graph.type(parameter.value);
    if (parameter.role == graph::Role::kInput) return graph::arrayOf(type, in.at(parameter.name));
    auto found = kept_.find(parameter.name);
    if (found != kept_.end()) return found->second;
    std::vector<double> values(static_cast<size_t>(graph::elementCount(type.shape)), kNan);  // caches
    for (const ParameterSource& source : program.weights) {
      if (source.parameter != parameter.name) continue;
      std::vector<float> floats(values.size());
      must(readParameter(checkpoint_, source, floats));
      values.assign(floats.begin(), floats.end());
    }
    return kept_[parameter.name] = graph::arrayOf(type, values);
  }

  void keep(const std::string& output, const graph::Array& array, std::vector<Row>& rows) {
    if (output.starts_with("cache.")) {
      kept_[output] = array;
      return;
    }
    std::vector<double> values = graph::values(array);
    for (size_t row = 0; row < rows.size(); ++row) {
      size_t width = static_cast<size_t>(config_.vocabulary);
      if (output == "sampled") rows[row].token = static_cast<int32_t>(values[row]);
      if (output == "logits")
        rows[row].logits.assign(values.begin() + static_cast<ptrdiff_t>(row * width),
                                values.begin() + static_cast<ptrdiff_t>((row + 1) * width));
    }
    for (size_t row = rows.size(); output == "sampled" && row < values.size(); ++row)
      EXPECT_EQ(values[row], 0);
  }

  const io::Checkpoint& checkpoint_;
  StepOptions step_;
  Options options_;
  DecoderConfig config_;
  std::map<std::string, graph::Array> kept_;  // weights and caches
  std::vector<int32_t> free_;
  size_t used_ = 0;
  std::map<int, std::vector<int32_t>> pages_;
  std::map<int, int64_t> lengths_;
  std::deque<int32_t> free_slots_;
  std::map<int, int32_t> state_slots_;
};

inline StepOptions inFloat32(bool loop = false) {
  return {.weights = DType::kF32, .activations = DType::kF32, .cache = DType::kF32, .layers_in_loop = loop};
}

inline double largestDifference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::isfinite(a[i] - b[i]) ? std::max(worst, std::abs(a[i] - b[i])) : INFINITY;
  return worst;
}

}  // namespace sublane::models
