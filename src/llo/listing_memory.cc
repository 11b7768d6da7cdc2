#include "llo/listing_memory.h"

#include "llo/listing_cursor.h"
#include "llo/listing_words.h"

namespace sublane::llo {
namespace {

constexpr std::string_view kMark = "#allocation";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// One of "space=vmem", "size = 0x20", "tag = 'x'", "scoped". A quote ends before "," or "]".
struct Field {
  std::string_view key, value;
};
bool field(Cursor& cursor, Field& out) {
  cursor.skipSpaces();
  out = {.key = cursor.wordChars()};
  if (out.key.empty()) return false;
  cursor.skipSpaces();
  if (!cursor.take('=')) return true;
  cursor.skipSpaces();
  if (!cursor.take('\'')) {
    out.value = cursor.wordChars();
    return !out.value.empty();
  }
  const std::string_view rest = cursor.rest();
  size_t end = rest.find('\'');
  while (end != std::string_view::npos && !rest.substr(end + 1).starts_with(',') &&
         !rest.substr(end + 1).starts_with(']'))
    end = rest.find('\'', end + 1);
  if (end == std::string_view::npos) return false;
  out.value = rest.substr(0, end);
  return cursor.take(out.value) && cursor.take('\'');
}

bool number(std::string_view text, int64_t& value) {
  uint64_t bits = 0;
  Cursor cursor(text);
  if (!cursor.integer(bits) || !cursor.atEnd() || bits > INT64_MAX) return false;
  value = static_cast<int64_t>(bits);
  return true;
}

bool apply(const Field& f, Allocation& allocation) {
  if (f.key == "shape") return allocation.shape = f.value, true;
  if (f.key == "tag") return allocation.tag = f.value, true;
  if (f.key == "size") return number(f.value, allocation.bytes);
  if (f.key == "offset") return number(f.value, allocation.offset);
  if (f.key == "space") return allocation.space = spaceNamed(f.value), allocation.space != Space::kNone;
  if (f.key == "fixed_abs") return allocation.absolute = true;
  if (f.key == "scoped") return allocation.scoped = true;
  return false;
}

}  // namespace

Result<AllocationTable> AllocationTable::read(std::string_view text, std::string_view function) {
  AllocationTable table;
  table.open_ = text.empty();
  size_t line_number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    ++line_number;
    if (line.starts_with(kMark))
      if (Status added = table.add(line); !added.ok())
        return std::move(added).error().at(fmt::format("allocations of {}, line {}", function, line_number));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return table;
}

Status AllocationTable::add(std::string_view line) {
  Allocation allocation;
  Cursor cursor(line);
  cursor.skip();
  allocation.name = cursor.wordChars();
  allocation.spill = allocation.name.ends_with("_spill");
  cursor.skipSpaces();
  if (!cursor.take('[')) return inputError("'[' expected at \"{}\"", cursor.excerpt());
  Field f;
  do {
    const std::string_view place = cursor.excerpt();
    if (!field(cursor, f) || !apply(f, allocation))
      return inputError("can't read the field at \"{}\"", place);
    cursor.skipSpaces();
  } while (cursor.take(','));
  if (!cursor.take(']') || !cursor.atEnd())
    return inputError("']' and the line's end expected at \"{}\"", cursor.excerpt());
  if (!by_name_.emplace(allocation.name, static_cast<int32_t>(allocations_.size())).second)
    return inputError("{} stands twice in the table", allocation.name);
  allocations_.push_back(std::move(allocation));
  return Ok{};
}

int32_t AllocationTable::find(std::string_view name) {
  if (const auto seen = seen_.find(name); seen != seen_.end()) return seen->second;
  auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) {
    if (!open_) return -1;
    found = by_name_.emplace(name, static_cast<int32_t>(allocations_.size())).first;
    allocations_.push_back({.name = std::string(name), .spill = name.ends_with("_spill")});
  }
  seen_.emplace(name, found->second);
  return found->second;
}

}  // namespace sublane::llo
