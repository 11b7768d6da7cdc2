// The words of a listing: an operation's dotted text taken apart, roles, spaces and registers by their text.
//
//   std::optional<Word> word = resolveWord("vmatmul.mubr.bf16.gmra.mxu1");  // kVmatmul, "mubr.bf16.gmra", 1
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llo/listing.h"

namespace sublane::llo {

struct Word {
  Op op{};
  int8_t unit_index = -1;
  std::string form;
};

/// The longest run of leading parts that operations.inc knows; nothing if it knows none. A part that names
/// one of several equal units ("mxu1", "xlu0", "iar1") leaves the form, wherever it stands. "call" is an
/// inlined_call of form "call": a real one, with the delay slots of a branch after it.
std::optional<Word> resolveWord(std::string_view text);

/// By the text in /*role=*/; kOther for what the enum does not name.
Role roleNamed(std::string_view text);
/// "smem", "vmem", "hbm", "sflag", "cmem"; kNone for the rest.
Space spaceNamed(std::string_view text);
/// "s12", "p0", "v63", "vm15"; kNone if there is no such register.
Register registerNamed(std::string_view text);
/// "s12"; "" for kNone.
std::string name(Register reg);

}  // namespace sublane::llo
