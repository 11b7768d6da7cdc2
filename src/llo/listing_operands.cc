#include <bit>
#include <cstdlib>

#include "llo/listing_reader.h"
#include "llo/listing_words.h"

namespace sublane::llo {

bool ListingReader::operandsOfInstruction() {
  for (;;) {
    cursor_.skipBlanks();
    if (cursor_.peek() == '}' || cursor_.rest().starts_with(";;")) return true;
    if (cursor_.take(',')) {
      after_comma_ = true;
      continue;
    }
    if (cursor_.atComment() ? !comment() : !operand()) return false;
  }
}

bool ListingReader::operand() {
  switch (cursor_.peek()) {
    case '%':
      return registerOperand();
    case '(':
      return parentheses();
    case '[':
      return bracket();
    case 't':
      return branchTarget();
    case '\0':
      return fail("the text ends inside a bundle");
    default:
      return number();
  }
}

bool ListingReader::add(Operand operand) {
  operand.role = role_;
  role_ = Role::kNone;
  after_comma_ = false;
  listing_.operands.push_back(operand);
  return true;
}

/// A role of the next operand, the callee of a call, or a remark.
bool ListingReader::comment() {
  std::string_view text;
  if (!cursor_.comment(text)) return fail("a comment does not end");
  if (text.size() > 1 && text.size() < 40 && text.back() == '=') {
    Cursor role(text);
    const std::string_view word = role.wordChars();
    if (word.size() + 1 == text.size()) role_ = roleNamed(word);
    return true;
  }
  if (now_.op == Op::kShalt || now_.op == Op::kSdivrem || now_.op == Op::kDmaGeneral ||
      now_.op == Op::kDmaDoneWait)
    return remark(text);
  if (now_.op != Op::kInlinedCall || now_.callee >= 0) return true;
  Cursor callee(text);
  callee.skipBlanks();
  std::string name;
  if (callee.take('%'))
    name = callee.upTo(' ');
  else if (callee.peek() == '<')
    name = std::string(callee.upTo('>')) + ">";
  if (name.empty()) return true;
  const auto [found, fresh] = callees_.emplace(name, static_cast<int32_t>(listing_.callees.size()));
  if (fresh) listing_.callees.push_back(name);
  now_.callee = found->second;
  return true;
}

/// The first line of what is remarked about a check, a division, a general transfer, or a wait.
bool ListingReader::remark(std::string_view text) {
  if (now_.remark >= 0) return true;
  Cursor cursor(text);
  cursor.skipBlanks();
  std::string line(cursor.upTo('\n'));
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.empty()) return true;
  const auto [found, fresh] = remarks_.emplace(line, static_cast<int32_t>(listing_.remarks.size()));
  if (fresh) listing_.remarks.push_back(line);
  now_.remark = found->second;
  return true;
}

/// "(%p1_p0)", "(!%p1_p0, %s3_s1)", "(0)", "(!1)", "(short)"
bool ListingReader::parentheses() {
  cursor_.skip();
  const char first = cursor_.peek() == '!' ? cursor_.peekNext() : cursor_.peek();
  if (first == '%') return predicate();
  if (first == '0' || first == '1') {
    never_ = cursor_.take('!') == (first == '1');
    cursor_.skip();
    return cursor_.take(')') || expected("')' after a constant predicate");
  }
  const std::string_view word = cursor_.wordChars();
  if (word.empty() || !cursor_.take(')')) return expected("a word and ')'");
  return addForm(word);
}

bool ListingReader::predicate() {
  now_.predicate_negated = cursor_.take('!');
  int32_t value = -1;
  if (!valueName(now_.predicate, value)) return false;
  if (now_.predicate.file != RegisterFile::kPredicate)
    return fail("%{}_{} stands where a predicate is due", value, name(now_.predicate));
  if (cursor_.take(',')) {
    cursor_.skipSpaces();
    Register otherwise;
    if (!valueName(otherwise, value)) return false;
    // The register is not written if the predicate fails, so that what it holds must be the second source.
    if (otherwise != now_.result)
      return fail("{} is kept as {}: another register", name(otherwise), name(now_.result));
    now_.keeps_result = true;
  }
  if (!cursor_.take(')')) return expected("')' after a predicate");
  return true;
}

/// "[thread:$1]", "[2/16]", "[resolvable:$true]", "[#allocation3 + $0x8]", "[vmem:...]", "[shape: ...]"
bool ListingReader::bracket() {
  cursor_.skip();
  uint64_t first = 0, second = 0;
  if (cursor_.peek() == '#') return allocationAddress();
  if (cursor_.peek() >= '0' && cursor_.peek() <= '9') {
    if (!cursor_.integer(first) || !cursor_.take('/') || !cursor_.integer(second) || !cursor_.take(']') ||
        first > UINT16_MAX || second > UINT16_MAX)
      return expected("[part/parts]");
    now_.part = static_cast<uint32_t>(first | second << 16);
    return true;
  }
  const std::string_view word = cursor_.wordChars();
  if (!cursor_.take(':')) return expected("':' after a word in brackets");
  if (word == "shape" && now_.op == Op::kInlinedCallOperand) return callOperand();
  if (const Space space = spaceNamed(word); space != Space::kNone) return memory(space);
  if (word == "resolvable") return cursor_.upTo(']'), cursor_.take(']') || expected("']'");
  if (word != "thread") return fail("unknown attribute [{}:", word);
  if (!cursor_.take('$') || !cursor_.integer(first) || !cursor_.take(']') || first > UINT16_MAX)
    return expected("$thread]");
  now_.part = static_cast<uint32_t>(first);
  return true;
}

