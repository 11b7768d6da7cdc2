#include "sim/fit.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace sublane::sim {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// x of a x = b for a small symmetric positive matrix: Gauss with pivots. Rows without a pivot give 0.
Vector solve(Matrix a, Vector b) {
  const size_t n = b.size();
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column; row < n; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    if (std::abs(a[column][column]) < 1e-14) continue;
    for (size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column] / a[column][column];
      for (size_t k = column; k < n; ++k) a[row][k] -= factor * a[column][k];
      b[row] -= factor * b[column];
    }
  }
  for (size_t i = 0; i < n; ++i) b[i] = std::abs(a[i][i]) < 1e-14 ? 0 : b[i] / a[i][i];
  return b;
}

/// The state of a fit around one set of parameters.
struct Around {
  Vector logs;       // of the parameters
  Vector predicted;  // us, launch constants included
  Vector residual;   // log(predicted / measured)
  std::map<std::string, double> launch_us;
};

class Fitter {
 public:
  Fitter(const std::vector<FitPoint>& points, const std::vector<FitParameter>& parameters,
         const Predict& predict, const FitOptions& options)
      : points_(points), parameters_(parameters), predict_(predict), options_(options) {}

  Result<Fit> run();

 private:
  Status check() const;
  Result<Around> at(const Vector& logs) const;
  Result<Matrix> derivatives(const Around& around) const;
  void chooseFree(const Matrix& derivative);
  Vector weights(const Vector& residual) const;
  /// Step of the logarithms that the points outside `without` (a kernel) ask for.
  Vector step(const Around& around, const Matrix& derivative, const std::string* without) const;
  Matrix normal(const Matrix& derivative, const Vector& weight, const std::string* without) const;
  double loss(const Around& around) const;
  Vector clamp(Vector logs) const;
  Vector heldOut(const Around& around, const Matrix& derivative) const;
  void standardErrors(const Around& around, const Matrix& derivative, Fit& found) const;
  std::vector<FitResidual> residuals(const Vector& start, const Fit& found) const;
  PairedError paired(const std::vector<size_t>& members, const Fit& found, bool one_kernel) const;

  const std::vector<FitPoint>& points_;
  const std::vector<FitParameter>& parameters_;
  const Predict& predict_;
  const FitOptions& options_;
  std::vector<FittedParameter> facts_;
};

Status Fitter::check() const {
  if (points_.empty()) return inputError("fit: no points");
  for (const FitPoint& point : points_) {
    if (!(point.measured_us > 0)) return inputError("fit: {}: measured {} us", point.key, point.measured_us);
  }
  for (const FitParameter& p : parameters_) {
    if (!(p.low > 0 && p.low <= p.start && p.start <= p.high)) {
      return inputError("fit: {}: start {} is not within {} and {}, all positive", p.name, p.start, p.low,
                        p.high);
    }
  }
  return Ok{};
}

/// A source's launch constants are found from the points without a class, where it has so many.
constexpr size_t kLeastLaunches = 3;

/// Predicts, and gives host-timed points their source's launch constant: the median of what is missing.
Result<Around> Fitter::at(const Vector& logs) const {
  Vector values;
  for (double log : logs) values.push_back(std::exp(log));
  SUBLANE_TRY(Vector predicted, predict_(values));
  if (predicted.size() != points_.size())
    return inputError("fit: {} predictions for {} points", predicted.size(), points_.size());
  std::map<std::string, Vector> missing, of_launches;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (!(predicted[i] > 0)) return inputError("fit: {}: predicted {} us", points_[i].key, predicted[i]);
    if (points_[i].host_source.empty()) continue;
    auto& side = points_[i].group.empty() ? of_launches : missing;
    side[points_[i].host_source].push_back(points_[i].measured_us - predicted[i]);
  }
  for (auto& [source, us] : of_launches) {
    if (us.size() >= kLeastLaunches || !missing.contains(source)) missing[source] = std::move(us);
  }
  Around around{.logs = logs, .predicted = std::move(predicted), .residual = {}, .launch_us = {}};
  for (const auto& [source, us] : missing) around.launch_us[source] = std::max(0.0, quantile(us, 0.5));
  for (size_t i = 0; i < points_.size(); ++i) {
    if (!points_[i].host_source.empty()) around.predicted[i] += around.launch_us[points_[i].host_source];
    around.residual.push_back(std::log(around.predicted[i] / points_[i].measured_us));
  }
  return around;
}

