// A small encoder of HloModuleProto, for tests: just enough to write modules as the compiler would.
//
//   HloWriter hlo;
//   auto entry = hlo.computation("main", {instruction(1, "p", "parameter", f32({8})), ...}, /*root=*/2);
//   std::string bytes = hlo.module(entry);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sublane::llo::testing {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
inline std::string number(int field, int64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(value));
}
inline std::string bytes(int field, std::string_view content) {
  return varint((static_cast<uint64_t>(field) << 3) | 2) + varint(content.size()) + std::string(content);
}
inline std::string numbers(int field, const std::vector<int64_t>& values) {
  std::string packed;
  for (int64_t value : values) packed += varint(static_cast<uint64_t>(value));
  return bytes(field, packed);
}

struct LayoutSpec {
  std::vector<int64_t> minor_to_major;
  std::vector<std::vector<int64_t>> tiles;
  int64_t memory_space = 0;
};
inline std::string shape(int64_t element_type, const std::vector<int64_t>& dims,
                         const LayoutSpec& spec = {}) {
  std::string layout;
  std::vector<int64_t> order = spec.minor_to_major;
  if (order.empty()) {
    for (size_t i = dims.size(); i > 0; --i) order.push_back(static_cast<int64_t>(i - 1));
  }
  layout += numbers(1, order);
  for (const auto& tile : spec.tiles) layout += bytes(6, numbers(1, tile));
  if (spec.memory_space) layout += number(8, spec.memory_space);
  return number(2, element_type) + numbers(3, dims) + bytes(5, layout);
}
inline std::string tuple(const std::vector<std::string>& elements) {
  std::string out = number(2, 13);
  for (const std::string& element : elements) out += bytes(4, element);
  return out;
}
inline std::string f32(const std::vector<int64_t>& dims, const LayoutSpec& spec = {}) {
  return shape(11, dims, spec);
}
inline std::string bf16(const std::vector<int64_t>& dims, const LayoutSpec& spec = {}) {
  return shape(16, dims, spec);
}
inline std::string s32(const std::vector<int64_t>& dims, const LayoutSpec& spec = {}) {
  return shape(4, dims, spec);
}
inline std::string pred() { return shape(1, {}); }

/// One instruction; `more` are further fields, already encoded.
inline std::string instruction(int64_t id, const std::string& name, const std::string& opcode,
                               const std::string& of, const std::vector<int64_t>& operands = {},
                               const std::string& more = "") {
  return bytes(1, name) + bytes(2, opcode) + bytes(3, of) + number(35, id) + numbers(36, operands) + more;
}
inline std::string parameter(int64_t id, const std::string& name, const std::string& of, int64_t index,
                             const std::string& more = "") {
  return instruction(id, name, "parameter", of, {}, number(9, index) + more);
}
inline std::string opName(const std::string& name) { return bytes(7, bytes(2, name)); }
inline std::string config(const std::string& json) { return bytes(43, json); }
inline std::string calls(const std::vector<int64_t>& computations) { return numbers(38, computations); }
inline std::string constantS32(int64_t id, const std::string& name, int64_t value) {
  return instruction(id, name, "constant", s32({}), {}, bytes(8, bytes(1, s32({})) + numbers(4, {value})));
}
inline std::string element(int64_t id, const std::string& of, int64_t operand, int64_t index) {
  return instruction(id, "gte." + std::to_string(id), "get-tuple-element", of, {operand}, number(13, index));
}

class HloWriter {
 public:
  int64_t computation(const std::string& name, const std::vector<std::string>& instructions, int64_t root,
                      bool fusion = false) {
    const int64_t id = ++last_;
    std::string out = bytes(1, name);
    for (const std::string& one : instructions) out += bytes(2, one);
    computations_ += bytes(3, out + number(5, id) + number(6, root) + (fusion ? number(7, 1) : ""));
    return id;
  }
  /// Order of execution of a computation, when it is not the order of writing.
  void schedule(int64_t computation, const std::vector<int64_t>& ids) {
    schedule_ += bytes(1, number(1, computation) + bytes(2, numbers(1, ids)));
  }
  void alias(int64_t output, int64_t parameter) {
    aliases_ += bytes(1, numbers(1, {output}) + number(2, parameter));
  }
  std::string module(int64_t entry) const {
    return bytes(1, "test") + number(6, entry) + computations_ +
           (schedule_.empty() ? "" : bytes(7, schedule_)) + (aliases_.empty() ? "" : bytes(8, aliases_));
  }

 private:
  int64_t last_ = 0;
  std::string computations_, schedule_, aliases_;
};

/// A module with a loop: for (i = first; i < bound; i += step), the body being one addition to f32[8,128].
inline std::string loopModule(int64_t first, int64_t bound, int64_t step, bool bound_in_state = false) {
  HloWriter hlo;
  const std::string state = tuple({s32({}), f32({8, 128}), s32({})});
  const auto body =
      hlo.computation("body",
                      {parameter(1, "state", state, 0), element(2, s32({}), 1, 0),
                       element(3, f32({8, 128}), 1, 1), element(4, s32({}), 1, 2),
                       constantS32(5, "step", step), instruction(6, "next", "add", s32({}), {2, 5}),
                       instruction(7, "sum", "add", f32({8, 128}), {3, 3}, opName("layer.*/mlp.up/add")),
                       instruction(8, "out", "tuple", state, {6, 7, 4})},
                      8);
  const auto condition = hlo.computation(
      "condition",
      {parameter(11, "state", state, 0), element(12, s32({}), 11, 0), constantS32(13, "bound", bound),
       element(14, s32({}), 11, 2),
       instruction(15, "lt", "compare", pred(), {12, bound_in_state ? 14 : 13}, bytes(63, "LT"))},
      15);
  const auto entry = hlo.computation(
      "main",
      {parameter(21, "x", f32({8, 128}), 0), constantS32(22, "first", first), constantS32(23, "bound", bound),
       instruction(24, "start", "tuple", state, {22, 21, 23}),
       instruction(25, "while", "while", state, {24}, calls({body, condition})),
       element(26, f32({8, 128}), 25, 1)},
      26);
  return hlo.module(entry);
}

}  // namespace sublane::llo::testing
