// Programs that a user brings compiled: optimised HLO as text or proto, or a directory of dumps.
//
// The module is what costOf and readProgram take. Where libtpu's listings are there too, the program can be
// executed; else it can only be priced. `notes` say what is missing or doubtful, for the reader of a report.
//
//   if (looksBrought(path)) {
//     SUBLANE_TRY(BroughtProgram program, readBrought(path, /*module=*/""));
//     SUBLANE_TRY(Step step, costOf(program.module, *chip));
//   }
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "llo/llo.h"
#include "pjrt/dump_file.h"

namespace sublane::report {

struct BroughtProgram {
  std::string name;  // the module's: "jit_f"
  llo::HloModule module;
  std::vector<pjrt::DumpFile> dump;  // libtpu's listings, if they are there: see llo::readProgram
  std::vector<std::string> notes;
  std::string form;  // "HLO text", "HLO proto", "dump directory"
  std::string path;  // of the file that the module was read from
};

/// Whether `path` is a file of HLO, or a directory that holds dumps. A model's directory (it has a
/// config.json) is not; neither is StableHLO.
bool looksBrought(const std::string& path);

/// `module` picks one of a directory's modules (dump_directory.h says how); "" if there is only one. Errors
/// (input): readHloFile's, listDump's, pickModule's; a file of more than 1 GiB; a module named for a file.
Result<BroughtProgram> readBrought(const std::string& path, const std::string& module);

}  // namespace sublane::report
