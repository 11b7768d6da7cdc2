#include "findings/rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"

namespace sublane::findings {
namespace {

using events::Cause;

constexpr size_t kMostNamed = 4;

std::string nameOf(const report::Row& row) {
  const std::string& place = row.place.part.empty() ? row.op : row.place.part;
  return escaped(place) + " " + row.kind;
}

}  // namespace

std::span<const Cause> waitCauses() {
  static constexpr std::array kCauses = {Cause::kDma, Cause::kDmaLatency, Cause::kDmaEither, Cause::kDmaBoth};
  return kCauses;
}

std::span<const Cause> dependencyCauses() {
  static constexpr std::array kCauses = {Cause::kDependencyScalar,     Cause::kDependencyVectorAlu,
                                         Cause::kDependencyVectorLoad, Cause::kDependencyExtended,
                                         Cause::kDependencyCrossLane,  Cause::kDependencyMatrix,
                                         Cause::kDependencyOther};
  return kCauses;
}

int64_t cyclesOf(const events::CauseCycles& causes, std::span<const Cause> wanted) {
  int64_t sum = 0;
  for (const Cause cause : wanted) sum += causes[static_cast<size_t>(cause)];
  return sum;
}

int64_t Rows::cyclesOf(std::span<const Cause> wanted) const { return findings::cyclesOf(causes, wanted); }

Rows pick(const Evidence& evidence, const std::function<bool(const report::SimulatedRow&)>& wanted) {
  Rows found;
  for (const report::SimulatedRow& row : evidence.step.rows) {
    if (!wanted(row)) continue;
    found.us += row.row.us;
    found.hbm_us += row.row.hbm_us;
    found.mxu_us += row.row.mxu_us;
    found.count += row.row.count;
    found.cycles += row.row.cycles;
    found.bytes += row.row.hbm_bytes;
    for (size_t i = 0; i < found.causes.size(); ++i) found.causes[i] += row.causes[i];
    found.rows.push_back(&row);
  }
  std::stable_sort(found.rows.begin(), found.rows.end(),
                   [](const auto* a, const auto* b) { return a->row.us > b->row.us; });
  return found;
}

double share(const report::SimulatedRow& row, std::span<const Cause> wanted) {
  const int64_t sum = cyclesOf(row.causes, wanted);
  return row.row.cycles > 0 ? static_cast<double>(sum) / static_cast<double>(row.row.cycles) : 0;
}

bool has(const report::SimulatedRow& row, report::Flag flag) {
  return std::find(row.row.flags.begin(), row.row.flags.end(), flag) != row.row.flags.end();
}

const report::SimulatedRow* rowOf(const Evidence& evidence, const std::string& op) {
  for (const report::SimulatedRow& row : evidence.step.rows)
    if (row.row.op == op) return &row;
  return nullptr;
}

std::vector<const report::SimulatedRow*> withWait(const Look& look, const report::SimulatedRow& row) {
  std::vector<const report::SimulatedRow*> rows = {&row};
  const Spot spot = look.flow.spotOf(row.row.op);
  if (!spot.found()) return rows;
  for (const Spot user : look.flow.users(spot)) {
    const llo::Instruction& at = look.flow.at(user);
    if (!at.is("copy-done") && !at.is("async-done")) continue;
    if (const report::SimulatedRow* wait = rowOf(look.evidence, at.name)) rows.push_back(wait);
  }
  return rows;
}

std::vector<Finding> findingsOfCauses(const Evidence& evidence, const CauseRule& rule) {
  const Rows rows = pick(
      evidence, [&](const report::SimulatedRow& row) { return share(row, rule.causes) > rule.least_share; });
  const double spent = evidence.us(rows.cyclesOf(rule.causes));
  if (rows.empty() || evidence.percent(spent) < rule.least_percent) return {};
  Finding finding = about(rows, rule.rule);
  finding.what = fmt::format("{}: {} {}", named(rows), timeOf(evidence, spent), rule.what);
  if (rule.says_executions) finding.what += fmt::format(" in {} executions", formatCount(rows.count));
  finding.cure = rule.cure;
  save(finding, rows,
       [&](const report::SimulatedRow& row) { return evidence.us(cyclesOf(row.causes, rule.causes)); });
  const std::string loop = loopOf(evidence, *rows.rows[0], rule.causes);
  if (!loop.empty()) finding.evidence.push_back(loop);
  return {std::move(finding)};
}

Finding about(const Rows& rows, std::string_view rule) {
  Finding finding{.rule = rule, .us = rows.us};
  std::set<std::string> seen;
  for (const report::SimulatedRow* row : rows.rows) {
    if (finding.ops.size() < kMostNamed) finding.ops.push_back(row->row.op);
    if (!row->row.source.empty() && finding.sources.size() < kMostNamed &&
        seen.insert(row->row.source).second)
      finding.sources.push_back(row->row.source);
  }
  save(finding, rows, [](const report::SimulatedRow& row) { return row.row.us; });
  return finding;
}

void save(Finding& finding, const Rows& rows,
          const std::function<double(const report::SimulatedRow&)>& us_of_row) {
  finding.savings.clear();
  finding.gain_us = 0;
  for (const report::SimulatedRow* row : rows.rows) {
    const double us = std::clamp(us_of_row(*row), 0.0, row->row.us);
    finding.savings.push_back({row->row.id, us});
    finding.gain_us += us;
  }
}

std::string named(const Rows& rows) {
  if (rows.empty()) return "nothing";
  std::map<std::string, double> us;
  for (const report::SimulatedRow* row : rows.rows) us[nameOf(row->row)] += row->row.us;
  const auto slowest = std::max_element(us.begin(), us.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (us.size() == 1) return slowest->first;
  return fmt::format("{} and {} more", slowest->first, formatCount(std::ssize(us) - 1));
}

std::string timeOf(const Evidence& evidence, double us) {
  return fmt::format("{:.1f} us ({:.0f} %)", us, evidence.percent(us));
}

const report::KernelUse* kernelOf(const Evidence& evidence, const report::SimulatedRow& row) {
  for (const report::KernelUse& kernel : evidence.anatomy().kernels)
    if (std::find(kernel.rows.begin(), kernel.rows.end(), row.row.id) != kernel.rows.end()) return &kernel;
  return nullptr;
}

std::string loopOf(const Evidence& evidence, const report::SimulatedRow& row, std::span<const Cause> causes) {
  const report::KernelUse* kernel = kernelOf(evidence, row);
  if (kernel == nullptr) return "";
  const report::LoopUse* most = nullptr;
  for (size_t i = 0; i < kernel->loops.size(); ++i) {
    const report::LoopUse& loop = kernel->loops[i];
    const bool innermost = std::none_of(kernel->loops.begin(), kernel->loops.end(), [&](const auto& other) {
      return other.parent == static_cast<int32_t>(i);
    });
    if (innermost && (most == nullptr || cyclesOf(loop.causes, causes) > cyclesOf(most->causes, causes)))
      most = &loop;
  }
  if (most == nullptr || cyclesOf(most->causes, causes) == 0) return "";
  return fmt::format(
      "{}: its loop of bundles {}-{} runs {} iterations; {:.0f} % of its {} cycles are such (simulated)",
      escaped(kernel->name), most->first, most->last, formatCount(most->iterations),
      100.0 * static_cast<double>(cyclesOf(most->causes, causes)) /
          static_cast<double>(std::max<int64_t>(1, most->cycles)),
      formatCount(most->cycles));
}

std::string layoutOf(const llo::Shape& shape) {
  std::string order;
  const auto& minor = shape.layout.minor_to_major;
  if (!minor.empty()) order = fmt::format("{{{}}}", fmt::join(minor, ","));
  return llo::toString(shape) + order;
}

}  // namespace sublane::findings
