// FP8 with scales for tensors, rows or blocks (DeepSeek), and MXFP4 of gpt-oss.
#include "io/quantised_parts.h"

namespace sublane::io {
namespace {

using formats::CodeOrder;
using formats::CodeType;
using formats::InputScheme;
using formats::Packing;
using formats::QuantisedMatrix;

int64_t ceilDiv(int64_t value, int64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

struct Fp8Config {
  std::optional<BlockShape> block;
  bool static_inputs = false;
};

Fp8Config readFp8Config(ConfigReader& config) {
  Fp8Config fp8;
  const std::string scheme = config.requireString(quantKey("activation_scheme"));
  if (scheme != "dynamic" && scheme != "static" && !scheme.empty())
    refuseValue(config, "activation_scheme", scheme, "dynamic and static are");
  fp8.static_inputs = scheme == "static";
  const std::string format = config.optionalString(quantKey("fmt")).value_or("e4m3");
  if (format != "e4m3") refuseValue(config, "fmt", format, "e4m3 is");
  const std::string scales = config.optionalString(quantKey("scale_fmt")).value_or("float");
  if (scales != "ue8m0" && scales != "float") refuseValue(config, "scale_fmt", scales, "float and ue8m0 are");
  if (auto block = config.optionalInts(quantKey("weight_block_size"))) {
    if (block->size() != 2 || (*block)[0] < 1 || (*block)[1] < 1 || (*block)[0] > (1 << 30) ||
        (*block)[1] > (1 << 30))
      refuseValue(config, "weight_block_size", fmt::format("[{}]", fmt::join(*block, ", ")),
                  "two sizes above 0");
    else
      fp8.block = BlockShape{(*block)[0], (*block)[1]};
  }
  // Which modules were converted shows in their tensors.
  for (const char* key : {"modules_to_not_convert*", "ignored_layers*"}) config.ignore(quantKey(key));
  return fp8;
}

bool isOne(const Tensor& tensor) {
  for (const int64_t size : tensor.shape)
    if (size != 1) return false;
  return true;
}

// The block comes from the config, never from the shape of the scales: 1000 rows in 8 blocks are not blocks
// of 125.
bool readScales(Module& module, const Fp8Config& fp8, QuantisedMatrix& matrix) {
  const Tensor* scales = module.optional(".weight_scale");
  const Tensor* other = module.optional(".weight_scale_inv");  // multiplied as well, in spite of its name
  if (scales && other) {
    module.fault(".weight_scale_inv", "is there, and .weight_scale too");
    return false;
  }
  if (!scales) scales = other;
  if (!scales) {
    module.fault(fp8.block ? ".weight_scale_inv" : ".weight_scale", "is missing");
    return false;
  }
  static constexpr std::initializer_list<Packing> kTypes = {Packing::kF32, Packing::kF16, Packing::kBF16,
                                                            Packing::kF8_E8M0};
  if (!module.expectType(scales, kTypes)) return false;
  const int64_t rows = matrix.rows, columns = matrix.columns;
  if (fp8.block) {
    const int64_t down = ceilDiv(rows, fp8.block->rows), across = ceilDiv(columns, fp8.block->columns);
    const bool single = down == 1 && across == 1 && isOne(*scales);
    if (!single && !module.expect(scales, kTypes, {down, across},
                                  fmt::format("{}x{} values in blocks of {}x{}", rows, columns,
                                              fp8.block->rows, fp8.block->columns)))
      return false;
    setScales(matrix, *scales, *fp8.block);
    return true;
  }
  if (isOne(*scales)) {
    setScales(matrix, *scales, {std::max<int64_t>(rows, 1), std::max<int64_t>(columns, 1)});
    return true;
  }
  if (scales->shape.size() != 1 && !module.expect(scales, kTypes, {rows, 1}, fmt::format("{} rows", rows)))
    return false;
  if (scales->shape.size() == 1 && !module.expect(scales, kTypes, {rows}, fmt::format("{} rows", rows)))
    return false;
  setScales(matrix, *scales, {1, std::max<int64_t>(columns, 1)});
  return true;
}

}  // namespace

void joinFp8(ConfigReader& config, PartList& list) {
  const Fp8Config fp8 = readFp8Config(config);
  if (!config.finish().ok()) return;
  for (const std::string& name : list.modulesWith(".weight")) {
    if (list.find(name + ".weight")->packing != Packing::kF8_E4M3) continue;
    Module module(list, name);
    const Tensor* codes = module.require(".weight");
    if (!module.expectDimensions(codes, 2, 2)) continue;
    QuantisedMatrix matrix;
    matrix.method = "fp8";
    matrix.rows = codes->shape[0];
    matrix.columns = codes->shape[1];
    matrix.codes = {CodeType::kF8E4M3, CodeOrder::kBytes, matrix.rows, matrix.columns, codes->bytes};
    if (!readScales(module, fp8, matrix)) continue;
    matrix.input_scheme = fp8.static_inputs ? InputScheme::kStatic : InputScheme::kDynamic;
    if (fp8.static_inputs) {
      const Tensor* scale = module.optional(".activation_scale");
      matrix.input_scale = module.scalar(scale ? scale : module.require(".input_scale"));
    }
    module.finish(*codes, name + ".weight", codes->shape, std::move(matrix));
  }
}

// [..., rows, blocks, 16] bytes of two codes each, and [..., rows, blocks] powers of two. Experts are one
// above the other: the tensor has the shape [experts, rows, columns], outputs before inputs.
void joinMxfp4(ConfigReader& config, PartList& list) {
  config.ignore(quantKey("modules_to_not_convert*"));  // shows in the tensors
  if (!config.finish().ok()) return;
  constexpr int64_t kBlock = 32;
  for (const std::string& name : list.modulesWith("_blocks")) {
    Module module(list, name);
    const Tensor* codes = module.require("_blocks");
    const Tensor* scales = module.require("_scales");
    if (!module.expectType(codes, {Packing::kU8}) || !module.expectDimensions(codes, 3, 16)) continue;
    std::vector<int64_t> grid(codes->shape.begin(), codes->shape.end() - 1);
    if (codes->shape.back() != kBlock / 2) {
      module.fault("_blocks", "has {} bytes in a block, not {}", codes->shape.back(), kBlock / 2);
      continue;
    }
    if (!module.expect(scales, {Packing::kU8, Packing::kF8_E8M0}, grid,
                       fmt::format("blocks [{}]", fmt::join(grid, ", "))))
      continue;
    std::vector<int64_t> shape(grid.begin(), grid.end() - 1);
    shape.push_back(grid.back() * kBlock);
    QuantisedMatrix matrix;
    matrix.method = "mxfp4";
    matrix.rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      matrix.rows *= shape[i];  // no more than the bytes of the tensor
    matrix.columns = shape.back();
    matrix.codes = {CodeType::kF4E2M1, CodeOrder::kNibbles, matrix.rows, matrix.columns, codes->bytes};
    setScales(matrix, *scales, {1, kBlock});
    module.finish(*codes, name, shape, std::move(matrix));
  }
}

}  // namespace sublane::io
