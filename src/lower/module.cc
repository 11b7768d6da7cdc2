// The module: one function, its parameters and results, and the dispatch from node to operation.
#include <limits>

#include "graph/verify.h"
#include "lower/emitter.h"
#include "lower/lower.h"

namespace sublane::lower {
namespace {

using graph::Op;

/// StableHLO's name, where a node is one operation of the same operands and result type.
std::string_view unaryName(Op op) {
  switch (op) {
    case Op::kNegate:
      return "negate";
    case Op::kExp:
      return "exponential";
    case Op::kLog:
      return "log";
    case Op::kTanh:
      return "tanh";
    case Op::kRsqrt:
      return "rsqrt";
    case Op::kSqrt:
      return "sqrt";
    case Op::kLogistic:
      return "logistic";
    case Op::kNot:
      return "not";
    default:
      return "";
  }
}

std::string_view binaryName(Op op) {
  switch (op) {
    case Op::kAdd:
      return "add";
    case Op::kSubtract:
      return "subtract";
    case Op::kMultiply:
      return "multiply";
    case Op::kDivide:
      return "divide";
    case Op::kMaximum:
      return "maximum";
    case Op::kMinimum:
      return "minimum";
    case Op::kRemainder:
      return "remainder";
    case Op::kAnd:
      return "and";
    case Op::kOr:
      return "or";
    case Op::kXor:
      return "xor";
    case Op::kShiftLeft:
      return "shift_left";
    case Op::kShiftRight:
      return "shift_right_logical";
    default:
      return "";
  }
}

const std::vector<int64_t>& dimsOf(const graph::Node& node) {
  return std::get<graph::DimsAttrs>(node.attrs).dims;
}
int64_t axisOf(const graph::Node& node) { return std::get<graph::AxisAttrs>(node.attrs).axis; }

// Indices into the leading axes are i32 in the program.
Status checkIndexRange(const graph::Place& place, std::string_view what, int64_t count) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  if (count <= kLimit) return Ok{};
  return inputError("{}: {} {} exceed {}, the largest i32 index", graph::toString(place), count, what, kLimit)
      .hint("use fewer pages, or more devices");
}

Value slice(Emitter& e, const Value& x, const graph::SliceAttrs& attrs) {
  return e.slice(x, attrs.starts, attrs.limits);
}

Value simpleNode(Emitter& e, const graph::Node& node, const Type& type, const std::vector<Value>& in) {
  if (std::string_view op = unaryName(node.op); !op.empty()) return e.unary(op, in[0]);
  if (std::string_view op = binaryName(node.op); !op.empty()) return e.binary(op, in[0], in[1]);
  switch (node.op) {
    case Op::kConstant:
      return e.splat(type, std::get<graph::ScalarAttrs>(node.attrs).value);
    case Op::kIota:
      return e.iota(type, axisOf(node));
    case Op::kIsFinite:
      return e.isFinite(in[0]);
    case Op::kConvert:
      return e.convert(in[0], type.dtype);
    case Op::kBitcast:
      return e.bitcast(in[0], type.dtype);
    case Op::kCompare:
      return e.compare(std::get<graph::CompareAttrs>(node.attrs).direction, in[0], in[1]);
    case Op::kSelect:
      return e.select(in[0], in[1], in[2]);
    case Op::kBroadcast:
      return e.broadcast(in[0], type.shape, dimsOf(node));
    case Op::kReshape:
      return e.reshape(in[0], type.shape);
    case Op::kTranspose:
      return e.transpose(in[0], dimsOf(node));
    case Op::kSlice:
      return slice(e, in[0], std::get<graph::SliceAttrs>(node.attrs));
    case Op::kConcatenate:
      return e.concatenate(in, axisOf(node));
    case Op::kReduceSum:
      return e.reduce("add", in[0], dimsOf(node));
    case Op::kReduceMax:
      return e.reduce("maximum", in[0], dimsOf(node));
    case Op::kArgMax:
      return e.argMax(in[0], axisOf(node));
    case Op::kDot:
      return e.dot(in[0], in[1], std::get<graph::DotAttrs>(node.attrs), type.dtype);
    case Op::kTakeRows:
      return e.takeRows(in[0], in[1]);
    case Op::kCacheWrite:
      return e.cacheWrite(in[0], in[1], in[2]);
    case Op::kPagedAttention:
      return e.pagedAttention(in, std::get<graph::AttentionAttrs>(node.attrs));
    default:
      return {};
  }
}

Status checkLimits(const graph::Node& node, const std::vector<Value>& in) {
  if (node.op == Op::kTakeRows) return checkIndexRange(node.place, "rows", in[0].type.shape[0]);
  if (node.op == Op::kArgMax) {
    return checkIndexRange(node.place, "candidates", in[0].type.shape[static_cast<size_t>(axisOf(node))]);
  }
  if (node.op == Op::kCacheWrite) {
    return checkIndexRange(node.place, "cache slots", in[0].type.shape[0] * in[0].type.shape[1]);
  }
  if (node.op == Op::kPagedAttention) {
    SUBLANE_CHECK_OK(checkIndexRange(node.place, "cache slots", in[1].type.shape[0] * in[1].type.shape[1]));
    SUBLANE_CHECK_OK(
        checkIndexRange(node.place, "keys of a sequence", in[3].type.shape[1] * in[1].type.shape[1]));
    return checkIndexRange(node.place, "query rows", in[8].type.shape[0] * in[8].type.shape[1]);
  }
  return Ok{};
}

// Row-major by decree for a cache whose rows are narrower than a TPU's 128 lanes. libtpu would rather store
// it with the pages along the lanes, which saves padding between steps and costs a copy of the whole cache in
// and out of every step (measured, README). Row-major is what CPU plugins do anyway.
std::string layoutText(const Type& type) {
  constexpr int64_t kLanes = 128;
  if (type.shape.size() < 2 || type.shape.back() % kLanes == 0) return "";
  std::vector<int64_t> minor_to_major;
  for (size_t axis = type.shape.size(); axis-- > 0;) minor_to_major.push_back(static_cast<int64_t>(axis));
  return fmt::format(", mhlo.layout_mode = \"{{{}}}\"", listText(minor_to_major));
}

std::string parameterText(const Value& value, const graph::Parameter& parameter, int aliased_output) {
  std::string attributes = "sublane.name = " + quoted(parameter.name);
  if (aliased_output >= 0) {
    attributes += fmt::format(", tf.aliasing_output = {} : i32", aliased_output) + layoutText(value.type);
  }
  return fmt::format("{}: {} {{{}}} loc({})", value, tensorText(value.type), attributes,
                     quoted(parameter.name));
}

// By parameter: the output that takes over its buffer, or -1.
std::vector<int> aliases(const graph::Graph& graph) {
  std::vector<int> out(graph.parameters.size(), -1);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    int32_t parameter = graph.outputs[i].aliased_parameter;
    if (parameter >= 0) out[static_cast<size_t>(parameter)] = static_cast<int>(i);
  }
  return out;
}

