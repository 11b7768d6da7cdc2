#include "pjrt/ahead_of_time.h"

#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "pjrt/api.h"

extern char** environ;

namespace sublane::pjrt {

void setCompileEnvironment(const std::vector<std::string>& init_args) {
  std::vector<std::string> foreign;  // what a user's shell holds must not change what we report
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with("TPU_") || text.starts_with("LIBTPU_") || text.starts_with("XLA_FLAGS=")) {
      foreign.emplace_back(text.substr(0, text.find('=')));
    }
  }
  for (const std::string& name : foreign) unsetenv(name.c_str());
  static constexpr const char* kNeeded[][2] = {
      {"TPU_SKIP_MDS_QUERY", "1"},        // else 200 s of retries against the cloud's metadata server
      {"TPU_ACCELERATOR_TYPE", "v6e-4"},  // any value serves every generation
      {"TPU_WORKER_HOSTNAMES", "localhost"}, {"TPU_LOG_DIR", "disabled"},
      {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},  // else a second process fails on a lock file
  };
  for (const auto& [name, value] : kNeeded) setenv(name, value, 1);
  if (!init_args.empty()) setenv("LIBTPU_INIT_ARGS", fmt::format("{}", fmt::join(init_args, " ")).c_str(), 1);
}

std::string shortened(const std::string& message) {
  static constexpr size_t kHead = 6000, kTail = 1500;
  if (message.size() <= kHead + kTail + 200) return message;
  size_t head = message.rfind('\n', kHead);
  if (head == std::string::npos || head < kHead / 2) head = kHead;
  size_t tail = message.find('\n', message.size() - kTail);
  if (tail == std::string::npos) tail = message.size() - kTail;
  return fmt::format("{}\n... ({} bytes left out) ...{}{}", message.substr(0, head), tail - head,
                     message[tail] == '\n' ? "" : "\n", message.substr(tail));
}

namespace {

/// A topology that frees itself.
struct Topology {
  const Api& api;
  PJRT_TopologyDescription* description = nullptr;
  std::string device_kind{};
  int64_t device_count = 0;

  ~Topology() {
    if (description == nullptr) return;
    PjrtArgs(PJRT_TopologyDescription_Destroy_Args, args);
    args.topology = description;
    (void)PjrtCall(api, PJRT_TopologyDescription_Destroy, args);
  }
};

struct Compiled {
  const Api& api;
  PJRT_Executable* executable = nullptr;

