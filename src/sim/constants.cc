#include "sim/constants.h"

#include <algorithm>
#include <set>

#include "sim/layout.h"

namespace sublane::sim {
namespace {

constexpr std::string_view kTag = "constant literal";

/// "s8[1,8,8]": how the allocation's shape begins.
std::string head(const llo::Shape& shape) {
  std::string text(llo::name(shape.type));
  text += '[';
  for (size_t i = 0; i < shape.dims.size(); ++i) text += (i ? "," : "") + std::to_string(shape.dims[i]);
  return text + ']';
}

class Finder {
 public:
  Finder(const llo::Program& program, const Placement& placement)
      : program_(program),
        top_(program.listings[static_cast<size_t>(program.top)]),
        addresses_(placement.addresses[static_cast<size_t>(program.top)]),
        unit_(placement.hbm_address_bytes) {}

  std::vector<PlacedConstant> run() {
    std::vector<int32_t> open;
    for (const llo::BundleInstruction& i : top_.instructions) {
      const auto operands = top_.operandsOf(i);
      if (llo::name(i.op) == "vtrace" && !operands.empty()) trace(operands.front().bits, open);
      for (const llo::Operand& operand : operands) {
        if (operand.allocation < 0 || open.empty()) continue;
        assign(operand.allocation, open.back());
      }
    }
    return std::move(found_);
  }

 private:
  void trace(uint32_t marker, std::vector<int32_t>& open) const {
    const uint32_t number = marker & 0x0fffffff;
    if (number >= program_.traced.size()) return;
    if (marker >> 28 == 8) open.push_back(static_cast<int32_t>(number));
    if (marker >> 28 == 9 && !open.empty()) open.pop_back();
  }

  void assign(int32_t allocation, int32_t op) {
    const llo::Allocation& place = top_.allocations[static_cast<size_t>(allocation)];
    if (place.space != llo::Space::kHbm || place.tag != kTag) return;
    if (!assigned_.insert(allocation).second) return;
    const llo::TracedOp& traced = program_.traced[static_cast<size_t>(op)];
    if (traced.instruction < 0 || traced.computation < 0) return;
    const llo::Computation& computation = program_.module.at(traced.computation);
    for (const int32_t operand : computation.at(traced.instruction).operands) {
      const llo::Instruction& constant = through(computation, operand);
      if (!constant.is("constant") || constant.literal.empty()) continue;
      if (!place.shape.starts_with(head(constant.shape))) continue;
      // Several of one shape: in the order of the operands, which is that of the addresses' use.
      if (!used_.insert({op, operand}).second) continue;
      const Result<std::vector<std::byte>> bytes =
          toDevice(constant.shape, std::as_bytes(std::span(constant.literal)));
      if (!bytes.ok()) return;
      found_.push_back({.address = addresses_[static_cast<size_t>(allocation)] * unit_, .bytes = *bytes});
      return;
    }
  }

  static const llo::Instruction& through(const llo::Computation& computation, int32_t index) {
    const llo::Instruction& instruction = computation.at(index);
    const bool renames = instruction.is("bitcast") || instruction.is("copy-done");
    return renames && !instruction.operands.empty() ? through(computation, instruction.operands.front())
                                                    : instruction;
  }

  const llo::Program& program_;
  const llo::Listing& top_;
  const std::vector<int64_t>& addresses_;
  int64_t unit_;
  std::set<int32_t> assigned_;
  std::set<std::pair<int32_t, int32_t>> used_;
  std::vector<PlacedConstant> found_;
};

}  // namespace

std::vector<PlacedConstant> placeConstants(const llo::Program& program, const Placement& placement) {
  return Finder(program, placement).run();
}

}  // namespace sublane::sim
