#include "sim/bundle_causes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace sublane::sim {
namespace {

using events::Cause;
using llo::Unit;

/// Cycles from issue to use, roughly (facts of the listings of v6e). They rank operands, nothing else.
int nominalLatency(Unit unit) {
  switch (unit) {
    case Unit::kExtended:
      return 13;
    case Unit::kCrossLane:
      return 130;
    case Unit::kMatrix:
      return 190;
    case Unit::kVectorAlu:
      return 2;
    case Unit::kScalar:
      return 6;
    default:
      return 1;
  }
}

bool isPush(std::string_view op) { return op.starts_with("vpush"); }

/// The unit that a pop without an SSA operand takes from, by the words of its form.
Unit poppedUnit(std::string_view op, std::string_view form) {
  if (form.find("mr") != std::string_view::npos) return Unit::kMatrix;  // mrf, mrb
  if (op == "vpop.erf") return Unit::kExtended;
  return Unit::kCrossLane;
}

class Scan {
 public:
  Scan(const llo::Listing& listing, const CauseOptions& options) : listing_(listing), options_(options) {}

  std::vector<Cause> run() {
    const size_t count = listing_.bundles.size();
    std::vector<Cause> causes(count, Cause::kDependencyOther);
    size_t empty_from = 0;
    for (size_t b = 0; b < count; ++b) {
      if (listing_.bundles[b].count == 0) continue;
      const Cause waits = waitOf(static_cast<int>(b));
      std::fill(causes.begin() + static_cast<ptrdiff_t>(empty_from),
                causes.begin() + static_cast<ptrdiff_t>(b), waits);
      causes[b] = issueOf(listing_.bundles[b]);
      note(static_cast<int>(b));
      empty_from = b + 1;
    }
    markDelaySlots(causes);
    markLaunch(causes);
    return causes;
  }

 private:
  struct Producer {
    int bundle = -1;
    Unit unit = Unit::kMisc;
  };

  static size_t slot(llo::Register reg) { return static_cast<size_t>(reg.file) * 64 + reg.index; }

  /// The last producer of an instruction's operands, by when its result is ready.
  void consider(const Producer& producer, int& best, Unit& unit) const {
    if (producer.bundle < 0) return;
    const int ready = producer.bundle + nominalLatency(producer.unit);
    if (ready > best) best = ready, unit = producer.unit;
  }

