// Dataflow: what the values of a compiled module are: which operation a row stands for, who uses a value,
// which argument of the program a value still is, and whether it depends on any. Private to the folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "findings/findings.h"
#include "llo/llo.h"

namespace sublane::findings {

/// An instruction of the module.
struct Spot {
  int32_t computation = -1, instruction = -1;
  bool found() const { return computation >= 0; }
  auto operator<=>(const Spot&) const = default;
};

/// What a value is of an argument: it, whole, perhaps after updates in place, copies and loops.
struct WholeArgument {
  int64_t argument = -1;  // parameter number of the entry; -1: none
  bool updated = false;   // something was written into it
  bool copied = false;    // the bytes lie elsewhere now
};

class Dataflow {
 public:
  explicit Dataflow(const llo::HloModule& module);

  const llo::HloModule& module() const { return module_; }
  const llo::Computation& computation(Spot spot) const { return module_.at(spot.computation); }
  const llo::Instruction& at(Spot spot) const { return computation(spot).at(spot.instruction); }
  Spot operand(Spot spot, size_t k) const { return {spot.computation, at(spot).operands[k]}; }
  /// Of a row's operation; not found on what is the compiler's own.
  Spot spotOf(const std::string& op) const;
  /// Who uses a value, in its own computation.
  std::vector<Spot> users(Spot spot) const;
  /// Who uses a value in the end: bitcasts, elements of tuples and the ends of asynchronous copies are
  /// passed.
  std::vector<Spot> consumers(Spot spot) const;
  /// What made a value: the same, backwards; the value itself if it is no such step.
  Spot producer(Spot spot) const;
  WholeArgument wholeArgument(Spot spot) const;
  /// False for what is made of constants and iotas only.
  bool dependsOnArguments(Spot spot) const;
  /// Whether `later` needs `earlier`, directly or not (of one computation).
  bool needs(Spot later, Spot earlier) const;
  /// The output of the program that an argument is donated to; -1: none.
  int64_t donatedTo(int64_t argument) const;
  /// Values that the program returns, in order.
  std::vector<Spot> outputs() const;
  /// Index of the entry's parameter; not found: there is none.
  Spot parameter(int64_t number) const;

 private:
  WholeArgument trace(Spot spot, int depth) const;
  WholeArgument ofLoopElement(int32_t body, int64_t element, int depth) const;
  bool isCarried(int32_t body, int64_t element) const;
  std::optional<size_t> passedOperand(Spot spot) const;
  std::optional<size_t> updatedOperand(Spot spot) const;

  const llo::HloModule& module_;
  std::map<std::string, Spot> spots_;
  std::vector<std::vector<std::vector<int32_t>>> users_;
  std::map<int32_t, Spot> loops_;  // by body: the loop that runs it
  std::vector<std::vector<bool>> depends_;
  mutable std::map<Spot, WholeArgument> whole_;
};

}  // namespace sublane::findings
