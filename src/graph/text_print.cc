#include <fmt/ranges.h>

#include "graph/text_form.h"
#include "graph/text_words.h"

namespace sublane::graph {

namespace {

/// `"name"`, with what could break the line escaped.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string list(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ",")); }

struct AttrsPrinter {
  std::vector<std::string> words;
  void add(std::string_view key, const std::string& value) {
    words.push_back(fmt::format("{}={}", key, value));
  }
  void addList(std::string_view key, const std::vector<int64_t>& values) {
    if (!values.empty()) add(key, list(values));
  }
  void number(std::string_view key, double value) {
    add(key, value != value ? "nan" : fmt::format("{}", value));
  }

  void operator()(std::monostate) {}
  void operator()(const ScalarAttrs& attrs) { number("value", attrs.value); }
  void operator()(const AxisAttrs& attrs) { add("axis", fmt::to_string(attrs.axis)); }
  void operator()(const DimsAttrs& attrs) { addList("dims", attrs.dims); }
  void operator()(const CompareAttrs& attrs) {
    add("direction", std::string(kComparisonWords[static_cast<size_t>(attrs.direction)]));
  }
  void operator()(const SliceAttrs& attrs) {
    addList("starts", attrs.starts);
    addList("limits", attrs.limits);
  }
  void operator()(const DotAttrs& attrs) {
    addList("lhs_batch", attrs.lhs_batch);
    addList("rhs_batch", attrs.rhs_batch);
    addList("lhs_contract", attrs.lhs_contract);
    addList("rhs_contract", attrs.rhs_contract);
    if (attrs.highest_precision) add("precision", "highest");
  }
  void operator()(const AttentionAttrs& attrs) {
    number("scale", attrs.scale);
    if (attrs.soft_cap != 0) number("soft_cap", attrs.soft_cap);
  }
  void operator()(const LoopAttrs& attrs) {
    for (auto [key, value] : {std::pair("count", attrs.count), std::pair("carried", attrs.carried),
                              std::pair("invariants", attrs.invariants), std::pair("stacked", attrs.stacked)})
      if (value != 0 || key == std::string_view("count")) add(key, fmt::to_string(value));
  }
};

class Printer {
 public:
  Printer(const Graph& graph, std::string indent, std::string& out)
      : graph_(graph), indent_(std::move(indent)), out_(out), numbers_(graph.types.size(), -1) {
    for (const Parameter& parameter : graph.parameters) number(parameter.value);
    for (const Node& node : graph.nodes)
      for (ValueId result : node.results) number(result);
  }

  void run() {
    out_ += fmt::format("{}graph {} {{\n", indent_, graph_.name);
    for (const Parameter& parameter : graph_.parameters)
      out_ += fmt::format("{}  {} = {} {}\n", indent_, definition(parameter.value),
                          kRoleWords[static_cast<size_t>(parameter.role)], quoted(parameter.name));
    for (const Node& node : graph_.nodes) printNode(node);
    for (const Output& output : graph_.outputs) printOutput(output);
    out_ += indent_ + "}\n";
  }

 private:
  bool exists(ValueId value) const { return value >= 0 && static_cast<size_t>(value) < numbers_.size(); }
  void number(ValueId value) {
    if (exists(value) && numbers_[static_cast<size_t>(value)] < 0)
      numbers_[static_cast<size_t>(value)] = next_++;
  }
  /// "%7"; "%?" for a value that nothing defines, which the verifier reports and the parser refuses.
  std::string reference(ValueId value) const {
    if (!exists(value) || numbers_[static_cast<size_t>(value)] < 0) return "%?";
    return fmt::format("%{}", numbers_[static_cast<size_t>(value)]);
  }
  std::string definition(ValueId value) const {
    return reference(value) + ": " + (exists(value) ? toString(graph_.type(value)) : std::string("?"));
  }

  void printNode(const Node& node) {
    std::vector<std::string> results, operands;
    for (ValueId result : node.results) results.push_back(definition(result));
    for (ValueId operand : node.operands) operands.push_back(reference(operand));
    out_ += fmt::format("{}  {} = {}", indent_, fmt::join(results, ", "), name(node.op));
    if (!operands.empty()) out_ += fmt::format("({})", fmt::join(operands, ", "));
    std::string attrs = print(node.attrs);
    if (!attrs.empty()) out_ += fmt::format(" {{{}}}", attrs);
    std::string place = toString(node.place);
    if (!place.empty()) out_ += " @ " + place;
    out_ += '\n';
    if (node.body) Printer(*node.body, indent_ + "    ", out_).run();
  }

  void printOutput(const Output& output) {
    out_ += fmt::format("{}  output {} = {}", indent_, quoted(output.name), reference(output.value));
    int32_t alias = output.aliased_parameter;
    if (alias >= 0 && static_cast<size_t>(alias) < graph_.parameters.size())
      out_ += " aliases " + reference(graph_.parameters[static_cast<size_t>(alias)].value);
    else if (alias != -1)
      out_ += " aliases %?";
    out_ += '\n';
  }

  const Graph& graph_;
  std::string indent_;
  std::string& out_;
  std::vector<int32_t> numbers_;
  int32_t next_ = 0;
};

}  // namespace

std::string print(const Attrs& attrs) {
  AttrsPrinter printer;
  std::visit(printer, attrs);
  return fmt::format("{}", fmt::join(printer.words, ", "));
}

std::string print(const Graph& graph) {
  std::string out;
  Printer(graph, "", out).run();
  return out;
}

}  // namespace sublane::graph