Result<Matrix> Fitter::derivatives(const Around& around) const {
  Matrix derivative(points_.size(), Vector(parameters_.size()));
  for (size_t p = 0; p < parameters_.size(); ++p) {
    // Away from a limit, so that the difference is never taken of a clamped value.
    Vector moved = around.logs;
    const double high = std::log(parameters_[p].high);
    const double by = moved[p] + options_.difference <= high ? options_.difference : -options_.difference;
    moved[p] += by;
    SUBLANE_TRY(Around there, at(moved));
    for (size_t i = 0; i < points_.size(); ++i)
      derivative[i][p] = (there.residual[i] - around.residual[i]) / by;
  }
  return derivative;
}

/// Marks the parameters that enough points of enough kernels are sensitive to.
void Fitter::chooseFree(const Matrix& derivative) {
  facts_.clear();
  for (size_t p = 0; p < parameters_.size(); ++p) {
    FittedParameter facts{.name = parameters_[p].name};
    std::set<std::string> kernels;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].group.empty() || std::abs(derivative[i][p]) < options_.sensitive) continue;
      ++facts.points;
      kernels.insert(points_[i].kernel);
    }
    facts.kernels = static_cast<int>(kernels.size());
    const bool free = parameters_[p].low < parameters_[p].high;
    facts.fitted = free && facts.points >= options_.least_points && facts.kernels >= options_.least_kernels;
    facts_.push_back(facts);
  }
}

/// Huber's weight by residual, and every class the same in sum.
Vector Fitter::weights(const Vector& residual) const {
  std::map<std::string, double> count;
  for (const FitPoint& point : points_) {
    if (!point.group.empty()) ++count[point.group];
  }
  Vector weight;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].group.empty()) {
      weight.push_back(0);
      continue;
    }
    const double size = std::abs(residual[i]);
    const double robust = size <= options_.huber ? 1 : options_.huber / size;
    weight.push_back(robust * static_cast<double>(points_.size()) /
                     (count[points_[i].group] * static_cast<double>(count.size())));
  }
  return weight;
}

Matrix Fitter::normal(const Matrix& derivative, const Vector& weight, const std::string* without) const {
  const size_t n = parameters_.size();
  const double scale = options_.huber * options_.huber;  // a residual's variance, to weigh the prior against
  Matrix a(n, Vector(n));
  for (size_t i = 0; i < points_.size(); ++i) {
    if (without && points_[i].kernel == *without) continue;
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = 0; q < n; ++q) a[p][q] += weight[i] * derivative[i][p] * derivative[i][q] / scale;
    }
  }
  for (size_t p = 0; p < n; ++p) {
    a[p][p] += 1 / (parameters_[p].prior * parameters_[p].prior);
    if (facts_[p].fitted) continue;
    for (size_t q = 0; q < n; ++q) a[p][q] = a[q][p] = p == q ? 1 : 0;
  }
  return a;
}

Vector Fitter::step(const Around& around, const Matrix& derivative, const std::string* without) const {
  const Vector weight = weights(around.residual);
  const double scale = options_.huber * options_.huber;
  Vector b(parameters_.size());
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (!facts_[p].fitted) continue;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (without && points_[i].kernel == *without) continue;
      b[p] -= weight[i] * derivative[i][p] * around.residual[i] / scale;
    }
    b[p] -= (around.logs[p] - std::log(parameters_[p].start)) / (parameters_[p].prior * parameters_[p].prior);
  }
  return solve(normal(derivative, weight, without), b);
}

double Fitter::loss(const Around& around) const {
  const Vector even = weights(Vector(points_.size(), 0.0));  // of the classes alone
  double sum = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    const double size = std::abs(around.residual[i]) / options_.huber;
    sum += even[i] * (size <= 1 ? 0.5 * size * size : size - 0.5);
  }
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const double away = (around.logs[p] - std::log(parameters_[p].start)) / parameters_[p].prior;
    sum += 0.5 * away * away;
  }
  return sum;
}

Vector Fitter::clamp(Vector logs) const {
  for (size_t p = 0; p < logs.size(); ++p)
    logs[p] = std::clamp(logs[p], std::log(parameters_[p].low), std::log(parameters_[p].high));
  return logs;
}

/// Errors of each point from a refit without its kernel, on the linear model around the fit.
Vector Fitter::heldOut(const Around& around, const Matrix& derivative) const {
  std::map<std::string, Vector> moves;
  Vector errors;
  for (size_t i = 0; i < points_.size(); ++i) {
    const std::string& kernel = points_[i].kernel;
    if (!moves.contains(kernel)) {
      Vector there = around.logs;
      const Vector move = step(around, derivative, &kernel);
      for (size_t p = 0; p < there.size(); ++p) there[p] += move[p];
      there = clamp(there);
      for (size_t p = 0; p < there.size(); ++p) there[p] -= around.logs[p];
      moves[kernel] = there;
    }
    double residual = around.residual[i];
    for (size_t p = 0; p < parameters_.size(); ++p) residual += derivative[i][p] * moves[kernel][p];
    errors.push_back(std::exp(residual) - 1);
  }
  return errors;
}

