// Result types: the one statement of which operands and attributes each operation takes.
//
// The builder uses it to make nodes and the verifier to judge them, so the two can't drift apart. What the
// operands don't fix (the dtype of a constant, the shape of a broadcast) is taken from `wanted`.
//
//   std::vector<Type> operands = {{DType::kF32, {4}}, {DType::kF32, {4}}};
//   Result<Type> sum = inferType(Op::kAdd, operands, {}, {});      // f32[4]
#pragma once

#include <span>

#include "base/result.h"
#include "graph/graph.h"

namespace sublane::graph {

/// The result type of every operation but kLoop. Errors say which operands or attributes disagree, without
/// the operation or its place: the caller adds those.
Result<Type> inferType(Op op, std::span<const Type> operands, const Attrs& attrs, const Type& wanted);

/// The alternative of Attrs that the operation takes: 0 is none, 1 ScalarAttrs, 2 AxisAttrs, as in Attrs.
size_t attrsKind(Op op);

bool isFloat(DType dtype);    // f32, bf16, f16
bool isInteger(DType dtype);  // i8, u8, i32, u32, i64; not bool

}  // namespace sublane::graph
