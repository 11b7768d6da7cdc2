// Optimised HLO as text: what XLA dumps (`module_0001.jit_f.*after_optimizations.txt`) and what
// `compiled.as_text()` prints, read into the same HloModule as the proto of read_module.cc.
//
// The text of a scheduled module lists instructions in order of execution, the proto in another: indices
// differ, all else is equal. Attributes that nobody here needs are skipped; grammar that is not known is an
// error with line and column. Text leaves out what the proto has: ids (numbered here in order), elements of
// large constants (`literal` stays empty), and names and metadata of elements that it writes as %tuple#1.
//
//   SUBLANE_TRY(llo::HloModule module, llo::readHloText(text, "f.after_optimizations.txt"));
#pragma once

#include <string>
#include <string_view>

#include "llo/llo.h"

namespace sublane::llo {

/// Whether the text begins, after blanks and comments, as a module does.
bool looksHloText(std::string_view text);

/// `where` names the text in errors. Errors (input): "where:line:column: expected ..., found ..."; an operand
/// or computation that does not stand above its user; more than 2 million instructions or 8 million parts of
/// tuples.
Result<HloModule> readHloText(std::string_view text, const std::string& where);

}  // namespace sublane::llo
