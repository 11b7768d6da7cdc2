// Edits: cures that are mechanical, so that they can be made, compiled and simulated again.
//
// An edit of the program is a change of its StableHLO text; an edit of an option names the option and its
// value, and whoever compiles sets it.
//
//   Edit edit{.kind = EditKind::kDonate, .argument = 0, .output = 1};
//   SUBLANE_TRY(std::string cured, findings::applied(edit, stablehlo));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane::findings {

enum class EditKind : uint8_t {
  kDonate,          // `argument` gives its buffer to `output`
  kArgumentLayout,  // `argument`, and the `output` that has its buffer (-1: none), lie in `minor_to_major`
  kDropOutput,      // `output` is not returned
  kModelOption,     // `option` = `value` of a model: "layers" = "unrolled"
  kCompileOption,   // `option` = `value` of the compile: an xla_ flag
};
std::string_view name(EditKind kind);  // "donate", "argument-layout", ...

struct Edit {
  EditKind kind{};
  int64_t argument = -1, output = -1;   // numbers in the main function
  std::vector<int64_t> minor_to_major;  // of kArgumentLayout
  std::string option, value;
  bool operator==(const Edit&) const = default;
};

/// "donate argument 0 to output 1": what is done, for a reader.
std::string toText(const Edit& edit);

/// The text after the edit. Errors: the edit is one of an option; the text has no main function, or not that
/// argument or output; the argument is given to an output already; types that differ (both are named).
Result<std::string> applied(const Edit& edit, const std::string& stablehlo);

}  // namespace sublane::findings
