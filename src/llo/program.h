// A whole compiled program: the top-level listing, every function that it inlines, and what joins them to
// HLO.
//
// libtpu writes one listing for equal operations; the deduplication map names the others. A call whose
// listing cannot be found is an error: skipping it would make the program look cheap.
//
//   SUBLANE_TRY(llo::Program program, llo::readProgram(result.dump, {.chip = "v6e", .compiler = "libtpu
//   0.0.52"}));
#pragma once

#include <map>
#include <string>
#include <vector>

#include "llo/listing.h"
#include "llo/llo.h"
#include "pjrt/dump_file.h"

namespace sublane::llo {

using pjrt::DumpFile;

/// An operation of the schedule, in the order in which the program's trace markers number it.
struct TracedOp {
  std::string name;                            // HLO instruction: "fusion.16", "copy-start"
  int32_t instruction = -1, computation = -1;  // into HloModule, or -1
  int32_t overlay = -1;                        // part of the code in which it begins; -1: not known
};

struct Program {
  std::string chip, compiler;
  std::vector<Listing> listings;
  int32_t top = 0;                           // into listings
  std::map<std::string, int32_t> functions;  // every callee's name -> its listing
  std::vector<TracedOp> traced;              // by the number in `vtrace 0x8000000N`
  std::vector<int64_t> overlay_bundles;      // of each part of the code; empty: not known
  HloModule module;
};

struct ProgramOptions {
  std::string chip, compiler;
};
/// `module` is the optimised module of the same compile. Errors: readListing's; no top-level listing; a call
/// without a listing (named).
Result<Program> readProgram(const std::vector<DumpFile>& dump, HloModule module,
                            const ProgramOptions& options);

}  // namespace sublane::llo
