// Refits a chip's model to measured times: reads points from a CSV file, simulates each at many settings of
// the few parameters that are physical and not known, and fits those (sim/fit.h).
//
//   SUBLANE_TRY(auto points, readPoints("points.csv"));
//   SUBLANE_TRY(Calibration found, calibrate(points, {.chip = "v6e", .date = "2026-11-30"}));
//   fmt::print("{}", toText(found));
//
// Columns: key, chip, class, kernel, timing (device or host), source, measured_us, scope (prefix of the
// operations that were timed; empty: all), program (StableHLO text), inputs (.npz or empty), options (compile
// options, flag=value, by spaces). bench/fidelity/run.py --points writes such a file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/request.h"
#include "sim/fit.h"
#include "sim/sim.h"

namespace sublane::report {

struct CalibrationPoint {
  std::string key, chip, kind, kernel, source, scope, program, inputs, options;
  bool host_timed = false;
  double measured_us = 0;
};
/// Errors, with file and line: a column that is missing, a time that is no positive number, a quoted field.
Result<std::vector<CalibrationPoint>> readPoints(const std::string& path);
Result<std::vector<CalibrationPoint>> parsePoints(std::string_view text, const std::string& where);

struct CalibrateOptions {
  std::string chip;
  std::string date;                  // goes into the fit
  std::string data;                  // what the points were read from, as the fit names it
  std::vector<std::string> fixed{};  // parameters that keep their value
  CompileRequest common{};           // progress, cancel and compile of the compiles
};

struct Calibration {
  std::string chip, date, data, model_hash;  // of the model that the fit started from
  std::vector<CalibrationPoint> points;      // that were simulated, in the order of fit.error
  std::vector<std::pair<std::string, std::string>> left_out;  // key, why
  std::vector<sim::FitParameter> parameters;
  sim::Fit fit;
  sim::ChipModel fitted;  // the model with what was found
};

/// The parameters that are fitted, as multiples of what the chip's file says without a fit.
std::vector<sim::FitParameter> fitParameters();
/// The model with those multiples.
sim::ChipModel withParameters(sim::ChipModel base, const std::vector<double>& multiples);

/// Errors: no model or no points of the chip; no point that can be simulated. A single point that can't be is
/// left out and named.
Result<Calibration> calibrate(const std::vector<CalibrationPoint>& points, const CalibrateOptions& options);

std::string toText(const Calibration& calibration);
/// sublane.calibrate/1: each chip's fit, its points with both times, and what was left out.
std::string toJson(const std::vector<Calibration>& calibrations);
/// What goes into src/sim/models/<chip>.fit.json: the chip file's "fitted" object.
std::string fitJson(const Calibration& calibration);

}  // namespace sublane::report
