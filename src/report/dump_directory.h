// A directory of dumps that a user brings: XLA's own (module_0001.jit_f.*after_optimizations.txt and the
// like), libtpu's listings (<stamp>-<function>-<NN>-<label>.txt, with the module beside them), or both,
// nested as they come.
//
// Listing only looks at names and first bytes. What is not ours is passed over; links that lead out of the
// directory are not followed.
//
//   SUBLANE_TRY(DumpListing found, listDump("dumps"));
//   SUBLANE_TRY(const DumpedModule* module, pickModule(found, "jit_f"));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sublane::report {

/// When the compiler wrote a module, in order of use to us.
enum class Stage : uint8_t { kBefore, kUnknown, kOptimized, kFinal };

struct DumpedHlo {
  std::string path;
  Stage stage = Stage::kUnknown;
  bool is_text = false;
  int64_t bytes = 0;
};

/// One compiled module: files that say the same at several stages or in several forms, the best first.
struct DumpedModule {
  std::string
      name;  // unique in the directory: "module_0001.jit_f.cl_1014260217", "jit_f@1796063442352237534"
  std::string hlo_name;  // "jit_f"; empty where only a proto is there
  std::vector<DumpedHlo> hlo;
  std::vector<std::string> listings;  // paths of libtpu's files
  std::string listings_hlo;           // the module that libtpu wrote beside them, one of `hlo`; or ""
};

struct DumpListing {
  std::string path;
  std::vector<DumpedModule> modules;  // in order of name
  std::vector<std::string> notes;     // what was passed over, and why
};

/// Errors (input): no directory; nothing of ours in it, with what is; only modules before optimisation; too
/// many files to look at.
Result<DumpListing> listDump(const std::string& path);

/// By name, by the HLO module's own name, or by a part that only one has; with "" the only one. Errors: none
/// or several; both list what is there.
Result<const DumpedModule*> pickModule(const DumpListing& listing, const std::string& name);

/// Whether the directory holds anything that listDump reads.
bool holdsDump(const std::string& path);

}  // namespace sublane::report
