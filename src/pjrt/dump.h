// What libtpu is told to write while it compiles, and how it is read back. For this folder, and for dumps
// that a user brings.
//
// File names are `<stamp>-<function>-<number>-<label>.txt`; a function's name may hold anything, so labels
// are known ones, matched from the end. What is missing is missing: whoever needs it says so.
//
//   setCompileEnvironment(dumpFlags(request, folder));   // then compile
//   result.dump = readDump(folder);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/dump_file.h"
#include "pjrt/worker.h"

namespace sublane::pjrt {

/// The environment variable by which the parent names the child's dump folder. It stays out of the request,
/// whose bytes are the key of a cache.
inline constexpr const char* kDumpFolderVariable = "SUBLANE_DUMP_FOLDER";

bool wantsDump(const AheadOfTimeRequest& request);
/// The request's own init_args, then those that make libtpu write what it asks for into `folder`.
std::vector<std::string> dumpFlags(const AheadOfTimeRequest& request, const std::string& folder);

/// "1796-fusion.1-02-packed-bundles-post-ra.txt" taken apart; nothing, if the label is none of ours.
struct DumpName {
  std::string stamp, function, label;
  int number = 0;
};
std::optional<DumpName> parseDumpName(std::string_view file_name);

/// The files in the folder that have a label of ours, in order of stamp, function and label. libtpu writes
/// some twice: the last stays.
std::vector<DumpFile> readDump(const std::string& folder);
/// The same of files given by their paths; others among them are ignored.
std::vector<DumpFile> readListings(const std::vector<std::string>& paths);

/// The lines that hold `#allocation`: all that anyone needs of `post-delay-converter`, which is large.
std::string allocationLines(std::string_view text);

}  // namespace sublane::pjrt
