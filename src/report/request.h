// What is to be explained or simulated: a model's steps or a program, and how it is compiled.
//
//   ModelRequest request{.model = "smollm2-135m", .common = {.chip = "v6e"}};
//   SUBLANE_TRY(ModelPrograms built, buildPrograms(request));
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/formats.h"
#include "pjrt/worker.h"
#include "report/report.h"

namespace sublane::report {

struct CompileRequest {
  std::string chip{};
  std::string mesh{};  // "2x4": chips of the slice; empty: the smallest one, one device of it
  const std::atomic<bool>* cancel = nullptr;                   // raised by a signal handler: the compiles end
  std::map<std::string, pjrt::OptionValue> compile_options{};  // xla_* flags of this compile
  /// Told what is being done; called from several threads, one at a time.
  std::function<void(std::string_view)> progress{};
  /// Compiles one program; empty: the compile cache over libtpu in a child.
  std::function<Result<pjrt::AheadOfTimeResult>(const pjrt::AheadOfTimeRequest&)> compile{};
};

struct ModelRequest {
  std::string model{};         // a name, a .gguf file or a directory; or
  std::string config{};        // a config.json: shapes only
  int64_t batch = 8;           // sequences of the decode step
  int64_t context = 0;         // tokens of each in the cache; 0: 1024, or all that the model was made for
  int64_t prefill_tokens = 0;  // of the prefill step, one prompt; 0: 512, or all that the model was made for
  int64_t page_size = 16;
  bool layers_in_loop = false;
  formats::DType dtype = formats::DType::kBF16;  // of weights, activations and cache
  CompileRequest common{};
};

/// The StableHLO texts of a model's two steps.
struct StepProgramText {
  std::string name, bucket, stablehlo;
  /// Row-major values of the integer inputs, by argument number: tokens, positions, page table, lengths.
  std::map<int32_t, std::vector<int32_t>> inputs{};
};
struct ModelPrograms {
  std::string detail;
  std::vector<std::string> assumptions;
  std::vector<StepProgramText> steps;  // decode, prefill
};

/// Errors: what opening, building and lowering say; --context past what the model was made for.
Result<ModelPrograms> buildPrograms(const ModelRequest& request);

}  // namespace sublane::report
