#include "report/explain.h"

#include <filesystem>
#include <mutex>
#include <regex>
#include <thread>

#include "artifact/compile_cache.h"
#include "base/paths.h"
#include "base/units.h"
#include "io/checkpoint.h"
#include "llo/llo.h"
#include "lower/lower.h"
#include "models/models.h"
#include "passes/passes.h"
#include "report/cost.h"
#include "report/findings.h"

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
        .hint(
            is_file
                ? "a smaller program, or another --chip"
                : "a smaller --batch or --context, --layers unrolled (a loop keeps a copy of the cache), or "
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

HbmUse hbmUse(const pjrt::MemoryStats& stats, const llo::HloModule& module) {
  HbmUse use;
  use.code = stats.code;
  use.arguments = stats.arguments;
  use.outputs = stats.outputs;
  use.aliased = stats.aliased;
  use.temporaries = stats.temporaries;
  const llo::Computation& entry = module.entryComputation();
  for (const llo::Instruction& at : entry.instructions) {
    if (at.is("parameter")) use.argument_data += llo::logicalBytes(at.shape);
  }
  for (const llo::InputOutputAlias& alias : module.aliases) {
    const int32_t parameter = entry.parameter(alias.parameter);
    if (parameter < 0) continue;
    const int64_t bytes = llo::logicalBytes(entry.at(parameter).shape);
    use.state += bytes;
    use.largest_state = std::max(use.largest_state, bytes);
  }
  return use;
}

bool holdsLoop(const llo::HloModule& module) {
  for (const llo::Computation& computation : module.computations) {
    for (const llo::Instruction& at : computation.instructions) {
      if (at.is("while")) return true;
    }
  }
  return false;
}

Result<Step> priced(const StepProgramText& program, const pjrt::AheadOfTimeResult& compiled,
                    const chips::Chip& chip) {
  SUBLANE_TRY(llo::HloModule module, llo::readHloModule(compiled.optimized_hlo));
  SUBLANE_TRY(Step step, costOf(module, chip));
  step.name = program.name;
  step.bucket = program.bucket;
  step.fingerprint = compiled.fingerprint;
  if (compiled.memory) step.memory = hbmUse(*compiled.memory, module);
  step.findings = findingsOf(step, chip, holdsLoop(module));
  return step;
}

std::string firstLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// "libtpu 0.0.52": the folder of a part carries its version.
std::string compilerName(const std::string& platform_version) {
  std::string name = "libtpu";
  if (Result<std::string> path = pjrt::pluginPath("libtpu"); path.ok()) {
    static const std::regex kVersion(R"(libtpu-([0-9][0-9.]*)/)");
    std::smatch match;
    if (std::regex_search(*path, match, kVersion)) name += " " + match[1].str();
  }
  return name + " (" + firstLine(platform_version) + ")";
}

/// Compiles all programs at once, each in its own child.
Result<Explanation> explainPrograms(const std::vector<StepProgramText>& programs,
                                    const CompileRequest& common) {
  SUBLANE_TRY(const chips::Chip* chip, chips::findChip(common.chip));
  std::vector<std::optional<Result<pjrt::AheadOfTimeResult>>> compiled(programs.size());
  std::mutex telling;
  auto tell = [&](const std::string& what) {
    const std::lock_guard<std::mutex> lock(telling);
    if (common.progress) common.progress(what);
  };
  auto work = [&](size_t i) {
    tell(fmt::format("compiling {} for {}", programs[i].name, chip->name));
    const pjrt::AheadOfTimeRequest request = requestFor(*chip, common.mesh, programs[i].stablehlo);
    bool from_cache = false;
    compiled[i] = common.compile ? common.compile(request) : artifact::compileCached(request, &from_cache);
    if (!compiled[i]->ok()) return tell(fmt::format("{}: refused", programs[i].name));
    tell(fmt::format("{}: {}", programs[i].name,
                     from_cache ? "compiled before"
                                : fmt::format("compiled in {}", formatSeconds((*compiled[i])->seconds))));
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < programs.size(); ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();

  Explanation explanation;
  explanation.chip = chip;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (!compiled[i]->ok()) return explainRefusal(compiled[i]->error(), programs[i], *chip);
    SUBLANE_TRY(Step step, priced(programs[i], **compiled[i], *chip));
    explanation.steps.push_back(std::move(step));
    explanation.compiler = compilerName((*compiled[i])->platform_version);
  }
  return explanation;
}

int64_t pagesFor(int64_t tokens, int64_t page_size) { return (tokens + page_size - 1) / page_size; }

Status checkSizes(const ModelRequest& request, const models::DecoderConfig& config) {
  for (auto [name, value] :
       {std::pair("--batch", request.batch), std::pair("--context", request.context),
        std::pair("--prefill-tokens", request.prefill_tokens), std::pair("--page-size", request.page_size)}) {
    if (value < 1 || value > (int64_t{1} << 24))
      return inputError("{} {}: not between 1 and 2^24", name, value);
  }
  for (auto [name, value] :
       {std::pair("--context", request.context), std::pair("--prefill-tokens", request.prefill_tokens)}) {
    if (config.context > 0 && value > config.context) {
      return inputError("{} {}: the model was made for {} tokens", name, value, config.context)
          .hint(fmt::format("at most {} {}", name, config.context));
    }
  }
  return Ok{};
}

std::string_view dtypeName(formats::DType dtype) { return dtype == formats::DType::kBF16 ? "bf16" : "f32"; }

Result<std::string> lowered(const models::DecoderConfig& config, const models::StepShape& shape,
                            const ModelRequest& request, io::Container container) {
  models::StepOptions options;
  options.weights = options.activations = options.cache = request.dtype;
  options.layers_in_loop = request.layers_in_loop;
  SUBLANE_TRY(models::StepProgram step, models::buildStep(config, shape, options, container));
  SUBLANE_TRY(auto reports, passes::runPipeline(step.graph));
  (void)reports;
  return lower::toStableHlo(step.graph);
}

}  // namespace

