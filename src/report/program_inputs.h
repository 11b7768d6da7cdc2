// What a simulated program is given: arrays of an .npz file or a step's integer inputs, in the device's own
// layout. Private to the folder.
//
//   SUBLANE_TRY(auto arrays, io::readNpz("inputs.npz"));
//   SUBLANE_TRY(sim::Inputs inputs, inputsOf(arrays, module, "inputs.npz"));
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/npz.h"
#include "llo/llo.h"
#include "sim/sim.h"

namespace sublane::report {

/// An array belongs to the argument whose number its name ends with ("0", "arg0", "arr_0", as np.savez calls
/// what has no name), or whose name in the program it bears ("x" or "x.1"). Errors: an array that is no
/// argument (the arguments are listed), two for one, another type or shape (both are named).
Result<sim::Inputs> inputsOf(const std::vector<io::NpyArray>& arrays, const llo::HloModule& module,
                             const std::string& source);

/// 32-bit integers, row-major, by argument number.
Result<sim::Inputs> inputsOf(const std::map<int32_t, std::vector<int32_t>>& values,
                             const llo::HloModule& module);

/// "arguments 0 (x: s32[4]) and 3 are not given": those without which a program may not run, or nothing.
std::string missingIntegers(const llo::HloModule& module, const sim::Inputs& inputs);
/// Makes integer scalars that are not given 0, which any position or index may be; says which: "arguments 2
/// (position: s32[]) are not given: 0 is assumed", or nothing.
std::string assumeScalars(const llo::HloModule& module, sim::Inputs& inputs);
/// The same of all arguments: values need each.
std::string missingArguments(const llo::HloModule& module, const sim::Inputs& inputs);

}  // namespace sublane::report
