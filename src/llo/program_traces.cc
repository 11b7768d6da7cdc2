#include "llo/program_traces.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace sublane::llo {
namespace {

constexpr uint32_t kBegin = 0x80000000, kEnd = 0x90000000, kKind = 0xf0000000;

/// What the compiler resolves without emitting anything.
constexpr std::array<std::string_view, 9> kFree = {"parameter",         "constant",   "tuple",
                                                   "get-tuple-element", "bitcast",    "after-all",
                                                   "partition-id",      "replica-id", "add-dependency"};

bool emitsNothing(const Instruction& op) {
  return std::find(kFree.begin(), kFree.end(), op.opcode) != kFree.end() || op.is("opt-barrier");
}

/// Single elements are computed by the scalar unit between the operations, without markers of their own.
bool getsNumber(const Instruction& op) {
  if (emitsNothing(op)) return false;
  if (op.opcode.ends_with("-start") || op.opcode.ends_with("-done")) return true;
  return op.shape.isTuple() || elementCount(op.shape) != 1;
}

struct Walk {
  const HloModule& module;
  std::vector<ScheduledOp> ops{};
  std::vector<char> seen = std::vector<char>(module.computations.size(), 0);

  void visit(int32_t computation) {  // depth is bounded: called computations stand before their callers
    if (seen[computation]++) return;
    const Computation& here = module.at(computation);
    for (int32_t index : here.schedule) {
      const Instruction& op = here.at(index);
      std::vector<int32_t> inner;
      if (op.is("while") || op.is("conditional") || op.is("call")) inner = op.called;
      if (op.is("while")) std::reverse(inner.begin(), inner.end());  // the module names the body first
      for (int32_t called : inner) visit(called);
      ops.push_back({computation, index, getsNumber(op)});
    }
  }
};

/// The numbers in use, and those whose operation a call names.
struct Numbers {
  int32_t count = 0;
  std::unordered_map<int32_t, std::string> called;
};

Numbers numbersOf(const Listing& top, size_t limit) {
  Numbers numbers;
  std::vector<int32_t> open;
  for (const BundleInstruction& i : top.instructions) {
    if (i.op == Op::kInlinedCall && !open.empty() && !top.callees[i.callee].starts_with('<'))
      numbers.called.emplace(open.back(), top.callees[i.callee]);
    if (i.op != Op::kVtrace || i.operand_count != 1) continue;
    const Operand& operand = top.operands[i.first_operand];
    const uint32_t kind = operand.bits & kKind, number = operand.bits & ~kKind;
    if (operand.kind != Operand::Kind::kInteger || number >= limit) continue;  // the whole program's, say
    if (kind == kBegin) {
      open.push_back(static_cast<int32_t>(number));
      numbers.count = std::max(numbers.count, open.back() + 1);
    } else if (kind == kEnd && !open.empty() && open.back() == static_cast<int32_t>(number)) {
      open.pop_back();
    }
  }
  return numbers;
}

/// Numbers first..end-1 to the operations of ops[from, to) that get one.
void fillGap(const std::vector<ScheduledOp>& ops, size_t from, size_t to, int32_t first, int32_t end,
             std::vector<int32_t>& op_of_number) {
  std::vector<int32_t> counting;
  for (size_t i = from; i < to; ++i)
    if (ops[i].counts) counting.push_back(static_cast<int32_t>(i));
  if (counting.size() != static_cast<size_t>(end - first)) return;
  std::copy(counting.begin(), counting.end(), op_of_number.begin() + first);
}

}  // namespace

std::vector<ScheduledOp> scheduleOf(const HloModule& module) {
  Walk walk{module};
  if (!module.computations.empty()) walk.visit(module.entry);
  return std::move(walk.ops);
}

std::vector<TracedOp> joinTraces(const Listing& top, const HloModule& module) {
  std::vector<ScheduledOp> ops = scheduleOf(module);
  const Numbers numbers = numbersOf(top, ops.size());
  auto nameOf = [&](size_t i) -> const std::string& {
    return module.at(ops[i].computation).at(ops[i].instruction).name;
  };
  std::unordered_map<std::string_view, size_t> place;
  for (size_t i = 0; i < ops.size(); ++i) place.emplace(nameOf(i), i);
  for (const auto& [number, name] : numbers.called)
    if (const auto found = place.find(name); found != place.end()) ops[found->second].counts = true;

  std::vector<int32_t> op_of_number(numbers.count, -1);
  size_t from = 0;
  int32_t first = 0;
  for (int32_t number = 0; number < numbers.count; ++number) {
    const auto called = numbers.called.find(number);
    if (called == numbers.called.end()) continue;
    const auto found = place.find(called->second);
    if (found == place.end() || found->second < from) continue;
    fillGap(ops, from, found->second, first, number, op_of_number);
    op_of_number[number] = static_cast<int32_t>(found->second);
    from = found->second + 1;
    first = number + 1;
  }
  fillGap(ops, from, ops.size(), first, numbers.count, op_of_number);

  std::vector<TracedOp> traced(numbers.count);
  for (int32_t number = 0; number < numbers.count; ++number)
    if (const int32_t op = op_of_number[number]; op >= 0)
      traced[number] = {nameOf(op), ops[op].instruction, ops[op].computation};
    else if (const auto called = numbers.called.find(number); called != numbers.called.end())
      traced[number].name = called->second;
  return traced;
}

}  // namespace sublane::llo
