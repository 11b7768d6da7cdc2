// Fits the few physical parameters of a chip model to measured times.
//
// Robust least squares on logarithms: a point's residual is log(predicted / measured), Huber's loss keeps a
// wrong row from pulling, every class weighs the same, and each parameter is held towards its start by a
// prior, so that what the points do not determine stays where its source put it. A parameter that too few
// points or only one kernel are sensitive to is not fitted at all. Held-out errors come from refits without
// the point's kernel (on the model that is linear around the fit).
//
//   FitParameter efficiency{.name = "hbm_efficiency", .start = 0.9, .low = 0.5, .high = 1, .prior = 0.3};
//   SUBLANE_TRY(Fit found, fit(points, {efficiency}, predict, {}));
//   fmt::print("{} +- {}\n", found.parameters[0].value, found.parameters[0].standard_error);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace sublane::sim {

struct FitParameter {
  std::string name;
  double start = 0, low = 0, high = 0;  // positive; the fit works on logarithms
  double prior = 0.5;                   // standard deviation of log(value / start) before any point is seen
};

struct FitPoint {
  std::string key;
  std::string kernel;  // held out together
  std::string group;   // class, what an error is reported for; empty: says only what a launch costs
  double measured_us = 0;
  std::string host_source;  // host-timed: its source, which shares one launch constant; else empty
};

/// Predicted device time of every point in us, for values of the parameters in their order.
using Predict = std::function<Result<std::vector<double>>(const std::vector<double>&)>;

struct FitOptions {
  int most_steps = 8;
  double difference = 0.05;  // of a parameter's logarithm, for derivatives
  double huber = 0.05;       // residuals beyond it count linearly
  double sensitive = 0.02;   // |d log time / d log parameter| of a point that says something
  int least_points = 5;      // that must say something about a parameter, of
  int least_kernels = 2;     // so many kernels
};

struct FittedParameter {
  std::string name;
  double value = 0, standard_error = 0;  // of the value
  int points = 0, kernels = 0;           // that are sensitive to it
  bool fitted = false;                   // else it stayed at its start
};

/// Errors of the ratio of two points of a class, |(predicted a / predicted b) / (measured a / measured b) -
/// 1|, with a and b so that it is above 0: what two points are wrong by alike cancels. Of points whose
/// measured times are within a factor of two, as two versions of a program mostly are.
struct PairedError {
  int pairs = 0;
  double p90 = 0;
};

/// Absolute errors of a class: at the start, after the fit, and with its kernel left out of the fit.
struct FitResidual {
  std::string group;
  int points = 0;
  double start_median = 0, median = 0, p90 = 0, worst = 0, held_out_median = 0;
  PairedError paired, paired_between_kernels;  // pairs of one kernel, and of two
};

struct Fit {
  std::vector<FittedParameter> parameters;
  std::vector<double> predicted, error, held_out_error;  // by point: us, and predicted / measured - 1
  std::map<std::string, double> launch_us;               // by host source
  std::vector<FitResidual> residuals;                    // by class, sorted by name
  int steps = 0;
};

/// Errors: no points, a measured or predicted time that is not positive, a start outside its limits,
/// predict's.
Result<Fit> fit(const std::vector<FitPoint>& points, const std::vector<FitParameter>& parameters,
                const Predict& predict, const FitOptions& options);

/// Linear between order statistics; 0 of nothing.
double quantile(std::vector<double> values, double at);

}  // namespace sublane::sim
