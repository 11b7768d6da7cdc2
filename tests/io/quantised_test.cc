// Quantised checkpoints: what each method's parts become, and what is refused. Values are compared with
// arithmetic that is written here from the descriptions of the formats.
#include "io/quantised.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>

#include "io/scan.h"

namespace sublane::io {
namespace {

using formats::Packing;

// Tensors with bytes of their own, and the keys of quantization_config.
class Folder {
 public:
  template <class T>
  Folder& tensor(std::string name, Packing packing, std::vector<int64_t> shape,
                 const std::vector<T>& values) {
    bytes_.emplace_back(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes_.back().data(), values.data(), bytes_.back().size());
    tensors_.push_back(
        {.name = std::move(name), .shape = std::move(shape), .packing = packing, .bytes = bytes_.back()});
    return *this;
  }
  template <class T>
  Folder& key(const std::string& name, T value) {
    metadata_["quantization_config." + name] = MetadataValue{value};
    return *this;
  }
  Folder& key(const std::string& name, const char* value) { return key(name, std::string(value)); }
  Folder& without(const std::string& name) {
    std::erase_if(tensors_, [&](const Tensor& tensor) { return tensor.name == name; });
    return *this;
  }
  Result<JoinedTensors> join() const { return joinQuantised(metadata_, tensors_, "m"); }
  std::string error() const {
    auto joined = join();
    return joined.ok() ? "no error" : joined.error().text();
  }
  /// Of the only matrix.
  std::vector<float> values() const {
    auto joined = join();
    if (!joined.ok()) ADD_FAILURE() << joined.error().text();
    if (!joined.ok() || !joined->tensors[0].quantised) return {};
    const formats::QuantisedMatrix& matrix = *joined->tensors[0].quantised;
    std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.columns));
    EXPECT_TRUE(dequantize(matrix, {0, matrix.rows}, values).ok());
    return values;
  }

 private:
  std::deque<std::vector<std::byte>> bytes_;
  std::vector<Tensor> tensors_;
  Metadata metadata_;
};

constexpr uint16_t kOneF16 = 0x3c00, kTwoBf16 = 0x4000;

Folder gptqKeys(int64_t group_size, bool act_order, bool symmetric) {
  Folder folder;
  folder.key("quant_method", "gptq").key("bits", int64_t{4}).key("group_size", group_size);
  folder.key("desc_act", act_order).key("sym", symmetric).key("damp_percent", 0.01);
  return folder;
}

// 16 inputs, 8 outputs, groups of 8.
Folder& gptqModule(Folder& folder, uint32_t weights, uint32_t zeros) {
  return folder.tensor("q.qweight", Packing::kI32, {2, 8}, std::vector<uint32_t>(16, weights))
      .tensor("q.qzeros", Packing::kI32, {2, 1}, std::vector<uint32_t>(2, zeros))
      .tensor("q.scales", Packing::kF16, {2, 8}, std::vector<uint16_t>(16, kOneF16));
}

TEST(Gptq, ShapeNameAndParts) {
  Folder folder = gptqKeys(8, false, true);
  gptqModule(folder, 0x76543210, 0x77777777)
      .tensor("norm.weight", Packing::kBF16, {2}, std::vector<uint16_t>(2));
  auto joined = folder.join();
  ASSERT_TRUE(joined.ok()) << joined.error().text();
  ASSERT_EQ(joined->tensors.size(), 2u);
  const Tensor& tensor = joined->tensors[0];
  EXPECT_EQ(tensor.name, "q.weight");
  EXPECT_EQ(tensor.shape, (std::vector<int64_t>{8, 16}));
  ASSERT_EQ(tensor.parts.size(), 3u);
  EXPECT_EQ(tensor.parts[0].name, "q.qweight");
  EXPECT_EQ(tensor.bytes.data(), tensor.parts[0].bytes.data());
  EXPECT_FALSE(joined->tensors[1].quantised);
  EXPECT_EQ(folder.values()[0], -8.0f);
  EXPECT_EQ(folder.values()[9], -7.0f);
}