/// After "[": an operand; or, where no comma announces it, a remark of which allocation an address lies in.
bool ListingReader::allocationAddress() {
  Operand operand{.kind = Operand::Kind::kAllocation};
  const bool remark = now_.op == Op::kScalarLea && !after_comma_ && role_ == Role::kNone &&
                      listing_.operands.size() > now_.first_operand;
  if (!allocationAndOffset(operand)) return false;
  if (!cursor_.take(']')) return expected("']' after an allocation");
  return remark || add(operand);
}

bool ListingReader::allocationAndOffset(Operand& operand) {
  cursor_.skip();
  const std::string_view allocation = cursor_.wordChars();
  operand.allocation = table_.find(allocation);
  if (operand.allocation < 0) return fail("#{} is not in the table of allocations", allocation);
  cursor_.skipSpaces();
  if (!cursor_.take("+ $")) return true;
  uint64_t offset = 0;
  if (!cursor_.integer(offset) || offset > INT32_MAX) return expected("an offset below 2^31");
  operand.offset = static_cast<int32_t>(offset);
  cursor_.skipSpaces();
  return true;
}

/// After "[vmem:": "[%s1_s0 + $0x38] ss:$12 sps:$4 sm:$0xff]"
bool ListingReader::memory(Space space) {
  Operand operand{.kind = Operand::Kind::kMemory, .space = space};
  if (!cursor_.take('[')) return expected("'[' of an address");
  if (!memoryAddress(operand)) return false;
  if (!cursor_.take(']')) return expected("']' of an address");
  for (cursor_.skipSpaces(); !cursor_.take(']'); cursor_.skipSpaces())
    if (!memoryAccess(operand)) return false;
  return add(operand);
}

/// "#allocation3 + $0x38", "%s1_s0 + %s2_s1 - $0x1f"
bool ListingReader::memoryAddress(Operand& operand) {
  for (bool negative = false;;) {
    cursor_.skipSpaces();
    if (cursor_.peek() == '#' && !negative) {
      if (operand.allocation >= 0) return expected("one allocation in an address, not a second");
      if (!allocationAndOffset(operand)) return false;
    } else if (cursor_.peek() == '%' && !negative) {
      if (!addressRegister(operand)) return false;
    } else if (!addressOffset(operand, negative)) {
      return false;
    }
    cursor_.skipSpaces();
    negative = cursor_.peek() == '-';
    if (!cursor_.take('+') && !cursor_.take('-')) return true;
  }
}

bool ListingReader::addressRegister(Operand& operand) {
  if (operand.index) return expected("at most two registers in an address, not a third");
  Register& reg = operand.reg ? operand.index : operand.reg;
  int32_t value = -1;
  if (!valueName(reg, value)) return false;
  if (!reg) return fail("value %{} in an address has no register", value);
  if (operand.value < 0) operand.value = value;
  return true;
}

bool ListingReader::addressOffset(Operand& operand, bool negative) {
  uint64_t magnitude = 0;
  if (!cursor_.take('$') || !cursor_.integer(magnitude) || magnitude > INT32_MAX)
    return expected("an allocation, a register or $offset below 2^31");
  const int64_t offset =
      operand.offset + (negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude));
  if (offset > INT32_MAX || offset < INT32_MIN) return fail("an offset of {}", offset);
  operand.offset = static_cast<int32_t>(offset);
  return true;
}

/// "ss:$12", "ss:$-1", "sps:$4", "sm:$0xff", "sm:%s12_s3", "pattern:$0x32107654"
bool ListingReader::memoryAccess(Operand& operand) {
  const std::string_view place = cursor_.excerpt();
  const std::string_view word = cursor_.wordChars();
  if (!cursor_.take(':')) return fail("an access attribute (ss, sps, sm, pattern) expected at \"{}\"", place);
  if (word == "sm" && cursor_.peek() == '%') {
    int32_t value = -1;
    return valueName(operand.mask, value) && (operand.mask || fail("a sublane mask without a register"));
  }
  uint64_t magnitude = 0;
  cursor_.take('$');
  const bool negative = cursor_.take('-');
  if (!cursor_.integer(magnitude) || magnitude > UINT32_MAX)
    return fail("a number of 32 bits expected at \"{}\"", place);
  const int64_t number = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  if (word == "ss" && std::abs(number) <= INT32_MAX)
    return operand.sublane_stride = static_cast<int32_t>(number), true;
  if (word == "sps" && number > 0 && number <= 8)
    return operand.sublanes_per_stride = static_cast<int32_t>(number), true;
  if (word == "sm" && number >= 0 && number <= 0xff)
    return operand.sublane_mask = static_cast<uint8_t>(number), true;
  if (word == "pattern" && number >= 0) return operand.bits = static_cast<uint32_t>(number), true;
  return fail("unknown access attribute \"{}\"", place.substr(0, place.find_first_of(" ]")));
}

