#include "report/simulate.h"

#include <cmath>
#include <filesystem>
#include <memory>

#include "base/sha256.h"
#include "report/anatomy_of.h"
#include "report/brought.h"
#include "report/class_error.h"
#include "report/compile.h"
#include "report/event_lines.h"
#include "report/output_values.h"
#include "report/program_inputs.h"
#include "report/simulated_rows.h"

namespace sublane::report {
namespace {

/// What all steps of a run share.
struct Context {
  const chips::Chip* chip = nullptr;
  const SimulateOptions* options = nullptr;
  std::optional<sim::ChipModel> model;
  std::string no_model;  // why
  std::vector<io::NpyArray> arrays, expected;
  std::optional<EventLines> events;
  std::string compiler;
  std::vector<int64_t> slice;  // chips along each axis
  std::function<void(std::string_view)> progress;
  const std::atomic<bool>* cancel = nullptr;

  bool stopped() const { return cancel != nullptr && cancel->load(); }

  /// Only the bundles can answer: no lower rung will do.
  bool needsBundles() const {
    return options->values || !options->without.empty() || !options->events.empty() ||
           options->dma == sim::DmaTiming::kCompiler || options->mode != sim::Mode::kPacked;
  }
};

Result<sim::Inputs> inputsFor(const Context& context, const StepProgramText& program,
                              const llo::HloModule& module) {
  if (!context.options->inputs.empty()) return inputsOf(context.arrays, module, context.options->inputs);
  return inputsOf(program.inputs, module);
}

/// Why the bundles could not be executed, for one who may help it.
Error withHint(Error error, const llo::HloModule& module, const sim::Inputs& inputs) {
  const std::string missing = missingIntegers(module, inputs);
  if (!missing.empty()) return std::move(error).hint(missing + "; --inputs FILE.npz gives them");
  return error;
}

/// A compiled program, whoever compiled it.
struct Compiled {
  const StepProgramText& text;
  std::shared_ptr<const llo::HloModule> module;
  std::vector<pjrt::DumpFile> dump;
  std::string no_listings;  // why there are none
};

/// For all that want the events of a step; empty: none does.
EventSink sinkOf(Context& context, const std::string& step, const llo::Program& program) {
  EventSink lines, other;
  if (context.events) lines = context.events->sinkFor(step, program);
  if (context.options->sink_for) other = context.options->sink_for(step, program, *context.model);
  if (!lines || !other) return lines ? lines : other;
  return [lines, other](const events::Event& event) {
    lines(event);
    other(event);
  };
}

/// The top rung.
Result<SimulatedStep> executed(Context& context, Compiled& compiled, const Step& priced,
                               const sim::Inputs& inputs) {
  if (context.options->estimates) return inputError("estimates are asked for");
  if (!compiled.no_listings.empty()) return machineError("{}", compiled.no_listings);
  if (!context.model) return inputError("{}", context.no_model);
  SUBLANE_TRY(const llo::Program program,
              llo::readProgram(compiled.dump, *compiled.module,
                               {.chip = context.chip->name, .compiler = context.compiler}));
  compiled.dump.clear();  // the text of a large program is 40 MB
  sim::Options options{.dma = context.options->dma,
                       .mode = context.options->mode,
                       .without = context.options->without,
                       .values = context.options->values,
                       .track_writers = !context.options->expect.empty(),
                       .inputs = inputs,
                       .most_bundles = context.options->most_bundles,
                       .cancel = context.cancel,
                       .slice = context.slice};
  options.sink = sinkOf(context, compiled.text.name, program);
  if (context.progress) context.progress(fmt::format("executing {}", compiled.text.name));
  Result<sim::Run> run = sim::simulate(program, *context.model, options);
  if (!run.ok()) return withHint(std::move(run).error(), program.module, inputs);
  SimulatedStep step = simulatedStep(*run, program, priced, *context.chip, *context.model);
  step.anatomy =
      anatomyOf({*run, program, step, *context.chip, *context.model, context.options->bundle_texts});
  if (context.options->values) {
    SUBLANE_TRY(step.outputs, outputValues(program.module, run->outputs));
    if (!context.options->expect.empty())
      SUBLANE_CHECK_OK(compareOutputs(program, *run, context.expected, *context.options, step.outputs));
  }
  return step;
}

/// Executed if that can be, else as it was priced.
Result<SimulatedStep> simulatedProgram(Context& context, Compiled& compiled, const Step& priced) {
  SUBLANE_TRY(sim::Inputs inputs, inputsFor(context, compiled.text, *compiled.module));
  const bool assume = context.options->assume_scalars && context.options->inputs.empty();
  const std::string assumed = assume ? assumeScalars(*compiled.module, inputs) : "";
  if (context.options->values) {
    const std::string missing = missingArguments(*compiled.module, inputs);
    if (!missing.empty())
      return inputError("{}: --values needs every argument; {}", compiled.text.name, missing)
          .hint("--inputs FILE.npz gives them");
  }
  Result<SimulatedStep> step = executed(context, compiled, priced, inputs);
  if (step.ok()) {
    nameKernels(*step, compiled.text.name, compiled.text.stablehlo);
    const bool as_is = context.options->without.empty() && context.options->dma == sim::DmaTiming::kShared &&
                       context.options->mode == sim::Mode::kPacked;  // which the points were fitted with
    setError(*step, as_is ? readClassErrors(sim::chipModelText(context.chip->name)) : ClassErrors{});
    if (!as_is) step->unknown_class.clear();
  } else if (context.needsBundles() || context.stopped()) {
    return std::move(step).error().at(compiled.text.name);
  } else {
    step = estimatedStep(priced, step.error().message(), step.error().hint());
  }
  if (!assumed.empty() && step->rung == Rung::kBundles)
    step->notes.push_back(assumed + "; --inputs FILE.npz gives them");
  step->module = compiled.module;
  addBuffers(*compiled.module, step->anatomy);
  return step;
}

Result<SimulatedStep> simulatedProgram(Context& context, const StepProgramText& text,
                                       CompiledProgram program) {
  SUBLANE_TRY(llo::HloModule module, llo::readHloModule(program.result.optimized_hlo));
  program.result.optimized_hlo.clear();
  SUBLANE_TRY(Step priced, pricedStep(text, module, program.result.memory, *context.chip));
  priced.fingerprint = program.result.fingerprint;
  Compiled compiled{.text = text,
                    .module = std::make_shared<const llo::HloModule>(std::move(module)),
                    .dump = std::move(program.result.dump),
                    .no_listings = std::move(program.no_listings)};
  return simulatedProgram(context, compiled, priced);
}

Result<Context> contextOf(const CompileRequest& common, const SimulateOptions& options) {
  Context context;
  SUBLANE_TRY(context.chip, chips::findChip(common.chip));
  context.options = &options;
  context.progress = common.progress;
  context.cancel = common.cancel;
  context.slice = chipsAlongAxes(common.mesh);
  Result<sim::ChipModel> model = sim::chipModel(common.chip);
  if (model.ok()) {
    context.model = std::move(*model);
  } else {
    context.no_model = model.error().message();
  }
  if (!options.inputs.empty()) {
    SUBLANE_TRY(context.arrays, io::readNpz(options.inputs));
  }
  if (!options.expect.empty()) {
    SUBLANE_TRY(context.expected, io::readNpz(options.expect));
  }
  if (!options.events.empty()) {
    SUBLANE_TRY(EventLines events, EventLines::create(options.events));
    context.events.emplace(std::move(events));
  }
  return context;
}

/// What is the same whoever compiled it.
Simulation simulationWithout(const Context& context, const CompileRequest& common) {
  Simulation simulation;
  simulation.chip = context.chip;
  simulation.flags = flagTexts(common);
  simulation.without = context.options->without_names;
  simulation.dma = context.options->dma;
  simulation.mode = context.options->mode;
  if (context.model) {
    simulation.model_hash = context.model->hash;
    simulation.clock_hz = context.model->clock_hz;
  } else {
    simulation.clock_hz = context.chip->clock_hz;
  }
  return simulation;
}

Result<Simulation> simulatePrograms(const std::vector<StepProgramText>& programs,
                                    const CompileRequest& common, const SimulateOptions& options) {
  SUBLANE_TRY(Context context, contextOf(common, options));
  SUBLANE_TRY(std::vector<CompiledProgram> compiled,
              compilePrograms(programs, common, *context.chip, !options.estimates));
  Simulation simulation = simulationWithout(context, common);
  for (size_t i = 0; i < programs.size(); ++i) {
    context.compiler = simulation.compiler = compilerName(compiled[i].result.platform_version);
    SUBLANE_TRY(SimulatedStep step, simulatedProgram(context, programs[i], std::move(compiled[i])));
    simulation.steps.push_back(std::move(step));
  }
  if (context.events) SUBLANE_CHECK_OK(context.events->finish());
  return simulation;
}

Status pickStep(std::vector<StepProgramText>& steps, const std::string& wanted) {
  if (wanted.empty()) return Ok{};
  std::string known;
  for (const StepProgramText& step : steps) known += (known.empty() ? "" : ", ") + step.name;
  std::erase_if(steps, [&](const StepProgramText& step) { return step.name != wanted; });
  if (steps.empty())
    return inputError("--step {}: the model has no such step", wanted).hint("one of " + known);
  return Ok{};
}

}  // namespace

Result<Simulation> simulateModel(const ModelRequest& request, const SimulateOptions& options) {
  SUBLANE_CHECK_OK(chips::findChip(request.common.chip));
  if (!request.common.mesh.empty())
    return inputError("--mesh {}: the steps of a model are built for one device so far", request.common.mesh);
  if (!options.inputs.empty()) {
    return inputError("--inputs {}: the steps of a model get theirs from --batch and --context",
                      options.inputs)
        .hint("a program (FILE.mlir) takes inputs");
  }
  if (options.values) {
    return inputError("--values: the steps of a model are executed for time so far")
        .hint("a program (FILE.mlir) with --inputs FILE.npz is executed for values");
  }
  if (request.common.progress) request.common.progress("building the steps");
  SUBLANE_TRY(ModelPrograms built, buildPrograms(request));
  SUBLANE_CHECK_OK(pickStep(built.steps, options.step));
  SUBLANE_TRY(Simulation simulation, simulatePrograms(built.steps, request.common, options));
  simulation.subject = request.config.empty() ? request.model : request.config;
  simulation.detail = built.detail;
  simulation.layers_in_loop = request.layers_in_loop;
  simulation.assumptions = built.assumptions;
  simulation.assumptions.emplace_back(
      "every sequence has the whole context; its pages lie one after another");
  return simulation;
}

Result<Simulation> simulateFile(const std::string& path, const CompileRequest& common,
                                const SimulateOptions& options) {
  SUBLANE_TRY(const chips::Chip* chip, chips::findChip(common.chip));
  if (!options.step.empty()) return inputError("--step {}: a program has no steps", options.step);
  SUBLANE_TRY(std::string text, readProgramText(path, common.mesh, *chip));
  const std::string name = std::filesystem::path(path).filename().string();
  SUBLANE_TRY(Simulation simulation, simulatePrograms({{name, "", text}}, common, options));
  simulation.subject = path;
  if (!common.mesh.empty())
    simulation.detail =
        fmt::format("mesh {}, {} partitions; one device of it", common.mesh, partitionsOf(text));
  for (SimulatedRow& row : simulation.steps[0].rows) {
    if (row.row.source.substr(0, 2) == "-:") row.row.source = name + row.row.source.substr(1);
  }
  return simulation;
}

Result<Simulation> simulateBrought(const std::string& path, const std::string& module,
                                   const CompileRequest& common, const SimulateOptions& options) {
  if (!options.step.empty()) return inputError("--step {}: a program has no steps", options.step);
  if (!common.compile_options.empty()) {
    return inputError("--compile-option: {} is compiled already", path)
        .hint("give the program's StableHLO, and it is compiled with the flag");
  }
  SUBLANE_TRY(Context context, contextOf(common, options));
  SUBLANE_TRY(BroughtProgram brought, readBrought(path, module));
  Simulation simulation = simulationWithout(context, common);
  simulation.subject = path;
  simulation.detail =
      fmt::format("{}, module {}, for {} as you say", brought.form, brought.name, common.chip);
  simulation.compiler = "whoever made " + path;
  context.compiler = simulation.compiler;
  const StepProgramText text{.name = brought.name, .bucket = "", .stablehlo = ""};
  SUBLANE_TRY(const Step priced, pricedStep(text, brought.module, std::nullopt, *context.chip));
  Compiled compiled{.text = text,
                    .module = std::make_shared<const llo::HloModule>(std::move(brought.module)),
                    .dump = std::move(brought.dump)};
  if (compiled.dump.empty()) compiled.no_listings = "there are no listings of libtpu beside it";
  SUBLANE_TRY(SimulatedStep step, simulatedProgram(context, compiled, priced));
  step.notes.insert(step.notes.end(), brought.notes.begin(), brought.notes.end());
  simulation.steps.push_back(std::move(step));
  if (context.events) SUBLANE_CHECK_OK(context.events->finish());
  return simulation;
}

}  // namespace sublane::report