std::vector<Value> header(Emitter& e, const graph::Graph& graph) {
  std::vector<int> aliased = aliases(graph);
  std::vector<Value> arguments;
  e.raw(fmt::format("module @{} {{\n  func.func public @main(", quoted(graph.name)));
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    arguments.push_back(e.fresh(graph.type(graph.parameters[i].value)));
    e.raw(i ? ",\n      " : "\n      ");
    e.raw(parameterText(arguments.back(), graph.parameters[i], aliased[i]));
  }
  e.raw(") -> (");
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const graph::Output& output = graph.outputs[i];
    const Type& type = graph.type(output.value);
    std::string layout = output.aliased_parameter >= 0 ? layoutText(type) : "";
    e.raw(fmt::format("{}\n      {} {{sublane.name = {}{}}}", i ? "," : "", tensorText(type),
                      quoted(output.name), layout));
  }
  e.raw(") {\n");
  return arguments;
}

void footer(Emitter& e, const std::vector<Value>& outputs) {
  std::string names, types;
  for (const Value& value : outputs) {
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? " " : ", ", value);
    fmt::format_to(std::back_inserter(types), "{}{}", types.empty() ? " : " : ", ", tensorText(value.type));
  }
  e.raw("    return" + names + types + "\n  }\n}\n");
}

}  // namespace

void Emitter::at(std::string_view place, std::string_view op) {
  base_ = place.empty() ? std::string(op) : fmt::format("{}/{}", place, op);
  location_ = quoted(base_);
}

void Emitter::detail(std::string_view name) { location_ = quoted(fmt::format("{}.{}", base_, name)); }

void Emitter::endLine() {
  text_ += " loc(";
  text_ += location_;
  text_ += ")\n";
}

Status Emitter::node(const graph::Graph& graph, const graph::Node& node, std::vector<Value>& values) {
  at(graph::toString(node.place), graph::name(node.op));
  std::vector<Value> operands;
  operands.reserve(node.operands.size());
  for (graph::ValueId id : node.operands) operands.push_back(values[static_cast<size_t>(id)]);
  SUBLANE_CHECK_OK(checkLimits(node, operands));
  if (node.op == Op::kLoop) {
    SUBLANE_TRY(std::vector<Value> results, loop(node, operands));
    for (size_t i = 0; i < results.size(); ++i) values[static_cast<size_t>(node.results[i])] = results[i];
    return Ok{};
  }
  graph::ValueId result = node.results[0];
  values[static_cast<size_t>(result)] = simpleNode(*this, node, graph.type(result), operands);
  return Ok{};
}

Result<std::vector<Value>> Emitter::body(const graph::Graph& graph, const std::vector<Value>& arguments) {
  std::vector<Value> values(graph.types.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    values[static_cast<size_t>(graph.parameters[i].value)] = arguments[i];
  }
  for (const graph::Node& n : graph.nodes) SUBLANE_CHECK_OK(node(graph, n, values));
  std::vector<Value> outputs;
  for (const graph::Output& output : graph.outputs)
    outputs.push_back(values[static_cast<size_t>(output.value)]);
  return outputs;
}

Result<std::string> toStableHlo(const graph::Graph& graph) {
  SUBLANE_CHECK_OK(graph::verify(graph, {.places = false}));
  std::string text;
  Emitter e(text);
  std::vector<Value> arguments = header(e, graph);
  e.indent(+4);
  SUBLANE_TRY(std::vector<Value> outputs, e.body(graph, arguments));
  footer(e, outputs);
  return text;
}

}  // namespace sublane::lower
