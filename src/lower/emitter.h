// Emitter: writes StableHLO text, one operation a line, each with its location. Private to src/lower.
//
// The methods mirror StableHLO's operations with result types inferred; graph nodes and the decompositions
// of sequence-state nodes are both written in terms of them.
//
//   Emitter e(text);
//   e.at("layer.3/mlp.up", "multiply");
//   Value y = e.binary("multiply", a, b);   // %7 = stablehlo.multiply %3, %5 : tensor<8xf32>
//   loc("layer.3/...")
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/infer.h"

namespace sublane::lower {

using graph::DType;
using graph::isFloat;
using graph::Shape;
using graph::Type;

/// An SSA value of the text: %id, or %id#index when its operation has several results.
struct Value {
  int32_t id = -1;
  int32_t index = -1;
  Type type;
};

/// "tensor<4x8xf32>"
std::string tensorText(const Type& type);
/// "4x8" style pieces and literals that read back exactly: "1.5", "0x7F800000", "true".
std::string literalText(DType dtype, double value);
/// A string in MLIR's quotes and escapes.
std::string quoted(std::string_view text);
/// "1, 2, 3"
std::string listText(std::span<const int64_t> values);

class Emitter {
 public:
  explicit Emitter(std::string& text) : text_(text) {}

  /// Location of the lines that follow: place/op. The last slash separates the two.
  void at(std::string_view place, std::string_view op);
  /// Names a step inside a decomposition: place/op.detail.
  void detail(std::string_view name);
  std::string location() const { return location_; }

  Value fresh(Type type) { return Value{next_id_++, -1, std::move(type)}; }
  void raw(std::string_view text) { text_ += text; }
  void indent(int change) { indent_ += change; }
  void startLine() { text_.append(static_cast<size_t>(indent_), ' '); }
  void endLine();

  Value splat(Type type, double value);
  Value scalar(DType dtype, double value) { return splat(Type{dtype, {}}, value); }
  Value iota(Type type, int64_t axis);

  Value unary(std::string_view op, const Value& x);
  Value isFinite(const Value& x);
  Value convert(const Value& x, DType to);  // nothing written if already `to`
  Value bitcast(const Value& x, DType to);
  Value binary(std::string_view op, const Value& a, const Value& b);
  Value compare(graph::Comparison direction, const Value& a, const Value& b);
  Value select(const Value& predicate, const Value& on_true, const Value& on_false);
  /// Binary and compare with a constant on the right, of the left's type.
  Value binary(std::string_view op, const Value& a, double b) { return binary(op, a, splat(a.type, b)); }
  Value compare(graph::Comparison direction, const Value& a, double b) {
    return compare(direction, a, splat(a.type, b));
  }

  Value broadcast(const Value& x, Shape shape, const std::vector<int64_t>& dims);
  Value reshape(const Value& x, Shape shape);  // nothing written if the shape is the same
  Value transpose(const Value& x, const std::vector<int64_t>& dims);
  Value slice(const Value& x, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits);
  Value concatenate(const std::vector<Value>& parts, int64_t axis);
  /// x[index, ...] along the leading axis, which is removed. `index` is an i32 scalar; clamped.
  Value sliceLeading(const Value& x, const Value& index);

  /// op: "add", "maximum", "minimum".
  Value reduce(std::string_view op, const Value& x, const std::vector<int64_t>& axes);
  Value argMax(const Value& x, int64_t axis);
  Value dot(const Value& lhs, const Value& rhs, const graph::DotAttrs& attrs, DType result);
  /// table[ids, ...]; ids are clamped, as StableHLO's gather does by itself.
  Value takeRows(const Value& table, const Value& ids);
  Value cacheWrite(const Value& cache, const Value& rows, const Value& slots);
  Value pagedAttention(std::span<const Value> operands, const graph::AttentionAttrs& attrs);

  /// Writes the nodes of `graph`, whose parameters are `arguments`; returns its outputs.
  Result<std::vector<Value>> body(const graph::Graph& graph, const std::vector<Value>& arguments);

 private:
  template <class... Args>
  Value line(Type type, fmt::format_string<Args...> format, Args&&... args) {
    Value value = fresh(std::move(type));
    startLine();
    fmt::format_to(std::back_inserter(text_), "%{} = ", value.id);
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    endLine();
    return value;
  }
  Status node(const graph::Graph& graph, const graph::Node& node, std::vector<Value>& values);
  Result<std::vector<Value>> loop(const graph::Node& node, const std::vector<Value>& operands);
  Status loopBody(const graph::Node& node, const std::vector<Value>& arguments);

  std::string& text_;
  std::string base_;      // place/op
  std::string location_;  // place/op or place/op.detail, escaped
  int32_t next_id_ = 0;
  int indent_ = 0;
};

}  // namespace sublane::lower

template <>
struct fmt::formatter<sublane::lower::Value> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const sublane::lower::Value& v, Context& context) const {
    return v.index < 0 ? fmt::format_to(context.out(), "%{}", v.id)
                       : fmt::format_to(context.out(), "%{}#{}", v.id, v.index);
  }
};
