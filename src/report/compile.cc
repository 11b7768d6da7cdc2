#include "report/compile.h"

#include <filesystem>
#include <mutex>
#include <regex>
#include <thread>

#include "artifact/compile_cache.h"
#include "base/paths.h"
#include "base/units.h"

namespace sublane::report {
namespace {

/// The `mhlo.num_partitions = 8 : i32` of the module, as JAX writes it; 1 where it says nothing.
int64_t countIn(const std::string& stablehlo, const std::string& attribute) {
  const size_t head_end = stablehlo.find("func.func");
  const size_t at = stablehlo.find(attribute + " = ");
  if (at == std::string::npos || at > head_end) return 1;
  return std::max<int64_t>(1, std::strtoll(stablehlo.c_str() + at + attribute.size() + 3, nullptr, 10));
}

pjrt::AheadOfTimeRequest requestFor(const chips::Chip& chip, const std::string& mesh,
                                    const std::string& stablehlo) {
  pjrt::AheadOfTimeRequest request;
  request.stablehlo = stablehlo;
  request.topology = mesh.empty() ? chip.topology : chip.name + ":" + mesh;
  request.options.partitions = countIn(stablehlo, "mhlo.num_partitions");
  request.options.replicas = countIn(stablehlo, "mhlo.num_replicas");
  for (const auto& [key, value] : chip.topology_options) request.topology_options[key] = value;
  return request;
}

/// "...required for HLO temporaries (520.00G) exceeds available HBM (31.24G)", or "Used 40.1G of 31.2G hbm".
std::optional<std::pair<std::string, std::string>> hbmSizes(const std::string& message) {
  static const std::regex kExceeds(R"(\(([0-9.]+[KMGT]?)\) exceeds available HBM \(([0-9.]+[KMGT]?)\))");
  static const std::regex kUsed(R"(Used ([0-9.]+[KMGT]?) of ([0-9.]+[KMGT]?) hbm)");
  std::smatch match;
  for (const std::regex* form : {&kExceeds, &kUsed}) {
    if (std::regex_search(message, match, *form)) return std::pair(match[1].str(), match[2].str());
  }
  return std::nullopt;
}

/// "-:3:28: error: use of undeclared SSA value name": where the text is wrong, and why.
struct ParseFault {
  std::string line, column, what;
};
std::optional<ParseFault> parseFault(const std::string& message) {
  static const std::regex kFault(R"(-:([0-9]+):([0-9]+): error: ([^\n]*))");
  std::smatch match;
  if (!std::regex_search(message, match, kFault)) return std::nullopt;
  return ParseFault{match[1].str(), match[2].str(), match[3].str()};
}

/// The compiler's refusal, in the house's form where we know its meaning; else as it came.
Error explainRefusal(const Error& error, const StepProgramText& program, const chips::Chip& chip) {
  const std::string where = fmt::format("{} on {}", program.name, chip.name);
  const bool is_file = program.bucket.empty();
  if (const auto sizes = hbmSizes(error.message())) {
    return inputError("{}: does not fit in HBM: the program needs {}iB, a device has {}iB", where,
                      sizes->first, sizes->second)
        .hint(is_file ? "a smaller program, or another --chip"
                      : "a smaller --batch or --context, --layers unrolled (a loop may keep a copy of the "
                        "cache), or "
                        "another --chip");
  }
  const auto fault = parseFault(error.message());
  if (is_file && fault) {
    return inputError("{}:{}:{}: {}", program.name, fault->line, fault->column, fault->what)
        .hint(
            "this is libtpu's reading of the file as StableHLO text, as jax.jit(f).lower(x).as_text() gives");
  }
  return Error(error.fault(), where + ": " + error.message()).hint(error.hint());
}

std::string firstLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// libtpu ends its process at a shape that is not known, so it is found here.
Status checkShapes(const std::string& path, const std::string& text) {
  static const std::regex kDynamic(R"(tensor<([^>"]*x)?\?x)");
  std::smatch match;
  if (!std::regex_search(text, match, kDynamic)) return Ok{};
  const auto line = 1 + std::count(text.begin(), text.begin() + match.position(), '\n');
  return inputError("{}:{}: {}... has a size that is not known; a TPU program has fixed shapes", path, line,
                    match.str())
      .hint("lower the function for shapes that are all numbers");
}

