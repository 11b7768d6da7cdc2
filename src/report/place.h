// Place: which layer and part of the model a compiled operation belongs to; for this folder and views.
//
//   placeOfName("layer.3/attention.qkv/dot")            layer 3, "attention.qkv"
//   placeOfName("jit(f)/layer.0/mlp.up/dot_general")    layer 0, "mlp.up"
//   placeOfName("head/dot")                             no layer, "head"
#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "llo/llo.h"
#include "report/report.h"

namespace sublane::report {

/// What a name stack says, or nothing (an empty part).
RowPlace placeOfName(std::string_view op_name);

/// Places of all instructions of a module. An operation without a name of its own takes the place of the
/// heaviest one fused into it, then of what uses its result (through tuples, loops and the end of an
/// asynchronous copy), then of what made its operands.
class Places {
 public:
  explicit Places(const llo::HloModule& module);
  RowPlace of(int32_t computation, int32_t instruction) const {
    return places_[static_cast<size_t>(computation)][static_cast<size_t>(instruction)];
  }

 private:
  void placeNamed();
  bool spread();
  RowPlace fromFused(const llo::Instruction& instruction) const;
  RowPlace fromUsers(int32_t computation, int32_t instruction) const;
  RowPlace fromOperands(int32_t computation, int32_t instruction) const;
  RowPlace fromLoop(int32_t body, int64_t element) const;
  struct Use {
    int32_t computation, instruction;
  };
  void findUses();
  const llo::HloModule& module_;
  std::vector<std::vector<RowPlace>> places_;
  // Named after the loop over the layers: used if all else fails.
  std::vector<std::tuple<int32_t, int32_t, RowPlace>> loop_places_;
  std::vector<std::vector<std::vector<Use>>>
      uses_;  // by computation and instruction, through tuples and loops
};

}  // namespace sublane::report
