// `sublane inspect MODEL --dump TENSOR -o FILE.npy`: the values of one tensor.
#pragma once

#include <string>

#include "base/result.h"
#include "io/checkpoint.h"

namespace sublane::cli {

/// Writes the tensor as a NumPy array: float32 whatever its packing; integers, booleans and float64 as they
/// are. A row at a time, so that memory does not grow with the tensor. Error: no such tensor.
Status dumpTensor(const io::Checkpoint& checkpoint, const std::string& name, const std::string& path);

}  // namespace sublane::cli
