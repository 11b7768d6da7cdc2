// Who made what an instruction takes: the last producer of each register and value, results that wait in
// FIFOs, and what each unit issued last. Shared by the scoreboard and by the search for latencies.
//
//   InFlight state(listing, kinds);
//   state.forSources(i, [](const InFlight::Made& made) { ... });   // all instructions of a bundle first
//   state.note(i, cycle);                                          // then all of them
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "llo/listing.h"

namespace sublane::sim {

/// The kind of each instruction of a listing, as a number.
struct Kinds {
  std::vector<int32_t> of;  // by instruction
  std::vector<std::string> names;
  std::vector<llo::Unit> units;
};
Kinds kindsOf(const llo::Listing& listing);

class InFlight {
 public:
  struct Made {
    int64_t cycle = 0;
    int32_t kind = -1;
    llo::Unit unit = llo::Unit::kMisc;
    bool predicated = false;
  };

  InFlight(const llo::Listing& listing, const Kinds& kinds) : listing_(&listing), kinds_(&kinds) {}

  /// Calls `visit(made)` for the producer of each operand and FIFO result, if one is known.
  template <class Visit>
  void forSources(const llo::BundleInstruction& i, Visit visit) const;
  /// Calls `visit(made)` for the last operation of each kind that the instruction's unit issued.
  template <class Visit>
  void forUnit(const llo::BundleInstruction& i, Visit visit) const {
    const auto unit = units_.find(portOf(i));
    if (unit == units_.end()) return;
    for (const auto& [kind, made] : unit->second) visit(made);
  }
  void note(const llo::BundleInstruction& i, int64_t cycle);

  /// Nothing is awaited any more.
  void forget() { *this = InFlight(*listing_, *kinds_); }
  /// Moves the clock's origin.
  void shift(int64_t cycles);
  /// Takes over what `other` made later, both having the same origin. FIFOs join if they hold as much.
  void join(const InFlight& other);

 private:
  /// FIFOs whose pops name no value: of a matrix unit, of a transposing unit, of flags and division.
  enum class Queue : uint8_t { kNone, kMatrix, kTransposed, kFlags, kDivision };

  const std::string& formOf(const llo::BundleInstruction& i) const { return listing_->formOf(i); }
  static size_t slot(llo::Register reg) { return static_cast<size_t>(reg.file) * 64 + reg.index; }
  static int queueKey(Queue queue, int unit) { return static_cast<int>(queue) * 16 + unit + 1; }
  Queue poppedBy(const llo::BundleInstruction& i) const;
  int32_t portOf(const llo::BundleInstruction& i) const;
  int resultsOf(const llo::BundleInstruction& i, Queue& queue) const;
  bool numbered(const llo::BundleInstruction& i) const { return formOf(i).find("mrb") != std::string::npos; }
  static int64_t placeKey(const llo::BundleInstruction& i, int64_t place) {
    return (int64_t{i.unit_index} + 1) << 32 | place;
  }

  const llo::Listing* listing_;
  const Kinds* kinds_;
  std::array<Made, 5 * 64> registers_{};
  std::map<int32_t, Made> values_;
  std::map<int64_t, Made> places_;  // numbered results of matrix units
  std::map<int, std::deque<Made>> queues_;
  std::map<int32_t, std::map<int32_t, Made>> units_;  // by port, by kind
};

template <class Visit>
void InFlight::forSources(const llo::BundleInstruction& i, Visit visit) const {
  const auto take = [&](const Made& made) {
    if (made.kind >= 0) visit(made);
  };
  if (i.predicate) take(registers_[slot(i.predicate)]);
  bool takes_value = false;
  for (const llo::Operand& operand : listing_->operandsOf(i)) {
    if (operand.reg) take(registers_[slot(operand.reg)]);
    if (operand.index) take(registers_[slot(operand.index)]);
    if (operand.mask) take(registers_[slot(operand.mask)]);
    if (operand.kind != llo::Operand::Kind::kValue) continue;
    takes_value = true;
    if (const auto found = values_.find(operand.value); found != values_.end()) take(found->second);
  }
  if (takes_value) return;
  const Queue queue = poppedBy(i);
  if (queue == Queue::kNone) return;
  if (numbered(i)) {
    if (const auto found = places_.find(placeKey(i, i.part)); found != places_.end()) take(found->second);
    return;
  }
  const auto found = queues_.find(queueKey(queue, i.unit_index));
  if (found != queues_.end() && !found->second.empty()) take(found->second.front());
}

}  // namespace sublane::sim
