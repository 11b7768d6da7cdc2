// Ahead-of-time compiles by libtpu, each in a child process (`sublane worker`), so that a CHECK failure
// or an exit inside libtpu becomes an Error carrying the child's last words.
//
//   AheadOfTimeRequest request{.stablehlo = text, .topology = "v6e:1x1"};
//   SUBLANE_TRY(AheadOfTimeResult result, compileAheadOfTime(request));
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pjrt/dump_file.h"
#include "pjrt/pjrt.h"

namespace sublane::pjrt {

struct AheadOfTimeRequest {
  std::string stablehlo{};
  std::string topology{};      // "v6e:1x1"
  Options topology_options{};  // v4: {"chip_config_name", "megacore"}
  CompileOptions options{};
  std::vector<std::string> init_args{};  // LIBTPU_INIT_ARGS, process-wide in the child
  std::string libtpu_path{};             // empty: the pinned one
  bool want_executable = false;          // also return the serialised executable
  bool want_listings = false;            // `dump`: every function's bundles, memory and joins to HLO
  bool want_assembly = false;            // the same with the linked program, which is large
  bool want_profile = false;  // libtpu's static profile, label "static-profile"; can crash a compile
  double timeout_seconds = 1800;
  const std::atomic<bool>* cancel = nullptr;  // raised by a signal handler: end the child and return
};

/// The compiler's own memory figures for the program, bytes.
struct MemoryStats {
  int64_t code = 0, arguments = 0, outputs = 0, aliased = 0, temporaries = 0, peak = 0;
};

struct AheadOfTimeResult {
  std::string optimized_hlo{};  // serialised HloModuleProto, scheduled
  std::string executable{};     // if wanted
  std::string fingerprint{};
  std::string platform_version{};  // libtpu's own words
  std::string device_kind{};       // "TPU v6 lite"
  int64_t device_count = 0;        // of the topology
  std::optional<MemoryStats> memory;
  double seconds = 0;            // of the compile alone
  std::vector<DumpFile> dump{};  // what libtpu wrote of what was wanted; a file that is missing is no error
};

/// Runs the compile in a child. A compiler's refusal is an input error (its text kept); an abort, an exit or
/// a timeout is a machine error with the child's last lines.
Result<AheadOfTimeResult> compileAheadOfTime(const AheadOfTimeRequest& request);

/// Says which program answers the verb `worker` ($SUBLANE_WORKER overrides): `sublane` names itself when it
/// starts.
void setWorkerProgram(std::string path);

/// Body of the hidden verb `sublane worker`: reads one request from stdin, writes one framed reply to stdout.
int workerMain();

/// Where set-up put a part: "libtpu", "cpu", "cpu-fastatomstruct", "cpu-xla". Error: a line that says what to
/// run. $SUBLANE_LIBTPU and $SUBLANE_CPU_PLUGIN override.
Result<std::string> pluginPath(const std::string& part);

}  // namespace sublane::pjrt
