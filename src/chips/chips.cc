#include "chips/chips.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace sublane::chips {
namespace {

struct File {
  const char* name;
  const char* json;
};
constexpr File kFiles[] = {
#include "chips_data.inc"
};

// Oldest first; a new file without a place here stands last.
constexpr std::string_view kAge[] = {"v4", "v5e", "v5p", "v6e", "tpu7x"};

std::vector<Chip> readAll() {
  std::vector<Chip> chips;
  for (const File& file : kFiles) {
    Result<Chip> chip = readChip(file.json, file.name);
    SUBLANE_CHECK(chip.ok(), "{}", chip.error().text());
    chips.push_back(std::move(*chip));
  }
  auto age = [](const Chip& chip) { return std::find(std::begin(kAge), std::end(kAge), chip.name) - kAge; };
  std::stable_sort(chips.begin(), chips.end(), [&](const Chip& a, const Chip& b) { return age(a) < age(b); });
  return chips;
}

}  // namespace

std::span<const Chip> allChips() {
  static const std::vector<Chip> chips = readAll();
  return chips;
}

Result<const Chip*> findChip(const std::string& name, std::string_view option) {
  std::string names;
  for (const Chip& chip : allChips()) {
    if (chip.name == name) return &chip;
    names += (names.empty() ? "" : ", ") + chip.name;
  }
  return inputError("{} {}: no such chip", option, name).hint("chips: " + names);
}

}  // namespace sublane::chips