// Case 34, by its inputs: codes all 8, scale 1.
TEST(Case34, VersionOneWithSeven) {
  Folder folder = gptqKeys(8, false, true);
  EXPECT_EQ(gptqModule(folder, 0x88888888, 0x77777777).values(), std::vector<float>(128, 0.0f));
  EXPECT_TRUE(folder.join()->notes.empty());
}

TEST(Case34, VersionTwoWithEight) {
  Folder folder = gptqKeys(8, false, true);
  folder.key("checkpoint_format", "gptq_v2");
  EXPECT_EQ(gptqModule(folder, 0x88888888, 0x88888888).values(), std::vector<float>(128, 0.0f));
  EXPECT_TRUE(folder.join()->notes.empty());
}

TEST(Case34, VersionTwoUnderTheLabelOfOne) {
  Folder folder = gptqKeys(8, false, true);
  folder.key("checkpoint_format", "gptq");
  EXPECT_EQ(gptqModule(folder, 0x88888888, 0x88888888).values(), std::vector<float>(128, 0.0f));
  ASSERT_EQ(folder.join()->notes.size(), 1u);
  EXPECT_EQ(
      folder.join()->notes[0],
      "gptq: 1 matrix labelled version 1 stores zero points as version 2 does; they are symmetric, so 8 is "
      "meant");
  Folder asymmetric = gptqKeys(8, false, false);
  EXPECT_EQ(
      gptqModule(asymmetric, 0x88888888, 0x88888888).error(),
      "m: tensor \"q.qzeros\": every zero point is stored as 8, which version 1 reads as 9: the values of "
      "version 2 under its label");
  Folder odd = gptqKeys(8, false, true);
  EXPECT_EQ(
      gptqModule(odd, 0x88888888, 0x87888888).error(),
      "m: tensor \"q.qzeros\": quantization_config.sym is true, but its zero points are neither all 7 nor "
      "all 8");
}

TEST(Case34, ZeroPointOfZero) {
  Folder second = gptqKeys(8, false, false);
  second.key("checkpoint_format", "gptq_v2");
  EXPECT_EQ(gptqModule(second, 0x88888888, 0).values(), std::vector<float>(128, 8.0f));
  Folder first = gptqKeys(8, false, false);
  EXPECT_EQ(gptqModule(first, 0x88888888, 0x3f333333).error(),
            "m: tensor \"q.qzeros\": group 0, output 6: stored as 15, which version 1 reads as 16; a zero "
            "point of 0 "
            "wraps around to it, and readers differ");
}

// Case 34: act-order with groups out of order; all zero; and the plain order.
TEST(Case34, GroupsOfInputs) {
  const std::vector<int32_t> mixed = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
  const std::vector<int32_t> plain = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<int32_t> none(16, 0);
  const auto folderWith = [](bool act_order, const std::vector<int32_t>& groups) {
    Folder folder = gptqKeys(8, act_order, true);
    folder.tensor("q.qweight", Packing::kI32, {2, 8}, std::vector<uint32_t>(16, 0x99999999))
        .tensor("q.qzeros", Packing::kI32, {2, 1}, std::vector<uint32_t>(2, 0x77777777));
    std::vector<uint16_t> scales(16, kOneF16);
    std::fill(scales.begin() + 8, scales.end(), 0x4000);  // 2.0
    folder.tensor("q.scales", Packing::kF16, {2, 8}, scales).tensor("q.g_idx", Packing::kI32, {16}, groups);
    return folder;
  };
  const std::vector<float> values = folderWith(true, mixed).values();
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i % 2 == 0 ? 2.0f : 1.0f);
  const std::vector<float> in_order = folderWith(true, plain).values();
  EXPECT_EQ(in_order[7], 1.0f);
  EXPECT_EQ(in_order[8], 2.0f);
  EXPECT_EQ(folderWith(false, none).values(), in_order);
  EXPECT_EQ(folderWith(false, plain).values(), in_order);
  EXPECT_EQ(folderWith(false, mixed).error(),
            "m: tensor \"q.g_idx\": input 0 is in group 1, but quantization_config.desc_act is false and "
            "groups of 8 "
            "make it 0");
  EXPECT_EQ(folderWith(true, none).error(),
            "m: tensor \"q.g_idx\": all 16 inputs are in group 0, but there are 2 groups and "
            "quantization_config.desc_act is true");
  std::vector<int32_t> wild = mixed;
  wild[3] = -1;
  EXPECT_EQ(folderWith(true, wild).error(),
            "m: tensor \"q.qweight\": groups of columns: column 3 is in group -1, but there are 2");
  EXPECT_EQ(folderWith(true, plain).without("q.g_idx").error(),
            "m: tensor \"q.g_idx\": is missing, and quantization_config.desc_act is true");
}

