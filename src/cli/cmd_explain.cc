#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/json.h"
#include "cli/cli.h"
#include "report/explain.h"
#include "report/report.h"

namespace sublane::cli {
namespace {

struct ExplainOptions {
  std::string subject, layers = "unrolled", format = "text", dtype = "bf16";
  report::ModelRequest request;
  report::TextOptions text;
};

/// StableHLO text: by its name, or a file that begins as MLIR does.
bool isProgramText(const std::string& subject) {
  if (subject.ends_with(".mlir") || subject.ends_with(".stablehlo")) return true;
  std::ifstream file(subject);
  std::string word;
  return file && file >> word && (word == "module" || word == "module{" || word.substr(0, 4) == "#loc");
}

/// Lines on stderr, only where someone watches.
std::function<void(std::string_view)> progressLines() {
  if (!isatty(STDERR_FILENO)) return {};
  return [](std::string_view what) { fmt::print(stderr, "explain: {}\n", what); };
}

/// A file's shapes are its own: an option that would be ignored is a mistake.
Status refuseSizes(const CLI::App& verb, const std::string& subject) {
  for (const char* option :
       {"--batch", "--context", "--prefill-tokens", "--page-size", "--layers", "--dtype"}) {
    if (verb.count(option) > 0)
      return inputError("explain {}: {} is of a model's steps; a program has its own shapes", subject,
                        option);
  }
  return Ok{};
}

Status explain(ExplainOptions& options, const CLI::App& verb) {
  report::ModelRequest& request = options.request;
  if (options.subject.empty() == request.config.empty()) {
    return inputError("explain: give a MODEL or FILE.mlir, or --config FILE, and not both")
        .hint("sublane explain smollm2-135m --chip v6e");
  }
  request.model = options.subject;
  request.layers_in_loop = options.layers == "loop";
  request.dtype = options.dtype == "bf16" ? formats::DType::kBF16 : formats::DType::kF32;
  request.common.progress = progressLines();
  if (isProgramText(options.subject)) SUBLANE_CHECK_OK(refuseSizes(verb, options.subject));
  SUBLANE_TRY(report::Explanation explanation, isProgramText(options.subject)
                                                   ? report::explainFile(options.subject, request.common)
                                                   : report::explainModel(request));
  const std::string text =
      options.format == "json" ? report::toJson(explanation) : report::toText(explanation, options.text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Ok{};
}

Action addExplain(CLI::App& verb) {
  auto options = std::make_shared<ExplainOptions>();
  report::ModelRequest& request = options->request;
  const CLI::Range sizes(int64_t{1}, int64_t{1} << 24);
  verb.add_option("MODEL", options->subject,
                  "A model's name, a .gguf file, a directory, or StableHLO text (.mlir)");
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
      ->check(sizes)
      ->capture_default_str();
  verb.add_option("--layers", options->layers, "unrolled, or loop: compiles faster, copies the cache")
      ->check(CLI::IsMember({"unrolled", "loop"}))
      ->capture_default_str();
  verb.add_option("--dtype", options->dtype, "Of weights, activations and cache: bf16 or f32")
      ->check(CLI::IsMember({"bf16", "f32"}))
      ->capture_default_str();
  verb.add_option("--top", options->text.top, "Lines of rows a step; 0: all")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 24))
      ->capture_default_str();
  verb.add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  verb.add_flag_callback("--json", [options] { options->format = "json"; }, "Short for --format json");
  return [options, &verb] { return explain(*options, verb); };
}

}  // namespace

extern const Command cmd_explain;
const Command cmd_explain{"explain", "The cost of a model's steps, or of a program, on a chip", addExplain};

}  // namespace sublane::cli
