#include "llo/llo.h"

namespace sublane::llo {
namespace {

/// A computation as seen from inside: of a fusion, its parameters are the caller's operands.
struct Frame {
  const HloModule* module;
  const Computation* computation;
  const Frame* outer = nullptr;  // of a fusion
  const Instruction* fusion = nullptr;
};

/// An integer as "element of the loop's state plus an offset", or a constant where element is -1.
struct Linear {
  int64_t element = -1;
  int64_t offset = 0;
};

std::optional<Linear> resolve(const Frame& frame, int32_t index, int& budget);

/// Within a budget of steps: foreign programs may share operands so that a walk over all paths never ends.
std::optional<Linear> resolve(const Frame& frame, int32_t index) {
  int budget = 500;
  return resolve(frame, index, budget);
}

std::optional<Linear> resolveSum(const Frame& frame, const Instruction& sum, int64_t sign, int& budget) {
  if (sum.operands.size() != 2) return std::nullopt;
  const auto a = resolve(frame, sum.operands[0], budget), b = resolve(frame, sum.operands[1], budget);
  if (!a || !b) return std::nullopt;
  Linear result = *a;
  if (__builtin_add_overflow(result.offset, sign * b->offset, &result.offset)) return std::nullopt;
  if (b->element < 0) return result;
  if (a->element >= 0 || sign < 0) return std::nullopt;
  result.element = b->element;
  return result;
}

/// `index` of the computation as a Linear; follows what keeps a scalar's value.
std::optional<Linear> resolve(const Frame& frame, int32_t index, int& budget) {
  if (--budget < 0) return std::nullopt;
  const Instruction& at = frame.computation->at(index);
  if (at.is("constant")) return at.constant ? std::optional(Linear{-1, *at.constant}) : std::nullopt;
  if (at.is("copy") || at.is("bitcast") || at.is("convert") || at.is("reshape")) {
    return at.operands.size() == 1 ? resolve(frame, at.operands[0], budget) : std::nullopt;
  }
  if (at.is("add")) return resolveSum(frame, at, 1, budget);
  if (at.is("subtract")) return resolveSum(frame, at, -1, budget);
  if (at.is("fusion") && at.called.size() == 1) {
    const Computation& fused = frame.module->at(at.called[0]);
    return resolve(Frame{frame.module, &fused, &frame, &at}, fused.root, budget);
  }
  if (at.is("parameter") && frame.outer) {
    const auto number = static_cast<size_t>(at.parameter_number);
    return number < frame.fusion->operands.size()
               ? resolve(*frame.outer, frame.fusion->operands[number], budget)
               : std::nullopt;
  }
  if (at.is("get-tuple-element") && at.operands.size() == 1 && !frame.outer &&
      frame.computation->at(at.operands[0]).is("parameter")) {
    return Linear{at.tuple_index, 0};
  }
  return std::nullopt;
}

/// The tuple that an instruction is, through copies of the whole.
const Instruction* tupleOf(const Computation& computation, int32_t index) {
  const Instruction* at = &computation.at(index);
  while ((at->is("copy") || at->is("opt-barrier")) && at->operands.size() == 1)
    at = &computation.at(at->operands[0]);
  return at->is("tuple") ? at : nullptr;
}

struct Loop {
  const HloModule& module;
  const Computation& caller;
  const Computation& body;
  const Instruction* initial;  // tuple
  const Instruction* next;     // tuple

  std::optional<int64_t> initialValue(int64_t element) const {
    if (element < 0 || element >= static_cast<int64_t>(initial->operands.size())) return std::nullopt;
    const auto value = resolve(Frame{&module, &caller}, initial->operands[static_cast<size_t>(element)]);
    return value && value->element < 0 ? std::optional(value->offset) : std::nullopt;
  }
  /// What an iteration adds to the element.
  std::optional<int64_t> step(int64_t element) const {
    if (element < 0 || element >= static_cast<int64_t>(next->operands.size())) return std::nullopt;
    const auto value = resolve(Frame{&module, &body}, next->operands[static_cast<size_t>(element)]);
    return value && value->element == element ? std::optional(value->offset) : std::nullopt;
  }
  std::optional<int64_t> invariant(const Linear& value) const {
    if (value.element < 0) return value.offset;
    if (step(value.element) != 0) return std::nullopt;
    const auto initial_value = initialValue(value.element);
    int64_t sum = 0;
    if (!initial_value || __builtin_add_overflow(*initial_value, value.offset, &sum)) return std::nullopt;
    return sum;
  }
};

/// Iterations of: for (i = first; i <direction> bound; i += step).
std::optional<int64_t> iterations(std::string_view direction, int64_t first, int64_t bound, int64_t step) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (step == 0 || std::abs(first) > kMost || std::abs(bound) > kMost || std::abs(step) > kMost)
    return std::nullopt;
  int64_t distance = step > 0 ? bound - first : first - bound;
  const int64_t stride = std::abs(step);
  const bool upward = direction == "LT" || direction == "LE";
  const bool downward = direction == "GT" || direction == "GE";
  if ((upward && step < 0) || (downward && step > 0)) {  // runs away from the bound: never, or for ever
    return distance >= 0 ? std::optional<int64_t>(0) : std::nullopt;
  }
  if (direction == "LE" || direction == "GE") distance += 1;
  if (direction == "NE")
    return distance >= 0 && distance % stride == 0 ? std::optional(distance / stride) : std::nullopt;
  if (!upward && !downward) return std::nullopt;
  return distance <= 0 ? 0 : (distance + stride - 1) / stride;
}

std::string_view mirrored(std::string_view direction) {
  if (direction == "LT") return "GT";
  if (direction == "LE") return "GE";
  if (direction == "GT") return "LT";
  if (direction == "GE") return "LE";
  return direction;
}

std::optional<int64_t> fromComparison(const Loop& loop, const Frame& frame, const Instruction& compare) {
  if (!compare.is("compare") || compare.operands.size() != 2) return std::nullopt;
  auto left = resolve(frame, compare.operands[0]), right = resolve(frame, compare.operands[1]);
  if (!left || !right) return std::nullopt;
  std::string_view direction = compare.comparison_direction;
  if (left->element < 0 || loop.step(left->element) == 0) {
    std::swap(left, right);
    direction = mirrored(direction);
  }
  const auto first = loop.initialValue(left->element), step = loop.step(left->element);
  const auto bound = loop.invariant(*right);
  if (!first || !step || !bound) return std::nullopt;
  return iterations(direction, *first + left->offset, *bound, *step);
}

}  // namespace

std::optional<int64_t> tripCount(const HloModule& module, const Computation& caller,
                                 const Instruction& loop) {
  if (const auto known = readBackendConfig(loop.backend_config).trip_count) return known;
  if (!loop.is("while") || loop.called.size() != 2 || loop.operands.size() != 1) return std::nullopt;
  const Computation& body = module.at(loop.called[0]);
  const Computation& condition = module.at(loop.called[1]);
  const Loop parts{module, caller, body, tupleOf(caller, loop.operands[0]), tupleOf(body, body.root)};
  if (!parts.initial || !parts.next) return std::nullopt;
  const Frame frame{&module, &condition};
  const Instruction& root = condition.at(condition.root);
  if (root.is("fusion") && root.called.size() == 1) {
    const Computation& fused = module.at(root.called[0]);
    return fromComparison(parts, Frame{&module, &fused, &frame, &root}, fused.at(fused.root));
  }
  return fromComparison(parts, frame, root);
}

}  // namespace sublane::llo
