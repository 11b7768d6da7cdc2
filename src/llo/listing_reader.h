// The scanner behind readListing: one pass over the text, one function for each rule of the grammar. Each
// rule returns false after fail(), which keeps the first fault.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "llo/listing.h"
#include "llo/listing_cursor.h"
#include "llo/listing_memory.h"

namespace sublane::llo {

class ListingReader {
 public:
  ListingReader(std::string_view text, AllocationTable table, const ListingOptions& options);
  Result<Listing> read() &&;

 private:
  // listing_reader.cc: lines and instructions
  bool header();
  bool bundleHead();
  bool bundle();
  bool instruction();
  bool resultName();
  bool operationWord();
  std::string_view wordHere() const;
  bool unknownOperation(std::string_view text);
  bool afterOperation();
  bool mergeStaysInRegister();
  bool renameOrMove();
  bool branchesStayInside();
  // listing_operands.cc
  bool operandsOfInstruction();
  bool operand();
  bool comment();
  bool remark(std::string_view text);
  bool parentheses();
  bool predicate();
  bool bracket();
  bool allocationAddress();
  bool allocationAndOffset(Operand& operand);
  bool memory(Space space);
  bool memoryAddress(Operand& operand);
  bool addressRegister(Operand& operand);
  bool addressOffset(Operand& operand, bool negative);
  bool memoryAccess(Operand& operand);
  bool callOperand();
  bool registerOperand();
  bool valueName(Register& reg, int32_t& value);
  bool number();
  bool packedPair(std::string_view text, size_t bar);
  bool branchTarget();
  bool add(Operand operand);

  uint16_t formIndex(std::string_view form);
  bool addForm(std::string_view word);
  template <class... Args>
  bool fail(fmt::format_string<Args...> format, Args&&... args);
  bool expected(std::string_view what);

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct CachedWord {
    Op op{};
    int8_t unit_index = -1;
    uint16_t form = 0;
  };

  Cursor cursor_;
  AllocationTable table_;
  const ListingOptions& options_;
  Listing listing_;
  std::optional<Error> error_;
  std::unordered_map<std::string, CachedWord, Hash, std::equal_to<>> words_;  // by their whole text
  std::unordered_map<std::string, uint16_t> forms_;
  std::unordered_map<std::string, int32_t> callees_, remarks_;
  // Of the instruction at hand.
  BundleInstruction now_;
  Role role_ = Role::kNone;
  bool after_comma_ = false;
  bool never_ = false;  // its predicate is a constant that does not hold
};

template <class... Args>
bool ListingReader::fail(fmt::format_string<Args...> format, Args&&... args) {
  if (error_) return false;
  const size_t bundle = listing_.bundles.empty() ? 0 : listing_.bundles.size() - 1;
  error_ = inputError(format, std::forward<Args>(args)...)
               .at(fmt::format("listing {}, bundle {:#x}", options_.function, bundle));
  return false;
}

}  // namespace sublane::llo
