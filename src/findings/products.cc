#include "findings/products.h"

#include <algorithm>

namespace sublane::findings {
namespace {

using llo::Computation;
using llo::Instruction;

constexpr int kDeepest = 64;

bool isProduct(const Instruction& at) { return at.is("dot") || at.is("convolution"); }

bool isDefault(const Instruction& product) {
  return std::all_of(product.precision.begin(), product.precision.end(),
                     [](llo::Precision precision) { return precision == llo::Precision::kDefault; });
}

/// A step back through what does no arithmetic; false: none is left.
bool passes(const Instruction& at) {
  return at.is("bitcast") || at.is("convert") || at.is("copy") || at.is("transpose") || at.is("reshape") ||
         at.is("dynamic-slice") || at.is("slice");
}

void addProducts(const Dataflow& flow, Spot row, const Computation& in, std::vector<ProductOperand>& found) {
  for (const Instruction& at : in.instructions) {
    if (!isProduct(at)) continue;
    for (int32_t operand : at.operands) {
      const int64_t number = parameterOf(flow.module(), in, operand);
      if (number < 0 || number >= std::ssize(flow.at(row).operands)) continue;
      const Spot value = flow.operand(row, static_cast<size_t>(number));
      found.push_back({value, flow.at(value).shape.type, in.at(operand).shape.type, isDefault(at)});
    }
  }
}

}  // namespace

int64_t parameterOf(const llo::HloModule& module, const Computation& in, int32_t value) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const Instruction& at = in.at(value);
    if (at.is("parameter")) return at.parameter_number;
    if (at.operands.empty()) return -1;
    if (passes(at)) {
      value = at.operands[0];
    } else if (at.is("fusion") && at.called.size() == 1) {
      const Computation& inner = module.at(at.called[0]);
      int32_t root = inner.root;
      int steps = 0;
      while (passes(inner.at(root)) && !inner.at(root).operands.empty() && ++steps < kDeepest)
        root = inner.at(root).operands[0];
      const Instruction& end = inner.at(root);
      if (!end.is("parameter") || end.parameter_number < 0 || end.parameter_number >= std::ssize(at.operands))
        return -1;
      value = at.operands[static_cast<size_t>(end.parameter_number)];
    } else {
      return -1;
    }
  }
  return -1;
}

std::vector<ProductOperand> productOperands(const Dataflow& flow, Spot spot) {
  std::vector<ProductOperand> found;
  const Instruction& at = flow.at(spot);
  if (isProduct(at)) {
    for (size_t k = 0; k < at.operands.size(); ++k) {
      const Spot value = flow.operand(spot, k);
      found.push_back({value, flow.at(value).shape.type, flow.at(value).shape.type, isDefault(at)});
    }
  } else if (at.is("fusion")) {
    for (int32_t called : at.called) addProducts(flow, spot, flow.module().at(called), found);
  }
  return found;
}

}  // namespace sublane::findings
