#include "report/work.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "report/kind.h"

namespace sublane::report {
namespace {

using llo::Computation;
using llo::Instruction;
using llo::Shape;

template <size_t N>
bool isOneOf(std::string_view opcode, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), opcode) != list.end();
}

constexpr std::array<std::string_view, 14> kTranscendental = {"exponential", "exponential-minus-one",
                                                              "log",         "log-plus-one",
                                                              "logistic",    "tanh",
                                                              "rsqrt",       "sqrt",
                                                              "cbrt",        "power",
                                                              "sine",        "cosine",
                                                              "tan",         "erf"};
constexpr std::array<std::string_view, 32> kElementwise = {"add",
                                                           "subtract",
                                                           "multiply",
                                                           "divide",
                                                           "maximum",
                                                           "minimum",
                                                           "remainder",
                                                           "and",
                                                           "or",
                                                           "xor",
                                                           "not",
                                                           "negate",
                                                           "abs",
                                                           "sign",
                                                           "ceil",
                                                           "floor",
                                                           "round-nearest-afz",
                                                           "round-nearest-even",
                                                           "compare",
                                                           "select",
                                                           "clamp",
                                                           "convert",
                                                           "is-finite",
                                                           "shift-left",
                                                           "shift-right-arithmetic",
                                                           "shift-right-logical",
                                                           "atan2",
                                                           "complex",
                                                           "real",
                                                           "imag",
                                                           "popcnt",
                                                           "count-leading-zeros"};

double countOf(const Shape& shape) {
  double count = 0;
  llo::forEachArray(shape,
                    [&](const Shape& array) { count += static_cast<double>(llo::elementCount(array)); });
  return count;
}

const Shape& operandShape(const Computation& in, const Instruction& of, size_t index) {
  static const Shape kNone;
  return index < of.operands.size() ? in.at(of.operands[index]).shape : kNone;
}

double dimOf(const Shape& shape, int64_t axis) {
  return axis >= 0 && axis < static_cast<int64_t>(shape.dims.size())
             ? static_cast<double>(shape.dims[static_cast<size_t>(axis)])
             : 1.0;
}

/// Pairs of output and kernel positions along one spatial dimension that meet a real input element.
double validPositions(const llo::WindowDimension& window, int64_t input, int64_t output) {
  const int64_t spread = input > 0 ? (input - 1) * window.base_dilation + 1 : 0;
  double valid = 0;
  constexpr int64_t kMostSteps = int64_t{1} << 24;  // foreign sizes: beyond this, count them all as valid
  if (window.size > 0 && output > 0 && window.size > kMostSteps / output) {
    return static_cast<double>(window.size) * static_cast<double>(output);
  }
  for (int64_t k = 0; k < window.size; ++k) {
    for (int64_t o = 0; o < output; ++o) {
      const int64_t at = o * window.stride - window.padding_low + k * window.window_dilation;
      if (at >= 0 && at < spread && at % window.base_dilation == 0) valid += 1;
    }
  }
  return valid;
}

bool isSane(const llo::WindowDimension& window) {
  constexpr int64_t kMost = int64_t{1} << 32;
  return window.size >= 0 && window.size < kMost && window.base_dilation >= 1 &&
         window.base_dilation < kMost && window.window_dilation >= 1 && window.window_dilation < kMost &&
         window.stride >= 0 && window.stride < kMost && std::abs(window.padding_low) < kMost;
}

int bf16Passes(const Instruction& matmul, llo::ElementType lhs, llo::ElementType rhs) {
  if (lhs != llo::ElementType::kF32 && rhs != llo::ElementType::kF32) return 1;
  int passes = 1;
  for (llo::Precision precision : matmul.precision) {
    passes = std::max(passes, precision == llo::Precision::kHighest ? 6
                              : precision == llo::Precision::kHigh  ? 3
                                                                    : 1);
  }
  return passes;
}

double peakOf(const chips::Chip& chip, llo::ElementType lhs, llo::ElementType rhs) {
  const auto bits = std::max(llo::bitsOf(lhs), llo::bitsOf(rhs));
  const bool floats = llo::isFloat(lhs) || llo::isFloat(rhs);
  double rate = chip.bf16_flops;
  if (bits <= 8 && floats) rate = std::max(rate, chip.fp8_flops);
  if (bits <= 8 && !floats) rate = std::max(rate, chip.int8_ops);
  if (bits <= 4 && !floats) rate = std::max(rate, chip.int4_ops);
  return rate;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  matmul_flops += other.matmul_flops;
  other_flops += other.other_flops;
  transcendentals += other.transcendentals;
  mxu_seconds += other.mxu_seconds;
  has_matmul |= other.has_matmul;
  unknown |= other.unknown;
  return *this;
}