TEST(Gptq, WrongShapesAndMissingParts) {
  Folder group = gptqKeys(4, false, true);
  EXPECT_EQ(
      gptqModule(group, 0, 0x77777777).error(),
      "m: tensor \"q.qzeros\": has shape [2, 1], but 16 inputs in groups of 4 and 8 outputs need [4, 1]");
  Folder missing = gptqKeys(8, false, true);
  EXPECT_EQ(gptqModule(missing, 0, 0x77777777).without("q.scales").error(),
            "m: tensor \"q.scales\": is missing");
  Folder alone = gptqKeys(8, false, true);
  EXPECT_EQ(
      gptqModule(alone, 0, 0x77777777).without("q.qweight").error(),
      "m: tensor \"q.qzeros\": is part of a quantised matrix, but no matrix of quantization_config's method "
      "takes it");
  Folder twice = gptqKeys(8, false, true);
  gptqModule(twice, 0, 0x77777777).tensor("q.weight", Packing::kBF16, {1}, std::vector<uint16_t>(1));
  EXPECT_EQ(twice.error(), "m: tensor \"q.weight\": is stored both whole and in parts (\"q.qweight\")");
}

TEST(Gptq, KeysAreConsumedOrRefused) {
  Folder folder;
  folder.key("quant_method", "gptq")
      .key("bits", int64_t{3})
      .key("group_size", int64_t{0})
      .key("dynamic.x", true);
  folder.key("checkpoint_format", "marlin").key("pack_dtype", "int16");
  EXPECT_EQ(folder.error(),
            "m: 6 faults in the configuration:\n"
            "  quantization_config.bits = 3 is not supported (4 and 8 are)\n"
            "  quantization_config.group_size = 0 is not supported (-1, or a number of inputs)\n"
            "  quantization_config.desc_act is missing: it says whether inputs are reordered\n"
            "  quantization_config.checkpoint_format = marlin is not supported (gptq and gptq_v2 are)\n"
            "  quantization_config.pack_dtype = int16 is not supported (int32 is)\n"
            "  quantization_config.dynamic.x is not understood");
}

// Case 35: the order of AWQ, and the same words read as GPTQ would.
TEST(Case35, AwqWordsHoldOutputsInterleaved) {
  Folder folder;
  folder.key("quant_method", "awq").key("bits", int64_t{4}).key("group_size", int64_t{-1});
  folder.key("zero_point", true).key("version", "gemm");
  folder.tensor("q.qweight", Packing::kI32, {1, 1}, std::vector<uint32_t>{0x75316420})
      .tensor("q.qzeros", Packing::kI32, {1, 1}, std::vector<uint32_t>{0x00000010})  // 1 for output 2
      .tensor("q.scales", Packing::kF16, {1, 8}, std::vector<uint16_t>(8, kOneF16));
  EXPECT_EQ(folder.values(), (std::vector<float>{0, 1, 1, 3, 4, 5, 6, 7}));
  EXPECT_EQ(folder.key("version", "gemv").key("zero_point", false).error(),
            "m: 2 faults in the configuration:\n"
            "  quantization_config.zero_point is not true: AWQ without zero points is not supported\n"
            "  quantization_config.version = gemv is not supported (gemm is)");
}

