// Small programs for the simulator's tests, bundle by bundle, without any text of a compiler.
//
//   ProgramBuilder program;
//   FunctionBuilder& top = program.function("TLP");
//   const int32_t word = top.allocate(llo::Space::kSmem, 4);
//   top.bundle({top.op("smov.u32", s(0), {imm(7)})});
//   top.bundle({top.op("sst", none(), {smem(word), reg(s(0))})});
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "llo/program.h"

namespace sublane::sim {

inline llo::Register s(int i) { return {llo::RegisterFile::kScalar, static_cast<uint8_t>(i)}; }
inline llo::Register p(int i) { return {llo::RegisterFile::kPredicate, static_cast<uint8_t>(i)}; }
inline llo::Register v(int i) { return {llo::RegisterFile::kVector, static_cast<uint8_t>(i)}; }
inline llo::Register none() { return {}; }

inline llo::Operand reg(llo::Register r, llo::Role role = llo::Role::kNone) {
  return {.kind = llo::Operand::Kind::kRegister, .role = role, .reg = r};
}
inline llo::Operand imm(uint32_t bits, llo::Role role = llo::Role::kNone) {
  return {.kind = llo::Operand::Kind::kInteger, .role = role, .bits = bits};
}
/// The address of an allocation.
inline llo::Operand at(int32_t allocation, llo::Role role = llo::Role::kNone, int32_t offset = 0) {
  return {.kind = llo::Operand::Kind::kAllocation, .role = role, .allocation = allocation, .offset = offset};
}
inline llo::Operand value(int32_t id) { return {.kind = llo::Operand::Kind::kValue, .value = id}; }
inline llo::Operand smem(int32_t allocation, int32_t offset = 0) {
  return {.kind = llo::Operand::Kind::kMemory,
          .space = llo::Space::kSmem,
          .allocation = allocation,
          .offset = offset};
}
inline llo::Operand smemAt(llo::Register base, llo::Register index = {}) {
  return {.kind = llo::Operand::Kind::kMemory, .space = llo::Space::kSmem, .reg = base, .index = index};
}
inline llo::Operand vmem(int32_t allocation, int32_t offset = 0) {
  return {.kind = llo::Operand::Kind::kMemory,
          .space = llo::Space::kVmem,
          .allocation = allocation,
          .offset = offset};
}

/// An instruction before it has its place in a listing.
struct Draft {
  llo::BundleInstruction instruction;
  std::string form;
  std::vector<llo::Operand> operands;

  Draft when(llo::Register predicate) && {
    instruction.predicate = predicate;
    return std::move(*this);
  }
  Draft unless(llo::Register predicate) && {
    instruction.predicate = predicate;
    instruction.predicate_negated = true;
    return std::move(*this);
  }
  Draft to(int32_t bundle) && {
    instruction.target = bundle;
    return std::move(*this);
  }
  Draft as(int32_t id) && {
    instruction.value = id;
    return std::move(*this);
  }
  Draft remark(int32_t remark) && {
    instruction.remark = remark;
    return std::move(*this);
  }
};

/// "sadd.s32": the operation is the longest known beginning, the rest is the form.
inline Draft op(const std::string& word, llo::Register result, std::vector<llo::Operand> operands = {}) {
  Draft draft{.operands = std::move(operands)};
  draft.instruction.result = result;
  static const std::map<std::string, llo::Op> known = [] {
    std::map<std::string, llo::Op> all;
#define SUBLANE_OPERATION(enumerator, text, unit) all[text] = llo::Op::k##enumerator;
#include "llo/operations.inc"
#undef SUBLANE_OPERATION
    return all;
  }();
  for (size_t length = word.size(); length != std::string::npos && length > 0;
       length = word.rfind('.', length - 1)) {
    const auto found = known.find(word.substr(0, length));
    if (found == known.end()) continue;
    draft.instruction.op = found->second;
    draft.form = length < word.size() ? word.substr(length + 1) : "";
    return draft;
  }
  throw std::invalid_argument("no operation " + word);
}

class FunctionBuilder {
 public:
  explicit FunctionBuilder(std::string name) {
    listing_.function = std::move(name), listing_.forms.push_back("");
  }

