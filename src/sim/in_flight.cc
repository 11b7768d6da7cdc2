#include "sim/in_flight.h"

#include <algorithm>

#include "sim/latencies.h"

namespace sublane::sim {

using llo::Unit;

Kinds kindsOf(const llo::Listing& listing) {
  Kinds kinds;
  std::map<std::pair<llo::Op, uint16_t>, int32_t> numbers;
  for (const llo::BundleInstruction& i : listing.instructions) {
    const auto [entry, added] = numbers.try_emplace({i.op, i.form}, static_cast<int32_t>(kinds.names.size()));
    if (added) {
      kinds.names.push_back(kindOf(listing, i));
      kinds.units.push_back(llo::unitOf(i.op));
    }
    kinds.of.push_back(entry->second);
  }
  return kinds;
}

InFlight::Queue InFlight::poppedBy(const llo::BundleInstruction& i) const {
  if (llo::unitOf(i.op) != Unit::kPop) return Queue::kNone;
  const std::string_view op = llo::name(i.op);
  if (formOf(i).find("mr") != std::string::npos) return Queue::kMatrix;  // mrf, mrb
  if (op == "vpop.trf") return Queue::kTransposed;
  if (op == "spop.sfrf") return Queue::kFlags;
  if (op == "spop.drf") return Queue::kDivision;
  return Queue::kNone;
}

/// What a unit issues one after the other. Weights and pops have ports of their own.
int32_t InFlight::portOf(const llo::BundleInstruction& i) const {
  const Unit unit = llo::unitOf(i.op);
  int port = 0;
  if (unit == Unit::kMatrix) port = 1;
  if (unit == Unit::kCrossLane) port = 2;
  if (unit == Unit::kExtended) port = 3;
  if (unit == Unit::kPop) port = 4 + static_cast<int>(poppedBy(i));
  return port == 0 ? -1 : port * 16 + i.unit_index + 1;
}

/// How many results an operation leaves in a FIFO.
int InFlight::resultsOf(const llo::BundleInstruction& i, Queue& queue) const {
  const std::string_view op = llo::name(i.op);
  const std::string& form = formOf(i);
  const auto has = [&](std::string_view word) { return form.find(word) != std::string::npos; };
  queue = Queue::kNone;
  if (op == "vmatmul") {
    queue = Queue::kMatrix;
    return (has("s8") ? 4 : has("bf16") ? 2 : 1) * (has("mubr") ? 2 : 1);
  }
  if (op == "vxpose" && has("end")) {
    queue = Queue::kTransposed;
    const auto operands = listing_->operandsOf(i);
    const int width = operands.empty() ? 128 : static_cast<int>(operands.back().bits);
    return has("b16") ? width / 16 * (has("binary") ? 2 : 1) : width / 8;
  }
  if (op == "vsyncmov") queue = Queue::kFlags;
  if (op == "sdivrem") queue = Queue::kDivision;
  return queue == Queue::kNone ? 0 : 1;
}

void InFlight::note(const llo::BundleInstruction& i, int64_t cycle) {
  const Unit unit = llo::unitOf(i.op);
  if (unit == Unit::kPseudo) return;
  const auto index = static_cast<size_t>(&i - listing_->instructions.data());
  const Made made{.cycle = cycle, .kind = kinds_->of[index], .unit = unit, .predicated = bool(i.predicate)};
  if (i.result)
    registers_[slot(i.result)] = made;
  else if (i.value >= 0)
    values_[i.value] = made;
  if (const int32_t port = portOf(i); port >= 0) units_[port][made.kind] = made;
  if (const Queue popped = poppedBy(i); popped != Queue::kNone) {
    std::deque<Made>& queue = queues_[queueKey(popped, i.unit_index)];
    if (!queue.empty()) queue.pop_front();
  }
  Queue queue{};
  const int results = resultsOf(i, queue);
  for (int k = 0; k < results; ++k) {
    if (numbered(i))
      places_[placeKey(i, i.part + k)] = made;
    else
      queues_[queueKey(queue, i.unit_index)].push_back(made);
  }
}

void InFlight::shift(int64_t cycles) {
  for (Made& made : registers_) made.cycle += cycles;
  for (auto& [id, made] : values_) made.cycle += cycles;
  for (auto& [id, made] : places_) made.cycle += cycles;
  for (auto& [id, queue] : queues_)
    for (Made& made : queue) made.cycle += cycles;
  for (auto& [port, kinds] : units_)
    for (auto& [kind, made] : kinds) made.cycle += cycles;
}

namespace {
void takeLater(InFlight::Made& mine, const InFlight::Made& other) {
  if (other.kind >= 0 && (mine.kind < 0 || other.cycle > mine.cycle)) mine = other;
}
}  // namespace

void InFlight::join(const InFlight& other) {
  for (size_t r = 0; r < registers_.size(); ++r) takeLater(registers_[r], other.registers_[r]);
  for (const auto& [id, made] : other.values_) takeLater(values_[id], made);
  for (const auto& [id, made] : other.places_) takeLater(places_[id], made);
  for (const auto& [id, queue] : other.queues_) {
    std::deque<Made>& mine = queues_[id];
    if (mine.empty()) mine = queue;
    if (mine.size() != queue.size()) continue;
    for (size_t k = 0; k < mine.size(); ++k) takeLater(mine[k], queue[k]);
  }
  for (const auto& [port, kinds] : other.units_)
    for (const auto& [kind, made] : kinds) takeLater(units_[port][kind], made);
}

}  // namespace sublane::sim