Folder fp8Keys(const char* scheme) {
  Folder folder;
  folder.key("quant_method", "fp8").key("activation_scheme", scheme).key("fmt", "e4m3");
  return folder;
}

// Case 32: 1000x640 in blocks of 128x128.
TEST(Case32, BlocksComeFromTheConfig) {
  Folder folder = fp8Keys("dynamic");
  folder.key("weight_block_size", std::vector<int64_t>{128, 128});
  std::vector<float> scales(40);
  for (size_t i = 0; i < 40; ++i) scales[i] = static_cast<float>(i / 5);
  folder.tensor("q.weight", Packing::kF8_E4M3, {1000, 640}, std::vector<uint8_t>(640000, 0x38))
      .tensor("q.weight_scale_inv", Packing::kF32, {8, 5}, scales);
  const std::vector<float> values = folder.values();
  for (const auto& [row, scale] : {std::pair{0, 0}, {125, 0}, {127, 0}, {128, 1}, {999, 7}})
    EXPECT_EQ(values[static_cast<size_t>(row) * 640], static_cast<float>(scale)) << row;
  EXPECT_EQ(folder.join()->notes[0],
            "quantization_config wants the inputs of 1 matrices quantised as well: they are kept in full "
            "precision");
  Folder other = folder;
  EXPECT_EQ(other.key("weight_block_size", std::vector<int64_t>{125, 128}).error(),
            "no error");  // 8 blocks as well
  EXPECT_EQ(
      other.key("weight_block_size", std::vector<int64_t>{64, 128}).error(),
      "m: tensor \"q.weight_scale_inv\": has shape [8, 5], but 1000x640 values in blocks of 64x128 need "
      "[16, 5]");
}

TEST(Case32, OneScaleForASmallMatrix) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 1}, {1}, {}}) {
    Folder folder = fp8Keys("dynamic");
    folder.key("weight_block_size", std::vector<int64_t>{128, 128});
    folder.tensor("q.weight", Packing::kF8_E4M3, {96, 96}, std::vector<uint8_t>(96 * 96, 0x38))
        .tensor("q.weight_scale_inv", Packing::kF32, shape, std::vector<float>{0.5f});
    EXPECT_EQ(folder.values(), std::vector<float>(96 * 96, 0.5f));
  }
}

TEST(Case32, ScalarAndRowScales) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}}) {
    Folder folder = fp8Keys("dynamic");
    folder.tensor("q.weight", Packing::kF8_E4M3, {2, 3}, std::vector<uint8_t>(6, 0x38))
        .tensor("q.weight_scale", Packing::kBF16, shape, std::vector<uint16_t>{kTwoBf16});
    EXPECT_EQ(folder.values(), std::vector<float>(6, 2.0f));
  }
  Folder rows = fp8Keys("static");
  rows.tensor("q.weight", Packing::kF8_E4M3, {2, 3}, std::vector<uint8_t>(6, 0x38))
      .tensor("q.weight_scale", Packing::kF32, {2, 1}, std::vector<float>{3, 4})
      .tensor("q.input_scale", Packing::kF32, {}, std::vector<float>{0.25f});
  EXPECT_EQ(rows.values(), (std::vector<float>{3, 3, 3, 4, 4, 4}));
  EXPECT_EQ(rows.join()->tensors[0].quantised->input_scale, 0.25f);
  EXPECT_EQ(rows.without("q.input_scale").error(), "m: tensor \"q.input_scale\": is missing");
}

TEST(Fp8, CodesWithoutAScale) {
  Folder folder = fp8Keys("dynamic");
  folder.tensor("q.weight", Packing::kF8_E4M3, {2, 3}, std::vector<uint8_t>(6, 0x38));
  EXPECT_EQ(folder.error(), "m: tensor \"q.weight_scale\": is missing");
  folder.tensor("q.weight_scale", Packing::kI32, {1}, std::vector<int32_t>{1});
  EXPECT_NE(folder.error().find("\"q.weight_scale\": has type I32, not F32 or F16 or BF16 or F8_E8M0"),
            std::string::npos)
      << folder.error();
}

