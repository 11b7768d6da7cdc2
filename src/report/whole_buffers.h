// Whole buffers: which values of a program are one of its arguments, whole, so that a copy of one is seen for
// what it is; private to the folder. A donated argument (the cache) stays itself through updates in place,
// copies and loops; any other one only until something is made of it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "llo/llo.h"

namespace sublane::report {

enum class WholeBuffer : uint8_t { kNo, kArgument, kState };

class WholeBuffers {
 public:
  explicit WholeBuffers(const llo::HloModule& module);

  /// To be told every instruction in order of execution; `kind` is its kind.
  void visit(int32_t computation, int32_t instruction, const std::string& kind);
  /// To be told of a loop before its body is visited.
  void enterLoop(int32_t computation, const llo::Instruction& loop);
  WholeBuffer of(int32_t computation, int32_t instruction) const;

 private:
  using Key = std::pair<int64_t, int64_t>;
  WholeBuffer ofElement(int32_t computation, const llo::Instruction& element) const;
  WholeBuffer ofUpdate(int32_t computation, const llo::Instruction& at) const;
  const llo::HloModule& module_;
  std::map<Key, WholeBuffer> values_;          // by computation and instruction
  std::map<Key, WholeBuffer> state_elements_;  // by loop body and index in its state
};

}  // namespace sublane::report
