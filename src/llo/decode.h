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
RawInstruction decodeInstruction(Wire& wire, std::string_view bytes);
StackFrames decodeStackFrames(Wire& wire, std::string_view bytes);

}  // namespace sublane::llo
