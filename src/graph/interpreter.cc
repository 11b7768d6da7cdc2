#include "graph/interpreter.h"

#include <fmt/ranges.h>

#include <memory>
#include <new>

#include "base/check.h"
#include "graph/interpreter_ops.h"
#include "graph/verify.h"

namespace sublane::graph {

namespace {

/// Values are shared, and freed after their last use. An argument of the caller is borrowed: its use_count
/// is 0, so that nothing is ever written into it.
using Value = std::shared_ptr<const Array>;
using Values = std::vector<Value>;

Array runNode(const Node& node, const Values& in, const Type& result) {
  Call call{node, {}, result};
  for (const Value& value : in) call.in.push_back(value.get());
  switch (node.op) {
    case Op::kIota:
    case Op::kBroadcast:
    case Op::kReshape:
    case Op::kTranspose:
    case Op::kSlice:
    case Op::kConcatenate:
    case Op::kTakeRows:
      return runShape(call);
    case Op::kReduceSum:
    case Op::kReduceMax:
    case Op::kArgMax:
      return runReduce(call);
    case Op::kDot:
      return runDot(call);
    case Op::kPagedAttention:
      return runPagedAttention(call);
    default:
      return runElementwise(call);
  }
}

Values runGraph(const Graph& graph, Values arguments);

/// Slice `index` of an array's leading axis.
Value leadingSlice(const Array& stacked, int64_t index) {
  Shape inside(stacked.type.shape.begin() + 1, stacked.type.shape.end());
  Array slice = zeros({stacked.type.dtype, inside});
  auto first = stacked.data.begin() + index * static_cast<int64_t>(slice.data.size());
  std::copy(first, first + static_cast<int64_t>(slice.data.size()), slice.data.begin());
  return std::make_shared<Array>(std::move(slice));
}

Values runLoop(const Node& node, Values in) {
  const LoopAttrs& loop = std::get<LoopAttrs>(node.attrs);
  Values carried(std::make_move_iterator(in.begin()), std::make_move_iterator(in.begin() + loop.carried));
  for (int64_t index = 0; index < loop.count; ++index) {
    double number = static_cast<double>(index);
    Values arguments = {std::make_shared<Array>(arrayOf({DType::kI32, {}}, std::span(&number, 1)))};
    std::move(carried.begin(), carried.end(), std::back_inserter(arguments));
    for (int64_t i = loop.carried; i < static_cast<int64_t>(in.size()); ++i) {
      const Value& value = in[static_cast<size_t>(i)];
      arguments.push_back(i < loop.carried + loop.invariants ? value : leadingSlice(*value, index));
    }
    carried = runGraph(*node.body, std::move(arguments));
  }
  return carried;
}

/// Takes the cache over when nobody else needs it, else copies: an update in place costs its rows only.
Value runCacheWrite(const Values& in) {
  Array cache;
  if (in[0].use_count() == 1)
    cache = std::move(const_cast<Array&>(*in[0]));
  else
    cache = *in[0];
  return std::make_shared<Array>(runCacheWrite(std::move(cache), *in[1], *in[2]));
}

/// For each value, the node that uses it last; outputs are never freed.
std::vector<size_t> lastUses(const Graph& graph) {
  std::vector<size_t> last(graph.types.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (ValueId operand : graph.nodes[i].operands) last[static_cast<size_t>(operand)] = i;
  for (const Output& output : graph.outputs) last[static_cast<size_t>(output.value)] = graph.nodes.size();
  return last;
}

Values runGraph(const Graph& graph, Values arguments) {
  Values values(graph.types.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    values[static_cast<size_t>(graph.parameters[i].value)] = std::move(arguments[i]);
  arguments.clear();
  std::vector<size_t> last = lastUses(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    Values in;
    for (ValueId operand : node.operands) in.push_back(values[static_cast<size_t>(operand)]);
    for (ValueId operand : node.operands)
      if (last[static_cast<size_t>(operand)] == i) values[static_cast<size_t>(operand)].reset();
    if (node.op == Op::kLoop) {
      Values results = runLoop(node, std::move(in));
      for (size_t r = 0; r < results.size(); ++r)
        values[static_cast<size_t>(node.results[r])] = std::move(results[r]);
      continue;
    }
    Value& result = values[static_cast<size_t>(node.results[0])];
    if (node.op == Op::kCacheWrite)
      result = runCacheWrite(in);
    else
      result = std::make_shared<Array>(runNode(node, in, graph.type(node.results[0])));
  }
  Values outputs;
  for (const Output& output : graph.outputs) outputs.push_back(values[static_cast<size_t>(output.value)]);
  return outputs;
}

Status checkArguments(const Graph& graph, std::span<const Array> arguments) {
  if (arguments.size() != graph.parameters.size())
    return inputError("interpret {}: {} arguments, {} parameters", graph.name, arguments.size(),
                      graph.parameters.size());
  std::vector<std::string> faults;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = graph.parameters[i];
    const Type& wanted = graph.type(parameter.value);
    if (arguments[i].type != wanted)
      faults.push_back(fmt::format("argument {} \"{}\" is {}, must be {}", i, parameter.name,
                                   toString(arguments[i].type), toString(wanted)));
    else if (static_cast<int64_t>(arguments[i].data.size()) != byteCount(wanted))
      faults.push_back(fmt::format("argument {} \"{}\" has {} bytes, {} has {}", i, parameter.name,
                                   arguments[i].data.size(), toString(wanted), byteCount(wanted)));
  }
  if (faults.empty()) return Ok{};
  return inputError("interpret {}: {}", graph.name, fmt::join(faults, "\n  "));
}

/// A value that can't be meant for a slow oracle is refused before the machine runs out of memory over it.
Status checkSizes(const Graph& graph) {
  constexpr int64_t kMostBytes = int64_t{1} << 36;
  for (const Type& type : graph.types)
    if (byteCount(type) > kMostBytes)
      return machineError("interpret {}: a value {} has {} bytes, more than 64 GiB", graph.name,
                          toString(type), byteCount(type));
  for (const Node& node : graph.nodes)
    if (node.body) SUBLANE_CHECK_OK(checkSizes(*node.body));
  return Ok{};
}

}  // namespace

Result<std::vector<Array>> interpret(const Graph& graph, std::span<const Array> arguments) {
  SUBLANE_CHECK_OK(verify(graph, {.places = false}));
  SUBLANE_CHECK_OK(checkArguments(graph, arguments));
  SUBLANE_CHECK_OK(checkSizes(graph));
  try {
    Values borrowed;
    for (const Array& argument : arguments) borrowed.push_back(Value(std::shared_ptr<void>(), &argument));
    std::vector<Array> results;
    for (Value& value : runGraph(graph, std::move(borrowed))) results.push_back(*value);
    return results;
  } catch (const std::exception& error) {  // bad_alloc, or length_error of a vector
    return machineError("interpret {}: no memory for its values ({})", graph.name, error.what());
  }
}

}  // namespace sublane::graph
