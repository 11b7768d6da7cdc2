#include "models/layers/weights.h"

#include <fmt/ranges.h>

#include <map>
#include <numeric>
#include <set>

#include "base/check.h"
#include "models/layers/layers.h"

namespace sublane::models {
namespace {

/// No family's own: a file of any of them may hold it, and then it counts.
constexpr WeightName kHeadBias = {"head.bias", "output.bias", "lm_head.bias"};

std::string list(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

/// Tensors of no weight that the model knows: read by read_config, or derived from the configuration.
bool carriesNoWeight(const std::string& tensor, const DecoderConfig& config) {
  if (tensor == "rope_freqs.weight")
    return !config.rotaries.empty() && !config.rotaries[0].frequency_divisors.empty();
  if (!config.left_aside.empty() && tensor.starts_with(config.left_aside)) return true;
  for (int64_t layer = config.layers; layer < config.layers + config.prediction_layers; ++layer)
    if (tensor.starts_with(fmt::format("model.layers.{}.", layer))) return true;
  return tensor.ends_with(".rotary_emb.inv_freq");
}

/// A tied model whose file stores the head as well: the same bytes, or we can't know which is meant.
std::string checkTiedHead(const io::Checkpoint& checkpoint, const Model& model, const std::string& head) {
  const io::Tensor* stored = checkpoint.find(head);
  const WeightName& embedding = model.global_weights[0];
  bool gguf = checkpoint.container == io::Container::kGguf;
  const io::Tensor* embed = checkpoint.find(std::string(gguf ? embedding.gguf : embedding.hf));
  if (stored == nullptr || embed == nullptr) return "";
  bool same =
      !stored->quantised && !embed->quantised && stored->packing == embed->packing &&
      stored->shape == embed->shape &&
      std::equal(stored->bytes.begin(), stored->bytes.end(), embed->bytes.begin(), embed->bytes.end());
  return same ? "" : fmt::format("{} differs from {}, but the configuration ties them", head, embed->name);
}

struct Wanted {
  std::string tensor;
  graph::Shape shape;
  Layout layout;
};

/// Which rows of a tensor a part is: some of each block of `stride` rows, or `rows` in a row.
struct PartRows {
  int64_t first = 0, rows = 0, stride = 0;
  int64_t all = 0;  // rows of the tensor
};
PartRows rowsOf(const DecoderConfig& config, Part part) {
  const int64_t q = config.heads * config.head_dim, kv = config.kv_heads * config.head_dim;
  const LatentAttention& n = config.latent;
  const Recurrence& r = config.recurrence;
  const int64_t shared = r.key_heads > 0 ? r.heads / r.key_heads : 0;  // value heads of a key head
  const int64_t keys = r.key_heads * r.key, values = r.heads * r.value;
  // Of each key head, and of all of them; of Mamba2's one matrix.
  const int64_t each = 2 * r.key + 2 * shared * r.value, qkvz = 2 * keys + 2 * values;
  const int64_t mamba = values + r.channels() + r.heads, expert = config.experts.feed_forward;
  switch (part) {
    case Part::kWhole:
      return {};
    case Part::kQuery:
      return {.first = 0, .all = q + 2 * kv};
    case Part::kKey:
      return {.first = q, .all = q + 2 * kv};
    case Part::kValue:
      return {.first = q + kv, .all = q + 2 * kv};
    case Part::kGate:
      return {.first = 0, .all = 2 * config.feed_forward};
    case Part::kUp:
      return {.first = config.feed_forward, .all = 2 * config.feed_forward};
    case Part::kLatentKey:
      return {
          .first = 0, .rows = n.nope, .stride = n.nope + n.value, .all = config.heads * (n.nope + n.value)};
    case Part::kExpertGate:
      return {.first = 0, .rows = 1, .stride = 2, .all = 2 * config.experts.feed_forward};
    case Part::kExpertUp:
      return {.first = 1, .rows = 1, .stride = 2, .all = 2 * config.experts.feed_forward};
    case Part::kExpertGateFirst:
      return {.first = 0, .rows = expert, .stride = 2 * expert, .all = 2 * expert};
    case Part::kExpertUpLast:
      return {.first = expert, .rows = expert, .stride = 2 * expert, .all = 2 * expert};
    case Part::kHeadQuery:
      return {.first = 0, .rows = config.head_dim, .stride = 2 * config.head_dim, .all = 2 * q};
    case Part::kHeadGate:
      return {.first = config.head_dim, .rows = config.head_dim, .stride = 2 * config.head_dim, .all = 2 * q};
    case Part::kDeltaQuery:
      return {.first = 0, .rows = r.key, .stride = each, .all = qkvz};
    case Part::kDeltaKey:
      return {.first = r.key, .rows = r.key, .stride = each, .all = qkvz};
    case Part::kDeltaValue:
      return {.first = 2 * r.key, .rows = shared * r.value, .stride = each, .all = qkvz};
    case Part::kDeltaGate:
      return {.first = 2 * r.key + shared * r.value, .rows = shared * r.value, .stride = each, .all = qkvz};
    case Part::kDeltaBeta:
      return {.first = 0, .rows = shared, .stride = 2 * shared, .all = 2 * r.heads};
    case Part::kDeltaStep:
      return {.first = shared, .rows = shared, .stride = 2 * shared, .all = 2 * r.heads};
    case Part::kQueryFirst:
      return {.first = 0, .all = r.channels()};
    case Part::kKeyNext:
      return {.first = keys, .all = r.channels()};
    case Part::kValueLast:
      return {.first = 2 * keys, .all = r.channels()};
    case Part::kMambaGate:
      return {.first = 0, .all = mamba};
    case Part::kMambaMixed:
      return {.first = values, .all = mamba};
    case Part::kMambaStep:
      return {.first = values + r.channels(), .all = mamba};
    case Part::kLatentValue:
      return {.first = n.nope,
              .rows = n.value,
              .stride = n.nope + n.value,
              .all = config.heads * (n.nope + n.value)};
  }
  return {};
}

/// Each tensor once, in the model's order, though several parameters may lie in it.
std::vector<Wanted> wantedTensors(const Model& model, const DecoderConfig& config, io::Container container) {
  std::vector<Wanted> wanted;
  std::set<std::string> seen;
  auto want = [&](const WeightName& name, int64_t layer) {
    for (TensorSource& source : tensorSources(name, config, container, layer))
      if (seen.insert(source.tensor).second)
        wanted.push_back({std::move(source.tensor), storedShape(name, config, container), source.layout});
  };
  for (const WeightName& name : globalWeights(model, config)) want(name, -1);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    for (const WeightName& name : layerWeights(model, config, layer)) want(name, layer);
  return wanted;
}

/// Quantised matrices have rows of outputs, whatever the plain form of the family's files is.
graph::Shape shapeIn(const io::Tensor& tensor, const Wanted& wanted) {
  graph::Shape shape = wanted.shape;
  if (tensor.quantised && wanted.layout == Layout::kTransposed)
    std::swap(shape[shape.size() - 2], shape.back());
  return shape;
}

/// Numbers so narrow that a file of weights means them times a scale.
bool isCodes(formats::Packing packing) {
  using formats::Packing;
  return packing == Packing::kF8_E4M3 || packing == Packing::kF8_E5M2 || packing == Packing::kF8_E8M0 ||
         packing == Packing::kF4;
}

std::string missingText(const Wanted& wanted, const std::string& head) {
  std::string text = fmt::format("missing {} {}", wanted.tensor, list(wanted.shape));
  if (wanted.tensor == head) text += ", and tie_word_embeddings is false";
  return text;
}

}  // namespace

namespace {

bool ofEachExpert(std::string_view stored) { return stored.find("{}") != std::string_view::npos; }

bool has(const DecoderConfig& config, const LayerKind& kind, Needs needs) {
  const bool experts = kind.feed_forward == FeedForward::kExperts;
  switch (needs) {
    case Needs::kAlways:
      return true;
    case Needs::kLatentQuery:
      return config.latent.query_rank > 0;
    case Needs::kPlainQuery:
      return config.latent.query_rank == 0;
    case Needs::kQkvBias:
      return config.qkv_bias;
    case Needs::kOutputBias:
      return config.output_bias;
    case Needs::kDense:
      return !experts;
    case Needs::kExperts:
      return experts;
    case Needs::kChoiceBias:
      return experts && config.experts.choice_bias;
    case Needs::kSharedExpert:
      return experts && config.experts.shared_feed_forward > 0;
    case Needs::kExpertBias:
      return experts && config.experts.bias;
    case Needs::kSinks:
      return config.sinks;
    case Needs::kSharedGate:
      return experts && config.experts.shared_gate;
    case Needs::kAttention:
      return kind.mixer == Mixer::kAttention;
    case Needs::kGatedDelta:
      return kind.mixer == Mixer::kGatedDelta;
    case Needs::kMamba2:
      return kind.mixer == Mixer::kMamba2;
    case Needs::kConvolutionBias:
      return isRecurrent(kind.mixer) && config.recurrence.convolution_bias;
  }
  return false;
}

}  // namespace

graph::Shape weightShape(const DecoderConfig& config, std::string_view parameter) {
  const Experts& e = config.experts;
  const LatentAttention& n = config.latent;
  const Recurrence& r = config.recurrence;
  const int64_t keys = r.key_heads * r.key, values = r.heads * r.value;
  const bool latent = n.latent > 0;
  int64_t q = config.heads * (latent ? n.nope + n.rope : config.head_dim),
          kv = config.kv_heads * config.head_dim;
  int64_t mixed = latent ? config.heads * n.value : q;  // what the output projection takes
  const std::map<std::string_view, graph::Shape> shapes = {
      {"embed.weight", {config.vocabulary, config.hidden}},
      {"head.weight", {config.vocabulary, config.hidden}},
      {"head.bias", {config.vocabulary}},
      {"attention.q.weight", {q, config.hidden}},
      {"attention.k.weight", {kv, config.hidden}},
      {"attention.v.weight", {kv, config.hidden}},
      {"attention.o.weight", {config.hidden, mixed}},
      {"attention.gate.weight", {q, config.hidden}},
      {"delta.q.weight", {keys, config.hidden}},
      {"delta.k.weight", {keys, config.hidden}},
      {"delta.v.weight", {values, config.hidden}},
      {"delta.gate.weight", {values, config.hidden}},
      {"delta.beta.weight", {r.heads, config.hidden}},
      {"delta.step.weight", {r.heads, config.hidden}},
      {"delta.step_bias", {r.heads}},
      {"delta.decay", {r.heads}},
      {"delta.conv.weight", {r.channels(), 1, r.convolution}},
      {"delta.norm.weight", {r.value}},
      {"delta.out.weight", {config.hidden, values}},
      {"mamba.gate.weight", {values, config.hidden}},
      {"mamba.mixed.weight", {r.channels(), config.hidden}},
      {"mamba.step.weight", {r.heads, config.hidden}},
      {"mamba.step_bias", {r.heads}},
      {"mamba.decay", {r.heads}},
      {"mamba.skip", {r.heads}},
      {"mamba.conv.weight", {r.channels(), 1, r.convolution}},
      {"mamba.conv.bias", {r.channels()}},
      {"mamba.norm.weight", {values}},
      {"mamba.out.weight", {config.hidden, values}},
      {"attention.q.bias", {q}},
      {"attention.k.bias", {kv}},
      {"attention.v.bias", {kv}},
      {"attention.o.bias", {config.hidden}},
      {"attention.q_a.weight", {n.query_rank, config.hidden}},
      {"attention.q_a_norm.weight", {n.query_rank}},
      {"attention.q_b.weight", {config.heads * (n.nope + n.rope), n.query_rank}},
      {"attention.kv_a.weight", {n.latent + n.rope, config.hidden}},
      {"attention.kv_a_norm.weight", {n.latent}},
      {"attention.k_b.weight", {config.heads, n.nope, n.latent}},
      {"attention.v_b.weight", {config.heads, n.value, n.latent}},
      {"attention.q_norm.weight", {config.head_dim}},
      {"attention.k_norm.weight", {config.head_dim}},
      {"mlp.gate.weight", {config.feed_forward, config.hidden}},
      {"mlp.up.weight", {config.feed_forward, config.hidden}},
      {"mlp.down.weight", {config.hidden, config.feed_forward}},
      {"experts.router.weight", {e.count, config.hidden}},
      {"experts.choice_bias", {e.count}},
      {"experts.router.bias", {e.count}},
      {"experts.gate.bias", {e.count, e.feed_forward}},
      {"experts.up.bias", {e.count, e.feed_forward}},
      {"experts.down.bias", {e.count, config.hidden}},
      {"attention.sinks", {config.heads}},
      {"experts.gate.weight", {e.count, e.feed_forward, config.hidden}},
      {"experts.up.weight", {e.count, e.feed_forward, config.hidden}},
      {"experts.down.weight", {e.count, config.hidden, e.feed_forward}},
      {"shared.gate.weight", {e.shared_feed_forward, config.hidden}},
      {"shared.up.weight", {e.shared_feed_forward, config.hidden}},
      {"shared.down.weight", {config.hidden, e.shared_feed_forward}},
      {"shared.weigh.weight", {1, config.hidden}},
  };
  if (auto found = shapes.find(parameter); found != shapes.end()) return found->second;
  SUBLANE_CHECK(isNorm(parameter), "weight {}: no shape is known for it", parameter);
  return {config.hidden};
}

graph::Shape storedShape(const WeightName& name, const DecoderConfig& config, io::Container container) {
  graph::Shape shape = weightShape(config, name.parameter);
  const bool gguf = container == io::Container::kGguf;
  if (ofEachExpert(gguf ? name.gguf : name.hf)) shape.erase(shape.begin());
  const Part part = gguf ? name.gguf_part : name.hf_part;
  if (part == Part::kExpertGate || part == Part::kExpertUp || part == Part::kExpertGateFirst ||
      part == Part::kExpertUpLast)
    shape[1] = rowsOf(config, part).all;
  else if (part != Part::kWhole)
    shape = {rowsOf(config, part).all, shape.back()};
  if ((gguf ? name.gguf_layout : name.hf_layout) == Layout::kTransposed)
    std::swap(shape[shape.size() - 2], shape.back());
  return shape;
}

bool isNorm(std::string_view parameter) { return parameter.find("norm.weight") != std::string_view::npos; }

std::vector<TensorSource> tensorSources(const WeightName& name, const DecoderConfig& config,
                                        io::Container container, int64_t layer) {
  bool gguf = container == io::Container::kGguf;
  std::string prefix;
  if (layer >= 0) prefix = fmt::format("{}.{}.", gguf ? "blk" : "model.layers", layer);
  const std::string_view stored = gguf ? name.gguf : name.hf;
  TensorSource source{prefix + std::string(stored), gguf ? name.gguf_layout : name.hf_layout};
  if (source.layout == Layout::kUnpermuteRotaryPairs)
    source.heads = name.parameter.starts_with("attention.q.") ? config.heads : config.kv_heads;
  if (source.layout == Layout::kUnpermuteRotaryTail) {
    source.heads = name.parameter == "attention.kv_a.weight" ? 1 : config.heads;
    source.tail = config.latent.rope;
    if (config.rotaries[0].pairs == Rotary::Pairs::kHalves) source.layout = Layout::kAsStored;
  }
  const PartRows part = rowsOf(config, gguf ? name.gguf_part : name.hf_part);
  // A vector an expert: its elements are the rows.
  if (part.stride > 0 && name.parameter.ends_with(".bias")) source.width = 1;
  source.first_row = part.first;
  source.block_rows = part.rows;
  source.block_stride = part.stride;
  if (!ofEachExpert(stored)) return {source};
  std::vector<TensorSource> experts;
  const size_t place = prefix.size() + stored.find("{}");
  for (int64_t expert = 0; expert < config.experts.count; ++expert) {
    experts.push_back(source);
    experts.back().tensor.replace(place, 2, std::to_string(expert));
  }
  return experts;
}

LayerKind layerKind(const DecoderConfig& config, int64_t layer) {
  return config.layer_kinds.empty() ? LayerKind{} : config.layer_kinds[static_cast<size_t>(layer)];
}

std::vector<WeightName> layerWeights(const Model& model, const DecoderConfig& config, int64_t layer) {
  std::vector<WeightName> weights;
  for (const WeightName& name : model.layer_weights)
    if (has(config, layerKind(config, layer), name.needs)) weights.push_back(name);
  return weights;
}

std::vector<WeightName> globalWeights(const Model& model, const DecoderConfig& config) {
  std::vector<WeightName> weights;
  for (const WeightName& name : model.global_weights)
    if (name.parameter != "head.weight" || !config.tied_embedding) weights.push_back(name);
  if (config.head_bias) weights.push_back(kHeadBias);
  return weights;
}

int64_t parameterCount(const DecoderConfig& config) {
  const Model& model = modelOf(config);
  int64_t count = 0;
  for (const WeightName& name : globalWeights(model, config))
    count += graph::elementCount(weightShape(config, name.parameter));
  for (int64_t layer = 0; layer < config.layers; ++layer)
    for (const WeightName& name : layerWeights(model, config, layer))
      count += graph::elementCount(weightShape(config, name.parameter));
  return count;
}

Status checkTensors(const io::Checkpoint& checkpoint, const DecoderConfig& config) {
  const Model& model = modelOf(config);
  bool gguf = checkpoint.container == io::Container::kGguf;
  std::string head;
  for (const WeightName& name : model.global_weights)
    if (name.parameter == "head.weight") head = std::string(gguf ? name.gguf : name.hf);
  std::map<std::string, const io::Tensor*> stored;
  for (const io::Tensor& tensor : checkpoint.tensors) stored[tensor.name] = &tensor;
  std::vector<std::string> faults;
  std::set<std::string> used;
  for (const Wanted& wanted : wantedTensors(model, config, checkpoint.container)) {
    used.insert(wanted.tensor);
    auto found = stored.find(wanted.tensor);
    if (found == stored.end()) {
      faults.push_back(missingText(wanted, head));
    } else if (const graph::Shape shape = shapeIn(*found->second, wanted); found->second->shape != shape) {
      faults.push_back(fmt::format("{} has shape {}, the configuration needs {}", wanted.tensor,
                                   list(found->second->shape), list(shape)));
    } else if (!found->second->quantised && isCodes(found->second->packing)) {
      faults.push_back(fmt::format("{} holds {} codes, and nothing says their scale", wanted.tensor,
                                   formats::info(found->second->packing).name));
    } else if (!found->second->quantised && formats::isInteger(found->second->packing)) {
      faults.push_back(
          fmt::format("{} holds integers ({})", wanted.tensor, formats::info(found->second->packing).name));
    }
  }
  if (config.tied_embedding) {
    if (std::string fault = checkTiedHead(checkpoint, model, head); !fault.empty()) faults.push_back(fault);
    used.insert(head);
  }
  for (const io::Tensor& tensor : checkpoint.tensors)
    if (!used.contains(tensor.name) && !carriesNoWeight(tensor.name, config))
      faults.push_back(
          fmt::format("extra {} {}, which {} does not use", tensor.name, list(tensor.shape), model.name));
  if (faults.empty()) return Ok{};
  return inputError("{}: {} tensor{} model {}:\n    {}", checkpoint.source, faults.size(),
                    faults.size() == 1 ? " does not fit" : "s do not fit", model.name,
                    fmt::join(faults, "\n    "))
      .hint("the file is damaged, or of another architecture than its metadata says");
}

bool storesHeadBias(const io::Checkpoint& checkpoint) {
  const bool gguf = checkpoint.container == io::Container::kGguf;
  return checkpoint.find(std::string(gguf ? kHeadBias.gguf : kHeadBias.hf)) != nullptr;
}

std::vector<int64_t> unpermuteRotaryPairs(int64_t rows, int64_t heads) {
  std::vector<int64_t> stored;
  int64_t width = rows / heads, half = width / 2;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t head = row / width, channel = row % width;
    stored.push_back(head * width + 2 * (channel % half) + channel / half);
  }
  return stored;
}

std::vector<int64_t> permuteRotaryPairs(int64_t rows, int64_t heads) {
  std::vector<int64_t> halves(static_cast<size_t>(rows));
  std::vector<int64_t> stored = unpermuteRotaryPairs(rows, heads);
  for (size_t row = 0; row < stored.size(); ++row)
    halves[static_cast<size_t>(stored[row])] = static_cast<int64_t>(row);
  return halves;
}

std::vector<int64_t> storedRows(const TensorSource& source, int64_t rows) {
  if (source.block_rows > 0) {
    std::vector<int64_t> stored;
    for (int64_t block = source.first_row; block < rows; block += source.block_stride)
      for (int64_t row = block; row < block + source.block_rows; ++row) stored.push_back(row);
    return stored;
  }
  if (source.layout == Layout::kUnpermuteRotaryTail) {
    const int64_t width = rows / source.heads;
    const std::vector<int64_t> tail = unpermuteRotaryPairs(source.tail, 1);
    std::vector<int64_t> stored;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t in_tail = row % width - (width - source.tail);
      stored.push_back(in_tail < 0 ? row : row - in_tail + tail[static_cast<size_t>(in_tail)]);
    }
    return stored;
  }
  if (source.layout != Layout::kUnpermuteRotaryPairs) return {};
  SUBLANE_CHECK(source.heads > 0 && rows % (2 * source.heads) == 0, "{}: {} rows are not {} heads of pairs",
                source.tensor, rows, source.heads);
  return unpermuteRotaryPairs(rows, source.heads);
}

