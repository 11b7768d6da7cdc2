#include "llo/decode.h"

namespace sublane::llo {
namespace {

void decodeMetadata(Wire& wire, std::string_view bytes, RawInstruction& raw) {
  OpMetadata& metadata = raw.instruction.metadata;
  wire.each("OpMetadata", bytes, [&](const Field& field) {
    switch (field.number) {
      case 2:
        metadata.op_name = wire.text(field);
        break;
      case 3:
        metadata.source_file = wire.text(field);
        break;
      case 4:
        metadata.source_line = static_cast<int32_t>(wire.integer(field));
        break;
      case 15:
        raw.stack_frame = wire.integer(field);
        break;
      default:
        break;
    }
  });
}

WindowDimension decodeWindowDimension(Wire& wire, std::string_view bytes) {
  WindowDimension dim;
  dim.stride = dim.window_dilation = dim.base_dilation = 1;
  wire.each("WindowDimension", bytes, [&](const Field& field) {
    switch (field.number) {
      case 1:
        dim.size = wire.integer(field);
        break;
      case 2:
        dim.stride = wire.integer(field);
        break;
      case 3:
        dim.padding_low = wire.integer(field);
        break;
      case 4:
        dim.padding_high = wire.integer(field);
        break;
      case 5:
        dim.window_dilation = wire.integer(field);
        break;
      case 6:
        dim.base_dilation = wire.integer(field);
        break;
      default:
        break;
    }
  });
  return dim;
}

ConvolutionDimensions decodeConvolution(Wire& wire, std::string_view bytes) {
  ConvolutionDimensions dims;
  wire.each("ConvolutionDimensionNumbers", bytes, [&](const Field& field) {
    switch (field.number) {
      case 3:
        dims.kernel_input_feature = wire.integer(field);
        break;
      case 4:
        dims.kernel_output_feature = wire.integer(field);
        break;
      case 6:
        wire.integers(field, dims.kernel_spatial);
        break;
      case 7:
        dims.input_batch = wire.integer(field);
        break;
      case 8:
        dims.input_feature = wire.integer(field);
        break;
      case 9:
        dims.output_batch = wire.integer(field);
        break;
      case 10:
        dims.output_feature = wire.integer(field);
        break;
      case 11:
        wire.integers(field, dims.input_spatial);
        break;
      case 12:
        wire.integers(field, dims.output_spatial);
        break;
      default:
        break;
    }
  });
  return dims;
}

DotDimensions decodeDot(Wire& wire, std::string_view bytes) {
  DotDimensions dims;
  wire.each("DotDimensionNumbers", bytes, [&](const Field& field) {
    switch (field.number) {
      case 1:
        wire.integers(field, dims.lhs_contract);
        break;
      case 2:
        wire.integers(field, dims.rhs_contract);
        break;
      case 3:
        wire.integers(field, dims.lhs_batch);
        break;
      case 4:
        wire.integers(field, dims.rhs_batch);
        break;
      default:
        break;
    }
  });
  return dims;
}

SliceDimension decodeSlice(Wire& wire, std::string_view bytes) {
  SliceDimension dim;
  wire.each("SliceDimensions", bytes, [&](const Field& field) {
    if (field.number == 1) dim.start = wire.integer(field);
    if (field.number == 2) dim.limit = wire.integer(field);
    if (field.number == 3) dim.stride = wire.integer(field);
  });
  return dim;
}

OutputAlias decodeAlias(Wire& wire, std::string_view bytes) {
  OutputAlias alias;
  wire.each("OutputOperandAliasing", bytes, [&](const Field& field) {
    if (field.number == 1) wire.integers(field, alias.output_index);
    if (field.number == 2) alias.operand = wire.integer(field);
    if (field.number == 3) wire.integers(field, alias.operand_index);
  });
  return alias;
}

void decodePrecision(Wire& wire, std::string_view bytes, std::vector<Precision>& out) {
  std::vector<int64_t> values;
  wire.each("PrecisionConfig", bytes, [&](const Field& field) {
    if (field.number == 1) wire.integers(field, values);
  });
  for (int64_t value : values) {
    out.push_back(value == 2 ? Precision::kHighest : value == 1 ? Precision::kHigh : Precision::kDefault);
  }
}

/// The value of an integer scalar: loop bounds and steps are such constants. Others are skipped.
std::optional<int64_t> decodeScalar(Wire& wire, std::string_view bytes) {
  Shape shape;
  std::vector<int64_t> values;
  wire.each("LiteralProto", bytes, [&](const Field& field) {
    if (field.number == 1) shape = decodeShape(wire, wire.text(field));
    const bool integers = field.number == 2 || (field.number >= 4 && field.number <= 7);
    if (integers && (!field.is_bytes || field.bytes.size() <= 10)) wire.integers(field, values);
  });
  if (values.size() != 1 || !shape.dims.empty()) return std::nullopt;
  return shape.type == ElementType::kS32 ? static_cast<int32_t>(values[0]) : values[0];
}

/// Fields of operations with their own dimension numbers.
void decodeDimensions(Wire& wire, const Field& field, Instruction& to) {
  switch (field.number) {
    case 14:
      wire.integers(field, to.dimensions);
      break;
    case 15:
      wire.each("Window", wire.text(field), [&](const Field& inner) {
        if (inner.number == 1) to.window.push_back(decodeWindowDimension(wire, wire.text(inner)));
      });
      break;
    case 16:
      to.convolution = decodeConvolution(wire, wire.text(field));
      break;
    case 17:
      to.slice.push_back(decodeSlice(wire, wire.text(field)));
      break;
    case 20:
    case 34:
      wire.integers(field, to.slice_sizes);
      break;
    case 30:
      to.dot = decodeDot(wire, wire.text(field));
      break;
    case 50:
      to.feature_groups = wire.integer(field);
      break;
    case 51:
      decodePrecision(wire, wire.text(field), to.precision);
      break;
    case 58:
      to.batch_groups = wire.integer(field);
      break;
    default:
      break;
  }
}

}  // namespace

RawInstruction decodeInstruction(Wire& wire, std::string_view bytes) {
  RawInstruction raw;
  Instruction& to = raw.instruction;
  wire.each("HloInstructionProto", bytes, [&](const Field& field) {
    switch (field.number) {
      case 1:
        to.name = wire.text(field);
        break;
      case 2:
        to.opcode = wire.text(field);
        break;
      case 3:
        to.shape = decodeShape(wire, wire.text(field));
        break;
      case 7:
        decodeMetadata(wire, wire.text(field), raw);
        break;
      case 8:
        to.constant = decodeScalar(wire, wire.text(field));
        to.literal = decodeLiteral(wire, wire.text(field));
        break;
      case 9:
        to.parameter_number = wire.integer(field);
        break;
      case 11:
        to.fusion_kind = wire.text(field);
        break;
      case 13:
        to.tuple_index = wire.integer(field);
        break;
      case 28:
        to.custom_call_target = wire.text(field);
        break;
      case 35:
        to.id = wire.integer(field);
        break;
      case 36:
        wire.integers(field, raw.operand_ids);
        break;
      case 37:
        wire.integers(field, raw.control_ids);
        break;
      case 38:
        wire.integers(field, raw.called_ids);
        break;
      case 43:
        to.backend_config = wire.text(field);
        break;
      case 49:
      case 52:
      case 87:
      case 92:
      case 93:
        decodeGroup(wire, field, to.group);
        break;
      case 63:
        to.comparison_direction = wire.text(field);
        break;
      case 73:
        to.cross_program_prefetch |= wire.integer(field) != 0;
        break;
      case 74:
        to.aliases.push_back(decodeAlias(wire, wire.text(field)));
        break;
      case 80:
        to.cross_program_prefetch = true;
        break;
      default:
        decodeDimensions(wire, field, to);
        break;
    }
  });
  return raw;
}

StackFrames decodeStackFrames(Wire& wire, std::string_view bytes) {
  StackFrames frames;
  wire.each("StackFrameIndexProto", bytes, [&](const Field& field) {
    if (field.number == 1) frames.files.emplace_back(wire.text(field));
    if (field.number == 3) {
      StackFrames::Location location;
      wire.each("FileLocation", wire.text(field), [&](const Field& inner) {
        if (inner.number == 1) location.file = wire.integer(inner);
        if (inner.number == 3) location.line = wire.integer(inner);
      });
      frames.locations.push_back(location);
    }
    if (field.number == 4) {
      int64_t location = 0;
      wire.each("StackFrame", wire.text(field), [&](const Field& inner) {
        if (inner.number == 1) location = wire.integer(inner);
      });
      frames.frame_locations.push_back(location);
    }
  });
  return frames;
}

}  // namespace sublane::llo
