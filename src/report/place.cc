#include "report/place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace sublane::report {
namespace {

using llo::Computation;
using llo::Instruction;

/// Parts of JAX's name stack that name a mechanism, not a place.
bool isMechanism(std::string_view part) {
  constexpr std::array<std::string_view, 10> kWords = {"while",      "body",      "cond", "closed_call",
                                                       "checkpoint", "core_call", "scan", "pjit",
                                                       "remat",      "shard_map"};
  return part.empty() || part.back() == ')' || part.substr(0, 7) == "branch_" ||
         std::find(kWords.begin(), kWords.end(), part) != kWords.end();
}

std::vector<std::string_view> splitPlaces(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const size_t slash = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, slash);
    if (!isMechanism(part)) parts.push_back(part);
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return parts;
}

/// "layer.3", "layers_3", "block.3", "layer.*"
std::optional<int32_t> layerOf(std::string_view part) {
  for (std::string_view word : {"layers", "layer", "blocks", "block"}) {
    if (part.substr(0, word.size()) != word) continue;
    std::string_view rest = part.substr(word.size());
    if (rest.size() < 2 || (rest[0] != '.' && rest[0] != '_')) return std::nullopt;
    rest.remove_prefix(1);
    if (rest == "*") return RowPlace::kEvery;
    int32_t layer = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
    if (error == std::errc() && end == rest.data() + rest.size() && layer >= 0) return layer;
    return std::nullopt;
  }
  return std::nullopt;
}

/// Carries values of many places.
bool isCarrier(const Instruction& at) {
  return at.is("tuple") || at.is("while") || at.is("conditional") || at.is("call");
}

bool isPlain(const Instruction& at) { return at.is("parameter") || at.is("constant") || isCarrier(at); }

bool isPlaced(const RowPlace& place) { return !place.part.empty(); }

/// Slices of the stacked weights stand at the loop itself; what uses them says more.
bool isLoopItself(const RowPlace& place) { return place.layer == RowPlace::kEvery && place.part == "layers"; }

}  // namespace

RowPlace placeOfName(std::string_view op_name) {
  RowPlace place;
  if (op_name.find('/') == std::string_view::npos) return place;  // an argument's name, or a lone primitive
  std::vector<std::string_view> parts = splitPlaces(op_name);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (const auto layer = layerOf(parts[i])) {
      place.layer = *layer;
      place.part = i + 1 < parts.size() ? parts[i + 1] : parts[i];
      return place;
    }
  }
  if (parts.size() > 1) parts.pop_back();  // the operation itself; alone, it is all that is known
  for (std::string_view part : parts) {
    if (!place.part.empty()) place.part += '/';
    place.part += part;
  }
  return place;
}

Places::Places(const llo::HloModule& module) : module_(module) {
  for (const Computation& computation : module.computations) {
    places_.emplace_back(computation.instructions.size());
    uses_.emplace_back(computation.instructions.size());
  }
  placeNamed();
  findUses();
  auto settle = [&] {
    for (int round = 0; round < 20 && spread(); ++round) {
    }
  };
  settle();
  for (const auto& [computation, instruction, place] : loop_places_) {
    RowPlace& at = places_[static_cast<size_t>(computation)][static_cast<size_t>(instruction)];
    if (!isPlaced(at)) at = place;
  }
  settle();
}

void Places::placeNamed() {
  for (size_t c = 0; c < places_.size(); ++c) {
    for (size_t i = 0; i < places_[c].size(); ++i) {
      const Instruction& at = module_.computations[c].instructions[i];
      if (isPlain(at)) continue;
      const RowPlace fused = fromFused(at);
      const RowPlace named = isPlaced(fused) ? fused : placeOfName(at.metadata.op_name);
      if (isLoopItself(named)) {
        loop_places_.emplace_back(static_cast<int32_t>(c), static_cast<int32_t>(i), named);
      } else {
        places_[c][i] = named;
      }
    }
  }
}

/// The place of what is fused in: a matrix product's first, since it dominates; else nothing when the fusion
/// has a name of its own, else the root's or the last one's.
RowPlace Places::fromFused(const Instruction& at) const {
  RowPlace last;
  if (!at.is("fusion") && !at.is("async-start")) return last;
  const bool named = isPlaced(placeOfName(at.metadata.op_name));
  for (int32_t called : at.called) {
    const Computation& inner = module_.at(called);
    for (size_t i = 0; i < inner.instructions.size(); ++i) {
      const Instruction& one = inner.instructions[i];
      const RowPlace& place = places_[static_cast<size_t>(called)][i];
      if (!isPlaced(place)) continue;
      if (one.is("dot") || one.is("convolution")) return place;
      if (!named) last = place;
    }
  }
  return last;
}