/// Shards need a mesh that has as many devices.
Status checkMesh(const std::string& path, const std::string& text, const std::string& mesh,
                 const chips::Chip& chip) {
  static const std::regex kMesh("[1-9][0-9]{0,3}(x[1-9][0-9]{0,3}){1,2}");
  if (!mesh.empty() && !std::regex_match(mesh, kMesh)) {
    return inputError("--mesh {}: not a shape of chips", mesh)
        .hint("for example --mesh 2x4, or 2x2x1 for v4, v5p and tpu7x");
  }
  const std::vector<int64_t> along = chipsAlongAxes(mesh);
  const size_t axes = chipsAlongAxes(chip.topology.substr(chip.topology.find(':') + 1)).size();
  if (!mesh.empty() && along.size() != axes) {
    return inputError("--mesh {}: {} axes, but a slice of {} has {}", mesh, along.size(), chip.name, axes)
        .hint(axes == 2 ? "for example --mesh 2x4" : "for example --mesh 2x2x1");
  }
  const int64_t partitions = countIn(text, "mhlo.num_partitions") * countIn(text, "mhlo.num_replicas");
  if (mesh.empty() && partitions > 1) {
    return inputError("{}: the program is made for {} devices, --mesh is not given (1 device)", path,
                      partitions)
        .hint(fmt::format("for example --mesh 2x{}{}",
                          std::max<int64_t>(1, partitions / 2 / chip.devices_per_chip),
                          axes == 2 ? "" : "x1"));
  }
  int64_t count = 1;
  for (const int64_t length : along) count *= length;
  const int64_t devices = mesh.empty() ? 1 : count * chip.devices_per_chip;
  const auto pod = chip.numbers.find("pod_chips");
  if (pod != chip.numbers.end() && count > static_cast<int64_t>(pod->second.value)) {
    return inputError("--mesh {}: {} chips, but a slice of {} has {} at most", mesh, count, chip.name,
                      pod->second.value)
        .hint(axes == 2 ? "for example --mesh 2x4" : "for example --mesh 2x2x1");
  }
  if (devices < partitions) {
    return inputError("--mesh {}: {} devices of {}, but {} is made for {}", mesh, devices, chip.name, path,
                      partitions);
  }
  return Ok{};
}
/// One program, in a child. A dump flag that another libtpu does not know ends its process: then once more
/// without, and why is kept. An error of the input is one either way.
Result<CompiledProgram> compileOne(const pjrt::AheadOfTimeRequest& wanted, const CompileRequest& common,
                                   bool& from_cache) {
  const auto compile = [&](const pjrt::AheadOfTimeRequest& request) {
    return common.compile ? common.compile(request) : artifact::compileCached(request, &from_cache);
  };
  CompiledProgram program;
  Result<pjrt::AheadOfTimeResult> result = compile(wanted);
  const bool stopped = common.cancel != nullptr && common.cancel->load();
  if (!result.ok() && wanted.want_listings && result.error().fault() == Fault::kMachine && !stopped) {
    program.no_listings = "libtpu does not compile it with its dump flags: " + result.error().message();
    pjrt::AheadOfTimeRequest plain = wanted;
    plain.want_listings = false;
    result = compile(plain);
  }
  if (!result.ok()) return std::move(result).error();
  program.result = std::move(*result);
  return program;
}

}  // namespace

// The folder of a part carries its version.
std::string compilerName(const std::string& platform_version) {
  std::string name = "libtpu";
  if (Result<std::string> path = pjrt::pluginPath("libtpu"); path.ok()) {
    static const std::regex kVersion(R"(libtpu-([0-9][0-9.]*)/)");
    std::smatch match;
    if (std::regex_search(*path, match, kVersion)) name += " " + match[1].str();
  }
  return name + " (" + firstLine(platform_version) + ")";
}

std::vector<std::string> flagTexts(const CompileRequest& common) {
  std::vector<std::string> texts;
  for (const auto& [flag, value] : common.compile_options)
    texts.push_back(std::visit([&](const auto& v) { return fmt::format("{} = {}", flag, v); }, value));
  return texts;
}

std::vector<int64_t> chipsAlongAxes(const std::string& mesh) {
  std::vector<int64_t> along;
  for (size_t at = 0; at < mesh.size(); at = std::min(mesh.find('x', at), mesh.size() - 1) + 1)
    along.push_back(std::strtoll(mesh.c_str() + at, nullptr, 10));
  return along;
}

int64_t partitionsOf(const std::string& stablehlo) { return countIn(stablehlo, "mhlo.num_partitions"); }

Result<std::string> readProgramText(const std::string& path, const std::string& mesh,
                                    const chips::Chip& chip) {
  SUBLANE_TRY(std::string text, readFile(path));
  if (text.empty())
    return inputError("{}: an empty file", path)
        .hint("StableHLO text, as jax.jit(f).lower(x).as_text() gives");
  SUBLANE_CHECK_OK(checkShapes(path, text));
  SUBLANE_CHECK_OK(checkMesh(path, text, mesh, chip));
  return text;
}

Result<std::vector<CompiledProgram>> compilePrograms(const std::vector<StepProgramText>& programs,
                                                     const CompileRequest& common, const chips::Chip& chip,
                                                     bool want_listings) {
  std::vector<std::optional<Result<CompiledProgram>>> compiled(programs.size());
  std::mutex telling;
  auto tell = [&](const std::string& what) {
    const std::lock_guard<std::mutex> lock(telling);
    if (common.progress) common.progress(what);
  };
  auto work = [&](size_t i) {
    tell(fmt::format("compiling {} for {}", programs[i].name, chip.name));
    pjrt::AheadOfTimeRequest request = requestFor(chip, common.mesh, programs[i].stablehlo);
    request.options.overrides = common.compile_options;
    request.want_listings = want_listings;
    request.cancel = common.cancel;
    bool from_cache = false;
    compiled[i] = compileOne(request, common, from_cache);
    if (!compiled[i]->ok()) return tell(fmt::format("{}: refused", programs[i].name));
    tell(fmt::format("{}: {}", programs[i].name,
                     from_cache
                         ? "compiled before"
                         : fmt::format("compiled in {}", formatSeconds((*compiled[i])->result.seconds))));
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < programs.size(); ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();

  std::vector<CompiledProgram> all;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (!compiled[i]->ok()) return explainRefusal(compiled[i]->error(), programs[i], chip);
    all.push_back(std::move(**compiled[i]));
  }
  return all;
}

}  // namespace sublane::report
