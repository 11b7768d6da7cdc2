#include "cli/model_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <fstream>

#include <fmt/ranges.h>

#include "report/brought.h"

#include "gate/log.h"

namespace sublane::cli {
namespace {

/// A file's shapes are its own: an option that would be ignored is a mistake.
Status refuseSizes(const CLI::App& verb, std::string_view name, const std::string& subject) {
  for (const char* option :
       {"--batch", "--context", "--prefill-tokens", "--page-size", "--layers", "--dtype"}) {
    if (verb.count(option) > 0)
      return inputError("{} {}: {} is of a model's steps; a program has its own shapes", name, subject,
                        option);
  }
  return Ok{};
}

/// "true", "3", "0.5" or text, as libtpu's flags are.
pjrt::OptionValue valueOf(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc() && at == end)
    return whole;
  double real = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, real); error == std::errc() && at == end)
    return real;
  return text;
}

Status readCompileOptions(std::string_view name, ModelOptions& options) {
  for (const std::string& option : options.compile_options) {
    const size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      return inputError("{}: --compile-option {}: not of the form flag=value", name, option)
          .hint("for example --compile-option xla_tpu_scoped_vmem_limit_kib=65536");
    }
    options.request.common.compile_options[option.substr(0, equals)] = valueOf(option.substr(equals + 1));
  }
  return Ok{};
}

}  // namespace

bool ModelOptions::isProgram() const {
  if (subject.ends_with(".mlir") || subject.ends_with(".stablehlo")) return true;
  std::ifstream file(subject);
  std::string word;
  return file && file >> word && (word == "module" || word == "module{" || word.substr(0, 4) == "#loc");
}

bool ModelOptions::isBrought() const { return !isProgram() && report::looksBrought(subject); }

void addModelOptions(CLI::App& verb, ModelOptions& options) {
  report::ModelRequest& request = options.request;
  const CLI::Range sizes(int64_t{1}, int64_t{1} << 24);
  verb.add_option(
      "MODEL", options.subject,
      "A model's name, a .gguf file, a directory, StableHLO text (.mlir), optimised HLO, or dumps");
  verb.add_option("--module", options.module, "Of a directory of dumps with several: which one");
  verb.add_option("--chip", request.common.chip, "v4, v5e, v5p, v6e or tpu7x")->required();
  verb.add_option("--mesh", request.common.mesh, "Chips of the slice, as 2x4, for a program with shardings");
  verb.add_option("--config", request.config, "A config.json instead of a model: shapes only");
  verb.add_option("--batch", request.batch, "Sequences of the decode step")
      ->check(sizes)
      ->capture_default_str();
  verb.add_option("--context", request.context,
                  "Tokens of each in the cache (default 1024, or the model's most)")
      ->check(sizes);
  verb.add_option("--prefill-tokens", request.prefill_tokens,
                  "Tokens of the prefill step (default 512, or the model's most)")
      ->check(sizes);
  verb.add_option("--page-size", request.page_size, "Tokens of a page of the cache")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 12))
      ->capture_default_str();
  verb.add_option("--layers", options.layers, "unrolled, or loop: compiles faster, copies the cache")
      ->check(CLI::IsMember({"unrolled", "loop"}))
      ->capture_default_str();
  verb.add_option("--dtype", options.dtype, "Of weights, activations and cache: bf16 or f32")
      ->check(CLI::IsMember({"bf16", "f32"}))
      ->capture_default_str();
  verb.add_option("--compile-option", options.compile_options,
                  "A flag of this compile, as xla_flag=value; may repeat")
      ->allow_extra_args(false)
      ->type_name("FLAG=VALUE");
  verb.add_option("--top", options.text.top, "Lines of rows a step; 0: all")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 24))
      ->capture_default_str();
  verb.add_option("--format", options.format, fmt::format("{}", fmt::join(options.formats, ", ")))
      ->check(CLI::IsMember(options.formats));
  verb.add_flag("--redact", options.redact, "Strip names, places, files and results from what is printed");
  verb.add_option("--note", options.note, "A note for the log (sublane log)");
  verb.add_flag_callback("--json", [&options] { options.format = "json"; }, "Short for --format json");
}

Status fillRequest(std::string_view name, ModelOptions& options) {
  report::ModelRequest& request = options.request;
  request.model = options.subject;
  request.layers_in_loop = options.layers == "loop";
  request.dtype = options.dtype == "bf16" ? formats::DType::kBF16 : formats::DType::kF32;
  return readCompileOptions(name, options);
}

Status readModelOptions(const CLI::App& verb, std::string_view name, ModelOptions& options) {
  report::ModelRequest& request = options.request;
  if (options.subject.empty() == request.config.empty()) {
    return inputError("{}: give a MODEL or FILE.mlir, or --config FILE, and not both", name)
        .hint(fmt::format("sublane {} smollm2-135m --chip v6e", name));
  }
  if (!options.note.empty() && !gate::logHere()) {
    return inputError("{}: --note: there is no log here", name).hint("sublane log init makes one");
  }
  if (isatty(STDERR_FILENO)) {  // lines only where someone watches
    request.common.progress = [name](std::string_view what) { fmt::print(stderr, "{}: {}\n", name, what); };
  }
  SUBLANE_CHECK_OK(fillRequest(name, options));
  const bool program = options.isProgram() || options.isBrought();
  return program ? refuseSizes(verb, name, options.subject) : Status(Ok{});
}

Result<report::Simulation> simulationOf(const ModelOptions& model, const report::SimulateOptions& options) {
  if (model.isBrought())
    return report::simulateBrought(model.subject, model.module, model.request.common, options);
  if (!model.module.empty())
    return inputError("--module {}: {} is no directory of dumps", model.module, model.subject);
  return model.isProgram() ? report::simulateFile(model.subject, model.request.common, options)
                           : report::simulateModel(model.request, options);
}

}  // namespace sublane::cli
