#include "llo/listing_reader.h"

#include "llo/listing_words.h"

namespace sublane::llo {

Result<Listing> readListing(std::string_view text, const ListingOptions& options) {
  if (text.size() > UINT32_MAX)
    return inputError("listing {}: {} bytes are more than {}", options.function, text.size(), UINT32_MAX);
  SUBLANE_TRY(AllocationTable table, AllocationTable::read(options.memory, options.function));
  return ListingReader(text, std::move(table), options).read();
}

ListingReader::ListingReader(std::string_view text, AllocationTable table, const ListingOptions& options)
    : cursor_(text), table_(std::move(table)), options_(options) {
  listing_.function = options.function;
  listing_.forms.emplace_back();
  forms_.emplace("", 0);
  // Measured on our own programs: 45 to 110 bytes of text an instruction, 1.5 operands.
  listing_.instructions.reserve(text.size() / 64);
  listing_.operands.reserve(text.size() / 40);
}

Result<Listing> ListingReader::read() && {
  bool fine = header();
  while (fine) {
    cursor_.skipBlanks();
    if (cursor_.atEnd()) break;
    fine = bundle();
  }
  if (fine && listing_.bundles.empty()) fine = fail("there is no bundle");
  if (!fine || !branchesStayInside()) return *std::move(error_);
  listing_.allocations = std::move(table_).take();
  return std::move(listing_);
}

/// The key of the marks, which stands before the first bundle: lines that begin with '=' or a mark.
bool ListingReader::header() {
  for (;;) {
    cursor_.skipBlanks();
    const std::string_view rest = cursor_.rest();
    const bool mark = rest.size() > 2 && rest[0] >= 'A' && rest[0] <= 'Z' && rest[2] == ':';
    if (cursor_.peek() != '=' && !mark) return true;
    cursor_.upTo('\n');
  }
}

/// "0x11 LB: > >": number, marks, depth.
bool ListingReader::bundleHead() {
  const std::string_view place = cursor_.excerpt();
  const uint64_t want = listing_.bundles.size();
  Bundle bundle{.first = static_cast<uint32_t>(listing_.instructions.size())};
  uint64_t bundle_number = 0;
  if (!cursor_.integer(bundle_number)) return fail("a bundle's number expected at \"{}\"", place);
  if (bundle_number != want) return fail("bundle {:#x} stands where {:#x} is due", bundle_number, want);
  for (cursor_.skipSpaces(); !cursor_.take(':'); cursor_.skipSpaces()) {
    const std::string_view mark = cursor_.wordChars();
    if (mark.empty() && !cursor_.take(',')) return fail("a bundle's mark or ':' expected at \"{}\"", place);
    bundle.loop_start |= mark == "LB";
  }
  for (cursor_.skipSpaces(); cursor_.take('>'); cursor_.skipSpaces())
    if (++bundle.depth == UINT8_MAX) return fail("more than {} loops deep", UINT8_MAX - 1);
  listing_.bundles.push_back(bundle);
  return true;
}

bool ListingReader::bundle() {
  if (!bundleHead()) return false;
  if (!cursor_.take('{')) return expected("'{'");
  cursor_.skipBlanks();
  while (!cursor_.take('}')) {
    if (!instruction()) return false;
    if (cursor_.take(";;")) cursor_.skipBlanks();
  }
  const size_t count = listing_.instructions.size() - listing_.bundles.back().first;
  if (count > UINT16_MAX) return fail("{} operations in a bundle", count);
  listing_.bundles.back().count = static_cast<uint16_t>(count);
  std::string_view regions;
  for (cursor_.skipSpaces(); cursor_.atComment(); cursor_.skipSpaces())
    if (!cursor_.comment(regions)) return fail("a comment does not end");
  if (!cursor_.atEnd() && cursor_.peek() != '\n' && cursor_.peek() != '\r') return expected("the line's end");
  return true;
}

bool ListingReader::instruction() {
  now_ = {.first_operand = static_cast<uint32_t>(listing_.operands.size())};
  role_ = Role::kNone;
  after_comma_ = never_ = false;
  if (!resultName() || !operationWord() || !operandsOfInstruction() || !afterOperation()) return false;
  if (never_)
    listing_.operands.resize(now_.first_operand);
  else
    listing_.instructions.push_back(now_);
  return true;
}

/// "%s12_s3 = " or "%12 = "
bool ListingReader::resultName() {
  if (cursor_.peek() != '%') return expected("an instruction (%name = operation)");
  if (!valueName(now_.result, now_.value)) return false;
  cursor_.skipSpaces();
  if (!cursor_.take('=')) return expected("'='");
  cursor_.skipSpaces();
  return true;
}

/// "vmatmul.mubr.bf16.gmra.mrb[4].mxu0"; the number in brackets goes to `part`.
bool ListingReader::operationWord() {
  std::string_view text = wordHere();
  cursor_.take(text);
  std::string without_number;
  if (!text.empty() && cursor_.take('[')) {
    uint64_t index = 0;
    if (!cursor_.integer(index) || index > UINT16_MAX || !cursor_.take(']'))
      return expected("a number below 65536 and ']'");
    now_.part = static_cast<uint32_t>(index);
    const std::string_view unit = wordHere();
    cursor_.take(unit);
    without_number.append(text).append(unit);
    text = without_number;
  }
  auto found = words_.find(text);
  if (found == words_.end()) {
    const std::optional<Word> word = resolveWord(text);
    if (!word) return unknownOperation(text);
    found = words_.emplace(text, CachedWord{word->op, word->unit_index, formIndex(word->form)}).first;
  }
  now_.op = found->second.op;
  now_.unit_index = found->second.unit_index;
  now_.form = found->second.form;
  return !error_;
}

/// Up to what may follow an operation; "<no memory space>" is one part of it.
std::string_view ListingReader::wordHere() const {
  const std::string_view start = cursor_.rest();
  size_t length = 0;
  for (; length < start.size(); ++length) {
    const char c = start[length];
    if (c == '<') length = std::min(start.find('>', length), start.size() - 1);
    if (c == '[' || c == ' ' || c == ',' || c == '}' || c == ';' || c == '(' || c == '\n') break;
  }
  return start.substr(0, length);
}

bool ListingReader::unknownOperation(std::string_view text) {
  fail("unknown operation {} ({})", text, options_.compiler);
  error_ = std::move(*error_).hint("say what executes it in src/llo/operations.inc");
  return false;
}

bool ListingReader::afterOperation() {
  if (now_.op == Op::kInlinedCall && now_.callee < 0) return fail("a call does not name what it calls");
  if (now_.op == Op::kSbrRel && now_.target < 0) return fail("a branch has no target");
  const size_t count = listing_.operands.size() - now_.first_operand;
  if (count > UINT16_MAX) return fail("{} operands", count);
  now_.operand_count = static_cast<uint16_t>(count);
  switch (now_.op) {
    case Op::kSphi:
    case Op::kPphi:
    case Op::kVphi:
    case Op::kVmphi:
      return mergeStaysInRegister();
    case Op::kIntToPtr:
      return renameOrMove();
    default:
      return true;
  }
}

/// A merge of control flow costs and does nothing, since all its sources lie in the result's register.
bool ListingReader::mergeStaysInRegister() {
  for (const Operand& operand : listing_.operandsOf(now_))
    if (operand.reg != now_.result)
      return fail("{} merges {} into {}", name(now_.op), name(operand.reg), name(now_.result));
  return true;
}

/// Nearly always the address stays where it is, often in the bundle that computes it. In another register it
/// is a move; then its source was never seen to be computed in the same bundle.
bool ListingReader::renameOrMove() {
  if (now_.operand_count != 1) return fail("int_to_ptr takes one operand, not {}", now_.operand_count);
  const Operand& source = listing_.operands.back();
  if (source.reg == now_.result) return true;
  for (size_t i = listing_.bundles.back().first; i < listing_.instructions.size(); ++i)
    if (source.reg && listing_.instructions[i].value == source.value)
      return fail("int_to_ptr moves {}, which this bundle computes, to {}", name(source.reg),
                  name(now_.result));
  now_.op = Op::kSmov;
  now_.form = formIndex("u32");
  return !error_;
}

bool ListingReader::branchesStayInside() {
  for (size_t b = 0; b < listing_.bundles.size(); ++b)
    for (const BundleInstruction& i : listing_.of(listing_.bundles[b]))
      if (i.target >= static_cast<int64_t>(listing_.bundles.size())) {
        error_ = inputError("listing {}, bundle {:#x}: a branch to bundle {:#x} of {:#x}", options_.function,
                            b, i.target, listing_.bundles.size());
        return false;
      }
  return true;
}

uint16_t ListingReader::formIndex(std::string_view form) {
  const auto [found, fresh] = forms_.emplace(form, static_cast<uint16_t>(listing_.forms.size()));
  if (fresh && listing_.forms.size() > UINT16_MAX) fail("more than {} forms of operations", UINT16_MAX);
  if (fresh) listing_.forms.emplace_back(form);
  return found->second;
}

bool ListingReader::addForm(std::string_view word) {
  const std::string& form = listing_.forms[now_.form];
  now_.form = formIndex(form.empty() ? std::string(word) : fmt::format("{}.{}", form, word));
  return !error_;
}

bool ListingReader::expected(std::string_view what) {
  return fail("{} expected at \"{}\"", what, cursor_.excerpt());
}

}  // namespace sublane::llo