Work Work::operator*(double times) const {
  Work product = *this;
  product.matmul_flops *= times;
  product.other_flops *= times;
  product.transcendentals *= times;
  product.mxu_seconds *= times;
  return product;
}

double dotFlops(const Instruction& dot, const Shape& lhs) {
  double flops = 2 * countOf(dot.shape);
  for (int64_t axis : dot.dot.lhs_contract) flops *= dimOf(lhs, axis);
  return flops;
}

double convolutionFlops(const Instruction& convolution, const Shape& lhs, const Shape& rhs) {
  const llo::ConvolutionDimensions& dims = convolution.convolution;
  double flops = 2 * dimOf(convolution.shape, dims.output_batch) *
                 dimOf(convolution.shape, dims.output_feature) * dimOf(rhs, dims.kernel_input_feature);
  for (size_t i = 0;
       i < convolution.window.size() && i < dims.input_spatial.size() && i < dims.output_spatial.size();
       ++i) {
    if (!isSane(convolution.window[i])) return 0;
    flops *= validPositions(convolution.window[i], static_cast<int64_t>(dimOf(lhs, dims.input_spatial[i])),
                            static_cast<int64_t>(dimOf(convolution.shape, dims.output_spatial[i])));
  }
  return flops / static_cast<double>(std::max<int64_t>(1, convolution.batch_groups));
}

Work WorkCounter::matmul(const Instruction& instruction, const Shape& lhs, const Shape& rhs,
                         double flops) const {
  Work work;
  work.has_matmul = true;
  work.matmul_flops = flops;
  work.mxu_seconds = flops * bf16Passes(instruction, lhs.type, rhs.type) / peakOf(chip_, lhs.type, rhs.type);
  return work;
}

Work WorkCounter::ofCustomCall(const Computation& in, const Instruction& call) const {
  Work work;
  // Inside a fusion a custom call is a mark of the compiler's own, too.
  if (isMark(call) || in.is_fusion) return work;
  const llo::BackendConfig config = llo::readBackendConfig(call.backend_config);
  if (!config.kernel_flops) {
    work.unknown = true;
    return work;
  }
  work.other_flops = *config.kernel_flops;  // a description does not say how much of it is matrix products
  work.transcendentals = config.kernel_transcendentals.value_or(0);
  work.mxu_seconds = work.other_flops / chip_.bf16_flops;  // no unit of the chip does them faster
  return work;
}

Work WorkCounter::ofComputation(int32_t index) {
  if (auto known = known_.find(index); known != known_.end()) return known->second;
  Work work;
  const Computation& computation = module_.at(index);
  for (const Instruction& instruction : computation.instructions) work += of(computation, instruction);
  known_.emplace(index, work);
  return work;
}

Work WorkCounter::of(const Computation& in, const Instruction& at) {
  Work work;
  const double outputs = countOf(at.shape);
  if (at.is("dot"))
    return matmul(at, operandShape(in, at, 0), operandShape(in, at, 1),
                  dotFlops(at, operandShape(in, at, 0)));
  if (at.is("convolution")) {
    const Shape &lhs = operandShape(in, at, 0), &rhs = operandShape(in, at, 1);
    return matmul(at, lhs, rhs, convolutionFlops(at, lhs, rhs));
  }
  if (at.is("custom-call")) return ofCustomCall(in, at);
  if (at.is("fusion") || at.is("call") || at.is("async-start")) {
    for (int32_t called : at.called) work += ofComputation(called);
    return work;
  }
  if ((at.is("reduce") || at.is("reduce-window") || at.is("scatter") || at.is("map")) &&
      at.called.size() == 1) {
    const size_t data = at.is("scatter") && !at.operands.empty() ? at.operands.size() - 1 : 0;
    double times = std::max(0.0, countOf(operandShape(in, at, data)) - (at.is("reduce") ? outputs : 0));
    if (at.is("reduce-window")) {
      times = outputs;
      for (const llo::WindowDimension& window : at.window)
        times *= static_cast<double>(std::max<int64_t>(0, window.size));
    }
    if (at.is("map")) times = outputs;
    return ofComputation(at.called[0]) * times;
  }
  if (isOneOf(at.opcode, kTranscendental)) work.transcendentals = outputs;
  if (isOneOf(at.opcode, kElementwise)) work.other_flops = outputs;
  return work;
}

}  // namespace sublane::report
