// compressed-tensors, as llm-compressor writes it: FP8 and INT8 as bytes, integers in words, NVFP4 in
// nibbles.
#include <algorithm>
#include <set>

#include "io/quantised_parts.h"

namespace sublane::io {
namespace {

using formats::CodeArray;
using formats::CodeOrder;
using formats::CodeType;
using formats::InputScheme;
using formats::Packing;
using formats::QuantisedMatrix;

int64_t ceilDiv(int64_t value, int64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

enum class Layout { kFloat, kInteger, kWords, kNvfp4 };

// The first group of quantization_config: how weights were stored, and inputs are to be treated.
struct Scheme {
  Layout layout = Layout::kFloat;
  std::string strategy;  // "tensor", "channel", "group", "block", "tensor_group"
  int64_t bits = 8, group_size = 0;
  BlockShape block{0, 0};
  bool symmetric = true, own_groups = false;
  InputScheme inputs = InputScheme::kFull;
  bool global_input_scale = false;
};

std::vector<std::string> groupNames(const Metadata& metadata) {
  const std::string prefix = quantKey("config_groups.");
  std::set<std::string> names;
  for (auto found = metadata.lower_bound(prefix); found != metadata.end() && found->first.starts_with(prefix);
       ++found)
    names.insert(found->first.substr(prefix.size(), found->first.find('.', prefix.size()) - prefix.size()));
  return {names.begin(), names.end()};
}

// Keys of a group of config_groups, "weights.num_bits".
class GroupReader {
 public:
  GroupReader(ConfigReader& config, std::string group)
      : config_(config), prefix_("config_groups." + std::move(group) + ".") {}
  std::string key(std::string_view name) const { return quantKey(prefix_ + std::string(name)); }
  void refuse(std::string_view name, const std::string& value, std::string_view supported) {
    refuseValue(config_, prefix_ + std::string(name), value, supported);
  }
  ConfigReader& config() { return config_; }

 private:
  ConfigReader& config_;
  std::string prefix_;
};

void readWeights(GroupReader& group, Scheme& scheme) {
  ConfigReader& config = group.config();
  scheme.bits = config.requireInt(group.key("weights.num_bits"));
  const std::string type = config.requireString(group.key("weights.type"));
  scheme.strategy = config.requireString(group.key("weights.strategy"));
  const std::optional<bool> symmetric = config.optionalBool(group.key("weights.symmetric"));
  if (!symmetric) config.refuse(group.key("weights.symmetric") + " is missing");
  scheme.symmetric = symmetric.value_or(true);
  const bool is_float = scheme.layout == Layout::kFloat || scheme.layout == Layout::kNvfp4;
  if (type != (is_float ? "float" : "int"))
    group.refuse("weights.type", type, is_float ? "float is" : "int is");
  const bool words = scheme.layout == Layout::kWords;
  const int64_t bits = scheme.layout == Layout::kNvfp4 ? 4 : 8;
  if (scheme.bits != bits && !(words && scheme.bits == 4))
    group.refuse("weights.num_bits", fmt::format("{}", scheme.bits),
                 words       ? "4 and 8 are"
                 : bits == 4 ? "4 is"
                             : "8 is");
  if (scheme.symmetric == false && is_float)
    group.refuse("weights.symmetric", "false", "floats have no zero points");
  scheme.group_size = config.optionalInt(group.key("weights.group_size")).value_or(0);
  const bool grouped = scheme.strategy == "group" || scheme.strategy == "tensor_group";
  if (grouped && (scheme.group_size < 1 || scheme.group_size > (1 << 30)))
    group.refuse("weights.group_size", fmt::format("{}", scheme.group_size), "a number of inputs");
  if (scheme.layout == Layout::kNvfp4 && (scheme.strategy != "tensor_group" || scheme.group_size != 16))
    group.refuse("weights.strategy", fmt::format("{} of {}", scheme.strategy, scheme.group_size),
                 "tensor_group of 16");
  if (scheme.strategy == "block") {
    const std::vector<int64_t> block =
        config.optionalInts(group.key("weights.block_structure")).value_or(std::vector<int64_t>{});
    if (block.size() == 2) scheme.block = {block[0], block[1]};
  }
  if (scheme.strategy == "block" && (scheme.block.rows < 1 || scheme.block.columns < 1 ||
                                     scheme.block.rows > (1 << 30) || scheme.block.columns > (1 << 30)))
    config.refuse(group.key("weights.block_structure") + " does not name two sizes above 0");
  static const std::set<std::string> kStrategies = {"tensor", "channel", "group", "block", "tensor_group"};
  if (!kStrategies.contains(scheme.strategy))
    group.refuse("weights.strategy", scheme.strategy, "tensor, channel, group, block and tensor_group are");
  if (config.optionalBool(group.key("weights.dynamic")).value_or(false))
    group.refuse("weights.dynamic", "true", "weights are stored with their scales");
}

// What makes each column's group: null or by weight, the plain order; "group", a part of its own.
void readActOrder(GroupReader& group, Scheme& scheme) {
  const std::string key = group.key("weights.actorder");
  const std::string order = group.config().optionalString(key).value_or("");
  if (order == "group")
    scheme.own_groups = true;
  else if (!order.empty() && order != "weight" && order != "static")
    group.refuse("weights.actorder", order, "null, weight, static and group are");
}

void readInputs(GroupReader& group, Scheme& scheme, bool present) {
  ConfigReader& config = group.config();
  if (!present) return;
  const int64_t bits = config.requireInt(group.key("input_activations.num_bits"));
  config.requireString(group.key("input_activations.type"));
  config.requireString(group.key("input_activations.strategy"));
  if (!config.optionalBool(group.key("input_activations.symmetric")).value_or(false))
    group.refuse("input_activations.symmetric", "false", "inputs with zero points are not read");
  if (bits != 8 && bits != 4)
    group.refuse("input_activations.num_bits", fmt::format("{}", bits), "8 and 4 are");
  if (scheme.layout == Layout::kNvfp4) {  // "local": scales of groups as they come, under a stored one
    const std::string dynamic = config.requireString(group.key("input_activations.dynamic"));
    if (dynamic != "local") group.refuse("input_activations.dynamic", dynamic, "local is");
    scheme.inputs = InputScheme::kDynamic;
    scheme.global_input_scale = true;
    return;
  }
  const bool dynamic = config.optionalBool(group.key("input_activations.dynamic")).value_or(false);
  scheme.inputs = dynamic ? InputScheme::kDynamic : InputScheme::kStatic;
}

std::optional<Layout> layoutOf(ConfigReader& config, const std::string& format, const std::string& type) {
  if (format == "float-quantized") return Layout::kFloat;
  if (format == "int-quantized") return Layout::kInteger;
  if (format == "naive-quantized") return type == "int" ? Layout::kInteger : Layout::kFloat;
  if (format == "pack-quantized") return Layout::kWords;
  if (format == "nvfp4-pack-quantized") return Layout::kNvfp4;
  refuseValue(config, "format", format,
              "float-quantized, int-quantized, naive-quantized, pack-quantized and nvfp4-pack-quantized are");
  return std::nullopt;
}

void readTheRest(ConfigReader& config, GroupReader& group) {
  const std::string status = config.optionalString(quantKey("quantization_status")).value_or("compressed");
  if (status != "compressed") refuseValue(config, "quantization_status", status, "compressed is");
  const std::string sparsity = config.optionalString(quantKey("sparsity_config.format")).value_or("dense");
  if (sparsity != "dense") refuseValue(config, "sparsity_config.format", sparsity, "dense is");
  if (sparsity == "dense") config.ignore(quantKey("sparsity_config.*"));
  const std::string own_format = config.optionalString(group.key("format")).value_or("");
  if (!own_format.empty() && own_format != config.requireString(quantKey("format")))
    group.refuse("format", own_format, "that of the whole is");
  // Which modules were converted shows in their tensors; how scales were found does not matter any more.
  for (const char* key : {"ignore*", "version", "global_compression_ratio"}) config.ignore(quantKey(key));
  for (const char* key : {"targets*", "weights.observer*", "weights.scale_dtype", "weights.zp_dtype",
                          "weights.block_structure*", "input_activations.*"})
    config.ignore(group.key(key));
}

std::optional<Scheme> readScheme(ConfigReader& config, const Metadata& metadata) {
  const std::string format = config.requireString(quantKey("format"));
  const std::vector<std::string> groups = groupNames(metadata);
  if (groups.size() != 1) {
    config.refuse(fmt::format("{} has {} groups; one for all matrices is supported",
                              quantKey("config_groups"), groups.size()));
    return std::nullopt;
  }
  GroupReader group(config, groups[0]);
  const std::optional<Layout> layout =
      layoutOf(config, format, config.optionalString(group.key("weights.type")).value_or(""));
  if (!layout) return std::nullopt;
  Scheme scheme;
  scheme.layout = *layout;
  readWeights(group, scheme);
  readActOrder(group, scheme);
  const std::string inputs = group.key("input_activations.");
  auto found = metadata.lower_bound(inputs);
  readInputs(group, scheme, found != metadata.end() && found->first.starts_with(inputs));
  readTheRest(config, group);
  return scheme;
}

// Scales of the strategy, and the shape that they must have.
bool readScales(Module& module, const Scheme& scheme, QuantisedMatrix& matrix, const Tensor* scales) {
  const int64_t rows = matrix.rows, columns = std::max<int64_t>(matrix.columns, 1);
  if (scheme.strategy == "tensor") {
    if (!module.expectType(scales, kScaleTypes)) return false;
    if (!module.scalar(scales)) return false;
    setScales(matrix, *scales, {std::max<int64_t>(rows, 1), columns});
    return true;
  }
  BlockShape block{1, columns};
  if (scheme.strategy == "block") block = scheme.block;
  if (scheme.strategy == "group" || scheme.strategy == "tensor_group") block.columns = scheme.group_size;
  const std::vector<int64_t> shape = {ceilDiv(rows, block.rows), ceilDiv(matrix.columns, block.columns)};
  const std::string why =
      fmt::format("{}x{} values in blocks of {}x{}", rows, matrix.columns, block.rows, block.columns);
  const bool fits = scheme.layout == Layout::kNvfp4 ? module.expect(scales, {Packing::kF8_E4M3}, shape, why)
                                                    : module.expect(scales, kScaleTypes, shape, why);
  if (fits) setScales(matrix, *scales, block);
  return fits;
}

bool allZero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

void readZeros(Module& module, const Scheme& scheme, QuantisedMatrix& matrix) {
  const bool words = scheme.layout == Layout::kWords;
  const int64_t n = 32 / scheme.bits;
  const int64_t rows = matrix.scales.rows, columns = matrix.scales.columns;
  const Tensor* zeros =
      scheme.symmetric ? module.optional(".weight_zero_point") : module.require(".weight_zero_point");
  if (scheme.symmetric) {  // codes in words are above zero by half of their range
    matrix.zero_offset = words ? 1 << (scheme.bits - 1) : 0;
    if (zeros && !allZero(zeros->bytes))
      module.fault(".weight_zero_point",
                   "is not zero, but quantization_config says weights.symmetric = true");
    return;
  }
  const std::string why = fmt::format("{}x{} scales", rows, columns);
  if (words) {  // codes and zero points are above by the same, which goes out in the difference
    if (module.expect(zeros, {Packing::kI32}, {ceilDiv(rows, n), columns}, why))
      matrix.zeros = CodeArray{matrix.codes.type, CodeOrder::kWordsAlongRows, rows, columns, zeros->bytes};
    return;
  }
  if (scheme.strategy == "tensor" ? module.expectType(zeros, {Packing::kI8})
                                  : module.expect(zeros, {Packing::kI8}, {rows, columns}, why))
    matrix.zeros = CodeArray{CodeType::kI8, CodeOrder::kBytes, rows, columns, zeros->bytes};
}

// [rows, columns] of the matrix that words stand for.
bool readShape(Module& module, const Tensor* shape, QuantisedMatrix& matrix) {
  if (!module.expectType(shape, {Packing::kI64, Packing::kI32}) ||
      !module.expect(shape, {Packing::kI64, Packing::kI32}, {2}, "a number of rows and one of columns"))
    return false;
  int64_t sizes[2];
  for (int i = 0; i < 2; ++i) {
    int32_t narrow;
    if (shape->packing == Packing::kI64) {
      std::memcpy(&sizes[i], shape->bytes.data() + 8 * i, 8);
    } else {
      std::memcpy(&narrow, shape->bytes.data() + 4 * i, 4);
      sizes[i] = narrow;
    }
    if (sizes[i] < 0 || sizes[i] > (int64_t{1} << 40)) {
      module.fault(".weight_shape", "holds the size {}", sizes[i]);
      return false;
    }
  }
  matrix.rows = sizes[0];
  matrix.columns = sizes[1];
  return true;
}

bool readCodes(Module& module, const Scheme& scheme, const Tensor* codes, QuantisedMatrix& matrix) {
  if (!module.expectDimensions(codes, 2, 2)) return false;
  switch (scheme.layout) {
    case Layout::kFloat:
    case Layout::kInteger: {
      matrix.rows = codes->shape[0];
      matrix.columns = codes->shape[1];
      const bool is_float = scheme.layout == Layout::kFloat;
      matrix.codes.type = is_float ? CodeType::kF8E4M3 : CodeType::kI8;
      matrix.codes.order = CodeOrder::kBytes;
      if (!module.expectType(codes, {is_float ? Packing::kF8_E4M3 : Packing::kI8})) return false;
      break;
    }
    case Layout::kNvfp4:
      matrix.rows = codes->shape[0];
      matrix.columns = 2 * codes->shape[1];
      matrix.codes.type = CodeType::kF4E2M1;
      matrix.codes.order = CodeOrder::kNibbles;
      if (!module.expectType(codes, {Packing::kU8})) return false;
      break;
    case Layout::kWords: {
      if (!readShape(module, module.require(".weight_shape"), matrix)) return false;
      matrix.codes.type = scheme.bits == 4 ? CodeType::kU4 : CodeType::kU8;
      matrix.codes.order = CodeOrder::kWordsAlongColumns;
      const std::vector<int64_t> packed = {matrix.rows, ceilDiv(matrix.columns, 32 / scheme.bits)};
      if (!module.expect(codes, {Packing::kI32}, packed,
                         fmt::format("{}x{} codes of {} bits", matrix.rows, matrix.columns, scheme.bits)))
        return false;
      break;
    }
  }
  matrix.codes.rows = matrix.rows;
  matrix.codes.columns = matrix.columns;
  matrix.codes.bytes = codes->bytes;
  return true;
}

void readGroups(Module& module, const Scheme& scheme, QuantisedMatrix& matrix) {
  if (!scheme.own_groups) return;
  const Tensor* groups = module.require(".weight_g_idx");
  if (module.expect(groups, {Packing::kI32}, {matrix.columns}, fmt::format("{} columns", matrix.columns)))
    matrix.group_of_column = groups->bytes;
}

void readInputScales(Module& module, const Scheme& scheme, QuantisedMatrix& matrix) {
  matrix.input_scheme = scheme.inputs;
  if (scheme.inputs == InputScheme::kStatic)
    matrix.input_scale = module.scalar(module.require(".input_scale"));
  if (scheme.global_input_scale)
    matrix.input_global_scale = module.scalar(module.require(".input_global_scale"));
}

void joinModule(Module& module, const Scheme& scheme, std::string_view codes_ending) {
  const Tensor* codes = module.require(codes_ending);
  QuantisedMatrix matrix;
  matrix.method = "compressed-tensors";
  if (!readCodes(module, scheme, codes, matrix)) return;
  if (!readScales(module, scheme, matrix, module.require(".weight_scale"))) return;
  if (scheme.layout == Layout::kNvfp4) {
    const std::optional<float> global = module.scalar(module.require(".weight_global_scale"));
    if (global && !(*global > 0))
      module.fault(".weight_global_scale", "is {}, which scales are divided by", *global);
    matrix.global_scale = global.value_or(1.0f);
    matrix.divide_by_global = true;
  }
  readZeros(module, scheme, matrix);
  readGroups(module, scheme, matrix);
  readInputScales(module, scheme, matrix);
  const std::vector<int64_t> shape = {matrix.rows, matrix.columns};
  module.finish(*codes, module.name() + ".weight", shape, std::move(matrix));
}

}  // namespace

void joinCompressedTensors(ConfigReader& config, const Metadata& metadata, PartList& list) {
  const std::optional<Scheme> scheme = readScheme(config, metadata);
  if (!scheme || !config.finish().ok()) return;
  const bool packed = scheme->layout == Layout::kWords || scheme->layout == Layout::kNvfp4;
  const std::string_view ending = packed ? ".weight_packed" : ".weight";
  const Packing bytes = scheme->layout == Layout::kFloat ? Packing::kF8_E4M3 : Packing::kI8;
  for (const std::string& name : list.modulesWith(ending)) {
    if (!packed && list.find(name + ".weight")->packing != bytes) continue;
    Module module(list, name);
    joinModule(module, *scheme, ending);
  }
}

}  // namespace sublane::io
