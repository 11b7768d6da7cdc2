// One function's decoding; private to decode.cc and decode_operation.cc.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/decode.h"

namespace sublane::sim {

/// Constants of the whole program, each in one register.
class ConstantPool {
 public:
  explicit ConstantPool(std::vector<uint32_t>& registers) : registers_(registers) {}
  int32_t of(uint32_t value) {
    const auto [entry, added] = places_.try_emplace(value, static_cast<int32_t>(registers_.size()));
    if (added) registers_.push_back(value);
    return entry->second;
  }

 private:
  std::vector<uint32_t>& registers_;
  std::unordered_map<uint32_t, int32_t> places_;
};

/// A micro operation of a bundle with what it touches, for putting the bundle's operations in order.
struct Step {
  MicroOp micro;
  std::vector<int32_t> reads;
  bool writes_register = false;
  bool loads = false, stores = false;  // SMEM
  bool reads_flags = false, writes_flags = false;
};

/// What the operations of one bundle became.
struct BundleSteps {
  std::vector<Step> waits, steps;
  bool timed = false;          // needs the clock to be exact
  int32_t callee = -1;         // index into Listing::callees
  int32_t branch_target = -1;  // bundle
  bool vector = false;         // holds vector work that is executed
  bool vector_results = false;
};

struct OperationContext {
  const llo::Listing& listing;
  const std::vector<int64_t>& addresses;
  const Placement& placement;
  Code& code;
  ConstantPool& constants;
  bool valued = false;
  bool runtime = false;    // the runtime's own code, whose waits are for the host
  int32_t taken = kTaken;  // register of a branch in this bundle
};

/// Appends what an instruction does to `bundle`. Error: an operation or a form that is not known.
Status decodeOperation(const OperationContext& context, int32_t bundle_number,
                       const llo::BundleInstruction& instruction, BundleSteps& bundle);

/// Puts steps into an order in which all reads come before the writes, with temporaries where they need them.
std::vector<MicroOp> inOrder(std::vector<Step> steps);

}  // namespace sublane::sim
