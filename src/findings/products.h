// Products: the operands of a row's matrix products as they lie in memory and as they are multiplied. Private
// to the folder.
#pragma once

#include <vector>

#include "findings/dataflow.h"

namespace sublane::findings {

struct ProductOperand {
  Spot value;                     // the row's operand
  llo::ElementType stored{};      // in memory
  llo::ElementType used{};        // as the product takes it
  bool default_precision = true;  // the MXU may round it to bf16 anyway
};

/// Operands that reach a product of this operation (or within its fusion) through conversions, bitcasts and
/// slices only.
std::vector<ProductOperand> productOperands(const Dataflow& flow, Spot spot);

/// A computation by the operation that runs it, looked at from a value inside: the parameter that the value
/// is, through what does no arithmetic; -1: none.
int64_t parameterOf(const llo::HloModule& module, const llo::Computation& in, int32_t value);

}  // namespace sublane::findings
