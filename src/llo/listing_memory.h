// The allocation table of a function: what its listing calls "#allocation7".
//
//   SUBLANE_TRY(AllocationTable table, AllocationTable::read(text, "fusion.1"));
//   int32_t index = table.find("allocation7");  // -1: the table lacks it
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "llo/listing.h"

namespace sublane::llo {

class AllocationTable {
 public:
  /// `text` may hold anything; the lines that begin with "#allocation" are read. With no text the table is
  /// open: find() adds a name that it does not know, without a place.
  static Result<AllocationTable> read(std::string_view text, std::string_view function);

  int32_t find(std::string_view name);
  std::vector<Allocation> take() && { return std::move(allocations_); }

 private:
  Status add(std::string_view line);
  std::vector<Allocation> allocations_;
  std::unordered_map<std::string, int32_t> by_name_;
  std::unordered_map<std::string_view, int32_t> seen_;  // names as the listing's text holds them
  bool open_ = false;
};

}  // namespace sublane::llo
