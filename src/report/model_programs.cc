// A model's decode and prefill steps as StableHLO text.
#include <algorithm>

#include "chips/chips.h"
#include "io/checkpoint.h"
#include "lower/lower.h"
#include "models/models.h"
#include "passes/passes.h"
#include "report/fit_layers.h"
#include "report/request.h"

namespace sublane::report {
namespace {

// Of weights that are not there: what is larger is cut, so that the compile ends on any machine.
constexpr double kMostWeightBytes = 24e9;
constexpr double kShareForWeights =
    0.75;  // of what a program may have: the rest is for the cache and temporaries

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

/// What the rows of a step hold: `tokens` new ones each, the last of `context`.
struct Fill {
  int64_t tokens = 1, context = 1;
};

/// The step inputs by name, as models.h lists them. Row s has pages s * P, s * P + 1, ...
std::map<std::string, std::vector<int32_t>> filled(const models::StepShape& shape, const Fill& fill,
                                                   int64_t vocabulary) {
  std::map<std::string, std::vector<int32_t>> inputs;
  const auto put = [&](const char* name, int64_t value) {
    inputs[name].push_back(static_cast<int32_t>(value));
  };
  for (int64_t row = 0; row < shape.sequences; ++row) {
    for (int64_t column = 0; column < fill.tokens; ++column) {
      const int64_t token = row * fill.tokens + column, position = fill.context - fill.tokens + column;
      put("tokens", token * 977 % vocabulary);  // distinct rows of the embedding
      put("positions", position);
      put("token_sequence", row);
      put("token_column", column);
      put("query_token", token);
      put("kv_slots", row * shape.pages_per_sequence * shape.page_size + position);
    }
    for (int64_t page = 0; page < shape.pages_per_sequence; ++page)
      put("page_table", row * shape.pages_per_sequence + page);
    put("lengths", fill.context);
    put("state_slots", row);
    put("logit_token", (row + 1) * fill.tokens - 1);
  }
  return inputs;
}

/// Builds and lowers one step, and fills its inputs.
Status buildProgram(const models::DecoderConfig& config, const models::StepShape& shape, const Fill& fill,
                    const ModelRequest& request, io::Container container, StepProgramText& program) {
  models::StepOptions options;
  options.weights = options.activations = options.cache = request.dtype;
  options.layers_in_loop = request.layers_in_loop;
  SUBLANE_TRY(models::StepProgram step, models::buildStep(config, shape, options, container));
  SUBLANE_TRY(auto reports, passes::runPipeline(step.graph));
  (void)reports;
  std::map<std::string, std::vector<int32_t>> inputs = filled(shape, fill, config.vocabulary);
  for (size_t i = 0; i < step.graph.parameters.size(); ++i) {
    const auto input = inputs.find(step.graph.parameters[i].name);
    if (input != inputs.end()) program.inputs[static_cast<int32_t>(i)] = std::move(input->second);
  }
  SUBLANE_TRY(program.stablehlo, lower::toStableHlo(step.graph));
  return Ok{};
}

}  // namespace

Result<ModelPrograms> buildPrograms(const ModelRequest& given) {
  ModelRequest request = given;
  const bool shapes_only = !request.config.empty();
  SUBLANE_TRY(io::Checkpoint checkpoint,
              shapes_only ? io::openConfig(request.config) : io::openCheckpoint(request.model));
  SUBLANE_TRY(models::DecoderConfig config, models::readConfig(checkpoint));
  if (!shapes_only) SUBLANE_CHECK_OK(models::checkTensors(checkpoint, config));
  std::string cut_note;
  const int64_t all_layers = config.layers;
  if (shapes_only && request.common.mesh.empty()) {
    SUBLANE_TRY(const chips::Chip* chip, chips::findChip(request.common.chip));
    CutModel cut = cutToFit(config, formats::bytesPerElement(request.dtype),
                            std::min(kMostWeightBytes, kShareForWeights * chip->hbm_usable_bytes));
    config = std::move(cut.config);
    cut_note = std::move(cut.note);
  }
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
  decode.state_slots = prefill.state_slots = request.batch;

  ModelPrograms programs;
  const std::string layers = cut_note.empty() ? fmt::format("{} layers", config.layers)
                                              : fmt::format("{} of {} layers", config.layers, all_layers);
  programs.detail = fmt::format("{}, {} {}, {} weights and cache, greedy sampling{}", config.model, layers,
                                request.layers_in_loop ? "in a loop" : "unrolled", dtypeName(request.dtype),
                                shapes_only ? ", shapes only" : "");
  programs.assumptions = config.assumptions;
  if (!cut_note.empty()) programs.assumptions.push_back(cut_note);
  if (!shapes_only)
    programs.assumptions.push_back(
        fmt::format("packed weights are widened to {} at load", dtypeName(request.dtype)));
  StepProgramText decode_program{"decode",
                                 fmt::format("{} sequences, a token each, context {}, {} pages of {}",
                                             request.batch, request.context, decode.pages, request.page_size),
                                 ""};
  StepProgramText prefill_program{"prefill",
                                  fmt::format("1 sequence of {} tokens, {} pages of {}",
                                              request.prefill_tokens, prefill.pages, request.page_size),
                                  ""};
  SUBLANE_CHECK_OK(
      buildProgram(config, decode, {1, request.context}, request, checkpoint.container, decode_program));
  SUBLANE_CHECK_OK(buildProgram(config, prefill, {request.prefill_tokens, request.prefill_tokens}, request,
                                checkpoint.container, prefill_program));
  programs.steps = {std::move(decode_program), std::move(prefill_program)};
  return programs;
}

}  // namespace sublane::report
