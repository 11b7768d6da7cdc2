// Which operations must be executed for values so that one unknown value becomes known: the producers of an
// operation's operands, and theirs, through tuples and loops. Integers first: the slots of a cache write
// don't need the rows that are written.
//
// `sourcesOf` finds the operations whose results the top-level program's own code turns into a scalar.
//
//   ValueSlice slice(program.module);
//   slice.add("fusion.7");                        // and all that it is computed from
//   for (const std::string& name : slice.names()) fmt::print("{}\n", name);
#pragma once

#include <set>
#include <string>
#include <utility>

#include "llo/listing.h"
#include "llo/llo.h"

namespace sublane::sim {

class ValueSlice {
 public:
  explicit ValueSlice(const llo::HloModule& module) : module_(module) {}
  /// Returns whether it added anything. A name that the module does not know adds itself.
  bool add(const std::string& name);
  /// What the operation is given, and not itself: its code only moves what is not known.
  bool addOperands(const std::string& name);
  const std::set<std::string>& names() const { return names_; }

 private:
  bool addOnce(const std::string& name, bool itself);
  bool addIntegersFirst(const std::string& name, bool itself);
  /// Element -1: the whole of a tuple.
  void visit(int32_t computation, int32_t instruction, int64_t element);
  void visitOperands(int32_t computation, const llo::Instruction& instruction);
  void visitParameter(int32_t computation, int64_t number, int64_t element);

  const llo::HloModule& module_;
  bool integers_only_ = true;
  std::set<std::string> names_;
  std::set<std::tuple<int32_t, int32_t, int64_t>> seen_;
};

/// The operations whose outputs a bundle's vector-to-scalar results, transfers and popped arguments are made
/// of, by the registers' values, through loads and the stores and transfers that fill what is loaded. The
/// allocations' tags tell them ("output of fusion.5@{}").
std::set<std::string> sourcesOf(const llo::Listing& listing, int32_t bundle);

}  // namespace sublane::sim
