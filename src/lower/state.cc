// Sequence state as plain operations: the paged cache's write, and attention over its pages.
//
// Padding is inert by construction: whatever a padding row, an unused page or a slot past a sequence's length
// holds, NaN included, is dropped by a select before it could reach a sum.
#include <limits>

#include "lower/emitter.h"

namespace sublane::lower {

using graph::Comparison;

namespace {

// (page, offset) of each slot: [T, 2]. Division and remainder round towards 0, so that a negative slot has a
// negative page or a negative offset, and one past the last page has a page past it: outside either way.
Value slotIndices(Emitter& e, const Value& slots, int64_t page_size) {
  Shape column{slots.type.shape[0], 1};
  double size = static_cast<double>(page_size);
  Value page = e.reshape(e.binary("divide", slots, size), column);
  Value offset = e.reshape(e.binary("remainder", slots, size), column);
  return e.concatenate({page, offset}, 1);
}

}  // namespace

// One scatter on the cache as it is, by (page, offset). On a view flattened to slots XLA's CPU compiler makes
// four copies of the whole cache; dynamic_update_slice a token costs libtpu more cycles and copies it too in
// some layouts (both measured, README). StableHLO drops a row whose index is outside. No promise that indices
// are unique: all padding rows have slot -1.
Value Emitter::cacheWrite(const Value& cache, const Value& rows, const Value& slots) {
  Value indices = slotIndices(*this, slots, cache.type.shape[1]);
  Value result = fresh(cache.type), kept = fresh({cache.type.dtype, {}}),
        update = fresh({cache.type.dtype, {}});
  std::string tensor = tensorText(cache.type), element = tensorText(update.type);
  startLine();
  raw(fmt::format("{} = \"stablehlo.scatter\"({}, {}, {}) ({{\n", result, cache, indices, rows));
  startLine();
  raw(fmt::format("^bb0({}: {}, {}: {}):\n", kept, element, update, element));
  startLine();
  raw(fmt::format("  stablehlo.return {} : {}", update, element));
  endLine();
  startLine();
  raw(fmt::format(
      "}}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], "
      "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, "
      "indices_are_sorted = false, unique_indices = false}} : ({}, {}, {}) -> {}",
      tensor, tensorText(indices.type), tensorText(rows.type), tensor));
  endLine();
  return result;
}

namespace {

/// The sizes of one attention, by name.
struct Sizes {
  int64_t tokens, sequences, queries, heads, kv_heads, group, dim, context;
};

Sizes sizesOf(std::span<const Value> operands) {
  const Shape& q = operands[0].type.shape;
  const Shape& cache = operands[1].type.shape;
  const Shape& table = operands[3].type.shape;
  const Shape& inverse = operands[8].type.shape;
  return {q[0], inverse[0], inverse[1], q[1], cache[2], q[1] / cache[2], q[2], table[1] * cache[1]};
}

// Keys or values of each sequence's pages: [S, context, kv_heads, dim].
Value gatherPages(Emitter& e, const Value& cache, const Value& page_table, const Sizes& n) {
  return e.reshape(e.takeRows(cache, page_table), {n.sequences, n.context, n.kv_heads, n.dim});
}

// Rows of [T, ...] at [S, Q] tokens. A single token needs no gather: every index clamps to it.
Value takeTokens(Emitter& e, const Value& rows, const Value& query_token, const Sizes& n) {
  if (n.tokens == 1 && n.sequences * n.queries == 1) {
    Shape shape{1, 1};
    shape.insert(shape.end(), rows.type.shape.begin() + 1, rows.type.shape.end());
    return e.reshape(rows, shape);
  }
  return e.takeRows(rows, query_token);
}

// [S, Q, context]: key < length, key <= position, position - key < window.
Value visibleKeys(Emitter& e, std::span<const Value> operands, const Sizes& n) {
  Shape shape{n.sequences, n.queries, n.context};
  Value key = e.iota(Type{DType::kI32, shape}, 2);
  Value length = e.broadcast(operands[4], shape, {0});
  Value position = e.broadcast(takeTokens(e, operands[5], operands[8], n), shape, {0, 1});
  Value window = e.broadcast(operands[9], shape, {});
  Value used = e.compare(Comparison::kLess, key, length);
  Value past = e.compare(Comparison::kLessEqual, key, position);
  Value near = e.compare(Comparison::kLess, e.binary("subtract", position, key), window);
  return e.binary("and", e.binary("and", used, past), near);
}

// Values with slots at or past the length made 0: 0 times NaN would be NaN.
Value maskedValues(Emitter& e, const Value& values, const Value& lengths, const Sizes& n) {
  Shape slots{n.sequences, n.context};
  Value slot = e.iota(Type{DType::kI32, slots}, 1);
  Value used = e.compare(Comparison::kLess, slot, e.broadcast(lengths, slots, {0}));
  Value zero = e.splat(values.type, 0);
  return e.select(e.broadcast(used, values.type.shape, {0, 1}), values, zero);
}

// [S, kv_heads, Q, group, context] in f32. Keys come first in the dot, whose copy of them then keeps each
// key's channels side by side: a sixth less time for attention on the CPU, the same on a TPU.
Value scores(Emitter& e, const Value& q, const Value& keys, const graph::AttentionAttrs& attrs,
             const Sizes& n) {
  Value grouped = e.reshape(q, {n.sequences, n.queries, n.kv_heads, n.group, n.dim});
  graph::DotAttrs dot{{0, 2}, {0, 2}, {3}, {4}, q.type.dtype == DType::kF32};
  Value by_key = e.dot(keys, grouped, dot, DType::kF32);  // [S, kv_heads, context, Q, group]
  Value s = e.binary("multiply", e.transpose(by_key, {0, 1, 3, 4, 2}), attrs.scale);
  if (attrs.soft_cap == 0) return s;
  Value capped = e.unary("tanh", e.binary("divide", s, attrs.soft_cap));
  return e.binary("multiply", capped, attrs.soft_cap);
}

// 0 <= x < limit
Value inside(Emitter& e, const Value& x, int64_t limit) {
  Value not_below = e.compare(Comparison::kGreaterEqual, x, 0.0);
  Value not_above = e.compare(Comparison::kLess, x, static_cast<double>(limit));
  return e.binary("and", not_below, not_above);
}

// Results [S * Q, heads, dim] back in token order; rows of padding tokens become 0.
Value toTokens(Emitter& e, const Value& rows, const Value& sequence, const Value& column, const Sizes& n) {
  Value has_sequence = inside(e, sequence, n.sequences);
  Value has_column = inside(e, column, n.queries);
  Value is_real = e.binary("and", has_sequence, has_column);
  Shape shape{n.tokens, n.heads, n.dim};
  Value picked = rows;  // a single row serves a single token
  if (n.sequences * n.queries > 1 || n.tokens > 1) {
    Value row = e.binary("multiply", sequence, static_cast<double>(n.queries));
    picked = e.takeRows(rows, e.binary("add", row, column));
  }
  Value zero = e.splat(picked.type, 0);
  return e.select(e.broadcast(is_real, shape, {0}), picked, zero);
}

}  // namespace

Value Emitter::pagedAttention(std::span<const Value> operands, const graph::AttentionAttrs& attrs) {
  Sizes n = sizesOf(operands);
  DType cache_dtype = operands[1].type.dtype;
  const double infinity = std::numeric_limits<double>::infinity();

  detail("keys");
  Value keys = gatherPages(*this, operands[1], operands[3], n);
  detail("values");
  Value values = maskedValues(*this, gatherPages(*this, operands[2], operands[3], n), operands[4], n);
  detail("queries");
  Value q = convert(takeTokens(*this, operands[0], operands[8], n), cache_dtype);
  detail("scores");
  Value s = scores(*this, q, keys, attrs, n);

  detail("mask");
  const Shape& shape = s.type.shape;
  Value visible = broadcast(visibleKeys(*this, operands, n), shape, {0, 2, 4});
  detail("softmax");
  Value top = reduce("maximum", select(visible, s, splat(s.type, -infinity)), {4});
  Value sees_none = compare(Comparison::kEqual, top, -infinity);  // then 0, so that nothing becomes NaN
  const bool has_sinks = operands.size() > 10;
  Value sinks = top;
  if (has_sinks) {
    sinks = broadcast(reshape(operands[10], {n.kv_heads, n.group}), top.type.shape, {1, 3});
    top = binary("maximum", top, sinks);
  }
  Value steady = select(sees_none, splat(top.type, 0), top);
  Value shift = broadcast(steady, shape, {0, 1, 2, 3});
  Value unmasked = unary("exponential", binary("subtract", s, shift));
  Value weight = select(visible, unmasked, splat(s.type, 0));
  Value sum = reduce("add", weight, {4});
  if (has_sinks) sum = binary("add", sum, unary("exponential", binary("subtract", sinks, steady)));
  Value divisor = select(sees_none, splat(sum.type, 1), sum);

  detail("mix");
  graph::DotAttrs dot_attrs{{0, 1}, {0, 2}, {4}, {1}, cache_dtype == DType::kF32};
  Value mixed =
      dot(convert(weight, cache_dtype), values, dot_attrs, DType::kF32);  // [S, kv_heads, Q, group, dim]
  Value out = binary("divide", mixed, broadcast(divisor, mixed.type.shape, {0, 1, 2, 3}));
  out = transpose(convert(out, operands[0].type.dtype), {0, 2, 1, 3, 4});
  detail("tokens");
  return toTokens(*this, reshape(out, {n.sequences * n.queries, n.heads, n.dim}), operands[6], operands[7],
                  n);
}

}  // namespace sublane::lower
