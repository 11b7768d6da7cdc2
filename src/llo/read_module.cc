#include <map>
#include <unordered_map>

#include "llo/decode.h"

namespace sublane::llo {
namespace {

struct RawComputation {
  Computation computation;
  std::vector<RawInstruction> instructions;
  int64_t root_id = 0;
};

struct RawModule {
  HloModule module;
  std::vector<RawComputation> computations;
  std::map<int64_t, std::vector<int64_t>> sequences;
  StackFrames frames;
  int64_t entry_id = 0;
};

RawComputation decodeComputation(Wire& wire, std::string_view bytes) {
  RawComputation raw;
  wire.each("HloComputationProto", bytes, [&](const Field& field) {
    switch (field.number) {
      case 1:
        raw.computation.name = wire.text(field);
        break;
      case 2:
        raw.instructions.push_back(decodeInstruction(wire, wire.text(field)));
        break;
      case 5:
        raw.computation.id = wire.integer(field);
        break;
      case 6:
        raw.root_id = wire.integer(field);
        break;
      case 7:
        raw.computation.is_fusion = wire.integer(field) != 0;
        break;
      default:
        break;
    }
  });
  return raw;
}

void decodeSchedule(Wire& wire, std::string_view bytes, std::map<int64_t, std::vector<int64_t>>& sequences) {
  wire.each("HloScheduleProto", bytes, [&](const Field& field) {
    if (field.number != 1) return;
    int64_t computation = 0;
    std::vector<int64_t> ids;
    wire.each("HloScheduleProto entry", wire.text(field), [&](const Field& inner) {
      if (inner.number == 1) computation = wire.integer(inner);
      if (inner.number == 2) {
        wire.each("InstructionSequence", wire.text(inner), [&](const Field& item) {
          if (item.number == 1) wire.integers(item, ids);
        });
      }
    });
    sequences[computation] = std::move(ids);
  });
}

void decodeAliases(Wire& wire, std::string_view bytes, std::vector<InputOutputAlias>& aliases) {
  wire.each("HloInputOutputAliasProto", bytes, [&](const Field& field) {
    if (field.number != 1) return;
    InputOutputAlias alias;
    wire.each("AliasEntryProto", wire.text(field), [&](const Field& inner) {
      if (inner.number == 1) wire.integers(inner, alias.output_index);
      if (inner.number == 2) alias.parameter = wire.integer(inner);
    });
    aliases.push_back(std::move(alias));
  });
}

RawModule decodeModule(Wire& wire, std::string_view bytes) {
  RawModule raw;
  wire.each("HloModuleProto", bytes, [&](const Field& field) {
    switch (field.number) {
      case 1:
        raw.module.name = wire.text(field);
        break;
      case 3:
        raw.computations.push_back(decodeComputation(wire, wire.text(field)));
        break;
      case 6:
        raw.entry_id = wire.integer(field);
        break;
      case 7:
        decodeSchedule(wire, wire.text(field), raw.sequences);
        break;
      case 8:
        decodeAliases(wire, wire.text(field), raw.module.aliases);
        break;
      case 17:
        raw.frames = decodeStackFrames(wire, wire.text(field));
        break;
      default:
        break;
    }
  });
  return raw;
}

using Index = std::unordered_map<int64_t, int32_t>;

/// Ids to indices; each must stand before `limit`, so that no walk can go round in a circle.
Status resolve(const std::vector<int64_t>& ids, const Index& index, int32_t limit, const std::string& where,
               const char* what, std::vector<int32_t>& out) {
  for (int64_t id : ids) {
    auto found = index.find(id);
    if (found == index.end()) return inputError("{}: {} {} does not exist", where, what, id);
    if (found->second >= limit) return inputError("{}: {} {} stands after its user", where, what, id);
    out.push_back(found->second);
  }
  return Ok{};
}

Status linkComputation(RawModule& raw, RawComputation& from, const Index& computations, int32_t own_index) {
  const std::string where = "computation " + from.computation.name;
  Index index;
  for (RawInstruction& instruction : from.instructions) {
    const auto position = static_cast<int32_t>(from.computation.instructions.size());
    Instruction& to = instruction.instruction;
    if (!index.emplace(to.id, position).second) return inputError("{}: id {} is given twice", where, to.id);
    const std::string at = where + ", instruction " + to.name;
    SUBLANE_CHECK_OK(resolve(instruction.operand_ids, index, position, at, "operand", to.operands));
    SUBLANE_CHECK_OK(resolve(instruction.called_ids, computations, own_index, at, "computation", to.called));
    addSource(raw.frames, instruction.stack_frame, to.metadata);
    from.computation.instructions.push_back(std::move(to));
  }
  const auto count = static_cast<int32_t>(from.computation.instructions.size());
  for (int32_t i = 0; i < count; ++i) {
    SUBLANE_CHECK_OK(resolve(from.instructions[static_cast<size_t>(i)].control_ids, index, count, where,
                             "control predecessor",
                             from.computation.instructions[static_cast<size_t>(i)].control_predecessors));
  }
  std::vector<int32_t> root;
  SUBLANE_CHECK_OK(resolve({from.root_id}, index, count, where, "root", root));
  from.computation.root = root[0];
  auto sequence = raw.sequences.find(from.computation.id);
  if (sequence != raw.sequences.end()) {
    return resolve(sequence->second, index, count, where, "scheduled instruction", from.computation.schedule);
  }
  for (int32_t i = 0; i < count; ++i) from.computation.schedule.push_back(i);
  return Ok{};
}

}  // namespace

void addSource(const StackFrames& frames, int64_t frame, OpMetadata& metadata) {
  if (!metadata.source_file.empty() || frame < 1 ||
      frame > static_cast<int64_t>(frames.frame_locations.size()))
    return;
  const int64_t location = frames.frame_locations[static_cast<size_t>(frame - 1)];
  if (location < 1 || location > static_cast<int64_t>(frames.locations.size())) return;
  const StackFrames::Location& place = frames.locations[static_cast<size_t>(location - 1)];
  if (place.file < 1 || place.file > static_cast<int64_t>(frames.files.size())) return;
  metadata.source_file = frames.files[static_cast<size_t>(place.file - 1)];
  metadata.source_line = static_cast<int32_t>(place.line);
}

int32_t Computation::parameter(int64_t number) const {
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].is("parameter") && instructions[i].parameter_number == number)
      return static_cast<int32_t>(i);
  }
  return -1;
}

Result<HloModule> readHloModule(std::string_view bytes) {
  Wire wire(bytes);
  RawModule raw = decodeModule(wire, bytes);
  if (wire.fault()) return inputError("optimised HLO: {}", *wire.fault());
  if (raw.computations.empty()) return inputError("optimised HLO: no computation in {} bytes", bytes.size());
  Index computations;
  raw.module.entry = -1;
  for (RawComputation& computation : raw.computations) {
    const auto position = static_cast<int32_t>(raw.module.computations.size());
    const int64_t id = computation.computation.id;
    if (!computations.emplace(id, position).second)
      return inputError("optimised HLO: computation id {} twice", id);
    Status linked = linkComputation(raw, computation, computations, position);
    if (!linked.ok()) return std::move(linked).error().at("optimised HLO");
    if (id == raw.entry_id) raw.module.entry = position;
    raw.module.computations.push_back(std::move(computation.computation));
  }
  if (raw.module.entry < 0)
    return inputError("optimised HLO: entry computation {} does not exist", raw.entry_id);
  raw.module.is_scheduled = !raw.sequences.empty();
  return std::move(raw.module);
}

}  // namespace sublane::llo
