#include "sim/needed_values.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace sublane::sim {

namespace {

/// An array of floats, or a tuple of nothing else.
bool isFloat(const llo::Shape& shape) {
  bool all = true;
  llo::forEachArray(shape, [&](const llo::Shape& array) { all = all && llo::isFloat(array.type); });
  return all;
}

}  // namespace

bool ValueSlice::add(const std::string& name) { return addIntegersFirst(name, true); }

bool ValueSlice::addOperands(const std::string& name) { return addIntegersFirst(name, false); }

bool ValueSlice::addIntegersFirst(const std::string& name, bool itself) {
  // Scalars are mostly computed from integers; floats (the logits of an argmax) follow if that is not enough.
  for (const bool integers_only : {true, false}) {
    integers_only_ = integers_only;
    if (addOnce(name, itself)) return true;
    if (integers_only) seen_.clear();
  }
  return false;
}

bool ValueSlice::addOnce(const std::string& name, bool itself) {
  const size_t before = names_.size();
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    if (module_.computations[c].is_fusion) continue;
    const std::vector<llo::Instruction>& instructions = module_.computations[c].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].name != name) continue;
      const int32_t computation = static_cast<int32_t>(c);
      if (itself) {
        visit(computation, static_cast<int32_t>(i), -1);
      } else {
        visitOperands(computation, instructions[i]);
      }
    }
  }
  if (itself) names_.insert(name);
  return names_.size() > before;
}

void ValueSlice::visit(int32_t computation, int32_t index, int64_t element) {
  if (!seen_.emplace(computation, index, element).second) return;
  const llo::Instruction& instruction = module_.at(computation).at(index);
  const auto operand = [&](size_t i, int64_t e) {
    if (i < instruction.operands.size()) visit(computation, instruction.operands[i], e);
  };
  if (instruction.is("parameter")) return visitParameter(computation, instruction.parameter_number, element);
  if (instruction.is("get-tuple-element")) return operand(0, instruction.tuple_index);
  if (instruction.is("tuple") && element >= 0) return operand(static_cast<size_t>(element), -1);
  if (instruction.is("while")) {
    operand(0, element);
    if (!instruction.called.empty()) {
      // The carried value is also what the body makes of it; which of the two called is the body does not
      // matter, for a condition's root is a predicate.
      for (const int32_t called : instruction.called) visit(called, module_.at(called).root, element);
    }
    return;
  }
  names_.insert(instruction.name);
  visitOperands(computation, instruction);
  if (instruction.is("call") || instruction.is("conditional") || instruction.is("async-start")) {
    for (const int32_t called : instruction.called) visit(called, module_.at(called).root, element);
  }
}

void ValueSlice::visitOperands(int32_t computation, const llo::Instruction& instruction) {
  for (const int32_t operand : instruction.operands) {
    if (integers_only_ && isFloat(module_.at(computation).at(operand).shape)) continue;
    visit(computation, operand, -1);
  }
}

void ValueSlice::visitParameter(int32_t computation, int64_t number, int64_t element) {
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    if (module_.computations[c].is_fusion) continue;
    const std::vector<llo::Instruction>& instructions = module_.computations[c].instructions;
    for (const llo::Instruction& caller : instructions) {
      if (std::find(caller.called.begin(), caller.called.end(), computation) == caller.called.end()) continue;
      if (caller.is("while")) {
        visit(static_cast<int32_t>(c), caller.operands.front(), element);
        for (const int32_t called : caller.called) visit(called, module_.at(called).root, element);
      } else if (number < static_cast<int64_t>(caller.operands.size())) {
        visit(static_cast<int32_t>(c), caller.operands[static_cast<size_t>(number)], element);
      }
    }
  }
}

namespace {

/// Walks backwards through one listing, along its values.
class SourceFinder {
 public:
  explicit SourceFinder(const llo::Listing& listing) : listing_(listing) {
    for (size_t i = 0; i < listing.instructions.size(); ++i) {
      const llo::BundleInstruction& instruction = listing.instructions[i];
      if (instruction.value >= 0) maker_.try_emplace(instruction.value, i);
      if (writesMemory(instruction)) writers_.push_back(i);
    }
  }

  /// Of what the bundle pops from the vector side, transfers, or passes to a call after it was popped.
  std::set<std::string> from(const llo::Bundle& bundle) {
    end_ = bundle.first + bundle.count;
    for (size_t i = bundle.first; i < end_; ++i) {
      const llo::Op op = listing_.instructions[i].op;
      if (op == llo::Op::kSpop || llo::unitOf(op) == llo::Unit::kDma) follow(i);
      if (op != llo::Op::kInlinedCall) continue;
      for (const llo::Operand& operand : listing_.operandsOf(listing_.instructions[i])) {
        const auto maker = maker_.find(operand.value);
        if (maker != maker_.end() && listing_.instructions[maker->second].op == llo::Op::kSpop)
          follow(maker->second);
      }
    }
    while (!open_.empty()) {
      const size_t next = open_.back();
      open_.pop_back();
      for (const llo::Operand& operand : listing_.operandsOf(listing_.instructions[next])) {
        if (operand.allocation >= 0) reach(operand.allocation);
        const auto maker = maker_.find(operand.value);
        if (operand.value >= 0 && maker != maker_.end()) follow(maker->second);
      }
    }
    return std::move(names_);
  }

 private:
  static bool writesMemory(const llo::BundleInstruction& instruction) {
    const llo::Unit unit = llo::unitOf(instruction.op);
    return unit == llo::Unit::kDma || unit == llo::Unit::kVectorStore || instruction.op == llo::Op::kSst;
  }

  void follow(size_t instruction) {
    if (seen_.insert(instruction).second) open_.push_back(instruction);
  }

  /// A value came from this allocation: an operation's output, or what was stored there before.
  void reach(int32_t allocation) {
    if (!reached_.insert(allocation).second) return;
    constexpr std::string_view kPrefix = "output of ";
    const std::string& tag = listing_.allocations[static_cast<size_t>(allocation)].tag;
    if (tag.starts_with(kPrefix)) {
      names_.insert(tag.substr(kPrefix.size(), tag.find('@') - kPrefix.size()));
      return;
    }
    for (const size_t writer : writers_) {
      if (writer < end_ && touches(writer, allocation)) follow(writer);
    }
  }

  /// Whether the addresses of a store or transfer are made of this allocation's.
  bool touches(size_t instruction, int32_t allocation) const {
    for (const llo::Operand& operand : listing_.operandsOf(listing_.instructions[instruction])) {
      if (operand.allocation == allocation) return true;
      const auto maker = maker_.find(operand.value);
      if (operand.value >= 0 && maker != maker_.end() && maker->second < instruction &&
          llo::unitOf(listing_.instructions[maker->second].op) != llo::Unit::kVectorLoad &&
          touches(maker->second, allocation))
        return true;
    }
    return false;
  }

  const llo::Listing& listing_;
  std::map<int32_t, size_t> maker_;  // of a value: its instruction
  std::vector<size_t> writers_, open_;
  std::set<size_t> seen_;
  std::set<int32_t> reached_;
  std::set<std::string> names_;
  size_t end_ = 0;
};

}  // namespace

std::set<std::string> sourcesOf(const llo::Listing& listing, int32_t bundle) {
  return SourceFinder(listing).from(listing.bundles[static_cast<size_t>(bundle)]);
}

}  // namespace sublane::sim