void Places::findUses() {
  using Elements = std::map<int64_t, std::vector<int32_t>>;  // tuple index to its get-tuple-elements
  auto elementsOf = [&](int32_t computation, int32_t tuple) {
    Elements elements;
    const Computation& in = module_.at(computation);
    for (size_t i = 0; i < in.instructions.size(); ++i) {
      const Instruction& at = in.instructions[i];
      if (at.is("get-tuple-element") && at.operands.size() == 1 && at.operands[0] == tuple) {
        elements[at.tuple_index].push_back(static_cast<int32_t>(i));
      }
    }
    return elements;
  };
  auto feed = [&](int32_t c, const Instruction& tuple, int32_t to, const Elements& elements) {
    for (size_t k = 0; k < tuple.operands.size(); ++k) {
      auto found = elements.find(static_cast<int64_t>(k));
      if (found == elements.end()) continue;
      for (int32_t element : found->second) {
        uses_[static_cast<size_t>(c)][static_cast<size_t>(tuple.operands[k])].push_back({to, element});
      }
    }
  };
  for (size_t c = 0; c < uses_.size(); ++c) {
    const Computation& in = module_.computations[c];
    const auto computation = static_cast<int32_t>(c);
    for (size_t i = 0; i < in.instructions.size(); ++i) {
      const Instruction& at = in.instructions[i];
      const auto index = static_cast<int32_t>(i);
      if (at.is("tuple")) continue;
      for (int32_t operand : at.operands)
        uses_[c][static_cast<size_t>(operand)].push_back({computation, index});
      if (!at.is("while") || at.called.size() != 2 || at.operands.size() != 1) continue;
      const int32_t body = at.called[0];
      const Computation& loop = module_.at(body);
      const Elements inside = elementsOf(body, loop.parameter(0)), after = elementsOf(computation, index);
      const Instruction& start = in.at(at.operands[0]);
      if (start.is("tuple")) feed(computation, start, body, inside);
      if (start.is("tuple")) feed(computation, start, computation, after);
      const Instruction& next = loop.at(loop.root);
      if (next.is("tuple")) feed(body, next, body, inside);
      if (next.is("tuple")) feed(body, next, computation, after);
    }
  }
}

RowPlace Places::fromUsers(int32_t computation, int32_t instruction) const {
  for (const Use& use : uses_[static_cast<size_t>(computation)][static_cast<size_t>(instruction)]) {
    const RowPlace& place =
        places_[static_cast<size_t>(use.computation)][static_cast<size_t>(use.instruction)];
    if (isPlaced(place)) return place;
  }
  return {};
}

RowPlace Places::fromLoop(int32_t body, int64_t element) const {
  const Instruction& next = module_.at(body).at(module_.at(body).root);
  if (!next.is("tuple") || element < 0 || element >= static_cast<int64_t>(next.operands.size())) return {};
  return places_[static_cast<size_t>(body)][static_cast<size_t>(next.operands[static_cast<size_t>(element)])];
}

RowPlace Places::fromOperands(int32_t computation, int32_t instruction) const {
  const Instruction& at = module_.at(computation).at(instruction);
  if (at.is("get-tuple-element") && at.operands.size() == 1) {  // of a loop: what its body computes there
    const Instruction& loop = module_.at(computation).at(at.operands[0]);
    if (loop.is("while") && loop.called.size() == 2) return fromLoop(loop.called[0], at.tuple_index);
  }
  for (int32_t operand : at.operands) {
    const RowPlace& place = places_[static_cast<size_t>(computation)][static_cast<size_t>(operand)];
    if (isPlaced(place)) return place;
  }
  return {};
}

/// One round: users first, from the end; then operands, from the start. True if anything was placed.
bool Places::spread() {
  bool changed = false;
  auto place = [&](size_t c, size_t i, bool users) {
    RowPlace& at = places_[c][i];
    if (isPlaced(at) || module_.computations[c].is_fusion ||
        isCarrier(module_.computations[c].instructions[i]))
      return;
    const auto computation = static_cast<int32_t>(c), index = static_cast<int32_t>(i);
    at = users ? fromUsers(computation, index) : fromOperands(computation, index);
    changed |= isPlaced(at);
  };
  for (size_t c = places_.size(); c-- > 0;) {
    for (size_t i = places_[c].size(); i-- > 0;) place(c, i, true);
  }
  if (changed) return true;
  for (size_t c = 0; c < places_.size(); ++c) {
    for (size_t i = 0; i < places_[c].size(); ++i) place(c, i, false);
  }
  return changed;
}

}  // namespace sublane::report
