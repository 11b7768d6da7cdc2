// Work: the arithmetic of an operation, counted from its shapes; private to the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "chips/chips.h"
#include "llo/llo.h"

namespace sublane::report {

/// Doubles, because foreign shapes may overflow integers; exact up to 2^53.
struct Work {
  double matmul_flops = 0;  // 2 for each multiply-add of a dot or a convolution
  double other_flops = 0;   // one an element, as XLA counts; reductions one an input element
  double transcendentals = 0;
  double mxu_seconds = 0;  // matrix products at the peak rate of their type and precision
  bool has_matmul = false;
  bool unknown = false;  // holds a custom call without a description

  Work& operator+=(const Work& other);
  Work operator*(double times) const;
};

/// Counts of the computations of one module, each counted once and remembered.
class WorkCounter {
 public:
  WorkCounter(const llo::HloModule& module, const chips::Chip& chip) : module_(module), chip_(chip) {}
  Work of(const llo::Computation& computation, const llo::Instruction& instruction);

 private:
  Work ofComputation(int32_t index);
  Work ofCustomCall(const llo::Computation& in, const llo::Instruction& call) const;
  Work matmul(const llo::Instruction& instruction, const llo::Shape& lhs, const llo::Shape& rhs,
              double flops) const;
  const llo::HloModule& module_;
  const chips::Chip& chip_;
  std::unordered_map<int32_t, Work> known_;
};

/// Multiply-adds times 2 of a dot and of a convolution (positions that padding or dilation skip do not
/// count).
double dotFlops(const llo::Instruction& dot, const llo::Shape& lhs);
double convolutionFlops(const llo::Instruction& convolution, const llo::Shape& lhs, const llo::Shape& rhs);

}  // namespace sublane::report
