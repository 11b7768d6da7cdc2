// SARIF 2.1.0: results with a level and a place in the user's own source, as editors and CI show them.
//
//   std::vector<SarifResult> results = {{.rule = "spills", .level = "note", .message = "...",
//                                        .sources = {"model.py:42"}}};
//   SUBLANE_CHECK_OK(writeFileAtomically("r.sarif", toSarif({{"spills", "Registers spill"}}, results)));
#pragma once

#include <string>
#include <vector>

#include "findings/findings.h"

namespace sublane::views {

struct SarifRule {
  std::string id, summary;
};

struct SarifResult {
  std::string rule;
  std::string level;  // "error", "warning" or "note"
  std::string message;
  std::vector<std::string> sources;  // "model.py:42"; what has no line is left out
};

/// What was found of a step, the largest gain first: a warning where the cure would save 5 % of the step or
/// more, else a note.
std::vector<SarifResult> sarifOf(const std::vector<findings::Finding>& findings,
                                 const findings::Evidence& evidence, const std::string& subject);
/// The rules of findings.
std::vector<SarifRule> sarifRules();

/// Absolute paths under `root` are written relative to it, so that CI finds them in its checkout; empty: the
/// current directory. Same input, same bytes.
std::string toSarif(const std::vector<SarifRule>& rules, const std::vector<SarifResult>& results,
                    const std::string& root = "");

}  // namespace sublane::views
