#include "report/kind.h"

#include <algorithm>
#include <array>
#include <set>

namespace sublane::report {
namespace {

using llo::Computation;
using llo::HloModule;
using llo::Instruction;

template <size_t N>
bool isOneOf(std::string_view opcode, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), opcode) != list.end();
}

constexpr std::array<std::string_view, 16> kFree = {
    "parameter", "constant",    "tuple",          "get-tuple-element",
    "bitcast",   "copy-done",   "async-done",     "async-update",
    "after-all", "opt-barrier", "partition-id",   "replica-id",
    "send-done", "recv-done",   "add-dependency", "domain"};
constexpr std::array<std::string_view, 9> kCollectives = {
    "all-reduce",           "all-gather",        "reduce-scatter", "all-to-all", "collective-permute",
    "collective-broadcast", "ragged-all-to-all", "send",           "recv"};

bool isCollective(std::string_view opcode) {
  for (std::string_view base : kCollectives) {
    if (opcode.substr(0, base.size()) == base) return true;
  }
  return false;
}

struct Contents {
  std::set<std::string_view> opcodes;
  std::set<int32_t> computations;  // seen
};

void collect(const HloModule& module, const Instruction& fusion, Contents& out) {
  for (int32_t called : fusion.called) {
    if (!out.computations.insert(called).second) continue;
    for (const Instruction& one : module.at(called).instructions) {
      out.opcodes.insert(one.opcode);
      if (one.is("fusion")) collect(module, one, out);
    }
  }
}

/// All that a fusion or an asynchronous wrapper does inside.
std::set<std::string_view> opcodesIn(const HloModule& module, const Instruction& fusion) {
  Contents contents;
  collect(module, fusion, contents);
  return std::move(contents.opcodes);
}

std::string fusionKind(const HloModule& module, const Instruction& fusion) {
  const std::set<std::string_view> has = opcodesIn(module, fusion);
  constexpr std::array<std::pair<std::string_view, const char*>, 9> kByWeight = {
      {{"dot", "matmul"},
       {"convolution", "matmul"},
       {"scatter", "scatter"},
       {"sort", "sort"},
       {"gather", "gather"},
       {"dynamic-update-slice", "update slice"},
       {"reduce", "reduce"},
       {"reduce-window", "reduce"},
       {"rng-bit-generator", "random"}}};
  for (const auto& [opcode, kind] : kByWeight) {
    if (has.count(opcode)) return kind;
  }
  constexpr std::array<std::string_view, 10> kMoves = {
      "parameter", "constant", "bitcast",   "copy", "transpose",
      "reshape",   "tuple",    "broadcast", "iota", "get-tuple-element"};
  constexpr std::array<std::string_view, 5> kSlices = {"slice", "dynamic-slice", "pad", "concatenate",
                                                       "reverse"};
  bool moves_only = true, slices = false;
  for (std::string_view opcode : has) {
    const bool slice = isOneOf(opcode, kSlices);
    slices |= slice;
    moves_only &= slice || isOneOf(opcode, kMoves) || opcode == "fusion";
  }
  if (moves_only) return slices ? "slice" : has.count("copy") || has.count("transpose") ? "copy" : "fill";
  return "elementwise";
}

std::string asyncKind(const Instruction& at) {
  const auto& parts = at.shape.elements;
  if (parts.size() < 2) return "async copy";
  const bool start = at.is("copy-start");  // (destination, source, ...), else ((operands), result, ...)
  bool to_hbm = false, from_hbm = false;
  llo::forEachArray(parts[start ? 0 : 1],
                    [&](const llo::Shape& array) { to_hbm |= array.memory() == llo::Memory::kHbm; });
  llo::forEachArray(parts[start ? 1 : 0],
                    [&](const llo::Shape& array) { from_hbm |= array.memory() == llo::Memory::kHbm; });
  return from_hbm && !to_hbm ? "prefetch" : to_hbm && !from_hbm ? "write back" : "async copy";
}

}  // namespace

std::string kindOf(const HloModule& module, const Computation&, const Instruction& at) {
  if (isOneOf(at.opcode, kFree)) return "";
  if (at.is("fusion")) return fusionKind(module, at);
  if (at.is("copy-start")) return asyncKind(at);
  if (at.is("async-start")) {
    const std::set<std::string_view> has = opcodesIn(module, at);
    for (std::string_view opcode : has) {
      if (isCollective(opcode)) return "collective";
    }
    return has.count("custom-call") ? "kernel" : asyncKind(at);
  }
  if (isCollective(at.opcode)) return at.opcode.ends_with("-done") ? "" : "collective";
  if (at.is("custom-call")) {
    if (isMark(at)) return "";
    if (at.custom_call_target == "TopK") return "top-k";
    return at.custom_call_target == "tpu_custom_call" ? "kernel" : "custom call";
  }
  if (at.is("dot") || at.is("convolution")) return "matmul";
  if (!at.shape.isTuple() && at.shape.dims.empty() && !at.is("reduce")) return "scalar";
  if (at.is("copy") || at.is("transpose") || at.is("reshape")) return "copy";
  if (at.is("dynamic-update-slice")) return "update slice";
  if (at.is("slice") || at.is("dynamic-slice") || at.is("pad") || at.is("concatenate") || at.is("reverse"))
    return "slice";
  if (at.is("broadcast") || at.is("iota")) return "fill";
  if (at.is("gather") || at.is("scatter") || at.is("sort")) return at.opcode;
  if (at.is("reduce") || at.is("reduce-window")) return "reduce";
  if (at.is("rng") || at.is("rng-bit-generator")) return "random";
  if (at.is("topk")) return "top-k";
  return at.called.empty() ? "elementwise" : at.opcode;
}

bool isMark(const Instruction& at) {
  constexpr std::array<std::string_view, 3> kMarks = {"AllocateBuffer", "ConcatBitcast",
                                                      "AssumeGatherIndicesInBound"};
  return at.is("custom-call") && isOneOf(at.custom_call_target, kMarks);
}

std::string kernelName(const Instruction& at) {
  return at.is("custom-call") ? at.custom_call_target : std::string();
}

}  // namespace sublane::report
