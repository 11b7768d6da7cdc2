// The module's head, its tables of source positions, computations and instructions.
#include "base/text.h"
#include "llo/hlo_text.h"
#include "llo/hlo_text_reader.h"

namespace sublane::llo {

static constexpr std::string_view kHead = "HloModule";
static constexpr const char* kTooMany = "more instructions than a module may have";

bool looksHloText(std::string_view text) {
  HloCursor cursor(text.substr(0, 4096), "");
  return cursor.take(kHead) && (cursor.here() == ' ' || cursor.here() == '\t');
}

Result<HloModule> readHloText(std::string_view text, const std::string& where) {
  return HloTextReader(text, where).read();
}

Result<HloModule> HloTextReader::read() && {
  if (!cursor_.take(kHead)) {
    cursor_.expected("HloModule");
    return std::move(*std::optional(*cursor_.fault()))
        .hint("optimised HLO, as XLA dumps it or compiled.as_text() prints it");
  }
  module_.entry = -1;
  header();
  while (!cursor_.fault() && !cursor_.atEnd()) {
    const char* place = cursor_.place();
    const bool marked = cursor_.take('%');
    const std::string_view word = cursor_.word("a computation");
    if (marked || word.empty()) {
      computation(word, false);
    } else if (word == "ENTRY") {
      if (module_.entry >= 0) cursor_.failAt(place, "a second ENTRY");
      computation(cursor_.name("a computation"), true);
    } else if (word == kHead) {
      cursor_.failAt(place, "a second module begins here: give each its own file");
    } else if (word == "FileNames" || word == "FunctionNames" || word == "FileLocations" ||
               word == "StackFrames") {
      table(word);
    } else {
      computation(word, false);
    }
  }
  if (!cursor_.fault() && module_.entry < 0)
    cursor_.fail(fmt::format("no ENTRY among {} computations", module_.computations.size()));
  if (cursor_.fault()) return *cursor_.fault();
  return std::move(module_);
}

/// " name, is_scheduled=true, input_output_alias={...}, ...".
void HloTextReader::header() {
  module_.name = cursor_.bare();
  while (cursor_.take(',')) {
    const std::string_view name = cursor_.word("an attribute of the module");
    if (!cursor_.expect('=')) return;
    if (name == "is_scheduled") {
      module_.is_scheduled = cursor_.bare() == "true";
    } else if (name == "input_output_alias") {
      moduleAliases();
    } else {
      cursor_.skipValue();
    }
  }
}

/// "{ {1}: (2, {}, may-alias), {}: 0 }".
void HloTextReader::moduleAliases() {
  cursor_.each('{', '}', [&] {
    InputOutputAlias& alias = module_.aliases.emplace_back();
    alias.output_index = cursor_.integers('{', '}', "an index");
    cursor_.expect(':');
    const bool in_parentheses = cursor_.take('(');
    alias.parameter = cursor_.integer("a parameter's number");
    if (!in_parentheses) return;
    while (cursor_.take(',')) cursor_.skipValue();
    cursor_.expect(')');
  });
}

/// FileNames: lines of `1 "model.py"`; FileLocations and StackFrames: `1 {file_name_id=1 line=42}`.
void HloTextReader::table(std::string_view name) {
  for (int64_t due = 1; !cursor_.fault() && cursor_.peek() >= '0' && cursor_.peek() <= '9'; ++due) {
    const char* place = cursor_.place();
    const int64_t number = cursor_.integer("a number");
    if (number != due)
      return cursor_.failAt(place, fmt::format("entry {} of {} stands where {} is due", number, name, due));
    if (name == "FileNames" || name == "FunctionNames") {
      std::string text = cursor_.quoted("a name");
      if (name == "FileNames") frames_.files.push_back(std::move(text));
      continue;
    }
    StackFrames::Location location;
    int64_t frame_location = 0;
    if (!cursor_.expect('{')) return;
    while (!cursor_.fault() && !cursor_.take('}')) {
      const std::string_view field = cursor_.word("a field or '}'");
      if (!cursor_.expect('=')) return;
      const int64_t value = cursor_.integer("a number");
      if (field == "file_name_id") location.file = value;
      if (field == "line") location.line = value;
      if (field == "file_location_id") frame_location = value;
    }
    if (name == "FileLocations") frames_.locations.push_back(location);
    if (name == "StackFrames") frames_.frame_locations.push_back(frame_location);
  }
}

/// "(p: f32[8]) -> f32[8] {", instructions, "}, execution_thread="...""; the signature may be missing.
void HloTextReader::computation(std::string_view name, bool is_entry) {
  const char* place = cursor_.place();
  current_ = Computation{.id = next_id_++, .name = std::string(name)};
  has_root_ = false;
  // Clearing walks over every bucket: after a large computation, a fresh map is cheaper.
  instructions_.bucket_count() > 4096 ? void(instructions_ = {}) : instructions_.clear();
  controls_.clear();
  if (cursor_.peek() == '(') cursor_.bracketed();
  if (cursor_.take("->")) readShapeText(cursor_, shapes_left_);
  if (!cursor_.expect('{')) return;
  while (!cursor_.fault() && !cursor_.take('}')) instruction();
  if (cursor_.fault()) return;
  linkControls();
  while (cursor_.take(',')) {
    cursor_.word("an attribute");
    if (cursor_.expect('=')) cursor_.skipValue();
  }
  if (current_.instructions.empty())
    return cursor_.failAt(place, fmt::format("computation {} has no instruction", escaped(name)));
  if (!has_root_) current_.root = static_cast<int32_t>(current_.instructions.size()) - 1;
  if (computations_.contains(name))
    return cursor_.failAt(place, fmt::format("computation {} is given twice", escaped(name)));
  const int32_t index = add(std::move(current_));
  computations_.emplace(name, index);
  if (is_entry) module_.entry = index;
}

int32_t HloTextReader::add(Computation computation) {
  const auto count = static_cast<int32_t>(computation.instructions.size());
  computation.schedule.reserve(computation.instructions.size());
  for (int32_t i = 0; i < count; ++i) {
    computation.schedule.push_back(i);
    const Instruction& at = computation.at(i);
    if (!at.is("fusion")) continue;
    for (const int32_t called : at.called) module_.computations[static_cast<size_t>(called)].is_fusion = true;
  }
  module_.computations.push_back(std::move(computation));
  return static_cast<int32_t>(module_.computations.size()) - 1;
}

/// "ROOT %name = shape opcode(operands), attributes".
void HloTextReader::instruction() {
  const char* place = (cursor_.peek(), cursor_.place());
  if (--instructions_left_ < 0) return cursor_.fail(kTooMany);
  std::string_view name = cursor_.name("an instruction or '}'");
  const bool root = name == "ROOT" && *place != '%' && cursor_.peek() != '=';
  if (root) name = cursor_.name("an instruction");
  if (!cursor_.expect('=')) return;
  Instruction to{.id = next_id_++, .name = std::string(name)};
  to.shape = readShapeText(cursor_, shapes_left_);
  to.opcode = cursor_.word("an operation");
  if (to.is("parameter")) {
    cursor_.expect('(');
    to.parameter_number = cursor_.integer("a parameter's number");
    cursor_.expect(')');
  } else if (to.is("constant")) {
    readLiteralText(cursor_, to);
  } else {
    operands(to);
  }
  // Text leaves out what is default everywhere; the proto does not.
  if (to.is("dot") || to.is("convolution") || to.is("custom-call"))
    to.precision.assign(to.operands.size(), Precision::kDefault);
  stack_frame_ = 0;
  attributes(to);
  if (cursor_.fault()) return;
  addSource(frames_, stack_frame_, to.metadata);
  unwrapAsync(to);
  const auto index = static_cast<int32_t>(current_.instructions.size());
  if (!instructions_.emplace(name, index).second)
    return cursor_.failAt(place, fmt::format("instruction {} is given twice", escaped(name)));
  if (root && std::exchange(has_root_, true)) return cursor_.failAt(place, "a second ROOT");
  if (root) current_.root = index;
  current_.instructions.push_back(std::move(to));
}

void HloTextReader::operands(Instruction& to) {
  if (!cursor_.expect('(')) return;
  while (!cursor_.fault() && !cursor_.take(')')) {
    operand(to);
    if (!cursor_.take(',') && cursor_.peek() != ')') cursor_.expected("',' or ')'");
  }
}

/// "%name", or with its shape before it, as older text has it.
void HloTextReader::operand(Instruction& to) {
  const char* place = (cursor_.peek(), cursor_.place());
  std::string_view name;
  if (cursor_.peek() != '%' && cursor_.peek() != '(') {
    name = cursor_.word();
    if (cursor_.here() == '[') {  // it was a type
      cursor_.backTo(place);
      name = {};
    }
  }
  if (name.empty()) {
    if (cursor_.peek() != '%') readShapeText(cursor_, shapes_left_);
    place = (cursor_.peek(), cursor_.place());
    name = cursor_.name("an operand");
  }
  const auto found = instructions_.find(name);
  if (found == instructions_.end())
    return cursor_.failAt(place, fmt::format("operand {} does not stand above its user", escaped(name)));
  int32_t index = found->second;
  while (cursor_.here() == '#') index = element(name.data(), index);
  to.operands.push_back(index);
}

/// "%fusion.3#1" is short for an instruction that takes element 1 of its tuple: made when it is first named.
int32_t HloTextReader::element(const char* name, int32_t tuple) {
  const char* place = cursor_.place();
  cursor_.take('#');
  const int64_t number = cursor_.integer("an element's number");
  const std::string_view whole(name, static_cast<size_t>(cursor_.place() - name));
  const Shape& shape = current_.at(tuple).shape;
  if (cursor_.fault()) return 0;
  if (number < 0 || number >= static_cast<int64_t>(shape.elements.size())) {
    cursor_.failAt(place, fmt::format("element {} of a shape of {}", number, shape.elements.size()));
    return 0;
  }
  const auto [at, is_new] = instructions_.emplace(whole, static_cast<int32_t>(current_.instructions.size()));
  if (!is_new) return at->second;
  if (--instructions_left_ < 0) return cursor_.fail(kTooMany), 0;
  Instruction taken{.id = next_id_++, .name = std::string(whole), .opcode = "get-tuple-element"};
  taken.shape = shape.elements[static_cast<size_t>(number)];
  taken.operands = {tuple};
  taken.tuple_index = number;
  current_.instructions.push_back(std::move(taken));
  return at->second;
}

void HloTextReader::linkControls() {
  for (const Control& control : controls_) {
    const auto found = instructions_.find(control.name);
    if (found == instructions_.end())
      return cursor_.failAt(control.place,
                            fmt::format("control predecessor {} does not exist", escaped(control.name)));
    current_.instructions[static_cast<size_t>(control.instruction)].control_predecessors.push_back(
        found->second);
  }
}

}  // namespace sublane::llo
