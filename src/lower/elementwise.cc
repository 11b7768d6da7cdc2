// Constants and element-by-element operations, one for one.
#include "lower/emitter.h"

namespace sublane::lower {
namespace {

std::string_view directionText(graph::Comparison direction) {
  switch (direction) {
    case graph::Comparison::kEqual:
      return "EQ";
    case graph::Comparison::kNotEqual:
      return "NE";
    case graph::Comparison::kLess:
      return "LT";
    case graph::Comparison::kLessEqual:
      return "LE";
    case graph::Comparison::kGreater:
      return "GT";
    case graph::Comparison::kGreaterEqual:
      return "GE";
  }
  return "?";
}

std::string_view comparisonKind(DType dtype) {
  if (isFloat(dtype)) return "FLOAT";
  bool is_unsigned = dtype == DType::kU32 || dtype == DType::kU8 || dtype == DType::kBool;
  return is_unsigned ? "UNSIGNED" : "SIGNED";
}

}  // namespace

Value Emitter::splat(Type type, double value) {
  std::string tensor = tensorText(type);
  std::string literal = literalText(type.dtype, value);
  return line(std::move(type), "stablehlo.constant dense<{}> : {}", literal, tensor);
}

Value Emitter::iota(Type type, int64_t axis) {
  std::string tensor = tensorText(type);
  return line(std::move(type), "stablehlo.iota dim = {} : {}", axis, tensor);
}

Value Emitter::unary(std::string_view op, const Value& x) {
  return line(x.type, "stablehlo.{} {} : {}", op, x, tensorText(x.type));
}

Value Emitter::isFinite(const Value& x) {
  Type result{DType::kBool, x.type.shape};
  return line(result, "stablehlo.is_finite {} : ({}) -> {}", x, tensorText(x.type), tensorText(result));
}

Value Emitter::convert(const Value& x, DType to) {
  if (x.type.dtype == to) return x;
  Type result{to, x.type.shape};
  return line(result, "stablehlo.convert {} : ({}) -> {}", x, tensorText(x.type), tensorText(result));
}

Value Emitter::bitcast(const Value& x, DType to) {
  Type result{to, x.type.shape};
  return line(result, "stablehlo.bitcast_convert {} : ({}) -> {}", x, tensorText(x.type), tensorText(result));
}

Value Emitter::binary(std::string_view op, const Value& a, const Value& b) {
  return line(a.type, "stablehlo.{} {}, {} : {}", op, a, b, tensorText(a.type));
}

Value Emitter::compare(graph::Comparison direction, const Value& a, const Value& b) {
  Type result{DType::kBool, a.type.shape};
  std::string operand = tensorText(a.type);
  return line(result, "stablehlo.compare {}, {}, {}, {} : ({}, {}) -> {}", directionText(direction), a, b,
              comparisonKind(a.type.dtype), operand, operand, tensorText(result));
}

Value Emitter::select(const Value& predicate, const Value& on_true, const Value& on_false) {
  return line(on_true.type, "stablehlo.select {}, {}, {} : {}, {}", predicate, on_true, on_false,
              tensorText(predicate.type), tensorText(on_true.type));
}

}  // namespace sublane::lower
