// What a program does that the simulator does not execute: work handed to the SparseCore, collectives over
// the links between chips. Such a program is refused, by name and with the bytes that are concerned, rather
// than given a total that leaves them out.
//
//   SUBLANE_CHECK_OK(refuseWhatIsNotModelled(program));
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "llo/program.h"

namespace sublane::sim {

struct NotModelled {
  std::string op;     // traced operation, or the listing's function
  std::string what;   // "the SparseCore", "other chips"
  int64_t bytes = 0;  // of its operands and its result, as far as the module says
};
/// `with_slice`: other chips are modelled, as far as they do what this one does.
std::vector<NotModelled> notModelled(const llo::Program& program, bool with_slice);

/// Error: names the operations, their share of the program's, and their bytes.
Status refuseWhatIsNotModelled(const llo::Program& program, bool with_slice);

}  // namespace sublane::sim
