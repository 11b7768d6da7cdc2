// Attributes of an instruction: ", name=value", in any order.
#include <algorithm>

#include "base/text.h"
#include "llo/hlo_text_reader.h"

namespace sublane::llo {

// The most frequent first. What is not here is skipped.
const HloTextReader::Attribute HloTextReader::kAttributes[] = {
    {"metadata", &HloTextReader::metadata},
    {"backend_config", &HloTextReader::backendConfig},
    {"dimensions", &HloTextReader::dimensions},
    {"kind", &HloTextReader::fusionKind},
    {"calls", &HloTextReader::called},
    {"to_apply", &HloTextReader::called},
    {"index", &HloTextReader::tupleIndex},
    {"slice", &HloTextReader::slice},
    {"direction", &HloTextReader::direction},
    {"dynamic_slice_sizes", &HloTextReader::sliceSizes},
    {"slice_sizes", &HloTextReader::sliceSizes},
    {"window", &HloTextReader::window},
    {"dim_labels", &HloTextReader::dimLabels},
    {"operand_precision", &HloTextReader::precision},
    {"iota_dimension", &HloTextReader::iotaDimension},
    {"custom_call_target", &HloTextReader::customCallTarget},
    {"condition", &HloTextReader::called},
    {"body", &HloTextReader::calledFirst},  // the proto lists a loop's body before its condition
    {"branch_computations", &HloTextReader::called},
    {"true_computation", &HloTextReader::called},
    {"false_computation", &HloTextReader::called},
    {"called_computations", &HloTextReader::called},
    {"select", &HloTextReader::called},
    {"scatter", &HloTextReader::called},
    {"control-predecessors", &HloTextReader::controls},
    {"lhs_contracting_dims", &HloTextReader::lhsContract},
    {"rhs_contracting_dims", &HloTextReader::rhsContract},
    {"lhs_batch_dims", &HloTextReader::lhsBatch},
    {"rhs_batch_dims", &HloTextReader::rhsBatch},
    {"feature_group_count", &HloTextReader::featureGroups},
    {"batch_group_count", &HloTextReader::batchGroups},
    {"output_to_operand_aliasing", &HloTextReader::aliases},
    {"replica_groups", &HloTextReader::replicaGroups},
    {"source_target_pairs", &HloTextReader::sourceTargets},
    {"cross_program_prefetch_index", &HloTextReader::prefetchIndex},
    {"is_cross_program_prefetch", &HloTextReader::prefetchFlag},
};

void HloTextReader::attributes(Instruction& to) {
  while (cursor_.take(',')) {
    const std::string_view name = cursor_.word("an attribute");
    if (!cursor_.expect('=')) return;
    const auto* known = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                     [&](const Attribute& attribute) { return attribute.name == name; });
    if (known == std::end(kAttributes)) {
      cursor_.skipValue();
    } else {
      (this->*known->rule)(to);
    }
  }
}

/// "%name", or "{%a, %b}".
void HloTextReader::called(Instruction& to) {
  const auto one = [&] {
    const char* place = (cursor_.peek(), cursor_.place());
    const std::string_view name = cursor_.name("a computation");
    const auto found = computations_.find(name);
    if (found == computations_.end())
      return cursor_.failAt(place,
                            fmt::format("computation {} does not stand above its caller", escaped(name)));
    to.called.push_back(found->second);
  };
  if (cursor_.peek() == '{') return cursor_.each('{', '}', one);
  one();
}

void HloTextReader::calledFirst(Instruction& to) {
  const size_t before = to.called.size();
  called(to);
  std::rotate(to.called.begin(), to.called.begin() + static_cast<int64_t>(before), to.called.end());
}

void HloTextReader::controls(Instruction&) {
  cursor_.each('{', '}', [&] {
    const char* place = (cursor_.peek(), cursor_.place());
    const auto index = static_cast<int32_t>(current_.instructions.size());
    controls_.push_back({index, cursor_.name("an instruction"), place});
  });
}

