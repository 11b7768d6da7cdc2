#include "graph/verify.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include "graph/infer.h"

namespace sublane::graph {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 48;  // byte counts and offsets stay far from 2^63
constexpr int kDeepestLoop = 32;                     // deeper is a cycle or a mistake

class Verifier {
 public:
  Verifier(const Graph& graph, const VerifyOptions& options, std::string path, int depth,
           std::vector<std::string>& faults)
      : graph_(graph),
        options_(options),
        path_(std::move(path)),
        depth_(depth),
        faults_(faults),
        defined_(graph.types.size(), false) {}

  void run() {
    auto isWord = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; };
    if (graph_.name.empty() || !std::all_of(graph_.name.begin(), graph_.name.end(), isWord))
      fault("graph", "name \"{}\" must be letters, digits, '.', '_' and '-'", graph_.name);
    for (size_t i = 0; i < graph_.parameters.size(); ++i) checkParameter(i);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) checkNode(i);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) checkOutput(i);
    checkAliases();
  }

 private:
  template <class... Args>
  void fault(const std::string& where, fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back(path_ + where + ": " + fmt::format(format, std::forward<Args>(args)...));
  }
  bool exists(ValueId value) const { return value >= 0 && static_cast<size_t>(value) < graph_.types.size(); }

  /// Takes the definition of a value: it exists, is new, and has a sane type.
  void define(const std::string& where, ValueId value) {
    if (!exists(value))
      return fault(where, "value {} is outside the {} values of the graph", value, graph_.types.size());
    if (defined_[static_cast<size_t>(value)]) return fault(where, "value {} is defined twice", value);
    defined_[static_cast<size_t>(value)] = true;
    const Type& type = graph_.type(value);
    for (int64_t extent : type.shape)
      if (extent < 0) return fault(where, "{} has a negative extent {}", toString(type), extent);
    if (elementCount(type.shape) > kMostElements)
      fault(where, "{} has more than 2^48 elements", toString(type));
  }
  bool checkUse(const std::string& where, std::string_view what, ValueId value) {
    if (exists(value) && defined_[static_cast<size_t>(value)]) return true;
    fault(where, "{} is value {}, which is not defined before", what, value);
    return false;
  }

  void checkParameter(size_t index) {
    const Parameter& parameter = graph_.parameters[index];
    std::string where = fmt::format("parameter {} \"{}\"", index, parameter.name);
    if (parameter.name.empty()) fault(where, "has no name");
    if (!parameter_names_.insert(parameter.name).second) fault(where, "the name is used twice");
    if (depth_ > 0 && parameter.role != Role::kInput)
      fault(where, "parameters of a loop body must be inputs");
    define(where, parameter.value);
  }

  void checkNode(size_t index) {
    const Node& node = graph_.nodes[index];
    std::string place = toString(node.place);
    std::string where =
        fmt::format("node {} {} @ {}", index, name(node.op), place.empty() ? "(no place)" : place);
    checkPlace(where, node.place);
    bool usable = true;
    for (size_t i = 0; i < node.operands.size(); ++i)
      if (!checkUse(where, fmt::format("operand {}", i), node.operands[i])) usable = false;
    size_t before = faults_.size();
    for (ValueId result : node.results) define(where, result);
    if (!usable || faults_.size() != before) return;
    if (node.op == Op::kLoop) return checkLoop(where, node);
    if (node.body) fault(where, "has a body, which only a loop may have");
    checkTypes(where, node);
  }

  void checkPlace(const std::string& where, const Place& place) {
    if (!options_.places) return;
    if (place.part.empty()) return fault(where, "has no place: the part is empty");
    if (place.layer < Place::kEveryLayer) fault(where, "layer {} is not a layer", place.layer);
    for (char c : place.part)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-')
        return fault(where, "part \"{}\" may hold letters, digits, '.', '_' and '-' only", place.part);
  }

  void checkTypes(const std::string& where, const Node& node) {
    if (node.results.size() != 1) return fault(where, "has {} results, must have 1", node.results.size());
    std::vector<Type> operands;
    operands.reserve(node.operands.size());
    for (ValueId operand : node.operands) operands.push_back(graph_.type(operand));
    const Type& result = graph_.type(node.results[0]);
    Result<Type> inferred = inferType(node.op, operands, node.attrs, result);
    if (!inferred.ok()) return fault(where, "{}", inferred.error().message());
    if (*inferred != result) fault(where, "result is {}, must be {}", toString(result), toString(*inferred));
  }

  /// What the body's parameters must be: the index, carried values, invariants, slices.
  std::vector<Type> bodyParameters(const Node& node, const LoopAttrs& attrs) const {
    std::vector<Type> wanted = {{DType::kI32, {}}};
    for (size_t i = 0; i < node.operands.size(); ++i) {
      wanted.push_back(graph_.type(node.operands[i]));
      bool stacked = static_cast<int64_t>(i) >= attrs.carried + attrs.invariants;
      if (stacked && !wanted.back().shape.empty()) wanted.back().shape.erase(wanted.back().shape.begin());
    }
    return wanted;
  }

  void checkLoop(const std::string& where, const Node& node) {
    const LoopAttrs* attrs = std::get_if<LoopAttrs>(&node.attrs);
    if (!attrs || !node.body) return fault(where, "must have loop attributes and a body");
    if (depth_ >= kDeepestLoop) return fault(where, "loops are nested more than {} deep", kDeepestLoop);
    int64_t most = static_cast<int64_t>(node.operands.size());
    auto within = [&](int64_t count) { return count >= 0 && count <= most; };
    if (!within(attrs->carried) || !within(attrs->invariants) || !within(attrs->stacked) ||
        attrs->carried + attrs->invariants + attrs->stacked != most)
      return fault(where, "{} carried, {} invariants and {} stacked are not its {} operands", attrs->carried,
                   attrs->invariants, attrs->stacked, most);
    if (attrs->count < 0 || attrs->count > std::numeric_limits<int32_t>::max())
      fault(where, "count {} is not an i32 that is 0 or more", attrs->count);
    for (int64_t i = attrs->carried + attrs->invariants; i < most; ++i) {
      const Type& type = graph_.type(node.operands[static_cast<size_t>(i)]);
      if (type.shape.empty() || type.shape[0] != attrs->count)
        fault(where, "stacked operand {} is {}, must have {} slices", i, toString(type), attrs->count);
    }
    checkSignature(where, node, *attrs);
    checkResults(where, node, *attrs);
    Verifier(*node.body, options_, path_ + where + " > ", depth_ + 1, faults_).run();
  }

  void checkSignature(const std::string& where, const Node& node, const LoopAttrs& attrs) {
    const Graph& body = *node.body;
    std::vector<Type> wanted = bodyParameters(node, attrs);
    if (body.parameters.size() != wanted.size())
      fault(where, "the body has {} parameters, must have {}", body.parameters.size(), wanted.size());
    for (size_t i = 0; i < std::min(wanted.size(), body.parameters.size()); ++i)
      compare(where, body, fmt::format("body parameter {}", i), body.parameters[i].value, wanted[i]);
    if (static_cast<int64_t>(body.outputs.size()) != attrs.carried)
      return fault(where, "the body has {} outputs, {} values are carried", body.outputs.size(),
                   attrs.carried);
    for (size_t i = 0; i < body.outputs.size(); ++i)
      compare(where, body, fmt::format("body output {}", i), body.outputs[i].value,
              graph_.type(node.operands[i]));
  }

  void checkResults(const std::string& where, const Node& node, const LoopAttrs& attrs) {
    if (static_cast<int64_t>(node.results.size()) != attrs.carried)
      return fault(where, "has {} results, {} values are carried", node.results.size(), attrs.carried);
    for (size_t i = 0; i < node.results.size(); ++i)
      compare(where, graph_, fmt::format("result {}", i), node.results[i], graph_.type(node.operands[i]));
  }

  void compare(const std::string& where, const Graph& in, const std::string& what, ValueId value,
               const Type& wanted) {
    if (value < 0 || static_cast<size_t>(value) >= in.types.size()) return;  // said elsewhere
    if (in.type(value) != wanted)
      fault(where, "{} is {}, must be {}", what, toString(in.type(value)), toString(wanted));
  }

  void checkOutput(size_t index) {
    const Output& output = graph_.outputs[index];
    std::string where = fmt::format("output {} \"{}\"", index, output.name);
    if (output.name.empty()) fault(where, "has no name");
    if (!output_names_.insert(output.name).second) fault(where, "the name is used twice");
    if (!checkUse(where, "it", output.value) || output.aliased_parameter == -1) return;
    int32_t alias = output.aliased_parameter;
    if (alias < 0 || static_cast<size_t>(alias) >= graph_.parameters.size())
      return fault(where, "aliases parameter {} of {}", alias, graph_.parameters.size());
    const Parameter& parameter = graph_.parameters[static_cast<size_t>(alias)];
    if (parameter.role != Role::kState) fault(where, "aliases \"{}\", which is not state", parameter.name);
    if (exists(parameter.value) && graph_.type(parameter.value) != graph_.type(output.value))
      fault(where, "is {}, but aliases \"{}\" {}", toString(graph_.type(output.value)), parameter.name,
            toString(graph_.type(parameter.value)));
  }

  void checkAliases() {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      if (graph_.parameters[i].role != Role::kState || depth_ > 0) continue;
      auto aliases = std::count_if(graph_.outputs.begin(), graph_.outputs.end(), [&](const Output& output) {
        return output.aliased_parameter == static_cast<int32_t>(i);
      });
      if (aliases != 1)
        fault(fmt::format("parameter {} \"{}\"", i, graph_.parameters[i].name),
              "state must be aliased by 1 output, is by {}", aliases);
    }
  }

  const Graph& graph_;
  const VerifyOptions& options_;
  std::string path_;
  int depth_;
  std::vector<std::string>& faults_;
  std::vector<bool> defined_;
  std::set<std::string> parameter_names_, output_names_;
};

}  // namespace

Status verify(const Graph& graph, const VerifyOptions& options) {
  std::vector<std::string> faults;
  Verifier(graph, options, "", 0, faults).run();
  if (faults.empty()) return Ok{};
  return inputError("graph {}: {} fault{}\n  {}", graph.name, faults.size(), faults.size() == 1 ? "" : "s",
                    fmt::join(faults, "\n  "));
}

}  // namespace sublane::graph