namespace {

/// Float32 values of `count` consecutive stored rows.
Status readStored(const io::Tensor& tensor, int64_t first, int64_t count, std::span<float> out) {
  if (tensor.quantised) return formats::dequantize(*tensor.quantised, {first, first + count}, out);
  const int64_t bytes =
      formats::packedBytes(tensor.packing, static_cast<int64_t>(out.size()) / std::max<int64_t>(count, 1));
  return formats::dequantize(
      tensor.packing,
      tensor.bytes.subspan(static_cast<size_t>(first * bytes), static_cast<size_t>(count * bytes)), out);
}

/// A matrix [in, out], or one an expert [experts, in, out], as rows of outputs: row i is output `rows[i]`,
/// counted through all experts. What is stored is unpacked row by row, once for each expert that is asked
/// for.
Status readOutputs(const io::Tensor& tensor, std::span<const int64_t> rows, std::span<float> out) {
  const size_t rank = tensor.shape.size();
  const int64_t width = tensor.shape[rank - 2], outputs = tensor.shape[rank - 1];
  std::vector<float> stored(static_cast<size_t>(outputs));
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const int64_t expert = rows[begin] / outputs;
    while (end < rows.size() && rows[end] / outputs == expert) ++end;
    for (int64_t column = 0; column < width; ++column) {
      SUBLANE_CHECK_OK(readStored(tensor, expert * width + column, 1, stored));
      for (size_t row = begin; row < end; ++row)
        out[row * static_cast<size_t>(width) + static_cast<size_t>(column)] =
            stored[static_cast<size_t>(rows[row] % outputs)];
    }
  }
  return Ok{};
}