// gpt-oss: experts stacked, the lower nibble first, powers of two.
TEST(Mxfp4, StackedExperts) {
  Folder folder;
  folder.key("quant_method", "mxfp4").key("modules_to_not_convert", std::vector<std::string>{"lm_head"});
  std::vector<uint8_t> blocks(2 * 3 * 2 * 16, 0x72);  // 1, 6
  folder.tensor("e.gate_up_proj_blocks", Packing::kU8, {2, 3, 2, 16}, blocks)
      .tensor("e.gate_up_proj_scales", Packing::kU8, {2, 3, 2},
              std::vector<uint8_t>{127, 128, 126, 127, 127, 127, 127, 127, 127, 127, 127, 120})
      .tensor("e.gate_up_proj_bias", Packing::kBF16, {2, 3}, std::vector<uint16_t>(6));
  auto joined = folder.join();
  ASSERT_TRUE(joined.ok()) << joined.error().text();
  ASSERT_EQ(joined->tensors.size(), 2u);
  EXPECT_EQ(joined->tensors[0].name, "e.gate_up_proj");
  EXPECT_EQ(joined->tensors[0].shape, (std::vector<int64_t>{2, 3, 64}));
  const std::vector<float> values = folder.values();
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[1], 6.0f);
  EXPECT_EQ(values[32], 2.0f);
  EXPECT_EQ(values[65], 3.0f);
  EXPECT_EQ(values.back(), 6.0f / 128);
  folder.without("e.gate_up_proj_scales");
  EXPECT_EQ(folder.error(), "m: tensor \"e.gate_up_proj_scales\": is missing");
}

Folder compressedKeys(const char* format, const char* type, int64_t bits, const char* strategy,
                      bool symmetric = true) {
  Folder folder;
  folder.key("quant_method", "compressed-tensors")
      .key("format", format)
      .key("quantization_status", "compressed");
  folder.key("kv_cache_scheme", std::monostate{}).key("ignore", std::vector<std::string>{"lm_head"});
  const std::string group = "config_groups.group_0.";
  folder.key(group + "targets", std::vector<std::string>{"Linear"})
      .key(group + "output_activations", std::monostate{});
  folder.key(group + "input_activations", std::monostate{});
  folder.key(group + "weights.num_bits", bits).key(group + "weights.type", type);
  folder.key(group + "weights.strategy", strategy).key(group + "weights.symmetric", symmetric);
  folder.key(group + "weights.dynamic", false).key(group + "weights.observer", "minmax");
  return folder;
}

TEST(CompressedTensors, CodesOfAnotherTypeAreNotWeights) {
  Folder folder = compressedKeys("int-quantized", "int", 8, "channel");
  folder.tensor("q.weight", Packing::kF8_E4M3, {2, 3}, std::vector<uint8_t>(6, 0x38));
  EXPECT_EQ(folder.error(), "m: tensor \"q.weight\": holds codes (F8_E4M3) without a scale");
}

// Case 35: codes of compressed-tensors are above zero by 8, in order, and rows may end within a word.
TEST(Case35, CompressedTensorsCodesAreOffset) {
  Folder folder = compressedKeys("pack-quantized", "int", 4, "channel");
  folder.tensor("q.weight_packed", Packing::kI32, {1, 2}, std::vector<uint32_t>{0x76543210, 0x000000f8})
      .tensor("q.weight_shape", Packing::kI64, {2}, std::vector<int64_t>{1, 10})
      .tensor("q.weight_scale", Packing::kF32, {1, 1}, std::vector<float>{1});
  EXPECT_EQ(folder.values(), (std::vector<float>{-8, -7, -6, -5, -4, -3, -2, -1, 0, 7}));
}

