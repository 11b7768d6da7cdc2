// What the compiler says about a program: its optimised, scheduled HLO module as typed data.
//
// The bytes are a serialised HloModuleProto (openxla/xla, xla/service/hlo.proto and xla/xla_data.proto give
// the field numbers). They are foreign: every length, id and shape is checked, and what is wrong becomes an
// Error, never a crash. A module that was read is sound: operands stand before their users and called
// computations before their callers, so that walks over it end.
//
//   SUBLANE_TRY(llo::HloModule module, llo::readHloModule(result.optimized_hlo));
//   const llo::Computation& entry = module.computations[module.entry];
//   for (int32_t index : entry.schedule) fmt::print("{}\n", entry.instructions[index].name);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llo/shape.h"

namespace sublane::llo {

/// Where an operation came from: JAX's or our own name stack, and the line of the user's program.
struct OpMetadata {
  std::string op_name;  // "layer.3/attention.qkv", "jit(f)/while/body/dot_general"
  std::string source_file;
  int32_t source_line = 0;
};

struct DotDimensions {
  std::vector<int64_t> lhs_contract, rhs_contract, lhs_batch, rhs_batch;
};
struct WindowDimension {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0, window_dilation = 1, base_dilation = 1;
};
/// Of a convolution, which is also what the TPU compiler turns every dot into.
struct ConvolutionDimensions {
  int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 0;
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;
};
struct SliceDimension {
  int64_t start = 0, limit = 0, stride = 1;
};
/// An output (index into its tuple, empty for the whole) that reuses an operand's buffer.
struct OutputAlias {
  std::vector<int64_t> output_index;
  int64_t operand = 0;
  std::vector<int64_t> operand_index;
};
enum class Precision : uint8_t { kDefault, kHigh, kHighest };

struct Instruction {
  int64_t id = 0;
  std::string name;    // "fusion.10"
  std::string opcode;  // "fusion", "copy-start"
  Shape shape;
  std::vector<int32_t> operands;  // indices into the computation's instructions, all smaller than its own
  std::vector<int32_t> control_predecessors;
  std::vector<int32_t> called;  // indices into the module's computations
  OpMetadata metadata;
  std::string backend_config;        // JSON by libtpu; read it with readBackendConfig
  std::string fusion_kind;           // "kLoop", "kOutput", "kCustom"
  std::string custom_call_target;    // "tpu_custom_call"
  std::string comparison_direction;  // "LT"
  int64_t parameter_number = 0;
  int64_t tuple_index = 0;
  std::vector<int64_t> dimensions;
  std::vector<int64_t> slice_sizes;  // of dynamic-slice and gather
  std::vector<SliceDimension> slice;
  std::vector<WindowDimension> window;
  DotDimensions dot;
  ConvolutionDimensions convolution;
  int64_t feature_groups = 1, batch_groups = 1;
  std::vector<Precision> precision;     // of the operands of a dot or a convolution
  std::vector<OutputAlias> aliases;     // of a custom call or a fusion
  std::vector<int64_t> group;           // of a collective: the devices that device 0 works with, itself too
  std::optional<int64_t> constant;      // value of an integer or predicate scalar
  std::string literal;                  // elements of a constant of up to 1 MiB, dense and row-major
  bool cross_program_prefetch = false;  // a copy that a former program of the same device may start

  bool is(std::string_view op) const { return opcode == op; }
};

struct Computation {
  int64_t id = 0;
  std::string name;
  std::vector<Instruction> instructions;  // operands before users
  std::vector<int32_t> schedule;          // order of execution; file order where the module has none
  int32_t root = 0;
  bool is_fusion = false;

  const Instruction& at(int32_t index) const { return instructions[static_cast<size_t>(index)]; }
  /// Index of parameter `number`, or -1.
  int32_t parameter(int64_t number) const;
};

/// An argument's buffer that an output takes over: the cache of a step that is donated.
struct InputOutputAlias {
  std::vector<int64_t> output_index;
  int64_t parameter = 0;
};

struct HloModule {
  std::string name;
  std::vector<Computation> computations;  // called ones before their callers
  int32_t entry = 0;
  bool is_scheduled = false;
  std::vector<InputOutputAlias> aliases;

  const Computation& at(int32_t index) const { return computations[static_cast<size_t>(index)]; }
  const Computation& entryComputation() const { return at(entry); }
};

Result<HloModule> readHloModule(std::string_view bytes);

/// What libtpu writes about its own choices in backend_config. Facts on the keys: docs/explain.md.
struct BackendConfig {
  std::optional<int64_t> estimated_cycles;  // "estimated_cycles", at the top or in "window_config"
  std::optional<int64_t> trip_count;        // "known_trip_count"
  std::optional<int64_t> vmem_bytes;        // "used_scoped_memory_configs", memory space 1
  // A kernel's own description of its cost ("cost_estimate"), where its author gave one.
  std::optional<double> kernel_flops, kernel_bytes, kernel_transcendentals;
};
/// Unknown keys are ignored; text that is not JSON gives an empty config.
BackendConfig readBackendConfig(const std::string& json);

/// Iterations of a while loop: what the compiler says, else read from the condition's comparison of a
/// counter with a constant. Nothing when it depends on data.
std::optional<int64_t> tripCount(const HloModule& module, const Computation& caller, const Instruction& loop);

}  // namespace sublane::llo
