// Decoders of the messages inside an HloModuleProto; private to the folder. Each takes the message's bytes
// and the Wire that remembers the first fault.
#pragma once

#include <string_view>
#include <vector>

#include "llo/llo.h"
#include "llo/wire.h"

namespace sublane::llo {

/// Source positions: metadata names a frame, and the module lists the frames.
struct StackFrames {
  struct Location {
    int64_t file = 0, line = 0;
  };
  std::vector<std::string> files;
  std::vector<Location> locations;
  std::vector<int64_t> frame_locations;
};

/// An instruction whose references are still ids.
struct RawInstruction {
  Instruction instruction;
  std::vector<int64_t> operand_ids, control_ids, called_ids;
  int64_t stack_frame = 0;
};

Shape decodeShape(Wire& wire, std::string_view bytes);
/// The elements of a constant, dense and row-major; empty if they are many, or of a type without whole bytes.
std::string decodeLiteral(Wire& wire, std::string_view bytes);

/// Sets `group` to the devices that device 0 works with, if the field (replica_groups, source_target_pairs,
/// collective_device_list, iota_collective_device_list, mesh_axes_replica_group_list) says so.
void decodeGroup(Wire& wire, const Field& field, std::vector<int64_t>& group);
RawInstruction decodeInstruction(Wire& wire, std::string_view bytes);
StackFrames decodeStackFrames(Wire& wire, std::string_view bytes);
/// Gives metadata without a file the file and line of its stack frame, numbered from 1.
void addSource(const StackFrames& frames, int64_t frame, OpMetadata& metadata);

}  // namespace sublane::llo