TEST(CompressedTensors, ZeroPointsInWordsOfRows) {
  Folder folder = compressedKeys("pack-quantized", "int", 4, "group", false);
  folder.key("config_groups.group_0.weights.group_size", int64_t{8});
  folder.tensor("q.weight_packed", Packing::kI32, {3, 2}, std::vector<uint32_t>(6, 0x99999999))
      .tensor("q.weight_shape", Packing::kI64, {2}, std::vector<int64_t>{3, 16})
      .tensor("q.weight_scale", Packing::kF32, {3, 2}, std::vector<float>{1, 1, 1, 1, 1, 1})
      .tensor("q.weight_zero_point", Packing::kI32, {1, 2}, std::vector<uint32_t>{0x123, 0x456});
  const std::vector<float> values = folder.values();
  const std::vector<float> expected = {9 - 3, 9 - 6, 9 - 2, 9 - 5, 9 - 1, 9 - 4};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(values[8 * i], expected[i]);
}

TEST(CompressedTensors, Fp8AndInt8) {
  Folder fp8 = compressedKeys("float-quantized", "float", 8, "channel");
  fp8.tensor("q.weight", Packing::kF8_E4M3, {2, 2}, std::vector<uint8_t>(4, 0x38))
      .tensor("q.weight_scale", Packing::kBF16, {2, 1}, std::vector<uint16_t>{0x3f80, kTwoBf16});
  EXPECT_EQ(fp8.values(), (std::vector<float>{1, 1, 2, 2}));
  Folder int8 = compressedKeys("int-quantized", "int", 8, "tensor", false);
  int8.tensor("q.weight", Packing::kI8, {1, 3}, std::vector<int8_t>{-128, 0, 127})
      .tensor("q.weight_scale", Packing::kF32, {1}, std::vector<float>{0.5f})
      .tensor("q.weight_zero_point", Packing::kI8, {1}, std::vector<int8_t>{-2});
  EXPECT_EQ(int8.values(), (std::vector<float>{-63, 1, 64.5f}));
  EXPECT_EQ(int8.without("q.weight_zero_point").error(), "m: tensor \"q.weight_zero_point\": is missing");
}

TEST(CompressedTensors, Nvfp4DividesByTheGlobalScale) {
  Folder folder = compressedKeys("nvfp4-pack-quantized", "float", 4, "tensor_group");
  folder.key("config_groups.group_0.weights.group_size", int64_t{16});
  folder.tensor("q.weight_packed", Packing::kU8, {1, 16}, std::vector<uint8_t>(16, 0x72))
      .tensor("q.weight_scale", Packing::kF8_E4M3, {1, 2}, std::vector<uint8_t>{0x40, 0x48})  // 2, 4
      .tensor("q.weight_global_scale", Packing::kF32, {1}, std::vector<float>{8});
  const std::vector<float> values = folder.values();
  EXPECT_EQ(values[0], 0.25f);
  EXPECT_EQ(values[1], 1.5f);
  EXPECT_EQ(values[31], 3.0f);
}

TEST(CompressedTensors, WhatIsNotReadIsRefusedByName) {
  Folder folder = compressedKeys("marlin-24", "int", 4, "group");
  EXPECT_NE(folder.error().find("quantization_config.format = marlin-24 is not supported"),
            std::string::npos);
  Folder sparse = compressedKeys("float-quantized", "float", 8, "channel");
  sparse.key("sparsity_config.format", "sparse-24-bitmask");
  EXPECT_EQ(sparse.error(),
            "m: quantization_config.sparsity_config.format = sparse-24-bitmask is not supported (dense is)");
  Folder cache = compressedKeys("float-quantized", "float", 8, "channel");
  cache.key("kv_cache_scheme.num_bits", int64_t{8}).key("transform_config.x", int64_t{1});
  EXPECT_EQ(cache.error(),
            "m: 2 faults in the configuration:\n"
            "  quantization_config.kv_cache_scheme.num_bits is not understood\n"
            "  quantization_config.transform_config.x is not understood");
  Folder two = compressedKeys("float-quantized", "float", 8, "channel");
  two.key("config_groups.group_1.weights.num_bits", int64_t{4});
  EXPECT_NE(
      two.error().find("quantization_config.config_groups has 2 groups; one for all matrices is supported"),
      std::string::npos);
}