/// The quantised form of gpt-oss' experts is stored as rows of outputs, the plain one is not.
bool isTransposed(const io::Tensor& tensor, Layout layout) {
  return layout == Layout::kTransposed && tensor.shape.size() >= 2 && !tensor.quantised;
}

}  // namespace

Status readRows(const io::Checkpoint& checkpoint, const TensorSource& source, int64_t first_row,
                std::span<float> out) {
  const io::Tensor* tensor = checkpoint.find(source.tensor);
  if (tensor == nullptr) return inputError("{}: missing {}", checkpoint.source, source.tensor);
  const bool transposed = isTransposed(*tensor, source.layout);
  const std::vector<int64_t>& shape = tensor->shape;
  int64_t width = source.width > 0 ? source.width
                  : shape.empty()  ? 1
                                   : shape[transposed ? shape.size() - 2 : shape.size() - 1];
  int64_t rows = width == 0 ? 0 : graph::elementCount(shape) / width;
  int64_t count = width == 0 ? 0 : static_cast<int64_t>(out.size()) / width;
  std::vector<int64_t> order = storedRows(source, rows);
  if (order.empty() && transposed) {
    order.resize(static_cast<size_t>(rows));
    std::iota(order.begin(), order.end(), int64_t{0});
  }
  if (order.empty())
    first_row += source.first_row;
  else
    rows = static_cast<int64_t>(order.size());
  if (count * width != static_cast<int64_t>(out.size()) || first_row < 0 || first_row + count > rows)
    return inputError("{}: {} {} can't give {} values from row {} on", checkpoint.source, source.tensor,
                      list(shape), out.size(), first_row);
  if (transposed)
    return readOutputs(
        *tensor, std::span(order).subspan(static_cast<size_t>(first_row), static_cast<size_t>(count)), out);
  if (order.empty()) SUBLANE_CHECK_OK(readStored(*tensor, first_row, count, out));
  for (int64_t i = 0; !order.empty() && i < count; ++i)
    SUBLANE_CHECK_OK(readStored(*tensor, order[static_cast<size_t>(first_row + i)], 1,
                                out.subspan(static_cast<size_t>(i * width), static_cast<size_t>(width))));
  if (source.layout == Layout::kAddOne)
    for (float& value : out) value += 1.0f;
  return Ok{};
}

Status readParameter(const io::Checkpoint& checkpoint, const ParameterSource& source, std::span<float> out) {
  if (const Computed* computed = std::get_if<Computed>(&source.from)) {
    (*computed)(out);
    return Ok{};
  }
  const auto& tensors = std::get<std::vector<TensorSource>>(source.from);
  size_t each = out.size() / tensors.size();
  for (size_t i = 0; i < tensors.size(); ++i)
    SUBLANE_CHECK_OK(readRows(checkpoint, tensors[i], 0, out.subspan(i * each, each)));
  return Ok{};
}

}  // namespace sublane::models