  Cause waitOf(int b) const {
    int best = -1;
    Unit unit = Unit::kMisc;
    for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[static_cast<size_t>(b)])) {
      if (llo::unitOf(i.op) == Unit::kPseudo) continue;
      if (i.predicate) consider(registers_[slot(i.predicate)], best, unit);
      bool takes_value = false;
      for (const llo::Operand& operand : listing_.operandsOf(i)) {
        if (operand.reg) consider(registers_[slot(operand.reg)], best, unit);
        if (operand.index) consider(registers_[slot(operand.index)], best, unit);
        if (operand.kind != llo::Operand::Kind::kValue) continue;
        takes_value = true;
        if (const auto found = values_.find(operand.value); found != values_.end())
          consider(found->second, best, unit);
      }
      if (llo::unitOf(i.op) == Unit::kPop && !takes_value) {
        const Unit popped = poppedUnit(llo::name(i.op), listing_.formOf(i));
        consider(units_[static_cast<size_t>(popped)], best, unit);
      }
    }
    return dependencyOn(unit);
  }

  void note(int b) {
    for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[static_cast<size_t>(b)])) {
      Unit unit = llo::unitOf(i.op);
      if (unit == Unit::kPseudo) continue;
      if (isPush(llo::name(i.op)))
        unit = Unit::kCrossLane;  // leaves the vector side as slowly as a reduction
      const Producer producer{.bundle = b, .unit = unit};
      units_[static_cast<size_t>(unit)] = producer;
      if (i.result) registers_[slot(i.result)] = producer;
      if (!i.result && i.value >= 0) values_[i.value] = producer;
    }
  }

  Cause issueOf(const llo::Bundle& bundle) const {
    std::array<double, 7> used{};
    bool spills = false, others = false, any = false;
    for (const llo::BundleInstruction& i : listing_.of(bundle)) {
      const Unit unit = llo::unitOf(i.op);
      if (unit == Unit::kPseudo) continue;
      any = true;
      (spillAccess(i) ? spills : others) = true;
      count(unit, used);
    }
    if (any && spills && !others) return Cause::kSpill;
    constexpr Cause kCauses[] = {Cause::kIssueMatrix,    Cause::kIssueCrossLane,   Cause::kIssueExtended,
                                 Cause::kIssueVectorAlu, Cause::kIssueVectorStore, Cause::kIssueVectorLoad,
                                 Cause::kIssueScalar};
    const Slots& s = options_.slots;
    const double slots[] = {s.matrix, s.cross_lane, s.extended, s.vector_alu, s.store, s.load, s.scalar};
    double most = 0;
    Cause cause = Cause::kIssueOther;
    for (size_t k = 0; k < used.size(); ++k) {
      if (used[k] / slots[k] > most) most = used[k] / slots[k], cause = kCauses[k];
    }
    return cause;
  }

  static void count(Unit unit, std::array<double, 7>& used) {
    switch (unit) {
      case Unit::kMatrix:
        ++used[0];
        break;
      case Unit::kCrossLane:
        ++used[1];
        break;
      case Unit::kExtended:  // takes a slot of the vector ALU, too
        ++used[2], ++used[3];
        break;
      case Unit::kVectorAlu:
        ++used[3];
        break;
      case Unit::kVectorStore:
        ++used[4];
        break;
      case Unit::kVectorLoad:
        ++used[5];
        break;
      case Unit::kScalar:
        ++used[6];
        break;
      default:
        break;
    }
  }

  bool spillAccess(const llo::BundleInstruction& i) const {
    const Unit unit = llo::unitOf(i.op);
    if (unit != Unit::kVectorLoad && unit != Unit::kVectorStore && unit != Unit::kScalar) return false;
    for (const llo::Operand& operand : listing_.operandsOf(i)) {
      if (operand.kind == llo::Operand::Kind::kMemory && operand.allocation >= 0 &&
          listing_.allocations[static_cast<size_t>(operand.allocation)].spill) {
        return true;
      }
    }
    return false;
  }

  void markDelaySlots(std::vector<Cause>& causes) const {
    for (size_t b = 0; b < listing_.bundles.size(); ++b) {
      for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[b])) {
        if (i.target < 0) continue;
        const size_t end = std::min(b + 1 + static_cast<size_t>(options_.delay_slots), causes.size());
        for (size_t d = b + 1; d < end; ++d) {
          if (listing_.bundles[d].count == 0) causes[d] = Cause::kBranch;
        }
        causes[b] = causes[b] == Cause::kIssueOther ? Cause::kBranch : causes[b];
      }
    }
  }

  /// Between the markers `vtrace 0x8000000N` and `0x9000000N` the cycles are an operation's.
  void markLaunch(std::vector<Cause>& causes) const {
    if (options_.all_launch) std::fill(causes.begin(), causes.end(), Cause::kLaunch);
    if (!options_.launch_outside) return;
    int depth = 0;
    for (size_t b = 0; b < listing_.bundles.size(); ++b) {
      for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[b])) {
        if (llo::name(i.op) != "vtrace" || listing_.operandsOf(i).empty()) continue;
        const llo::Operand& marker = listing_.operandsOf(i).front();
        if (marker.kind != llo::Operand::Kind::kInteger) continue;
        if (static_cast<int64_t>(marker.bits & 0x0fffffff) >= options_.traced) continue;
        if (marker.bits >> 28 == 8) ++depth;
        if (marker.bits >> 28 == 9) depth = std::max(depth - 1, 0);
      }
      if (depth == 0) causes[b] = Cause::kLaunch;
    }
  }

  const llo::Listing& listing_;
  const CauseOptions& options_;
  std::array<Producer, 5 * 64> registers_{};
  std::array<Producer, 16> units_{};
  std::unordered_map<int32_t, Producer> values_;
};

}  // namespace

Cause dependencyOn(Unit unit) {
  switch (unit) {
    case Unit::kScalar:
      return Cause::kDependencyScalar;
    case Unit::kVectorAlu:
      return Cause::kDependencyVectorAlu;
    case Unit::kVectorLoad:
      return Cause::kDependencyVectorLoad;
    case Unit::kExtended:
      return Cause::kDependencyExtended;
    case Unit::kCrossLane:
      return Cause::kDependencyCrossLane;
    case Unit::kMatrix:
      return Cause::kDependencyMatrix;
    default:
      return Cause::kDependencyOther;
  }
}

Slots slotsOf(const ChipModel& model) {
  Slots slots;
  const auto take = [&](const char* key, double& value) {
    const auto found = model.extra.find(key);
    if (found != model.extra.end() && found->second > 0) value = found->second;
  };
  double multiply = slots.matrix / 2, push = slots.matrix / 2;
  take("slots_matmul", multiply);
  take("slots_matpush", push);
  slots.matrix = multiply + push;
  take("slots_cross_lane", slots.cross_lane);
  take("slots_vector_alu", slots.vector_alu);
  take("slots_extended", slots.extended);
  take("slots_vector_load", slots.load);
  take("slots_vector_store", slots.store);
  take("slots_scalar", slots.scalar);
  return slots;
}

std::vector<events::Cause> bundleCauses(const llo::Listing& listing, const CauseOptions& options) {
  return Scan(listing, options).run();
}

}  // namespace sublane::sim
