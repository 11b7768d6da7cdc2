// GPTQ and AWQ: words of codes, zero points and scales for groups of inputs. Both are stored with inputs as
// rows; the matrix they mean has outputs as rows.
#include "io/byte_reader.h"
#include "io/quantised_parts.h"

namespace sublane::io {
namespace {

using formats::CodeArray;
using formats::CodeOrder;
using formats::CodeType;
using formats::Packing;
using formats::QuantisedMatrix;

int64_t ceilDiv(int64_t value, int64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

struct Groups {
  int64_t bits = 4, group_size = 0;  // -1: one group of all inputs
  int64_t codesInWord() const { return 32 / bits; }
  int64_t sizeFor(int64_t inputs) const {
    return group_size == -1 ? std::max<int64_t>(inputs, 1) : group_size;
  }
  CodeType type() const { return bits == 4 ? CodeType::kU4 : CodeType::kU8; }
};

struct GptqConfig : Groups {
  bool act_order = false, static_groups = false;
  std::optional<bool> symmetric;
  int version = 1;
  int64_t zeroOfSymmetric() const { return int64_t{1} << (bits - 1); }
};

void readGroupSize(ConfigReader& config, Groups& groups, std::string_view key) {
  groups.group_size = config.requireInt(quantKey(key));
  if (groups.group_size != -1 && (groups.group_size < 1 || groups.group_size > (1 << 30)))
    refuseValue(config, key, fmt::format("{}", groups.group_size), "-1, or a number of inputs");
}

GptqConfig readGptqConfig(ConfigReader& config) {
  GptqConfig gptq;
  gptq.bits = config.requireInt(quantKey("bits"));
  if (gptq.bits != 4 && gptq.bits != 8) {
    refuseValue(config, "bits", fmt::format("{}", gptq.bits), "4 and 8 are");
    gptq.bits = 4;
  }
  readGroupSize(config, gptq, "group_size");
  const std::optional<bool> act_order = config.optionalBool(quantKey("desc_act"));
  if (!act_order) config.refuse(quantKey("desc_act") + " is missing: it says whether inputs are reordered");
  gptq.act_order = act_order.value_or(false);
  gptq.static_groups = config.optionalBool(quantKey("static_groups")).value_or(false);
  gptq.symmetric = config.optionalBool(quantKey("sym"));
  std::optional<std::string> format = config.optionalString(quantKey("checkpoint_format"));
  const std::optional<std::string> newer_name = config.optionalString(quantKey("format"));
  if (!format) format = newer_name;
  if (newer_name && *newer_name != *format)
    config.refuse(fmt::format("{} = {} and {} = {}", quantKey("checkpoint_format"), *format,
                              quantKey("format"), *newer_name));
  if (format == "gptq_v2")
    gptq.version = 2;
  else if (format && *format != "gptq")
    refuseValue(config, "checkpoint_format", *format, "gptq and gptq_v2 are");
  if (config.optionalBool(quantKey("is_marlin_format")).value_or(false))
    refuseValue(config, "is_marlin_format", "true", "weights in the order of a GPU kernel are not read");
  const std::string pack_dtype = config.optionalString(quantKey("pack_dtype")).value_or("int32");
  if (pack_dtype != "int32") refuseValue(config, "pack_dtype", pack_dtype, "int32 is");
  // Whether lm_head is quantised shows in its tensors, and so does what else was.
  for (const char* key : {"lm_head",
                          "damp_percent",
                          "damp_auto_increment",
                          "true_sequential",
                          "model_name_or_path",
                          "model_file_base_name",
                          "model_seqlen",
                          "dataset",
                          "tokenizer",
                          "cache_block_outputs",
                          "batch_size",
                          "module_name_preceding_first_block",
                          "block_name_to_quantize",
                          "modules_in_block_to_quantize*",
                          "pad_token_id",
                          "use_cuda_fp16",
                          "use_exllama",
                          "disable_exllama",
                          "exllama_config*",
                          "max_input_length",
                          "backend",
                          "meta*",
                          "version",
                          "mse",
                          "nsamples",
                          "seqlen",
                          "quantizer",
                          "modules_to_not_convert*"}) {
    config.ignore(quantKey(key));
  }
  return gptq;
}

// What all zero points of a module have in common.
struct ZeroFacts {
  bool all_before = true;  // one less than the zero point of symmetric codes: version 1
  bool all_at = true;      // that zero point itself: version 2
  // The first of the largest value, which version 1 can mean only by wrapping around.
  int64_t wrapped_group = -1, wrapped_output = -1;
};

ZeroFacts factsOf(const CodeArray& zeros, int64_t symmetric) {
  ZeroFacts facts;
  const uint8_t largest = static_cast<uint8_t>(2 * symmetric - 1);
  for (int64_t group = 0; group < zeros.columns; ++group) {
    for (int64_t output = 0; output < zeros.rows; ++output) {
      const uint8_t stored = codeAt(zeros, output, group);
      facts.all_before &= stored == symmetric - 1;
      facts.all_at &= stored == symmetric;
      if (stored == largest && facts.wrapped_group < 0) {
        facts.wrapped_group = group;
        facts.wrapped_output = output;
      }
    }
  }
  return facts;
}

// The label of a file cannot be trusted: symmetric codes have the middle as their zero point, whatever it
// says. Returns whether the label was wrong.
bool settleZeros(Module& module, const GptqConfig& gptq, QuantisedMatrix& matrix) {
  const int64_t middle = gptq.zeroOfSymmetric();
  const ZeroFacts facts = factsOf(*matrix.zeros, middle);
  if (gptq.symmetric == true) {
    if (!facts.all_before && !facts.all_at) {
      module.fault(".qzeros",
                   "quantization_config.sym is true, but its zero points are neither all {} nor all {}",
                   middle - 1, middle);
    }
    matrix.zeros.reset();
    matrix.zero_offset = static_cast<int>(middle);
    return gptq.version == 1 ? !facts.all_before : !facts.all_at;
  }
  if (gptq.version == 1 && facts.all_at) {
    module.fault(".qzeros",
                 "every zero point is stored as {}, which version 1 reads as {}: the values of version 2 "
                 "under its label",
                 middle, middle + 1);
  } else if (gptq.version == 1 && facts.wrapped_group >= 0) {
    module.fault(".qzeros",
                 "group {}, output {}: stored as {}, which version 1 reads as {}; a zero point of 0 wraps "
                 "around to it, and readers differ",
                 facts.wrapped_group, facts.wrapped_output, 2 * middle - 1, 2 * middle);
  }
  return false;
}

// Which group each input is in. Without act-order the stored order must be the plain one, or nothing (all
// zero).
void settleGroups(Module& module, const GptqConfig& gptq, const Tensor* g_idx, QuantisedMatrix& matrix) {
  const int64_t inputs = matrix.columns, groups = matrix.scales.columns;
  if (!g_idx) {
    if (gptq.act_order && !gptq.static_groups && groups > 1)
      module.fault(".g_idx", "is missing, and quantization_config.desc_act is true");
    return;
  }
  if (!module.expect(g_idx, {Packing::kI32}, {inputs}, fmt::format("{} inputs", inputs))) return;
  int64_t first_other = -1;  // that is not in the group of its place
  bool all_zero = true;
  int32_t other = 0;
  for (int64_t i = 0; i < inputs; ++i) {
    int32_t group;
    std::memcpy(&group, g_idx->bytes.data() + 4 * i, 4);
    all_zero &= group == 0;
    if (group != i / matrix.block_columns && first_other < 0) first_other = i, other = group;
  }
  if (first_other < 0) return;
  if (!gptq.act_order && all_zero) return;  // what writers without act-order leave there
  if (!gptq.act_order) {
    module.fault(
        ".g_idx",
        "input {} is in group {}, but quantization_config.desc_act is false and groups of {} make it {}",
        first_other, other, matrix.block_columns, first_other / matrix.block_columns);
  } else if (all_zero) {
    module.fault(
        ".g_idx",
        "all {} inputs are in group 0, but there are {} groups and quantization_config.desc_act is true",
        inputs, groups);
  }
  matrix.group_of_column = g_idx->bytes;
}

// The parts that both methods have. Null codes: a fault was said.
struct Parts {
  const Tensor* codes = nullptr;
  QuantisedMatrix matrix;
};

Parts readParts(Module& module, const Groups& groups, CodeOrder order, CodeOrder zero_order) {
  const bool gptq = order == CodeOrder::kGptqWeights;
  const Tensor* codes = module.require(".qweight");
  const Tensor* zeros = module.require(".qzeros");
  const Tensor* scales = module.require(".scales");
  if (!module.expectType(codes, {Packing::kI32}) || !module.expectDimensions(codes, 2, 2)) return {};
  const int64_t n = groups.codesInWord();
  const int64_t inputs = codes->shape[0] * (gptq ? n : 1), outputs = codes->shape[1] * (gptq ? 1 : n);
  if (outputs % n != 0) {
    module.fault(".qweight", "has {} outputs, which is not a multiple of the {} zero points in a word",
                 outputs, n);
    return {};
  }
  const int64_t size = groups.sizeFor(inputs), count = ceilDiv(inputs, size);
  const std::string why = fmt::format("{} inputs in groups of {} and {} outputs", inputs, size, outputs);
  if (!module.expect(zeros, {Packing::kI32}, {count, outputs / n}, why)) return {};
  if (!module.expect(scales, kScaleTypes, {count, outputs}, why)) return {};
  Parts parts{codes, {}};
  QuantisedMatrix& matrix = parts.matrix;
  matrix.rows = outputs;
  matrix.columns = inputs;
  matrix.codes = {groups.type(), order, outputs, inputs, codes->bytes};
  matrix.zeros = CodeArray{groups.type(), zero_order, outputs, count, zeros->bytes};
  setScales(matrix, *scales, {1, size}, true);
  return parts;
}

}  // namespace

void joinGptq(ConfigReader& config, PartList& list) {
  const GptqConfig gptq = readGptqConfig(config);
  if (!config.finish().ok()) return;
  int64_t mislabelled = 0;
  for (const std::string& name : list.modulesWith(".qweight")) {
    Module module(list, name);
    auto [codes, matrix] = readParts(module, gptq, CodeOrder::kGptqWeights, CodeOrder::kGptqZeros);
    const Tensor* g_idx = module.optional(".g_idx");
    if (!codes) continue;
    matrix.method = "gptq";
    matrix.zero_offset = gptq.version == 1 ? 1 : 0;
    if (settleZeros(module, gptq, matrix)) ++mislabelled;
    settleGroups(module, gptq, g_idx, matrix);
    const std::vector<int64_t> shape = {matrix.rows, matrix.columns};
    module.finish(*codes, name + ".weight", shape, std::move(matrix));
  }
  if (mislabelled > 0) {
    list.note(
        fmt::format("gptq: {} matri{} labelled version {} store{} zero points as version {} does; they are "
                    "symmetric, so {} is meant",
                    mislabelled, mislabelled == 1 ? "x" : "ces", gptq.version, mislabelled == 1 ? "s" : "",
                    3 - gptq.version, gptq.zeroOfSymmetric()));
  }
}

void joinAwq(ConfigReader& config, PartList& list) {
  Groups groups;
  const char* bits_key = config.has(quantKey("w_bit")) ? "w_bit" : "bits";
  groups.bits = config.requireInt(quantKey(bits_key));
  if (groups.bits != 4) refuseValue(config, bits_key, fmt::format("{}", groups.bits), "4 is");
  groups.bits = 4;
  readGroupSize(config, groups, config.has(quantKey("q_group_size")) ? "q_group_size" : "group_size");
  if (!config.optionalBool(quantKey("zero_point")).value_or(false))
    config.refuse(quantKey("zero_point") + " is not true: AWQ without zero points is not supported");
  const std::string version = config.requireString(quantKey("version"));
  if (version != "gemm" && version != "GEMM") refuseValue(config, "version", version, "gemm is");
  // Which modules were converted shows in their tensors; the rest is about running on a GPU.
  for (const char* key : {"modules_to_not_convert*", "backend", "do_fuse", "fuse_max_seq_len",
                          "modules_to_fuse*", "exllama_config*", "lm_head", "desc_act"})
    config.ignore(quantKey(key));
  if (!config.finish().ok()) return;
  for (const std::string& name : list.modulesWith(".qweight")) {
    Module module(list, name);
    auto [codes, matrix] = readParts(module, groups, CodeOrder::kAwq, CodeOrder::kAwq);
    if (!codes) continue;
    matrix.method = "awq";
    const std::vector<int64_t> shape = {matrix.rows, matrix.columns};
    module.finish(*codes, name + ".weight", shape, std::move(matrix));
  }
}

}  // namespace sublane::io
