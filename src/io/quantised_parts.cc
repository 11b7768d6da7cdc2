#include "io/quantised_parts.h"

#include <algorithm>

namespace sublane::io {
namespace {

using formats::Packing;

// Endings that only parts of quantised matrices have. Whatever is left over after joining would otherwise be
// taken for a weight, or dropped without a word.
constexpr std::string_view kPartEndings[] = {".qweight",
                                             ".qzeros",
                                             ".g_idx",
                                             ".weight_packed",
                                             ".weight_scale",
                                             ".weight_scale_inv",
                                             ".weight_scale_2",
                                             ".weight_zero_point",
                                             ".weight_g_idx",
                                             ".weight_shape",
                                             ".weight_global_scale",
                                             ".input_global_scale",
                                             ".input_scale",
                                             ".input_zero_point",
                                             ".activation_scale",
                                             ".k_scale",
                                             ".v_scale",
                                             ".SCB",
                                             ".weight_format",
                                             ".absmax",
                                             ".quant_map",
                                             ".nested_absmax",
                                             ".nested_quant_map"};

bool isPart(std::string_view name) {
  return name.find(".quant_state.") != std::string_view::npos ||
         std::ranges::any_of(kPartEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// Codes under the name of a weight, which mean nothing without their scale.
bool isBareCodes(const Tensor& tensor) {
  if (!tensor.name.ends_with(".weight")) return false;
  return tensor.packing == Packing::kF8_E4M3 || tensor.packing == Packing::kF8_E5M2 ||
         tensor.packing == Packing::kF8_E8M0 || tensor.packing == Packing::kF4 ||
         formats::isInteger(tensor.packing);
}

std::string shapeText(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

PartList::PartList(std::vector<Tensor> raw, std::string source)
    : raw_(std::move(raw)), taken_(raw_.size()), faults_(std::move(source)) {
  for (size_t i = 0; i < raw_.size(); ++i) index_.emplace(raw_[i].name, i);
}

std::vector<std::string> PartList::modulesWith(std::string_view ending) const {
  std::vector<std::string> modules;
  for (const Tensor& tensor : raw_) {
    if (tensor.name.ends_with(ending))
      modules.push_back(tensor.name.substr(0, tensor.name.size() - ending.size()));
  }
  return modules;
}

const Tensor* PartList::find(const std::string& name) const {
  auto found = index_.find(name);
  return found == index_.end() ? nullptr : &raw_[found->second];
}

const Tensor* PartList::take(const std::string& name) {
  auto found = index_.find(name);
  if (found == index_.end()) return nullptr;
  taken_[found->second] = true;
  return &raw_[found->second];
}

void PartList::replace(const Tensor& codes, Tensor joined) {
  if (joined.name != codes.name && index_.contains(joined.name))
    faults_.add(joined.name, "is stored both whole and in parts ({})", inQuotes(codes.name));
  joined_.emplace(index_.find(codes.name)->second, std::move(joined));
}

Result<JoinedTensors> PartList::finish(bool has_method) {
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (taken_[i]) continue;  // also where its module is faulty, which has been said
    const Tensor& tensor = raw_[i];
    if (isPart(tensor.name)) {
      faults_.add(tensor.name, "is part of a quantised matrix, but {}",
                  has_method ? "no matrix of quantization_config's method takes it"
                             : "config.json has no quantization_config");
    } else if (has_method && isBareCodes(tensor)) {
      faults_.add(tensor.name, "holds codes ({}) without a scale", formats::info(tensor.packing).name);
    }
  }
  if (faults_.any()) return faults_.error();
  JoinedTensors result;
  result.notes = std::move(notes_);
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (auto found = joined_.find(i); found != joined_.end())
      result.tensors.push_back(std::move(found->second));
    else if (!taken_[i])
      result.tensors.push_back(std::move(raw_[i]));
  }
  return result;
}

const Tensor* Module::optional(std::string_view ending) {
  const Tensor* part = list_.take(name_ + std::string(ending));
  if (part) parts_.push_back(part);
  return part;
}

const Tensor* Module::require(std::string_view ending) {
  const Tensor* part = optional(ending);
  if (!part) fault(ending, "is missing");
  return part;
}

bool Module::expectType(const Tensor* part, std::initializer_list<Packing> types) {
  if (!ok_ || !part) return false;
  if (std::ranges::find(types, part->packing) != types.end()) return true;
  std::vector<std::string_view> names;
  for (const Packing type : types) names.push_back(formats::info(type).name);
  fault(part->name.substr(name_.size()), "has type {}, not {}", formats::info(part->packing).name,
        fmt::join(names, " or "));
  return false;
}

bool Module::expectDimensions(const Tensor* part, size_t least, size_t most) {
  if (!ok_ || !part) return false;
  if (std::ranges::find(part->shape, 0) != part->shape.end()) {
    fault(part->name.substr(name_.size()), "has shape {}, which holds nothing", shapeText(part->shape));
    return false;
  }
  if (part->shape.size() >= least && part->shape.size() <= most) return true;
  fault(part->name.substr(name_.size()), "has shape {}, but {} dimension{} {} needed", shapeText(part->shape),
        least, least == 1 ? "" : "s", least == 1 ? "is" : "are");
  return false;
}

bool Module::expect(const Tensor* part, std::initializer_list<Packing> types,
                    const std::vector<int64_t>& shape, const std::string& why) {
  if (!expectType(part, types)) return false;
  if (part->shape == shape) return true;
  fault(part->name.substr(name_.size()), "has shape {}, but {} need {}", shapeText(part->shape), why,
        shapeText(shape));
  return false;
}

std::optional<float> Module::scalar(const Tensor* part) {
  if (!expectType(part, kScaleTypes)) return std::nullopt;
  const int64_t values = formats::packedElements(part->packing, static_cast<int64_t>(part->bytes.size()));
  float value = 0;
  if (values != 1) {
    fault(part->name.substr(name_.size()), "has shape {}, but one value is needed", shapeText(part->shape));
    return std::nullopt;
  }
  if (Status status = formats::dequantize(part->packing, part->bytes, {&value, 1}); !status.ok())
    return std::nullopt;
  return value;
}

void Module::finish(const Tensor& codes, std::string tensor_name, std::vector<int64_t> shape,
                    formats::QuantisedMatrix matrix) {
  if (!ok_) return;
  if (Status status = formats::verify(matrix); !status.ok()) {
    fault(codes.name.substr(name_.size()), "{}", status.error().message());
    return;
  }
  Tensor joined{.name = std::move(tensor_name),
                .shape = std::move(shape),
                .packing = codes.packing,
                .bytes = codes.bytes,
                .file_offset = codes.file_offset,
                .file = codes.file};
  for (const Tensor* part : parts_) joined.parts.push_back(*part);
  joined.quantised = std::make_shared<const formats::QuantisedMatrix>(std::move(matrix));
  list_.replace(codes, std::move(joined));
}

void setScales(formats::QuantisedMatrix& matrix, const Tensor& scales, BlockShape block, bool transposed) {
  const auto blocks = [](int64_t size, int64_t each) { return size / each + (size % each != 0 ? 1 : 0); };
  matrix.block_rows = block.rows;
  matrix.block_columns = block.columns;
  matrix.scales = {scales.packing, transposed, blocks(matrix.codes.rows, block.rows),
                   blocks(matrix.codes.columns, block.columns), scales.bytes};
  if (scales.packing == Packing::kU8) matrix.scales.packing = Packing::kF8_E8M0;
}

void refuseValue(ConfigReader& config, std::string_view key, const std::string& value,
                 std::string_view supported) {
  config.refuse(fmt::format("{} = {} is not supported ({})", quantKey(key), value, supported));
}

}  // namespace sublane::io