  int32_t allocate(llo::Space space, int64_t bytes, int64_t offset = -1, bool absolute = false) {
    const int32_t index = static_cast<int32_t>(listing_.allocations.size());
    listing_.allocations.push_back({.name = "allocation" + std::to_string(index),
                                    .space = space,
                                    .bytes = bytes,
                                    .offset = offset,
                                    .absolute = absolute});
    return index;
  }
  llo::Allocation& allocation(int32_t index) { return listing_.allocations[static_cast<size_t>(index)]; }

  /// Returns the bundle's number.
  int32_t bundle(std::vector<Draft> drafts) {
    llo::Bundle bundle{.first = static_cast<uint32_t>(listing_.instructions.size()),
                       .count = static_cast<uint16_t>(drafts.size())};
    for (Draft& draft : drafts) {
      draft.instruction.first_operand = static_cast<uint32_t>(listing_.operands.size());
      draft.instruction.operand_count = static_cast<uint16_t>(draft.operands.size());
      draft.instruction.form = form(draft.form);
      listing_.operands.insert(listing_.operands.end(), draft.operands.begin(), draft.operands.end());
      listing_.instructions.push_back(draft.instruction);
    }
    listing_.bundles.push_back(bundle);
    return static_cast<int32_t>(listing_.bundles.size()) - 1;
  }
  void empty(int count = 1) {
    for (int i = 0; i < count; ++i) bundle({});
  }
  Draft call(const std::string& callee) {
    Draft draft = op("inlined_call", none());
    draft.instruction.callee = static_cast<int32_t>(listing_.callees.size());
    listing_.callees.push_back(callee);
    return draft;
  }
  int32_t remark(const std::string& text) {
    listing_.remarks.push_back(text);
    return static_cast<int32_t>(listing_.remarks.size()) - 1;
  }
  int32_t size() const { return static_cast<int32_t>(listing_.bundles.size()); }
  llo::Listing& listing() { return listing_; }

 private:
  uint16_t form(const std::string& text) {
    for (size_t i = 0; i < listing_.forms.size(); ++i) {
      if (listing_.forms[i] == text) return static_cast<uint16_t>(i);
    }
    listing_.forms.push_back(text);
    return static_cast<uint16_t>(listing_.forms.size() - 1);
  }
  llo::Listing listing_;
};

/// The first function is the top-level program.
class ProgramBuilder {
 public:
  FunctionBuilder& function(const std::string& name) { return functions_.emplace_back(name); }

  void traced(std::vector<std::string> names) {
    for (std::string& name : names) traced_.push_back({.name = std::move(name)});
  }
  llo::HloModule& module() { return module_; }
  /// Adds a parameter or, with "output", the root to the module's entry.
  void parameter(int64_t elements) {
    llo::Computation& entry = this->entry();
    llo::Instruction instruction{.name = "p" + std::to_string(entry.instructions.size()),
                                 .opcode = "parameter"};
    instruction.parameter_number = parameters_++;
    instruction.shape = {.type = llo::ElementType::kF32, .dims = {elements}};
    entry.instructions.push_back(std::move(instruction));
  }
  void root(std::vector<int64_t> elements) {
    llo::Instruction instruction{.name = "root", .opcode = "tuple"};
    for (const int64_t count : elements)
      instruction.shape.elements.push_back({.type = llo::ElementType::kF32, .dims = {count}});
    instruction.shape.type = llo::ElementType::kTuple;
    if (elements.size() == 1) {
      llo::Shape shape = instruction.shape.elements.front();
      instruction.shape = shape;
      instruction.opcode = "add";
    }
    entry().root = static_cast<int32_t>(entry().instructions.size());
    entry().instructions.push_back(std::move(instruction));
  }

  llo::Program build(const std::string& chip = "v6e") {
    llo::Program program{.chip = chip, .compiler = "a test"};
    for (FunctionBuilder& function : functions_) {
      if (!program.listings.empty())
        program.functions[function.listing().function] = static_cast<int32_t>(program.listings.size());
      program.listings.push_back(function.listing());
    }
    program.traced = traced_;
    program.module = module_;
    return program;
  }

 private:
  llo::Computation& entry() {
    if (module_.computations.empty()) module_.computations.push_back({.name = "main"});
    return module_.computations.front();
  }
  std::deque<FunctionBuilder> functions_;
  std::vector<llo::TracedOp> traced_;
  llo::HloModule module_;
  int64_t parameters_ = 0;
};

}  // namespace sublane::sim
