// Loops: stablehlo.while over an index, with everything the body uses carried explicitly.
#include "lower/emitter.h"

namespace sublane::lower {
namespace {

std::string namesText(std::span<const Value> values) {
  std::string out;
  for (const Value& value : values)
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", value);
  return out;
}

std::string typesText(std::span<const Value> values) {
  std::string out;
  for (const Value& value : values) {
    out += out.empty() ? "" : ", ";
    out += tensorText(value.type);
  }
  return out;
}

// New names for the same types: the arguments of a region.
std::vector<Value> regionArguments(Emitter& e, std::span<const Value> values) {
  std::vector<Value> arguments;
  std::string header;
  for (const Value& value : values) {
    arguments.push_back(e.fresh(value.type));
    fmt::format_to(std::back_inserter(header), "{}{}: {}", header.empty() ? "" : ", ", arguments.back(),
                   tensorText(value.type));
  }
  e.startLine();
  e.raw(fmt::format("^bb0({}):\n", header));
  return arguments;
}

void yield(Emitter& e, std::span<const Value> values) {
  e.startLine();
  e.raw(fmt::format("stablehlo.return {} : {}", namesText(values), typesText(values)));
  e.endLine();
}

// A slice of stacked weights belongs to the part that reads it.
graph::Place firstUse(const graph::Graph& body, graph::ValueId value, graph::Place otherwise) {
  for (const graph::Node& node : body.nodes) {
    for (graph::ValueId operand : node.operands) {
      if (operand == value) return node.place;
    }
  }
  return otherwise;
}

}  // namespace

// Operands of the while: index, carried, invariants, stacked. Only the first two change.
Result<std::vector<Value>> Emitter::loop(const graph::Node& node, const std::vector<Value>& operands) {
  const auto& attrs = std::get<graph::LoopAttrs>(node.attrs);
  const std::string place = graph::toString(node.place);
  std::vector<Value> initial{scalar(DType::kI32, 0)};
  initial.insert(initial.end(), operands.begin(), operands.end());
  Value loop_value = fresh(Type{});
  std::string types = typesText(initial);
  startLine();
  raw(fmt::format("%{}:{} = \"stablehlo.while\"({}) ({{\n", loop_value.id, initial.size(),
                  namesText(initial)));
  indent(+2);
  std::vector<Value> condition = regionArguments(*this, initial);
  Value more[] = {compare(graph::Comparison::kLess, condition[0], static_cast<double>(attrs.count))};
  yield(*this, more);
  indent(-2);
  startLine();
  raw("}, {\n");
  indent(+2);
  std::vector<Value> arguments = regionArguments(*this, initial);
  SUBLANE_CHECK_OK(loopBody(node, arguments));
  indent(-2);
  at(place, graph::name(node.op));
  startLine();
  raw(fmt::format("}}) : ({}) -> ({})", types, types));
  endLine();
  std::vector<Value> results;
  for (int64_t i = 0; i < attrs.carried; ++i) {
    results.push_back({loop_value.id, static_cast<int32_t>(i) + 1, operands[static_cast<size_t>(i)].type});
  }
  return results;
}

Status Emitter::loopBody(const graph::Node& node, const std::vector<Value>& arguments) {
  const auto& attrs = std::get<graph::LoopAttrs>(node.attrs);
  size_t fixed = static_cast<size_t>(1 + attrs.carried + attrs.invariants);
  std::vector<Value> inner(arguments.begin(), arguments.begin() + static_cast<ptrdiff_t>(fixed));
  const auto& parameters = node.body->parameters;
  for (size_t i = fixed; i < arguments.size(); ++i) {
    at(graph::toString(firstUse(*node.body, parameters[i].value, node.place)), graph::name(node.op));
    detail("slice");
    inner.push_back(sliceLeading(arguments[i], arguments[0]));
  }
  SUBLANE_TRY(std::vector<Value> next, body(*node.body, inner));
  at(graph::toString(node.place), graph::name(node.op));
  std::vector<Value> yielded{binary("add", arguments[0], 1.0)};
  yielded.insert(yielded.end(), next.begin(), next.end());
  yielded.insert(yielded.end(), arguments.begin() + 1 + attrs.carried, arguments.end());
  yield(*this, yielded);
  return Ok{};
}

}  // namespace sublane::lower