Result<ModelPrograms> buildPrograms(const ModelRequest& given) {
  ModelRequest request = given;
  const bool shapes_only = !request.config.empty();
  SUBLANE_TRY(io::Checkpoint checkpoint,
              shapes_only ? io::openConfig(request.config) : io::openCheckpoint(request.model));
  SUBLANE_TRY(models::DecoderConfig config, models::readConfig(checkpoint));
  if (!shapes_only) SUBLANE_CHECK_OK(models::checkTensors(checkpoint, config));
  const int64_t most = config.context > 0 ? config.context : INT64_MAX;
  if (request.context == 0) request.context = std::min<int64_t>(1024, most);
  if (request.prefill_tokens == 0) request.prefill_tokens = std::min<int64_t>(512, most);
  SUBLANE_CHECK_OK(checkSizes(request, config));

  models::StepShape decode, prefill;
  decode.page_size = prefill.page_size = request.page_size;
  decode.tokens = decode.sequences = request.batch;
  decode.pages_per_sequence = pagesFor(request.context, request.page_size);
  prefill.tokens = prefill.queries = request.prefill_tokens;
  prefill.pages_per_sequence = pagesFor(request.prefill_tokens, request.page_size);
  // Both steps share one cache, as they would in an engine.
  decode.pages = prefill.pages =
      std::max(request.batch * decode.pages_per_sequence, prefill.pages_per_sequence);

  ModelPrograms programs;
  programs.detail = fmt::format("{}, {} layers {}, {} weights and cache, greedy sampling{}", config.model,
                                config.layers, request.layers_in_loop ? "in a loop" : "unrolled",
                                dtypeName(request.dtype), shapes_only ? ", shapes only" : "");
  programs.assumptions = config.assumptions;
  if (!shapes_only)
    programs.assumptions.push_back(
        fmt::format("packed weights are widened to {} at load", dtypeName(request.dtype)));
  SUBLANE_TRY(std::string decode_text, lowered(config, decode, request, checkpoint.container));
  SUBLANE_TRY(std::string prefill_text, lowered(config, prefill, request, checkpoint.container));
  programs.steps.push_back({"decode",
                            fmt::format("{} sequences, a token each, context {}, {} pages of {}",
                                        request.batch, request.context, decode.pages, request.page_size),
                            std::move(decode_text)});
  programs.steps.push_back({"prefill",
                            fmt::format("1 sequence of {} tokens, {} pages of {}", request.prefill_tokens,
                                        prefill.pages, request.page_size),
                            std::move(prefill_text)});
  return programs;
}

Result<Explanation> explainModel(const ModelRequest& request) {
  SUBLANE_CHECK_OK(chips::findChip(request.common.chip));
  if (!request.common.mesh.empty()) {
    return inputError("--mesh {}: the steps of a model are built for one device so far", request.common.mesh)
        .hint("a program that carries its own shardings (FILE.mlir) can be explained on a mesh");
  }
  if (request.common.progress) request.common.progress("building the steps");
  SUBLANE_TRY(ModelPrograms built, buildPrograms(request));
  SUBLANE_TRY(Explanation explanation, explainPrograms(built.steps, request.common));
  explanation.subject = request.config.empty() ? request.model : request.config;
  explanation.detail = built.detail;
  explanation.assumptions = built.assumptions;
  return explanation;
}

namespace {
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
  const int64_t partitions = countIn(text, "mhlo.num_partitions") * countIn(text, "mhlo.num_replicas");
  if (mesh.empty() && partitions > 1) {
    return inputError("{}: the program is made for {} devices, --mesh is not given (1 device)", path,
                      partitions)
        .hint(fmt::format("for example --mesh 2x{}", partitions / 2));
  }
  int64_t devices = mesh.empty() ? 1 : chip.devices_per_chip;
  for (size_t at = 0; at < mesh.size(); at = std::min(mesh.find('x', at), mesh.size() - 1) + 1) {
    devices *= std::strtoll(mesh.c_str() + at, nullptr, 10);
  }
  if (devices < partitions) {
    return inputError("--mesh {}: {} devices of {}, but {} is made for {}", mesh, devices, chip.name, path,
                      partitions);
  }
  return Ok{};
}
}  // namespace

Result<Explanation> explainFile(const std::string& path, const CompileRequest& common) {
  SUBLANE_TRY(const chips::Chip* chip, chips::findChip(common.chip));
  SUBLANE_TRY(std::string text, readFile(path));
  if (text.empty())
    return inputError("{}: an empty file", path)
        .hint("StableHLO text, as jax.jit(f).lower(x).as_text() gives");
  SUBLANE_CHECK_OK(checkShapes(path, text));
  SUBLANE_CHECK_OK(checkMesh(path, text, common.mesh, *chip));
  const std::string name = std::filesystem::path(path).filename().string();
  Result<Explanation> explanation = explainPrograms({{name, "", text}}, common);
  if (!explanation.ok()) return explanation;
  explanation->subject = path;
  if (!common.mesh.empty()) {
    explanation->detail = fmt::format("mesh {}, {} partitions; all figures are of one device", common.mesh,
                                      countIn(text, "mhlo.num_partitions"));
    explanation->assumptions.push_back(
        "the links between chips cost nothing here: collectives are not priced");
  }
  for (Row& row : explanation->steps[0].rows) {  // without names of its own, lines of the text itself
    if (row.source.substr(0, 2) == "-:") row.source = name + row.source.substr(1);
  }
  return explanation;
}

}  // namespace sublane::report
