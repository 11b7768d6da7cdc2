// Compiling what a report is about: the StableHLO text of a file or of a model's steps, for one chip, each in
// a child of its own. Private to the folder.
//
//   SUBLANE_TRY(auto compiled, compilePrograms(programs, request.common, *chip, true));
//   SUBLANE_TRY(llo::HloModule module, llo::readHloModule(compiled[0].result.optimized_hlo));
//   SUBLANE_TRY(Step step, pricedStep(programs[0], module, compiled[0].result.memory, *chip));
#pragma once

#include <string>
#include <vector>

#include "llo/llo.h"
#include "report/request.h"

namespace sublane::report {

struct CompiledProgram {
  pjrt::AheadOfTimeResult result;
  std::string no_listings;  // why there are none, although they were wanted
};

/// All at once. With `want_listings` libtpu's dump comes along where it can; a libtpu that dies of the dump
/// flags compiles without them. Errors: the compiler's refusal of the first program that it refuses.
Result<std::vector<CompiledProgram>> compilePrograms(const std::vector<StepProgramText>& programs,
                                                     const CompileRequest& common, const chips::Chip& chip,
                                                     bool want_listings);

/// A file's StableHLO text. Errors: no or an empty file, a size that is not known, a mesh that does not fit.
Result<std::string> readProgramText(const std::string& path, const std::string& mesh,
                                    const chips::Chip& chip);
/// Of a slice "2x4": {2, 4}; of "": nothing.
std::vector<int64_t> chipsAlongAxes(const std::string& mesh);
/// The devices that a program is partitioned for: 1 where its text says nothing.
int64_t partitionsOf(const std::string& stablehlo);

/// "xla_flag = 3" of the request's compile options.
std::vector<std::string> flagTexts(const CompileRequest& common);

/// "libtpu 0.0.52 (its own words)": the folder of a part carries its version.
std::string compilerName(const std::string& platform_version);

/// The program's rows by the compiler's estimates and the datasheet, and its memory.
Result<Step> pricedStep(const StepProgramText& program, const llo::HloModule& module,
                        const std::optional<pjrt::MemoryStats>& memory, const chips::Chip& chip);

}  // namespace sublane::report
