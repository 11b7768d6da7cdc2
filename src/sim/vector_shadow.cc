// What depends on memory that nothing wrote, followed bit by bit through registers and units, in the way that
// memory checkers do. Nothing happens here before a program's first load of such memory.
#include <algorithm>

#include "sim/vector_state.h"

namespace sublane::sim {
namespace {

using State = VectorUnit::State;

bool anySource(const State& s, const Micro& m) {
  return s.isTainted(m.a) || s.isTainted(m.b) || s.isTainted(m.c);
}

/// Ors the shadows of an instruction's sources into `to`; whole words, or bit by bit.
void gather(const State& s, const Micro& m, bool whole_words, uint32_t* to) {
  std::fill_n(to, kWords, 0u);
  for (const Source* source : {&m.a, &m.b, &m.c}) {
    if (!s.isTainted(*source)) continue;
    const uint32_t* shadow = s.shadows[source->index].words;
    for (int k = 0; k < kWords; ++k) to[k] |= shadow[k];
  }
  for (int k = 0; whole_words && k < kWords; ++k) to[k] = to[k] != 0 ? ~uint32_t{0} : 0;
}

template <bool kWholeWords>
bool elementwise(State& s, const Micro& m) {
  if (m.result == kNoRegister) return true;
  if (!anySource(s, m)) {
    s.tainted[m.result] = false;
    return true;
  }
  VectorRegister gathered;
  gather(s, m, kWholeWords, gathered.words);
  s.shadows[m.result] = gathered;
  s.tainted[m.result] = true;
  return true;
}

bool select(State& s, const Micro& m) {
  const bool mask_tainted = s.tainted[m.mask];
  s.tainted[m.result] = false;
  if (!anySource(s, m) && !mask_tainted) return true;
  const uint32_t *mask = s.control(m.mask), *unsure = s.shadows[m.mask].words;
  VectorRegister shadow;
  bool any = false;
  for (int k = 0; k < kWords; ++k) {
    const uint32_t yes = s.isTainted(m.a) ? s.shadows[m.a.index].words[k] : 0,
                   no = s.isTainted(m.b) ? s.shadows[m.b.index].words[k] : 0;
    shadow.words[k] = (mask[k] & yes) | (~mask[k] & no) | (mask_tainted ? unsure[k] : 0);
    any |= shadow.words[k] != 0;
  }
  if (!any) return true;
  s.shadows[m.result] = shadow;
  s.tainted[m.result] = true;
  return true;
}

/// Runs the instruction itself on shadows; sources without taint are zeros there.
void runOnShadows(State& s, const Micro& m) {
  for (const Source* source : {&m.a, &m.b, &m.c})
    if (source->kind == Source::Kind::kVector && !s.tainted[source->index])
      std::fill_n(s.shadows[source->index].words, kWords, 0u);
  s.shadowing = true;
  m.run(s, m);
  s.shadowing = false;
}

bool move(State& s, const Micro& m) {
  if (!anySource(s, m)) {
    s.tainted[m.result] = false;
    return true;
  }
  runOnShadows(s, m);
  s.tainted[m.result] = true;
  return true;
}

// After the instruction itself, whose results are the last of their queue.

bool throughUnit(State& s, const Micro& m) {
  if (!anySource(s, m) && m.part == 0) return true;  // all parts of a transposition are followed
  CrossLaneUnit& unit = s.cross_lane[m.unit];
  ResultQueue& queue = m.part == 0 ? unit.permutes : unit.transposed;
  s.shadow_slot = queue.size() - s.pushed;
  runOnShadows(s, m);
  return true;
}

bool overLanes(State& s, const Micro& m) {
  if (!s.isTainted(m.a)) return true;
  ResultQueue& queue = s.cross_lane[m.unit].lanes;
  ResultQueue::Slot& slot = queue.at(queue.size() - 1);
  const uint32_t* shadow = s.shadows[m.a.index].words;
  for (int row = 0; row < kWords; row += kLanes) {
    const bool any =
        std::any_of(shadow + row, shadow + row + kLanes, [](uint32_t bits) { return bits != 0; });
    std::fill_n(slot.shadow.words + row, kLanes, any ? ~uint32_t{0} : 0u);
  }
  slot.tainted = true;
  return true;
}

bool queued(State& s, const Micro& m) {
  if (!anySource(s, m)) return true;
  ResultQueue::Slot& slot = s.extended.at(s.extended.size() - 1);
  gather(s, m, true, slot.shadow.words);
  slot.tainted = true;
  return true;
}

}  // namespace

Run shadowOf(Taint taint) {
  switch (taint) {
    case Taint::kWords:
      return elementwise<true>;
    case Taint::kBits:
      return elementwise<false>;
    case Taint::kSelect:
      return select;
    case Taint::kMoves:
      return move;
    case Taint::kUnit:
      return throughUnit;
    case Taint::kLanes:
      return overLanes;
    case Taint::kQueued:
      return queued;
    case Taint::kOwn:
      return nullptr;
  }
  return nullptr;
}

bool VectorUnit::State::take(ResultQueue& queue, uint8_t reg) {
  const ResultQueue::Slot& slot = queue.front();
  registers[reg] = slot.data;
  tainted[reg] = slot.tainted;
  if (slot.tainted) shadows[reg] = slot.shadow;
  queue.pop();
  return true;
}

}  // namespace sublane::sim