TEST(Methods, OthersAreRefusedByName) {
  Folder nf4;
  nf4.key("quant_method", "bitsandbytes").key("load_in_4bit", true);
  EXPECT_EQ(nf4.error(),
            "m: quantization_config.quant_method = \"bitsandbytes\" is not supported (awq, "
            "compressed-tensors, fp8, "
            "gptq and mxfp4 are)\n"
            "  hint: NF4 and LLM.int8() are made for GPUs at load: take the model as bfloat16");
  Folder nameless;
  nameless.key("bits", int64_t{4});
  EXPECT_EQ(nameless.error(),
            "m: 2 faults in the configuration:\n"
            "  quantization_config.quant_method is missing\n"
            "  quantization_config.bits is not understood");
}

TEST(Methods, PartsWithoutAConfigAreNotWeights) {
  Folder folder;
  folder.tensor("a.weight", Packing::kF32, {1}, std::vector<float>{1});
  ASSERT_TRUE(folder.join().ok());
  EXPECT_EQ(folder.join()->tensors.size(), 1u);
  folder.tensor("q.qweight", Packing::kI32, {1}, std::vector<int32_t>{1});
  EXPECT_EQ(
      folder.error(),
      "m: tensor \"q.qweight\": is part of a quantised matrix, but config.json has no quantization_config");
}

// NaN in the scales of a joined matrix is found, under the name of the part.
TEST(Methods, TheScanReadsParts) {
  Folder folder = fp8Keys("dynamic");
  folder.tensor("q.weight", Packing::kF8_E4M3, {1, 2}, std::vector<uint8_t>{0x38, 0x7f})
      .tensor("q.weight_scale", Packing::kF32, {1}, std::vector<float>{INFINITY});
  auto joined = folder.join();
  ASSERT_TRUE(joined.ok());
  Checkpoint checkpoint;
  checkpoint.tensors = joined->tensors;
  const CheckpointScan scan = scanCheckpoint(checkpoint);
  EXPECT_EQ(scan.bytes, 6);
  ASSERT_EQ(scan.findings.size(), 2u);
  EXPECT_EQ(scan.findings[0].tensor, "q.weight");
  EXPECT_EQ(scan.findings[0].nans, 1);
  EXPECT_EQ(scan.findings[1].tensor, "q.weight_scale");
  EXPECT_EQ(scan.findings[1].infinities, 1);
}

// Every way of cutting a part's bytes short is an error, never a read beyond them.
TEST(Methods, CutPartsAreRefused) {
  Folder folder = gptqKeys(8, false, true);
  gptqModule(folder, 1, 0x77777777);
  auto joined = folder.join();
  ASSERT_TRUE(joined.ok());
  formats::QuantisedMatrix matrix = *joined->tensors[0].quantised;
  for (size_t size = 0; size < matrix.codes.bytes.size(); ++size) {
    formats::QuantisedMatrix cut = matrix;
    cut.codes.bytes = cut.codes.bytes.first(size);
    EXPECT_FALSE(verify(cut).ok());
  }
}

TEST(Quantised, AMethodWithoutAMatrixIsSaid) {
  Folder folder;
  folder.key("quant_method", "fp8")
      .key("activation_scheme", "dynamic")
      .tensor("model.norm.weight", Packing::kF32, {2}, std::vector<float>{1, 2});
  auto joined = folder.join();
  ASSERT_TRUE(joined.ok()) << joined.error().text();
  EXPECT_EQ(joined->notes.back(), "quantization_config says fp8, but no tensor is quantised");
}

}  // namespace
}  // namespace sublane::io
