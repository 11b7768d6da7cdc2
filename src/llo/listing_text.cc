// A listing in our own normal form. It says what the reader understood, so that goldens and diffs hold it.
#include <bit>

#include "llo/listing.h"
#include "llo/listing_words.h"

namespace sublane::llo {
namespace {

std::string addressText(const Listing& listing, const Operand& operand) {
  std::string text;
  auto plus = [&](std::string part) { text += (text.empty() ? "" : "+") + std::move(part); };
  if (operand.allocation >= 0) plus("#" + listing.allocations[operand.allocation].name);
  if (operand.reg) plus(name(operand.reg));
  if (operand.index) plus(name(operand.index));
  if (operand.offset != 0 || text.empty()) plus(fmt::format("{:#x}", operand.offset));
  return text;
}

std::string memoryText(const Listing& listing, const Operand& operand) {
  std::string text = fmt::format("{}[{}]", name(operand.space), addressText(listing, operand));
  if (operand.sublane_stride != 1) text += fmt::format(" ss:{}", operand.sublane_stride);
  if (operand.sublanes_per_stride != 1) text += fmt::format(" sps:{}", operand.sublanes_per_stride);
  if (operand.sublane_mask != 0xff) text += fmt::format(" sm:{:#x}", operand.sublane_mask);
  if (operand.mask) text += " sm:" + name(operand.mask);
  if (operand.bits != 0) text += fmt::format(" pattern:{:#x}", operand.bits);
  return text;
}

std::string operandText(const Listing& listing, const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      return name(operand.reg);
    case Operand::Kind::kInteger:
      return fmt::format("{}", operand.bits);
    case Operand::Kind::kFloat:
      return fmt::format("{}f", std::bit_cast<float>(operand.bits));
    case Operand::Kind::kAllocation:
      return "&" + addressText(listing, operand);
    case Operand::Kind::kMemory:
      return memoryText(listing, operand);
    case Operand::Kind::kValue:
      return fmt::format("%{}", operand.value);
  }
  return "";
}

std::string instructionText(const Listing& listing, const BundleInstruction& i) {
  std::string text;
  if (i.predicate)
    text += fmt::format("({}{}{}) ", i.predicate_negated ? "!" : "", name(i.predicate),
                        i.keeps_result ? " else keep" : "");
  if (i.result || i.value >= 0) text += (i.result ? name(i.result) : fmt::format("%{}", i.value)) + " = ";
  text += name(i.op);
  if (i.form != 0) text += "." + listing.formOf(i);
  if (i.unit_index >= 0) text += fmt::format("@{}", i.unit_index);
  if (i.part != 0) text += fmt::format("[{}:{}]", i.part & 0xffff, i.part >> 16);
  std::string_view separator = " ";
  for (const Operand& operand : listing.operandsOf(i)) {
    text += separator;
    text += operandText(listing, operand);
    separator = ", ";
  }
  if (i.target >= 0) text += fmt::format(" -> {:#x}", i.target);
  if (i.callee >= 0) text += " -> " + listing.callees[i.callee];
  return text;
}

}  // namespace

std::string toText(const Listing& listing, const Bundle& bundle) {
  std::string text;
  for (const BundleInstruction& i : listing.of(bundle))
    text += (text.empty() ? "" : " ; ") + instructionText(listing, i);
  return text;
}

std::string toText(const Listing& listing) {
  std::string text = fmt::format("function {}\n", listing.function);
  for (const Allocation& a : listing.allocations)
    text += fmt::format("#{} {} {} bytes at {}{}{} {}\n", a.name, name(a.space), a.bytes, a.offset,
                        a.absolute ? " absolute" : "", a.scoped ? " scoped" : "", a.shape);
  for (const CallOperand& o : listing.call_operands)
    text += fmt::format("{} {} {} {} {}\n", o.is_output ? "output" : "input", o.index, name(o.reg),
                        name(o.space), o.shape);
  for (size_t b = 0; b < listing.bundles.size(); ++b) {
    const Bundle& bundle = listing.bundles[b];
    text += fmt::format("{:#x}{}{}:", b, bundle.loop_start ? " loop" : "", std::string(bundle.depth, '>'));
    if (bundle.count > 0) text += " " + toText(listing, bundle);
    text += "\n";
  }
  return text;
}

}  // namespace sublane::llo
