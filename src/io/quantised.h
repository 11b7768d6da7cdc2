// Quantised Hugging Face checkpoints: the parts of a matrix (codes, scales, zero points) joined into one
// tensor.
//
// `quantization_config` of config.json says which method wrote them, and each of its keys is consumed here or
// refused by name: models ignore "quantization_config.*". Read are awq (gemm), gptq (both versions,
// act-order), fp8 (per tensor, row or block), mxfp4 (gpt-oss) and compressed-tensors (float-, int-, pack- and
// nvfp4-pack-quantized). Nothing is unpacked: a joined tensor has the matrix's logical name and shape and a
// formats::QuantisedMatrix over the map.
//
//   SUBLANE_TRY(JoinedTensors joined, joinQuantised(checkpoint.metadata, std::move(raw), folder));
//   const formats::QuantisedMatrix* matrix = joined.tensors[0].quantised.get();    // null: a plain tensor
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/checkpoint.h"

namespace sublane::io {

struct JoinedTensors {
  std::vector<Tensor> tensors;     // in file order, a joined one in the place of its codes
  std::vector<std::string> notes;  // what was decided: a label that the zero points contradict, ...
};

/// Without `quantization_config` the tensors come back as they are, unless they are plainly parts. Errors
/// name file, tensor, both shapes; all faults of tensors at once.
Result<JoinedTensors> joinQuantised(const Metadata& metadata, std::vector<Tensor> raw,
                                    const std::string& source);

}  // namespace sublane::io
