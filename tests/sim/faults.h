// Faults made mechanically in a compiled program: one instruction is changed or left out, in the typed
// listing.
//
//   const Coverage coverage = coverageOf(compiled);            // what a run executes
//   for (const Fault& fault : faultsOf(compiled.program, coverage, 3)) {
//     const Seeded seeded(compiled.program, fault);            // until it goes out of scope
//     ...
//   }
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "values_programs.h"

namespace sublane::sim {

/// Executed bundles by listing.
using Coverage = std::vector<std::vector<bool>>;

inline Result<Coverage> coverageOf(const Compiled& compiled) {
  Coverage coverage;
  for (const llo::Listing& listing : compiled.program.listings) coverage.emplace_back(listing.bundles.size());
  Options options = compiled.options;
  options.sink = [&](const events::Event& event) {
    if (event.transfer >= 0 || event.duration <= 0 || event.listing < 0) return;
    std::vector<bool>& bundles = coverage[static_cast<size_t>(event.listing)];
    for (int64_t b = event.bundle; b < std::min<int64_t>(event.bundle + event.duration, std::ssize(bundles));
         ++b)
      bundles[static_cast<size_t>(b)] = true;
  };
  SUBLANE_TRY(const Run run, simulate(compiled.program, compiled.model, options));
  (void)run;
  return coverage;
}

/// What a change sees: copies of an instruction and its operands, which it changes. False: it has none to
/// make.
struct Site {
  const llo::Listing& listing;
  llo::BundleInstruction& instruction;
  std::span<llo::Operand> operands;