/// "{op_name="a/b" source_file="f.py" source_line=3 stack_frame_id=7}".
void HloTextReader::metadata(Instruction& to) {
  OpMetadata& metadata = to.metadata;
  if (!cursor_.expect('{')) return;
  while (!cursor_.fault() && !cursor_.take('}')) {
    const std::string_view name = cursor_.word("a field of metadata or '}'");
    if (!cursor_.expect('=')) return;
    if (name == "op_name") {
      metadata.op_name = cursor_.quoted("an operation's name");
    } else if (name == "source_file") {
      metadata.source_file = cursor_.quoted("a file's name");
    } else if (name == "source_line") {
      metadata.source_line = static_cast<int32_t>(cursor_.integer("a line"));
    } else if (name == "stack_frame_id") {
      stack_frame_ = cursor_.integer("a stack frame");
    } else if (cursor_.peek() == '"') {
      cursor_.quoted("a text");
    } else if (cursor_.peek() == '{') {
      cursor_.bracketed();
    } else {
      cursor_.bare();
    }
    cursor_.take(',');
  }
}

void HloTextReader::backendConfig(Instruction& to) {
  to.backend_config = cursor_.peek() == '"' ? cursor_.quoted("a text") : std::string(cursor_.bracketed());
}

void HloTextReader::fusionKind(Instruction& to) { to.fusion_kind = cursor_.bare(); }
void HloTextReader::customCallTarget(Instruction& to) { to.custom_call_target = cursor_.quoted("a target"); }
void HloTextReader::direction(Instruction& to) { to.comparison_direction = cursor_.bare(); }
void HloTextReader::tupleIndex(Instruction& to) { to.tuple_index = cursor_.integer("a number"); }

void HloTextReader::dimensions(Instruction& to) { to.dimensions = cursor_.integers('{', '}', "a dimension"); }
void HloTextReader::iotaDimension(Instruction& to) { to.dimensions = {cursor_.integer("a dimension")}; }
void HloTextReader::sliceSizes(Instruction& to) { to.slice_sizes = cursor_.integers('{', '}', "a size"); }

/// "{[0:4], [8:16:2]}".
void HloTextReader::slice(Instruction& to) {
  cursor_.each('{', '}', [&] {
    SliceDimension& dim = to.slice.emplace_back();
    cursor_.expect('[');
    dim.start = cursor_.integer("a start");
    cursor_.expect(':');
    dim.limit = cursor_.integer("a limit");
    if (cursor_.take(':')) dim.stride = cursor_.integer("a stride");
    cursor_.expect(']');
  });
}

/// "{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x2 rhs_dilate=1x1}".
void HloTextReader::window(Instruction& to) {
  const char* place = cursor_.place();
  if (!cursor_.expect('{')) return;
  while (!cursor_.fault() && !cursor_.take('}')) {
    const std::string_view name = cursor_.word("a field of a window or '}'");
    if (!cursor_.expect('=')) return;
    size_t count = 0;
    do {
      if (name == "size") to.window.emplace_back();
      WindowDimension unsized;
      WindowDimension& dim = count < to.window.size() ? to.window[count] : unsized;
      const int64_t value = cursor_.integer("a number");
      if (name == "size") dim.size = value;
      if (name == "stride") dim.stride = value;
      if (name == "lhs_dilate") dim.base_dilation = value;
      if (name == "rhs_dilate") dim.window_dilation = value;
      if (name == "pad") {
        dim.padding_low = value;
        if (!cursor_.take('_')) cursor_.expected("'_'");
        dim.padding_high = cursor_.integer("a number");
      }
      ++count;
    } while (cursor_.here() == 'x' && cursor_.take('x'));
    if (count != to.window.size())
      cursor_.failAt(place, fmt::format("a window of {} sizes and {} numbers of {}", to.window.size(), count,
                                        escaped(name)));
  }
}

