// The typed graph: one step of a model as about 40 operations with static shapes.
//
// A Graph is a list of nodes in execution order (SSA: every value is defined once, before its uses).
// Its parameters are step inputs, weights and state; a state parameter is donated to the output that it
// aliases, so caches are updated in place. A Loop node holds a body Graph. Every node knows its Place in
// the model, which survives down to the compiled program's operations.
//
// The graph has a verifier (verify.h), a text form that parses back (text_form.h), and a slow interpreter
// that is the oracle for everything below it (interpreter.h).
//
//   Graph g;
//   Builder b(g);                                            // builder.h
//   ValueId x = b.parameter("x", {DType::kF32, {4, 8}}, Role::kInput);
//   b.output("y", b.tanh(x));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/formats.h"

namespace sublane::graph {

using formats::DType;
using Shape = std::vector<int64_t>;
using ValueId = int32_t;

struct Type {
  DType dtype = DType::kF32;
  Shape shape;  // empty: a scalar
  bool operator==(const Type&) const = default;
};
int64_t elementCount(const Shape& shape);
int64_t byteCount(const Type& type);
std::string toString(const Type& type);  // "bf16[8,576]"

// clang-format off: kinds of operations stand side by side
enum class Op : uint8_t {
  // sources
  kConstant,      // ScalarAttrs; result has rank 0
  kIota,          // AxisAttrs; i32 or u32, counts along the axis
  // unary, element by element
  kNegate, kExp, kLog, kTanh, kRsqrt, kSqrt, kLogistic, kNot, kIsFinite,
  kConvert,       // to the result's dtype, round to nearest even; float to int truncates and saturates
  kBitcast,       // same width: f32 <-> u32/i32
  // binary, equal types on both sides (use broadcast first)
  kAdd, kSubtract, kMultiply, kDivide, kMaximum, kMinimum, kRemainder,
  kAnd, kOr, kXor, kShiftLeft, kShiftRight,     // shifts are logical, on u32
  kCompare,       // CompareAttrs; result bool. Float compares are ordered: NaN compares false, but != is true
  kSelect,        // (predicate, on_true, on_false), all of one shape
  // shape
  kBroadcast,     // DimsAttrs: dims[i] = the result's axis of operand axis i
  kReshape,
  kTranspose,     // DimsAttrs: result axis i is operand axis dims[i]
  kSlice,         // SliceAttrs, strides 1
  kConcatenate,   // AxisAttrs
  // reductions over one or more axes (DimsAttrs), axes removed; accumulate in the operand's dtype
  kReduceSum, kReduceMax,
  kArgMax,        // AxisAttrs; i32 index of the largest, the lowest index on ties; NaN is below all;
                  // -1 if there is nothing else
  kDot,           // DotAttrs; result axes: batch, lhs free, rhs free
  // indexing
  kTakeRows,      // (table [N, ...], ids i32[...]) -> [ids..., ...]; ids are clamped to [0, N)
  // sequence state
  kCacheWrite,    // (cache [pages, page, heads, dim], rows [T, heads, dim], slots i32[T]) -> cache;
                  // slot = page * page_size + offset; a slot outside [0, pages * page_size) is dropped;
                  // slots inside are distinct
  kPagedAttention,  // AttentionAttrs; see attention operands below
  // control
  kLoop,          // LoopAttrs and a body; see below
};
// clang-format on
inline constexpr int kOpCount = static_cast<int>(Op::kLoop) + 1;
std::string_view name(Op op);  // "add", "paged_attention": used by the text form

// kPagedAttention operands, in order (all indices i32):
//   0 q              [T, heads, dim]
//   1 k_cache        [pages, page_size, kv_heads, dim]
//   2 v_cache        same
//   3 page_table     [S, P]     page of each sequence's i-th page; entries past the length are ignored
//   4 lengths        [S]        tokens in the cache, those of this step included; 0 = empty row
//   5 positions      [T]        of each query token in its sequence
//   6 token_sequence [T]        row of each token; a value outside [0, S) marks padding
//   7 token_column   [T]        index of the token among its sequence's tokens of this step
//   8 query_token    [S, Q]     inverse map: token of (sequence, column); outside [0, T) = none
//   9 window         []         a key is seen if position - key < window; a huge value means no window
//  10 sinks          [heads]    f32, optional: each head's score of nothing. It takes its share of the
//  softmax and
//                               gives no value
// Result [T, heads, dim] in q's dtype; rows of padding tokens are 0. A token sees keys 0..its position.
// Scores, softmax and sums are float32. Keys and values of slots at or past the length are never used:
// not even NaN in them changes a result.

// kLoop operands: carried values, then invariants, then stacked ones ([count, ...]). The body's parameters
// are: the iteration index (i32 []), the carried values, the invariants, then one slice of each stacked
// operand (leading axis removed). The body's outputs are the carried values. Results: the carried values.

// clang-format off: one line each
struct ScalarAttrs { double value = 0; };
struct AxisAttrs { int64_t axis = 0; };
struct DimsAttrs { std::vector<int64_t> dims; };
enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
struct CompareAttrs { Comparison direction = Comparison::kEqual; };
struct SliceAttrs { std::vector<int64_t> starts, limits; };
// clang-format on
struct DotAttrs {
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  // Operands may be bf16 while the result is f32: products are then accumulated in f32.
  bool highest_precision = false;  // float32 dots: true float32 on a TPU, never bf16 passes
};
struct AttentionAttrs {
  double scale = 1.0;
  double soft_cap = 0.0;  // 0: none; else scores = cap * tanh(scores / cap)
};
struct LoopAttrs {
  int64_t count = 0;
  int64_t carried = 0, invariants = 0, stacked = 0;
};
using Attrs = std::variant<std::monostate, ScalarAttrs, AxisAttrs, DimsAttrs, CompareAttrs, SliceAttrs,
                           DotAttrs, AttentionAttrs, LoopAttrs>;

/// Where in the model a node stands. Lowered to the operation's name, "layer.3/attention.qkv", so that
/// compiled operations can be joined to the model again.
struct Place {
  static constexpr int32_t kNoLayer = -1;     // embedding, head, sampling
  static constexpr int32_t kEveryLayer = -2;  // inside a loop over layers
  int32_t layer = kNoLayer;
  std::string part;  // "embed", "attention.qkv", "mlp.down", "head", "sample"
  bool operator==(const Place&) const = default;
};
std::string toString(const Place& place);  // "layer.3/attention.qkv", "layer.*/mlp.up", "head"

struct Graph;
struct Node {
  Op op;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;  // one, except kLoop
  Attrs attrs;
  Place place;
  std::shared_ptr<Graph> body;  // kLoop only
};

enum class Role : uint8_t {
  kInput,   // changes each step
  kWeight,  // the same each step
  kState,   // donated: the cache
};
struct Parameter {
  std::string name;  // "tokens", "layer.3.attention.q.weight", "cache.k.3"
  Role role = Role::kInput;
  ValueId value = -1;
};
struct Output {
  std::string name;
  ValueId value = -1;
  int32_t aliased_parameter = -1;  // index into parameters, or -1
};

struct Graph {
  std::string name = "step";
  std::vector<Type> types;  // by ValueId
  std::vector<Parameter> parameters;
  std::vector<Node> nodes;  // in execution order
  std::vector<Output> outputs;

  const Type& type(ValueId value) const { return types[static_cast<size_t>(value)]; }
  ValueId addValue(Type type) {
    types.push_back(std::move(type));
    return static_cast<ValueId>(types.size() - 1);
  }
};

}  // namespace sublane::graph
