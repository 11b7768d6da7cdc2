#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/calibrate.h"

namespace sublane::report {
namespace {

using Json = nlohmann::ordered_json;

/// The model's fields that a parameter's multiple changes: name, unit, value.
struct FittedField {
  const char* name;
  const char* unit;
  double value;
  size_t parameter;
};
std::vector<FittedField> fields(const sim::ChipModel& m) {
  const auto mixed = m.extra.find("hbm_mixed_efficiency");
  return {{"hbm_efficiency", "share of the peak", m.hbm_efficiency, 0},
          {"hbm_mixed_efficiency", "share of the rest", mixed == m.extra.end() ? 1 : mixed->second, 1},
          {"hbm_run_overhead_bytes", "B", m.hbm_run_overhead_bytes, 2},
          {"read_latency_cycles", "cycles", m.read_latency_cycles, 3},
          {"write_latency_cycles", "cycles", m.write_latency_cycles, 3},
          {"small_latency_cycles", "cycles", m.small_latency_cycles, 3}};
}

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

std::string percent(double x) { return fmt::format("{:+.1f} %", 100 * x); }

std::string verdict(const sim::FittedParameter& p) {
  if (p.fitted) return fmt::format("+- {:.3f}", p.standard_error);
  return "kept: too few points or kernels depend on it";
}

void appendWorst(const Calibration& c, std::string& out) {
  std::vector<size_t> order(c.points.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::erase_if(order, [&](size_t i) { return c.points[i].kind.empty(); });
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(c.fit.error[a]) > std::abs(c.fit.error[b]); });
  out += "\nworst points\n";
  for (size_t i = 0; i < std::min<size_t>(order.size(), 8); ++i) {
    const size_t at = order[i];
    out += fmt::format("  {:<58} {:>10.1f} us {:>10.1f} us {:>9}\n", c.points[at].key,
                       c.points[at].measured_us, c.fit.predicted[at], percent(c.fit.error[at]));
  }
}

}  // namespace

std::string toText(const Calibration& c) {
  std::string out = fmt::format("{}: {} points of {} (measured), model {} without a fit\n\n", c.chip,
                                c.points.size(), c.data, c.model_hash.substr(0, 12));
  out += fmt::format("  {:<24} {:>9}  {}\n", "parameter", "multiple", "of its source's value (fitted)");
  for (const sim::FittedParameter& p : c.fit.parameters) {
    out += fmt::format("  {:<24} {:>9.3f}  {}; {} points of {} kernels depend on it\n", p.name, p.value,
                       verdict(p), p.points, p.kernels);
  }
  for (const auto& [source, us] : c.fit.launch_us)
    out += fmt::format("  launch in {} {:.0f} us (fitted)\n", source, us);
  out += fmt::format("\n  {:<28} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "class", "points", "before",
                     "after", "held out", "p90", "worst", "pairs p90");
  for (const sim::FitResidual& r : c.fit.residuals) {
    out += fmt::format("  {:<28} {:>6} {:>8.1f}% {:>8.1f}% {:>8.1f}% {:>8.1f}% {:>9} {:>8.1f}%\n", r.group,
                       r.points, 100 * r.start_median, 100 * r.median, 100 * r.held_out_median, 100 * r.p90,
                       percent(r.worst), 100 * r.paired.p90);
  }
  appendWorst(c, out);
  if (!c.left_out.empty()) out += fmt::format("\n{} points are left out\n", c.left_out.size());
  for (const auto& [key, why] : c.left_out) out += fmt::format("  {}: {}\n", key, why);
  return out;
}

namespace {

Json fitDocument(const Calibration& c) {
  Json parameters = Json::object(), residuals = Json::array(), launches = Json::object();
  for (const sim::FitResidual& r : c.fit.residuals) {
    const auto paired = [](const sim::PairedError& error) {
      return Json{{"pairs", error.pairs}, {"p90", rounded(error.p90, 1e-4)}};
    };
    residuals.push_back({{"class", r.group},
                         {"points", r.points},
                         {"start_median", rounded(r.start_median, 1e-4)},
                         {"median", rounded(r.median, 1e-4)},
                         {"held_out_median", rounded(r.held_out_median, 1e-4)},
                         {"p90", rounded(r.p90, 1e-4)},
                         {"worst", rounded(r.worst, 1e-4)},
                         {"paired", paired(r.paired)},
                         {"paired_between_kernels", paired(r.paired_between_kernels)}});
  }
  for (const FittedField& f : fields(c.fitted)) {
    const sim::FittedParameter& p = c.fit.parameters[f.parameter];
    if (!p.fitted) continue;
    const double unit = f.value >= 10 ? 1 : 1e-4;
    parameters[f.name] = {{"value", rounded(f.value, unit)},
                          {"unit", f.unit},
                          {"origin", "measured"},
                          {"source", fmt::format("sublane calibrate, {}: {} points of {} kernels of {}",
                                                 c.date, p.points, p.kernels, c.data)},
                          {"relative_standard_error", rounded(p.standard_error / p.value, 1e-4)}};
  }
  for (const auto& [source, us] : c.fit.launch_us) launches[source] = rounded(us, 0.1);
  return {{"parameters", parameters},
          {"date", c.date},
          {"data", c.data},
          {"points", c.points.size()},
          {"model_without_fit", c.model_hash},
          {"host_launch_us", launches},
          {"residuals", residuals}};
}

}  // namespace

std::string fitJson(const Calibration& c) { return fitDocument(c).dump(2) + "\n"; }

std::string toJson(const std::vector<Calibration>& all) {
  Json document = jsonDocument("sublane.calibrate/1");
  Json chips = Json::array();
  for (const Calibration& c : all) {
    Json points = Json::array(), left_out = Json::array();
    for (size_t i = 0; i < c.points.size(); ++i) {
      points.push_back(
          {{"key", c.points[i].key},
           {"class", c.points[i].kind},
           {"measured", {{"value", c.points[i].measured_us}, {"unit", "us"}, {"origin", "measured"}}},
           {"fitted", {{"value", c.fit.predicted[i]}, {"unit", "us"}, {"origin", "simulated"}}},
           {"held_out_error", c.fit.held_out_error[i]}});
    }
    for (const auto& [key, why] : c.left_out) left_out.push_back({{"key", key}, {"why", why}});
    chips.push_back({{"chip", c.chip}, {"fit", fitDocument(c)}, {"points", points}, {"left_out", left_out}});
  }
  document["chips"] = chips;
  return jsonText(document);
}

}  // namespace sublane::report