/// One of the three parts of "b01f_01io->b01f". `letters` are the two dimensions without a number, in order.
static bool readLabels(std::string_view labels, std::string_view letters, int64_t* first, int64_t* second,
                       std::vector<int64_t>& spatial) {
  spatial.assign(labels.size() < 2 ? 0 : labels.size() - 2, -1);
  bool has_first = false, has_second = false;
  for (size_t at = 0; at < labels.size(); ++at) {
    const auto position = static_cast<int64_t>(at);
    const auto number = static_cast<size_t>(labels[at] - '0');
    if (labels[at] == letters[0] && !std::exchange(has_first, true)) {
      *first = position;
    } else if (labels[at] == letters[1] && !std::exchange(has_second, true)) {
      *second = position;
    } else if (number < 10 && number < spatial.size() && spatial[number] < 0) {
      spatial[number] = position;
    } else {
      return false;
    }
  }
  return has_first && has_second;
}

void HloTextReader::dimLabels(Instruction& to) {
  const char* place = (cursor_.peek(), cursor_.place());
  const std::string_view text = cursor_.bare();
  const size_t under = text.find('_'), arrow = text.find("->");
  ConvolutionDimensions& dims = to.convolution;
  const bool sound =
      under != std::string_view::npos && arrow != std::string_view::npos && under < arrow &&
      readLabels(text.substr(0, under), "bf", &dims.input_batch, &dims.input_feature, dims.input_spatial) &&
      readLabels(text.substr(under + 1, arrow - under - 1), "io", &dims.kernel_input_feature,
                 &dims.kernel_output_feature, dims.kernel_spatial) &&
      readLabels(text.substr(arrow + 2), "bf", &dims.output_batch, &dims.output_feature, dims.output_spatial);
  if (!sound) cursor_.failAt(place, "expected labels as b01f_01io->b01f");
}

void HloTextReader::lhsContract(Instruction& to) {
  to.dot.lhs_contract = cursor_.integers('{', '}', "a dimension");
}
void HloTextReader::rhsContract(Instruction& to) {
  to.dot.rhs_contract = cursor_.integers('{', '}', "a dimension");
}
void HloTextReader::lhsBatch(Instruction& to) {
  to.dot.lhs_batch = cursor_.integers('{', '}', "a dimension");
}
void HloTextReader::rhsBatch(Instruction& to) {
  to.dot.rhs_batch = cursor_.integers('{', '}', "a dimension");
}
void HloTextReader::featureGroups(Instruction& to) { to.feature_groups = cursor_.integer("a number"); }
void HloTextReader::batchGroups(Instruction& to) { to.batch_groups = cursor_.integer("a number"); }

void HloTextReader::precision(Instruction& to) {
  to.precision.clear();
  cursor_.each('{', '}', [&] {
    const std::string_view word = cursor_.word("a precision");
    to.precision.push_back(word == "highest" ? Precision::kHighest
                           : word == "high"  ? Precision::kHigh
                                             : Precision::kDefault);
  });
}

/// "{{0}: (1, {}, must-alias), {}: (2, {0})}".
void HloTextReader::aliases(Instruction& to) {
  cursor_.each('{', '}', [&] {
    OutputAlias& alias = to.aliases.emplace_back();
    alias.output_index = cursor_.integers('{', '}', "an index");
    cursor_.expect(':');
    cursor_.expect('(');
    alias.operand = cursor_.integer("an operand's number");
    cursor_.expect(',');
    alias.operand_index = cursor_.integers('{', '}', "an index");
    if (cursor_.take(',')) cursor_.word("a kind of alias");
    cursor_.expect(')');
  });
}

void HloTextReader::replicaGroups(Instruction& to) { readGroupText(cursor_, to.group); }
void HloTextReader::sourceTargets(Instruction& to) { readPairsText(cursor_, to.group); }
void HloTextReader::prefetchIndex(Instruction& to) {
  cursor_.integer("a number");
  to.cross_program_prefetch = true;
}
void HloTextReader::prefetchFlag(Instruction& to) { to.cross_program_prefetch |= cursor_.bare() == "true"; }

}  // namespace sublane::llo