  ~Compiled() {
    if (executable == nullptr) return;
    PjrtArgs(PJRT_Executable_Destroy_Args, args);
    args.executable = executable;
    (void)PjrtCall(api, PJRT_Executable_Destroy, args);
  }
};

Status createTopology(const AheadOfTimeRequest& request, Topology& topology) {
  const std::vector<PJRT_NamedValue> options = namedValues(request.topology_options);
  PjrtArgs(PJRT_TopologyDescription_Create_Args, args);
  args.topology_name = request.topology.data();
  args.topology_name_size = request.topology.size();
  args.create_options = options.data();
  args.num_options = options.size();
  Status created = PjrtCall(topology.api, PJRT_TopologyDescription_Create, args);
  if (!created.ok() && created.error().message().find("UNIMPLEMENTED") != std::string::npos) {
    return machineError("plugin {}: it does not compile for TPUs: {}", topology.api.path,
                        created.error().message())
        .hint("$SUBLANE_LIBTPU must name a libtpu.so");
  }
  if (!created.ok()) {
    return inputError("topology {}: {}", request.topology, created.error().message())
        .hint("topologies are chip:shape, as v4:2x2x1, v5e:1x1, v5p:2x2x1, v6e:1x1, tpu7x:1x1x1");
  }
  topology.description = args.topology;

  PjrtArgs(PJRT_TopologyDescription_GetDeviceDescriptions_Args, devices);
  devices.topology = topology.description;
  SUBLANE_CHECK_OK(PjrtCall(topology.api, PJRT_TopologyDescription_GetDeviceDescriptions, devices));
  topology.device_count = static_cast<int64_t>(devices.num_descriptions);
  if (topology.device_count == 0) return Ok{};
  PjrtArgs(PJRT_DeviceDescription_Kind_Args, kind);
  kind.device_description = devices.descriptions[0];
  SUBLANE_CHECK_OK(PjrtCall(topology.api, PJRT_DeviceDescription_Kind, kind));
  topology.device_kind.assign(kind.device_kind, kind.device_kind_size);
  return Ok{};
}

std::string platformVersion(const Topology& topology) {
  PjrtArgs(PJRT_TopologyDescription_PlatformVersion_Args, args);
  args.topology = topology.description;
  if (!PjrtCall(topology.api, PJRT_TopologyDescription_PlatformVersion, args).ok()) return "";
  return std::string(args.platform_version, args.platform_version_size);
}

Status compile(AheadOfTimeRequest request, const Topology& topology, Compiled& compiled) {
  static constexpr std::string_view kFormat = "mlir";
  const std::string options = encodeCompileOptions(request.options);
  PjrtArgs(PJRT_Program, program);
  program.code = request.stablehlo.data();
  program.code_size = request.stablehlo.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  PjrtArgs(PJRT_Compile_Args, args);
  args.topology = topology.description;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  Status status = PjrtCall(compiled.api, PJRT_Compile, args);
  // Whatever the code, a compiler that answers has refused the program.
  if (!status.ok())
    return inputError("libtpu ({}): {}", request.topology, shortened(status.error().message()));
  compiled.executable = args.executable;
  return Ok{};
}

Result<std::string> optimizedHlo(const Compiled& compiled) {
  PjrtArgs(PJRT_Program, program);
  PjrtArgs(PJRT_Executable_OptimizedProgram_Args, args);
  args.executable = compiled.executable;
  args.program = &program;
  SUBLANE_CHECK_OK(PjrtCall(compiled.api, PJRT_Executable_OptimizedProgram, args));  // tells the size
  std::string code(program.code_size, '\0');
  program.code = code.data();
  SUBLANE_CHECK_OK(PjrtCall(compiled.api, PJRT_Executable_OptimizedProgram, args));
  const std::string_view format(program.format, program.format_size);
  if (format == "hlo") return canonicalModule(code);
  if (format == "hlo_with_config") {
    SUBLANE_TRY(const std::string module, moduleOf(code));
    return canonicalModule(module);
  }
  return machineError(
      "libtpu: its optimised program has format \"{}\", Sublane reads hlo_with_config and hlo", format);
}

std::optional<MemoryStats> memoryStats(const Compiled& compiled) {
  // Newer plugins know a longer struct; the fields of ours come first. Room for theirs, in case one forgets
  // the size.
  struct {
    PJRT_Executable_GetCompiledMemoryStats_Args args;
    int64_t room[16];
  } space{};
  auto& args = space.args;
  args.struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE;
  args.executable = compiled.executable;
  if (!PjrtCall(compiled.api, PJRT_Executable_GetCompiledMemoryStats, args).ok()) return std::nullopt;
  return MemoryStats{.code = args.generated_code_size_in_bytes,
                     .arguments = args.argument_size_in_bytes,
                     .outputs = args.output_size_in_bytes,
                     .aliased = args.alias_size_in_bytes,
                     .temporaries = args.temp_size_in_bytes,
                     .peak = args.peak_memory_in_bytes};
}

std::string fingerprint(const Compiled& compiled) {
  PjrtArgs(PJRT_Executable_Fingerprint_Args, args);
  args.executable = compiled.executable;
  if (!PjrtCall(compiled.api, PJRT_Executable_Fingerprint, args).ok()) return "";
  return std::string(args.executable_fingerprint, args.executable_fingerprint_size);
}

}  // namespace

Result<AheadOfTimeResult> compileInThisProcess(const AheadOfTimeRequest& request) {
  SUBLANE_TRY(const Plugin plugin, Plugin::load(request.libtpu_path));
  const Api& api = *plugin.api();
  Topology topology{.api = api};
  SUBLANE_CHECK_OK(createTopology(request, topology));
  AheadOfTimeResult result;
  result.device_kind = topology.device_kind;
  result.device_count = topology.device_count;
  result.platform_version = platformVersion(topology);

  Compiled compiled{.api = api};
  const auto start = std::chrono::steady_clock::now();
  SUBLANE_CHECK_OK(compile(request, topology, compiled));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SUBLANE_TRY(result.optimized_hlo, optimizedHlo(compiled));
  result.memory = memoryStats(compiled);
  result.fingerprint = fingerprint(compiled);
  if (request.want_executable) {
    SUBLANE_TRY(result.executable, serializeExecutable(api, compiled.executable));
  }
  return result;
}

}  // namespace sublane::pjrt
