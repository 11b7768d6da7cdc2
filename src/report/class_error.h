// The error of an operation's class: how far the simulator was from measured times of its like. Private to
// the folder; the figures stand in the chip's model, where the fit wrote them.
//
//   ClassErrors errors = classErrors("v6e");
//   std::string kind = classOf(row);                       // "GEMM"
//   if (errors.contains(kind)) fmt::print("{} points\n", errors[kind].points);
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "report/simulate.h"

namespace sublane::report {

using ClassErrors = std::map<std::string, ClassError>;

/// libtpu's module knows kernels as "tpu_custom_call"; the program `name` that was compiled calls them by
/// name.
void nameKernels(SimulatedStep& step, const std::string& name, std::string_view stablehlo);

/// `fitted.residuals` of a model file: one entry a class. Empty without a fit; what is not understood is left
/// out, for an error bar is no reason to fail. A host-timed class counts for the device-timed one that lacks.
ClassErrors readClassErrors(std::string_view model_json);

/// What the difference of two times of a class may be wrong by, us: by its pairs of points, of one kernel or
/// of two; without such pairs both times may be wrong the other way.
double errorOfChange(const ClassError& error, double before_us, double after_us, bool one_kernel);

/// "GEMM", "HBM copy and elementwise", "flash attention", "grouped matmul", "fused cross-entropy", "ragged
/// paged attention", "KV update"; empty for everything else.
std::string classOf(const Row& row);

/// Of the rows' classes by their time. Nothing, if less than half of it is in classes with points; then
/// `unknown_class` names the largest class without, or the kernel or kind that is of none.
void setError(SimulatedStep& step, const ClassErrors& errors);

}  // namespace sublane::report