/// After "[shape:": "f32[8,128], index: 1, kind: input, shape index: {}]"
bool ListingReader::callOperand() {
  CallOperand operand{.reg = now_.result, .space = spaceNamed(listing_.formOf(now_))};
  const std::string_view rest = cursor_.rest();
  const size_t shape_end = rest.find(", index: ");
  if (shape_end == std::string_view::npos) return expected("a shape and its index");
  cursor_.skipSpaces();
  operand.shape = rest.substr(rest.find_first_not_of(' '), shape_end - rest.find_first_not_of(' '));
  cursor_.take(operand.shape);
  cursor_.take(", index: ");
  uint64_t index = 0;
  const bool unnumbered = cursor_.take('-');
  if (!cursor_.integer(index) || index > INT32_MAX || !cursor_.take(", kind: "))
    return expected("an index and a kind");
  operand.index = unnumbered ? -1 : static_cast<int32_t>(index);
  const std::string_view kind = cursor_.wordChars();
  if (kind != "input" && kind != "output" && kind != "const")
    return fail("a call's operand of unknown kind \"{}\"", kind);
  operand.is_output = kind == "output";
  cursor_.upTo(']');
  if (!cursor_.take(']')) return expected("']'");
  listing_.call_operands.push_back(std::move(operand));
  return true;
}

bool ListingReader::registerOperand() {
  Operand operand{.kind = Operand::Kind::kRegister};
  if (!valueName(operand.reg, operand.value)) return false;
  if (!operand.reg) operand.kind = Operand::Kind::kValue;
  return add(operand);
}

/// "%s12_s3", "%vm3_vm0", "%12" (no register)
bool ListingReader::valueName(Register& reg, int32_t& value) {
  if (!cursor_.take('%')) return expected("a value (%name)");
  std::string_view word = cursor_.wordChars();
  const std::string_view whole = word;
  const size_t digit = word.find_first_of("0123456789");
  const std::string_view file = word.substr(0, digit);
  word.remove_prefix(std::min(digit, word.size()));
  Cursor rest(word);
  uint64_t id = 0;
  if (!rest.integer(id) || id > INT32_MAX) return fail("no value can be read from %{}", whole);
  value = static_cast<int32_t>(id);
  reg = {};
  if (rest.atEnd() && file.empty()) return true;
  if (rest.take('_')) reg = registerNamed(rest.rest());
  if (!reg || !rest.rest().starts_with(file)) return fail("no register can be read from %{}", whole);
  return true;
}

/// "4294901760", "-1", "0.5", "1e-05", "nan", "nan|nan" (a pair of bf16)
bool ListingReader::number() {
  const std::string_view rest = cursor_.rest();
  size_t length = 0;
  bool is_float = false;
  while (length < rest.size() && std::string_view(" ,;}\n/[").find(rest[length]) == std::string_view::npos)
    is_float |= std::string_view(".einfax").find(rest[length++]) != std::string_view::npos;
  const std::string_view text = rest.substr(0, length);
  Operand operand;
  if (const size_t bar = text.find('|'); bar != std::string_view::npos) return packedPair(text, bar);
  bool fine = false;
  if (float value = 0; is_float) {
    fine = readNumber(text, value);
    operand.kind = Operand::Kind::kFloat;
    operand.bits = std::bit_cast<uint32_t>(value);
  } else if (int32_t signed_value = 0; text.starts_with('-')) {
    fine = readNumber(text, signed_value);
    operand.bits = static_cast<uint32_t>(signed_value);
  } else {
    fine = readNumber(text, operand.bits);
  }
  if (!fine) return expected("an operand");
  cursor_.take(text);
  return add(operand);
}

bool ListingReader::packedPair(std::string_view text, size_t bar) {
  // Which half is the upper one was never seen: only equal halves are taken.
  const std::string_view half_text = text.substr(0, bar);
  if (half_text != text.substr(bar + 1)) return fail("a pair of unequal halves \"{}\"", text);
  float value = 0;
  if (!readNumber(half_text, value)) return expected("a pair of numbers");
  const uint32_t half = std::bit_cast<uint32_t>(value) >> 16;
  cursor_.take(text);
  return add({.kind = Operand::Kind::kInteger, .bits = half | half << 16});
}

/// "target bundleno = 69 (0x45), region = 4"
bool ListingReader::branchTarget() {
  uint64_t decimal = 0, hex = 0, region = 0;
  if (!cursor_.take("target bundleno = ") || !cursor_.integer(decimal) || !cursor_.take(" (") ||
      !cursor_.integer(hex) || !cursor_.take("), region = ") || !cursor_.integer(region))
    return expected("an operand");
  if (decimal != hex || decimal > INT32_MAX) return fail("a branch to bundle {} or {:#x}", decimal, hex);
  now_.target = static_cast<int32_t>(decimal);
  return true;
}

}  // namespace sublane::llo
