// Whether two readings of one compile say the same. Text lists a schedule's instructions in its order, the
// proto in another, so that they are matched by name; ids are not compared, for text has none.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "llo/llo.h"

namespace sublane::llo::testing {

inline bool same(const Shape& a, const Shape& b) {
  bool equal = a.type == b.type && a.dims == b.dims && a.elements.size() == b.elements.size() &&
               a.layout.minor_to_major == b.layout.minor_to_major && a.layout.tiles == b.layout.tiles &&
               a.layout.element_bits == b.layout.element_bits &&
               a.layout.memory_space == b.layout.memory_space &&
               a.layout.tail_alignment == b.layout.tail_alignment;
  for (size_t i = 0; equal && i < a.elements.size(); ++i) equal = same(a.elements[i], b.elements[i]);
  return equal;
}

/// XLA's dump sorts the keys that the proto has in another order.
inline bool sameJson(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto parsed = nlohmann::json::parse(a, nullptr, false);
  return !parsed.is_discarded() && parsed == nlohmann::json::parse(b, nullptr, false);
}

/// What a list of precisions means: none, and all default, are the same.
inline Precision highest(const Instruction& at) {
  Precision most = Precision::kDefault;
  for (const Precision precision : at.precision) most = std::max(most, precision);
  return most;
}

/// The name of the first field in which two instructions differ, or "". Elements that text
/// leaves out are not compared.
inline std::string differentField(const Instruction& text, const Instruction& proto) {
  const auto window = [](const WindowDimension& d) {
    return std::array{d.size, d.stride, d.padding_low, d.padding_high, d.window_dilation, d.base_dilation};
  };
  if (text.opcode != proto.opcode) return "opcode";
  if (!same(text.shape, proto.shape)) return "shape";
  if (text.tuple_index != proto.tuple_index) return "tuple_index";
  if (text.name.find('#') != std::string::npos) return "";  // text says no more of it
  if (text.metadata.op_name != proto.metadata.op_name) return "op_name";
  if (text.metadata.source_file != proto.metadata.source_file) return "source_file";
  if (text.metadata.source_line != proto.metadata.source_line) return "source_line";
  if (!sameJson(text.backend_config, proto.backend_config)) return "backend_config";
  if (text.fusion_kind != proto.fusion_kind) return "fusion_kind";
  if (text.custom_call_target != proto.custom_call_target) return "custom_call_target";
  if (text.comparison_direction != proto.comparison_direction) return "comparison_direction";
  if (text.parameter_number != proto.parameter_number) return "parameter_number";
  if (text.dimensions != proto.dimensions) return "dimensions";
  if (text.slice_sizes != proto.slice_sizes) return "slice_sizes";
  if (text.slice.size() != proto.slice.size()) return "slice";
  for (size_t i = 0; i < text.slice.size(); ++i) {
    const SliceDimension &a = text.slice[i], &b = proto.slice[i];
    if (a.start != b.start || a.limit != b.limit || a.stride != b.stride) return "slice";
  }
  if (text.window.size() != proto.window.size()) return "window";
  for (size_t i = 0; i < text.window.size(); ++i) {
    if (window(text.window[i]) != window(proto.window[i])) return "window";
  }
  if (text.dot.lhs_contract != proto.dot.lhs_contract || text.dot.rhs_contract != proto.dot.rhs_contract ||
      text.dot.lhs_batch != proto.dot.lhs_batch || text.dot.rhs_batch != proto.dot.rhs_batch)
    return "dot";
  const ConvolutionDimensions &a = text.convolution, &b = proto.convolution;
  if (a.input_batch != b.input_batch || a.input_feature != b.input_feature ||
      a.kernel_input_feature != b.kernel_input_feature ||
      a.kernel_output_feature != b.kernel_output_feature || a.output_batch != b.output_batch ||
      a.output_feature != b.output_feature || a.input_spatial != b.input_spatial ||
      a.kernel_spatial != b.kernel_spatial || a.output_spatial != b.output_spatial)
    return "convolution";
  if (text.feature_groups != proto.feature_groups || text.batch_groups != proto.batch_groups) return "groups";
  if (highest(text) != highest(proto)) return "precision";
  if (text.aliases.size() != proto.aliases.size()) return "aliases";
  for (size_t i = 0; i < text.aliases.size(); ++i) {
    if (text.aliases[i].output_index != proto.aliases[i].output_index ||
        text.aliases[i].operand != proto.aliases[i].operand ||
        text.aliases[i].operand_index != proto.aliases[i].operand_index)
      return "aliases";
  }
  if (text.group != proto.group) return "group";
  if (text.constant != proto.constant) return "constant";
  if (text.literal != proto.literal && !text.literal.empty()) return "literal";
  return text.cross_program_prefetch != proto.cross_program_prefetch ? "cross_program_prefetch" : "";
}

/// An element of a tuple is named by the tuple, for text may write it as %fusion.3#1.
inline std::string nameOf(const Computation& in, const Instruction& at) {
  if (!at.is("get-tuple-element") || at.operands.empty()) return at.name;
  return fmt::format("{}#{}", nameOf(in, in.at(at.operands[0])), at.tuple_index);
}
inline std::vector<std::string> names(const Computation& in, const std::vector<int32_t>& indices,
                                      bool elements = true) {
  std::vector<std::string> out;
  for (const int32_t index : indices) {
    if (elements || !in.at(index).is("get-tuple-element")) out.push_back(nameOf(in, in.at(index)));
  }
  return out;
}
inline std::vector<std::string> names(const HloModule& in, const std::vector<int32_t>& indices) {
  std::vector<std::string> out;
  for (const int32_t index : indices) out.push_back(in.at(index).name);
  return out;
}

inline std::string difference(const HloModule& text, const Computation& a, const HloModule& proto,
                              const Computation& b) {
  if (a.is_fusion != b.is_fusion) return a.name + ": is_fusion";
  if (nameOf(a, a.at(a.root)) != nameOf(b, b.at(b.root))) return a.name + ": root";
  // A fusion has no schedule, and may be written in any order.
  if (proto.is_scheduled && !a.is_fusion && names(a, a.schedule, false) != names(b, b.schedule, false))
    return a.name + ": schedule";
  std::map<std::string, const Instruction*> by_name;
  for (const Instruction& instruction : b.instructions) by_name[nameOf(b, instruction)] = &instruction;
  std::set<std::string> seen;
  for (const Instruction& instruction : a.instructions) seen.insert(nameOf(a, instruction));
  if (seen.size() != by_name.size())
    return fmt::format("{}: {} instructions, {}", a.name, seen.size(), by_name.size());
  for (const Instruction& instruction : a.instructions) {
    const auto found = by_name.find(nameOf(a, instruction));
    if (found == by_name.end()) return a.name + ": " + instruction.name + " is not in the proto";
    const Instruction& other = *found->second;
    std::string field = differentField(instruction, other);
    if (names(a, instruction.operands) != names(b, other.operands)) field = "operands";
    if (names(a, instruction.control_predecessors) != names(b, other.control_predecessors)) field = "control";
    if (names(text, instruction.called) != names(proto, other.called)) field = "called";
    if (!field.empty()) return fmt::format("{}, {} ({}): {}", a.name, instruction.name, other.opcode, field);
  }
  return "";
}

/// "" or what differs first.
inline std::string difference(const HloModule& text, const HloModule& proto) {
  if (text.name != proto.name) return "name: " + text.name + ", " + proto.name;
  if (text.is_scheduled != proto.is_scheduled) return "is_scheduled";
  if (text.entryComputation().name != proto.entryComputation().name) return "entry";
  if (text.aliases.size() != proto.aliases.size()) return "aliases";
  for (size_t i = 0; i < text.aliases.size(); ++i) {
    if (text.aliases[i].output_index != proto.aliases[i].output_index ||
        text.aliases[i].parameter != proto.aliases[i].parameter)
      return "aliases";
  }
  if (text.computations.size() != proto.computations.size())
    return fmt::format("{} computations, {}", text.computations.size(), proto.computations.size());
  std::map<std::string, const Computation*> by_name;
  for (const Computation& computation : proto.computations) by_name[computation.name] = &computation;
  for (const Computation& computation : text.computations) {
    const auto found = by_name.find(computation.name);
    if (found == by_name.end()) return computation.name + " is not in the proto";
    std::string different = difference(text, computation, proto, *found->second);
    if (!different.empty()) return different;
  }
  return "";
}

}  // namespace sublane::llo::testing
