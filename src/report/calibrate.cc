#include "report/calibrate.h"

#include <cmath>
#include <memory>
#include <sstream>

#include "report/compile.h"
#include "report/program_inputs.h"

namespace sublane::report {
namespace {

/// A point that is ready to be simulated again and again.
struct Ready {
  llo::Program program;
  sim::Inputs inputs;
  std::string scope;

  /// Device time as it was measured: of the operations in scope, or from the first to the last.
  Result<double> us(const sim::ChipModel& model, const std::atomic<bool>* cancel) const {
    SUBLANE_TRY(const sim::Run run, sim::simulate(program, model, {.inputs = inputs, .cancel = cancel}));
    if (scope.empty()) return run.us - model.launch_us;
    int64_t cycles = 0;
    for (const sim::OpTime& op : run.ops) {
      if (op.traced >= 0 && program.traced[static_cast<size_t>(op.traced)].name.starts_with(scope))
        cycles += op.cycles;
    }
    if (cycles == 0) return inputError("no operation is named {}...", scope);
    return static_cast<double>(cycles) / model.clock_hz * 1e6;
  }
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

Status setOptions(const std::string& options, CompileRequest& request) {
  for (const std::string& option : words(options)) {
    const size_t equal = option.find('=');
    if (equal == std::string::npos) return inputError("option {}: not of the form flag=value", option);
    const std::string value = option.substr(equal + 1);
    char* end = nullptr;
    const int64_t number = std::strtoll(value.c_str(), &end, 10);
    if (*end == 0 && !value.empty()) {
      request.compile_options[option.substr(0, equal)] = number;
    } else {
      request.compile_options[option.substr(0, equal)] = value;
    }
  }
  return Ok{};
}

Result<std::unique_ptr<Ready>> prepare(const CalibrationPoint& point, const CompileRequest& common) {
  CompileRequest request = common;
  request.chip = point.chip;
  SUBLANE_CHECK_OK(setOptions(point.options, request));
  SUBLANE_TRY(const chips::Chip* chip, chips::findChip(point.chip));
  SUBLANE_TRY(std::string text, readProgramText(point.program, {}, *chip));
  SUBLANE_TRY(auto compiled, compilePrograms({{.name = point.key, .stablehlo = text}}, request, *chip, true));
  if (!compiled[0].no_listings.empty()) return machineError("{}", compiled[0].no_listings);
  SUBLANE_TRY(llo::HloModule module, llo::readHloModule(compiled[0].result.optimized_hlo));
  auto ready = std::make_unique<Ready>();
  ready->scope = point.scope;
  if (!point.inputs.empty()) {
    SUBLANE_TRY(const auto arrays, io::readNpz(point.inputs));
    SUBLANE_TRY(ready->inputs, inputsOf(arrays, module, point.inputs));
  }
  SUBLANE_TRY(
      ready->program,
      llo::readProgram(compiled[0].result.dump, std::move(module),
                       {.chip = point.chip, .compiler = compilerName(compiled[0].result.platform_version)}));
  return ready;
}

/// The chip's model as its sources have it, without what an earlier fit found.
Result<sim::ChipModel> unfittedModel(const std::string& chip) {
  std::string text(sim::chipModelText(chip));
  const size_t fitted = text.find("\"fitted\"");
  if (fitted == std::string::npos) return sim::chipModel(chip);
  return sim::readChipModel(text.substr(0, fitted) + "\"fitted\": {}}", chip + ".json");
}

}  // namespace

std::vector<sim::FitParameter> fitParameters() {
  // Priors: how far the value may well be from its source's. Efficiency is 0.9 without a fit and 0.95 of
  // that while HBM is both read and written, so 1/0.9 and 1/0.95 are all.
  return {{.name = "hbm_efficiency", .start = 1, .low = 0.6, .high = 1 / 0.9, .prior = 0.1},
          {.name = "hbm_mixed_efficiency", .start = 1, .low = 0.8, .high = 1 / 0.95, .prior = 0.05},
          {.name = "hbm_run_overhead_bytes", .start = 1, .low = 0.02, .high = 16, .prior = 1},
          {.name = "dma_latency", .start = 1, .low = 0.2, .high = 3, .prior = 0.3}};
}

sim::ChipModel withParameters(sim::ChipModel base, const std::vector<double>& multiples) {
  base.hbm_efficiency = std::min(1.0, base.hbm_efficiency * multiples[0]);
  double& mixed = base.extra.try_emplace("hbm_mixed_efficiency", 1).first->second;
  mixed = std::min(1.0, mixed * multiples[1]);
  base.hbm_run_overhead_bytes *= multiples[2];
  for (double* latency : {&base.read_latency_cycles, &base.write_latency_cycles, &base.small_latency_cycles})
    *latency = std::round(*latency * multiples[3]);
  return base;
}

Result<Calibration> calibrate(const std::vector<CalibrationPoint>& points, const CalibrateOptions& options) {
  SUBLANE_TRY(const sim::ChipModel base, unfittedModel(options.chip));
  Calibration out{.chip = options.chip, .date = options.date, .data = options.data, .model_hash = base.hash};
  out.parameters = fitParameters();
  for (const std::string& name : options.fixed) {
    std::string known;
    bool found = false;
    for (sim::FitParameter& parameter : out.parameters) {
      known += (known.empty() ? "" : ", ") + parameter.name;
      if (name != parameter.name) continue;
      parameter.low = parameter.high = parameter.start;
      found = true;
    }
    if (!found) return inputError("--fix {}: no such parameter", name).hint("parameters: " + known);
  }
  const auto tell = [&](std::string_view what) {
    if (options.common.progress) options.common.progress(what);
  };
  std::vector<std::unique_ptr<Ready>> ready;
  std::vector<sim::FitPoint> fit_points;
  for (const CalibrationPoint& point : points) {
    if (point.chip != options.chip) continue;
    if (options.common.cancel && options.common.cancel->load()) return machineError("calibrate: interrupted");
    tell(point.key);
    Result<std::unique_ptr<Ready>> one = prepare(point, options.common);
    Result<double> us = one.ok() ? (*one)->us(base, options.common.cancel) : Result<double>(one.error());
    if (!us.ok()) {
      out.left_out.emplace_back(point.key, us.error().message());
      continue;
    }
    ready.push_back(std::move(*one));
    out.points.push_back(point);
    fit_points.push_back({.key = point.key,
                          .kernel = point.kernel,
                          .group = point.kind,
                          .measured_us = point.measured_us,
                          .host_source = point.host_timed ? point.source : ""});
  }
  if (ready.empty())
    return inputError("calibrate: no point of {} can be simulated", options.chip)
        .hint(out.left_out.empty() ? "the file has none of this chip"
                                   : out.left_out[0].first + ": " + out.left_out[0].second);
  int round = 0;
  const sim::Predict predict = [&](const std::vector<double>& values) -> Result<std::vector<double>> {
    tell(fmt::format("{}: setting {} of about {}", options.chip, ++round, 4 * out.parameters.size() + 4));
    const sim::ChipModel model = withParameters(base, values);
    std::vector<double> us;
    for (size_t i = 0; i < ready.size(); ++i) {
      Result<double> one = ready[i]->us(model, options.common.cancel);
      if (!one.ok()) return std::move(one).error().at(out.points[i].key);
      us.push_back(*one);
    }
    return us;
  };
  SUBLANE_TRY(out.fit, sim::fit(fit_points, out.parameters, predict, {}));
  std::vector<double> found;
  for (const sim::FittedParameter& parameter : out.fit.parameters) found.push_back(parameter.value);
  out.fitted = withParameters(base, found);
  return out;
}

}  // namespace sublane::report
