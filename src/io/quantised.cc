#include "io/quantised.h"

#include <algorithm>

#include "io/quantised_parts.h"

namespace sublane::io {
namespace {

constexpr std::string_view kPrefix = "quantization_config.";
constexpr std::string_view kMethods = "awq, compressed-tensors, fp8, gptq and mxfp4 are";

Metadata keysOf(const Metadata& metadata) {
  Metadata keys;
  for (auto found = metadata.lower_bound(std::string(kPrefix));
       found != metadata.end() && found->first.starts_with(kPrefix); ++found)
    keys.insert(*found);
  return keys;
}

Error refuseMethod(const ConfigReader& config, const std::string& method) {
  Error error = inputError("{}: quantization_config.quant_method = {} is not supported ({})", config.source(),
                           inQuotes(method), kMethods);
  if (method == "bitsandbytes")
    return std::move(error).hint("NF4 and LLM.int8() are made for GPUs at load: take the model as bfloat16");
  return std::move(error).hint("take the model as bfloat16, or in one of these");
}

// Inputs are computed in full precision whatever the config wants; that must not go unsaid.
void noteInputs(JoinedTensors& joined) {
  int64_t matrices = 0;
  for (const Tensor& tensor : joined.tensors)
    matrices += tensor.quantised && tensor.quantised->input_scheme != formats::InputScheme::kFull ? 1 : 0;
  if (matrices == 0) return;
  joined.notes.push_back(
      fmt::format("quantization_config wants the inputs of {} matrices quantised as well: they are kept in "
                  "full precision",
                  matrices));
}

}  // namespace

Result<JoinedTensors> joinQuantised(const Metadata& metadata, std::vector<Tensor> raw,
                                    const std::string& source) {
  PartList list(std::move(raw), source);
  const Metadata keys = keysOf(metadata);
  if (metadata.lower_bound("compression_config.") != metadata.end() &&
      metadata.lower_bound("compression_config.")->first.starts_with("compression_config.")) {
    return inputError("{}: compression_config is not supported", source)
        .hint("newer versions of compressed-tensors write it as quantization_config");
  }
  if (keys.empty()) return list.finish(false);
  ConfigReader config(keys, source);
  const std::string method = config.requireString(std::string(kPrefix) + "quant_method");
  if (method == "gptq")
    joinGptq(config, list);
  else if (method == "awq")
    joinAwq(config, list);
  else if (method == "fp8")
    joinFp8(config, list);
  else if (method == "mxfp4")
    joinMxfp4(config, list);
  else if (method == "compressed-tensors")
    joinCompressedTensors(config, keys, list);
  else if (!method.empty())
    return refuseMethod(config, method);
  SUBLANE_CHECK_OK(config.finish());
  SUBLANE_TRY(JoinedTensors joined, list.finish(true));
  noteInputs(joined);
  const bool any =
      std::ranges::any_of(joined.tensors, [](const Tensor& tensor) { return tensor.quantised != nullptr; });
  if (!any)
    joined.notes.push_back(fmt::format("quantization_config says {}, but no tensor is quantised", method));
  return joined;
}

}  // namespace sublane::io
