// Redacting: what a report says of whose program it is goes, before any view sees it: names of the model, its
// parts, operations, kernels and files, results and hashes of the program, free text. Kinds, numbers, shapes,
// the chip, the compiler and its flags' names stay.
//
// The same name has the same pseudonym wherever it stands, and in both sides of a difference that share the
// Pseudonyms, so that the model tree, matching and findings are as they were: "mlp.up" is "part-1.part-4",
// line 42 of "model.py" is "file-2:42". Pseudonyms are numbered in the order in which names are met.
//
//   Pseudonyms names;
//   redact(simulation, names);
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "report/baseline.h"
#include "report/report.h"
#include "report/simulate.h"

namespace sublane::report {

class Pseudonyms {
 public:
  /// "op-17"; of an empty name: empty.
  std::string of(std::string_view what, const std::string& name);
  /// Each of its words, between '.' and '/', by itself.
  std::string ofPath(const std::string& part);
  /// "file-2:42" of "model.py:42".
  std::string ofSource(const std::string& source);

 private:
  std::map<std::pair<std::string, std::string>, std::string, std::less<>> names_;
  std::map<std::string, int64_t, std::less<>> counts_;
};

void redact(Simulation& simulation, Pseudonyms& names);
/// A check against a baseline, made before `now` is redacted.
void redact(BaselineCheck& check, const Simulation& now, Pseudonyms& names);

}  // namespace sublane::report