void Fitter::standardErrors(const Around& around, const Matrix& derivative, Fit& found) const {
  const Matrix a = normal(derivative, weights(around.residual), nullptr);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    FittedParameter facts = facts_[p];
    facts.value = std::exp(around.logs[p]);
    if (facts.fitted) {
      Vector unit(parameters_.size());
      unit[p] = 1;
      facts.standard_error = facts.value * std::sqrt(std::max(0.0, solve(a, unit)[p]));
    }
    found.parameters.push_back(facts);
  }
}

PairedError Fitter::paired(const std::vector<size_t>& members, const Fit& found, bool one_kernel) const {
  Vector errors;
  for (size_t i = 0; i < members.size(); ++i) {
    for (size_t j = i + 1; j < members.size(); ++j) {
      const size_t a = members[i], b = members[j];
      if ((points_[a].kernel == points_[b].kernel) != one_kernel) continue;
      if (points_[a].measured_us > 2 * points_[b].measured_us ||
          points_[b].measured_us > 2 * points_[a].measured_us)
        continue;
      errors.push_back(std::expm1(std::abs(std::log1p(found.error[a]) - std::log1p(found.error[b]))));
    }
  }
  return {.pairs = static_cast<int>(errors.size()), .p90 = quantile(std::move(errors), 0.9)};
}

std::vector<FitResidual> Fitter::residuals(const Vector& start, const Fit& found) const {
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (!points_[i].group.empty()) groups[points_[i].group].push_back(i);
  }
  std::vector<FitResidual> out;
  for (const auto& [group, members] : groups) {
    Vector before, after, held;
    FitResidual r{.group = group, .points = static_cast<int>(members.size())};
    for (size_t i : members) {
      before.push_back(std::abs(std::exp(start[i]) - 1));
      after.push_back(std::abs(found.error[i]));
      held.push_back(std::abs(found.held_out_error[i]));
      if (std::abs(found.error[i]) > std::abs(r.worst)) r.worst = found.error[i];
    }
    r.start_median = quantile(before, 0.5);
    r.median = quantile(after, 0.5);
    r.p90 = quantile(after, 0.9);
    r.held_out_median = quantile(held, 0.5);
    r.paired = paired(members, found, true);
    r.paired_between_kernels = paired(members, found, false);
    out.push_back(r);
  }
  return out;
}

Result<Fit> Fitter::run() {
  SUBLANE_CHECK_OK(check());
  Vector logs;
  for (const FitParameter& p : parameters_) logs.push_back(std::log(p.start));
  SUBLANE_TRY(Around around, at(logs));
  const Vector start = around.residual;
  SUBLANE_TRY(Matrix derivative, derivatives(around));
  chooseFree(derivative);
  Fit found;
  double damping = 1;
  while (found.steps < options_.most_steps && damping > 0.05) {
    const Vector move = step(around, derivative, nullptr);
    Vector next = around.logs;
    double largest = 0;
    for (size_t p = 0; p < next.size(); ++p) next[p] += damping * move[p];
    next = clamp(next);
    for (size_t p = 0; p < next.size(); ++p) largest = std::max(largest, std::abs(next[p] - around.logs[p]));
    if (largest < 1e-3) break;
    SUBLANE_TRY(Around there, at(next));
    ++found.steps;
    if (loss(there) > loss(around)) {
      damping /= 2;
      continue;
    }
    around = std::move(there);
    SUBLANE_TRY(derivative, derivatives(around));
  }
  for (double r : around.residual) found.error.push_back(std::exp(r) - 1);
  found.predicted = around.predicted;
  found.launch_us = around.launch_us;
  found.held_out_error = heldOut(around, derivative);
  standardErrors(around, derivative, found);
  found.residuals = residuals(start, found);
  return found;
}

}  // namespace

double quantile(std::vector<double> values, double at) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double where = static_cast<double>(values.size() - 1) * at;
  const size_t low = static_cast<size_t>(where);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (where - static_cast<double>(low));
}

Result<Fit> fit(const std::vector<FitPoint>& points, const std::vector<FitParameter>& parameters,
                const Predict& predict, const FitOptions& options) {
  return Fitter(points, parameters, predict, options).run();
}

}  // namespace sublane::sim