  llo::Unit unit() const { return llo::unitOf(instruction.op); }
  std::string_view op() const { return llo::name(instruction.op); }
  bool is(std::string_view word) const { return op() == word; }
  llo::Operand* memory() const {
    for (llo::Operand& operand : operands)
      if (operand.kind == llo::Operand::Kind::kMemory && operand.space == llo::Space::kVmem) return &operand;
    return nullptr;
  }
};

struct FaultKind {
  const char* name;
  bool leaves_out;  // the instruction is left out; else it is changed
  bool (*change)(const Site&);
};

namespace faults {

inline bool isVector(llo::Unit unit) {
  return unit == llo::Unit::kVectorAlu || unit == llo::Unit::kExtended || unit == llo::Unit::kCrossLane ||
         unit == llo::Unit::kMatrix;
}
inline bool swapOperands(const Site& s) {
  constexpr std::string_view kOrdered[] = {"vsub", "vsel", "vcmp", "vpack", "vcombine", "ssub", "scmp", "vc"};
  if (std::find(std::begin(kOrdered), std::end(kOrdered), s.op()) == std::end(kOrdered)) return false;
  const size_t n = s.operands.size();
  const std::string& form = s.listing.formOf(s.instruction);
  if (n < 2 || form.starts_with("eq") || form.starts_with("ne")) return false;
  llo::Operand &a = s.operands[n - 2], &b = s.operands[n - 1];
  if (a.kind == b.kind && a.reg == b.reg && a.bits == b.bits) return false;
  std::swap(a, b);
  std::swap(a.role, b.role);
  return true;
}
inline bool wrongOffset(const Site& s) {
  llo::Operand* memory = s.memory();
  if (memory == nullptr) return false;
  memory->offset += 8;
  return true;
}
inline bool wrongRow(const Site& s) {
  llo::Operand* memory = s.memory();
  if (memory == nullptr) return false;
  memory->offset += 1;
  return true;
}
inline bool wrongStride(const Site& s) {
  llo::Operand* memory = s.memory();
  if (memory == nullptr || (memory->sublane_mask & (memory->sublane_mask - 1)) == 0) return false;
  memory->sublane_stride += 1;
  memory->sublanes_per_stride = 1;
  return true;
}
inline bool wrongSublanes(const Site& s) {
  llo::Operand* memory = s.memory();
  if (memory == nullptr || memory->mask || memory->sublane_mask == 0) return false;
  memory->sublane_mask = static_cast<uint8_t>(memory->sublane_mask & (memory->sublane_mask - 1));
  return true;
}
inline bool wrongMask(const Site& s) {
  for (llo::Operand& operand : s.operands) {
    if (operand.kind != llo::Operand::Kind::kRegister || operand.reg.file != llo::RegisterFile::kMask)
      continue;
    operand.reg.index ^= 1;
    return true;
  }
  return false;
}
inline bool wrongConstant(const Site& s) {
  if (s.unit() != llo::Unit::kScalar && s.unit() != llo::Unit::kVectorAlu) return false;
  for (llo::Operand& operand : s.operands) {
    if (operand.kind == llo::Operand::Kind::kInteger) return operand.bits += 1, true;
    if (operand.kind == llo::Operand::Kind::kFloat) return operand.bits ^= 1u << 23, true;
  }
  return false;
}
inline bool wrongShift(const Site& s) {
  constexpr std::string_view kShifts[] = {"vshll", "vshrl", "vshra", "sshll", "sshrl", "sshra", "vrot.slane"};
  return std::find(std::begin(kShifts), std::end(kShifts), s.op()) != std::end(kShifts) && wrongConstant(s);
}
inline bool wrongNumber(const Site& s) { return !wrongShift(s) && wrongConstant(s); }
inline bool wrongRegister(const Site& s) {
  if (!isVector(s.unit())) return false;
  for (llo::Operand& operand : s.operands) {
    if (operand.kind != llo::Operand::Kind::kRegister || operand.reg.file != llo::RegisterFile::kVector)
      continue;
    operand.reg.index ^= 1;
    return true;
  }
  return false;
}
inline bool wrongPredicate(const Site& s) {
  if (!s.instruction.predicate || s.unit() == llo::Unit::kPseudo || s.is("shalt") || s.is("vtrace"))
    return false;
  s.instruction.predicate_negated = !s.instruction.predicate_negated;
  return true;
}
inline bool wrongTransfer(const Site& s) {
  if (s.unit() != llo::Unit::kDma) return false;
  for (llo::Operand& operand : s.operands) {
    if (operand.role != llo::Role::kVmem || operand.kind != llo::Operand::Kind::kRegister) continue;
    operand.reg.index ^= 1;
    return true;
  }
  return false;
}
inline bool always(const Site&) { return true; }
template <llo::Unit kUnit>
bool isOf(const Site& s) {
  return s.unit() == kUnit;
}

}  // namespace faults

inline constexpr FaultKind kFaultKinds[] = {
    {"dropped wait", true, [](const Site& s) { return s.is("dma.done.wait"); }},
    {"dropped transfer", true,
     [](const Site& s) { return s.unit() == llo::Unit::kDma && !s.is("dma.smem_to_host_iova"); }},
    {"wrong transfer", false, faults::wrongTransfer},
    {"dropped store", true, faults::isOf<llo::Unit::kVectorStore>},
    {"dropped load", true, faults::isOf<llo::Unit::kVectorLoad>},
    {"dropped operation", true, [](const Site& s) { return faults::isVector(s.unit()); }},
    {"wrong offset", false, faults::wrongOffset},
    {"wrong row", false, faults::wrongRow},
    {"wrong stride", false, faults::wrongStride},
    {"wrong sublanes", false, faults::wrongSublanes},
    {"swapped operands", false, faults::swapOperands},
    {"wrong mask", false, faults::wrongMask},
    {"wrong shift", false, faults::wrongShift},
    {"wrong number", false, faults::wrongNumber},
    {"wrong register", false, faults::wrongRegister},
    {"wrong predicate", false, faults::wrongPredicate},
};

struct Fault {
  size_t kind = 0;  // into kFaultKinds
  int32_t listing = 0, bundle = 0;
  uint32_t instruction = 0;  // into the listing's
};

/// What the runtime and the top-level program keep for themselves is not a kernel's: of them only transfers
/// and waits are changed.
inline bool isOfKernel(const llo::Program& program, size_t listing,
                       const llo::BundleInstruction& instruction) {
  if (program.listings[listing].function.starts_with("<")) return false;
  if (listing != static_cast<size_t>(program.top)) return true;
  return llo::unitOf(instruction.op) == llo::Unit::kDma || llo::name(instruction.op) == "dma.done.wait";
}

/// Up to `each` faults of every kind, spread over the executed bundles by a hash: the same in every run.
inline std::vector<Fault> faultsOf(const llo::Program& program, const Coverage& coverage, size_t each) {
  std::vector<Fault> chosen;
  for (size_t kind = 0; kind < std::size(kFaultKinds); ++kind) {
    std::vector<std::pair<uint64_t, Fault>> all;
    for (size_t l = 0; l < program.listings.size(); ++l) {
      const llo::Listing& listing = program.listings[l];
      for (size_t b = 0; b < listing.bundles.size(); ++b) {
        const llo::Bundle& bundle = listing.bundles[b];
        for (uint32_t i = bundle.first; coverage[l][b] && i < bundle.first + bundle.count; ++i) {
          llo::BundleInstruction instruction = listing.instructions[i];
          const auto old = listing.operandsOf(instruction);
          std::vector<llo::Operand> operands(old.begin(), old.end());
          if (!isOfKernel(program, l, instruction) ||
              !kFaultKinds[kind].change({listing, instruction, operands}))
            continue;
          all.push_back({mixed(mixed(kind * 131 + l) + i),
                         {kind, static_cast<int32_t>(l), static_cast<int32_t>(b), i}});
        }
      }
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < std::min(each, all.size()); ++i) chosen.push_back(all[i].second);
  }
  return chosen;
}

/// "dropped wait: dma.done.wait (fusion.1, bundle 0x1f)"
inline std::string textOf(const llo::Program& program, const Fault& fault) {
  const llo::Listing& listing = program.listings[static_cast<size_t>(fault.listing)];
  const llo::BundleInstruction& instruction = listing.instructions[fault.instruction];
  std::string form = listing.formOf(instruction);
  return fmt::format("{}: {}{}{} ({}, bundle {:#x})", kFaultKinds[fault.kind].name, llo::name(instruction.op),
                     form.empty() ? "" : ".", form, listing.function, fault.bundle);
}

/// The program has the fault as long as this lives.
class Seeded {
 public:
  Seeded(llo::Program& program, const Fault& fault)
      : listing_(program.listings[static_cast<size_t>(fault.listing)]), whole_(listing_) {
    llo::BundleInstruction& instruction = listing_.instructions[fault.instruction];
    if (kFaultKinds[fault.kind].leaves_out) {
      llo::Bundle& bundle = listing_.bundles[static_cast<size_t>(fault.bundle)];
      const auto first = listing_.instructions.begin() + fault.instruction;
      std::rotate(first, first + 1, listing_.instructions.begin() + bundle.first + bundle.count);
      --bundle.count;
      return;
    }
    const std::span<llo::Operand> operands(listing_.operands.data() + instruction.first_operand,
                                           instruction.operand_count);
    kFaultKinds[fault.kind].change({listing_, instruction, operands});
  }
  ~Seeded() { listing_ = std::move(whole_); }
  Seeded(const Seeded&) = delete;
  Seeded& operator=(const Seeded&) = delete;

 private:
  llo::Listing& listing_;
  llo::Listing whole_;
};

}  // namespace sublane::sim
