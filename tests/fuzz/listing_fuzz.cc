// Feeds any bytes to the reader of bundle listings: a listing, a zero byte, a table of allocations, a zero
// byte, a map of equal operations. What it accepts must be sound: every index inside its table.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "llo/program.h"

namespace {

using namespace sublane;

void require(bool holds) {
  if (!holds) std::abort();
}
template <class Container>
bool inside(int32_t index, const Container& container) {
  return index >= -1 && index < static_cast<int64_t>(container.size());
}

void requireSound(const llo::Listing& listing) {
  size_t next = 0;
  for (const llo::Bundle& bundle : listing.bundles) {
    require(bundle.first == next);
    next += bundle.count;
  }
  require(next == listing.instructions.size() && !listing.bundles.empty());
  for (const llo::BundleInstruction& i : listing.instructions) {
    require(i.first_operand + i.operand_count <= listing.operands.size());
    require(i.form < listing.forms.size() && inside(i.callee, listing.callees));
    require(inside(i.target, listing.bundles) && !llo::name(i.op).empty());
  }
  for (const llo::Operand& operand : listing.operands)
    require(inside(operand.allocation, listing.allocations));
  require(!llo::toText(listing).empty());
}

std::string_view upToZero(std::string_view& rest) {
  const size_t end = rest.find('\0');
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view text = upToZero(rest), memory = upToZero(rest), equals = upToZero(rest);
  auto listing = llo::readListing(text, {.function = "f", .compiler = "c", .memory = memory});
  if (!listing.ok()) return require(!listing.error().message().empty()), 0;
  requireSound(*listing);
  const std::vector<llo::DumpFile> dump = {{"TLP", "packed-bundles-post-ra", std::string(text)},
                                           {"TLP", "post-delay-converter", std::string(memory)},
                                           {"f", "packed-bundles-post-ra", "0 : {}"},
                                           {"f", "post-delay-converter", ""},
                                           {"TLP", "deduplication-map", std::string(equals)}};
  auto program = llo::readProgram(dump, {}, {.chip = "v6e", .compiler = "c"});
  if (!program.ok()) return require(!program.error().message().empty()), 0;
  for (const auto& [name, index] : program->functions)
    require(index >= 0 && inside(index, program->listings));
  return 0;
}
